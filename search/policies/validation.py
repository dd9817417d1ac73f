"""The reference executes every branch of a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from epigym.errors import TaskError
from epigym.names import unknown
from epigym.reference.dense_model import PointedModel
from epigym.reference.semantics import (
    CanonicalForm,
    Outcome,
    canonical,
    collapsed,
    outcomes,
    refuse_collapse,
    subgoals,
)
from epigym.task.task import Task


class Branch(NamedTuple):
    """What happens when one event of an action does.

    Attributes:
        event: the index of the event in the action's events.
        types: the observability types of agents; where one event has several branches, they tell these apart.
        next: the number of the node to go on from.
    """

    event: int
    types: Mapping[str, str]
    next: int


class Node(NamedTuple):
    """An e-state of a policy.

    Attributes:
        action: the name of the action to take; None at a goal.
        branches: one for each outcome of the action.
    """

    action: str | None
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyValidation:
    """What executing a policy showed.

    Attributes:
        valid: whether it reaches the goal, whatever happens.
        reason: one line with the branch and the step that fail; empty when it is valid.
        collapsed: agents that believe everything in some e-state in which it ends.
        forms: of a valid policy the e-state of each node that is reached.
    """

    valid: bool
    reason: str = ""
    collapsed: tuple[str, ...] = ()
    forms: Mapping[int, CanonicalForm] = field(default_factory=dict)


class _WrongError(Exception):
    """Raised where a policy fails."""


def execute(
    task: Task, nodes: Sequence[Node], *, is_cyclic: bool, consistent_beliefs: bool = False
) -> PolicyValidation:
    """Execute every branch of a policy from the initial e-state.

    Each outcome of each action needs one branch, and each branch an outcome; where executions end the goal holds. A
    node is reached in one e-state only. A strong policy has no cycle; from every node of a cyclic one a goal can be
    reached.

    Raises:
        CollapseError: when an agent is collapsed in the initial e-state, and that is forbidden.
    """
    if consistent_beliefs:
        refuse_collapse(task, task.initial, "in the initial e-state")
    try:
        return _executed(task, nodes, is_cyclic, consistent_beliefs)
    except _WrongError as error:
        return PolicyValidation(False, str(error))


def order_of(nodes: Sequence[Node]) -> list[int]:
    """The numbers of nodes, each after those that follow it; CycleError where there is a cycle."""
    follows = {k: [branch.next for branch in node.branches] for k, node in enumerate(nodes)}
    return list(TopologicalSorter(follows).static_order())


def _executed(task: Task, nodes: Sequence[Node], is_cyclic: bool, consistent_beliefs: bool) -> PolicyValidation:
    try:
        order_of(nodes)
    except CycleError as error:
        if not is_cyclic:
            raise _WrongError(f"it has a cycle: nodes {' → '.join(map(str, error.args[1][::-1]))}") from None
    actions = {action.name: action for action in task.actions}
    start = PointedModel.of(task.initial).contracted()
    forms: dict[int, CanonicalForm] = {0: canonical(start, task.fluents)}
    reached_by: dict[int, tuple[int, Outcome] | None] = {0: None}  # the node before, and what happened there
    queue, lost, ends = [(0, start)], set[str](), list[int]()

    def wrong(number: int, message: str) -> _WrongError:
        return _WrongError(f"{_branch(nodes, reached_by, number)}: {message}")

    for number, estate in queue:
        node = nodes[number]
        if node.action is None:
            held = zip(task.goal, subgoals(task, estate), strict=True)
            if missing := [str(goal) for goal, holds in held if not holds]:
                raise wrong(number, f"it ends, but these subgoals do not hold: {'; '.join(missing)}")
            lost.update(agent for agent, is_lost in zip(task.agents, collapsed(estate), strict=True) if is_lost)
            ends.append(number)
            continue
        if node.action not in actions:
            raise wrong(number, unknown("action", node.action, actions))
        try:
            found = outcomes(task, estate, actions[node.action])
            for one in found:
                if consistent_beliefs:
                    refuse_collapse(task, one.estate, f"after action {node.action!r}")
        except TaskError as error:
            raise wrong(number, str(error)) from None
        matched = set[int]()
        for one in found:
            same_event = ((k, branch) for k, branch in enumerate(node.branches) if branch.event == one.event)
            matching = [k for k, branch in same_event if _fits(task, branch.types, one)]
            if len(matching) != 1:
                raise wrong(number, f"{_described(node, one)} has {len(matching)} branches, expected one")
            matched.update(matching)
            following = node.branches[matching[0]].next
            form = canonical(one.estate, task.fluents)
            if following not in forms:
                forms[following], reached_by[following] = form, (number, one)
                queue.append((following, one.estate))
            elif forms[following] != form:
                raise wrong(
                    number, f"{_described(node, one)} leads to another e-state than node {following} stands for"
                )
        if len(matched) < len(node.branches):
            spare = next(k for k in range(len(node.branches)) if k not in matched)
            raise wrong(
                number, f"branch {spare} of action {node.action!r} (event {node.branches[spare].event}) cannot happen"
            )
    if is_cyclic:
        leaving = _reaching(nodes, ends)
        if trapped := [number for number in forms if number not in leaving]:
            raise wrong(trapped[0], "no goal can be reached from here")
    return PolicyValidation(True, collapsed=tuple(agent for agent in task.agents if agent in lost), forms=forms)


def _reaching(nodes: Sequence[Node], ends: Sequence[int]) -> set[int]:
    """The nodes from which some execution reaches one of `ends`."""
    before: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        for branch in node.branches:
            before.setdefault(branch.next, []).append(number)
    found, queue = set(ends), list(ends)
    for number in queue:
        new = [one for one in before.get(number, ()) if one not in found]
        found.update(new)
        queue.extend(new)
    return found


def _fits(task: Task, types: Mapping[str, str], outcome: Outcome) -> bool:
    """Whether agents observe an outcome as the types of a branch say."""
    return types.items() <= dict(zip(task.agents, outcome.types, strict=True)).items()


def _described(node: Node, outcome: Outcome) -> str:
    which = f", observability assignment {outcome.assignment}" if outcome.assignment else ""
    return f"action {node.action!r} with event {outcome.event}{which}"


def _branch(nodes: Sequence[Node], reached_by: Mapping[int, tuple[int, Outcome] | None], number: int) -> str:
    """How a node is reached, and which step comes there."""
    steps, place = list[str](), reached_by[number]
    while place is not None:
        before, outcome = place
        steps.append(f"{nodes[before].action} (event {outcome.event})")
        place = reached_by[before]
    after = f" after {', '.join(reversed(steps))}" if steps else ""
    return f"step {len(steps) + 1}{after}"
