"""Validation of policies: the reference executes every branch."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import compress

from epigym.config.values import Natural
from epigym.errors import EpigymError
from epigym.names import unknown
from epigym.reference import semantics as reference
from epigym.reference.dense_model import PointedModel
from epigym.task.task import Action, Task


@dataclass(frozen=True, slots=True)
class Branch:
    """The node that follows when one event of an action happens.

    Attributes:
        event: the index of the event in the action's events.
        next: the number of that node.
        types: the observability types of agents that distinguish several branches of one event.
    """

    event: Natural
    next: Natural
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """An e-state of a policy.

    Attributes:
        action: the name of the action to take; None at a goal.
        branches: one branch for each outcome of the action.
    """

    action: str | None = None
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyValidation:
    """The result of executing a policy.

    Attributes:
        valid: whether the policy reaches the goal by every outcome.
        reason: one line with the branch and the step that fail; empty for a valid policy.
        inconsistent_agents: agents whose beliefs are inconsistent in some e-state in which an execution ends.
        forms: maps each reached node of a valid policy to its e-state. A node of a strong policy comes after the nodes
            that follow it, a node of a cyclic policy after a following node that is nearer to a goal.
    """

    valid: bool
    reason: str = ""
    inconsistent_agents: tuple[str, ...] = ()
    forms: Mapping[int, reference.CanonicalForm] = field(default_factory=dict)


def execute(
    task: Task, nodes: Sequence[Node], *, is_cyclic: bool, consistent_beliefs: bool = False
) -> PolicyValidation:
    """Execute every branch of a policy from the initial e-state.

    In a valid policy each outcome of each action has one branch, each branch an outcome, each node one e-state, and the
    goal holds where executions end. A strong policy has no cycle; each node of a cyclic policy has a path to a goal.

    Raises:
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
    """
    if consistent_beliefs:
        reference.require_consistent_beliefs(task, task.initial, "in the initial e-state")
    start = PointedModel.of(task.initial).contract()
    forms = {0: reference.canonical(start, task.fluents)}
    paths: dict[int, tuple[str, ...]] = {0: ()}
    actions = {action.name: action for action in task.actions}
    queue, ends, lost = [(0, start)], list[int](), set[str]()

    def wrong(number: int, message: object) -> PolicyValidation:
        after = f" after {', '.join(paths[number])}" if paths[number] else ""
        return PolicyValidation(False, f"step {len(paths[number]) + 1}{after}: {message}")

    try:
        order: Collection[int] = [] if is_cyclic else sort_nodes(nodes)
    except EpigymError as error:
        return PolicyValidation(False, str(error))
    for number, estate in queue:
        action = nodes[number].action
        if action is None:
            ends.append(number)
            lost.update(compress(task.agents, reference.find_inconsistent_beliefs(estate)))
        try:
            for one, following in _take(task, actions, nodes[number], estate, consistent_beliefs):
                after = one.estate
                form = reference.canonical(after, task.fluents)
                if following not in forms:
                    forms[following], paths[following] = form, (*paths[number], f"{action} (event {one.event})")
                    queue.append((following, after))
                elif forms[following] != form:
                    what = _describe(action, one)
                    raise EpigymError(f"{what} leads to another e-state than node {following} stands for")
        except EpigymError as error:
            return wrong(number, error)
    if is_cyclic:
        order = _trace_back(nodes, ends)
        if trapped := [number for number in forms if number not in order]:
            return wrong(trapped[0], "no goal can be reached from here")
    return PolicyValidation(
        True,
        inconsistent_agents=tuple(agent for agent in task.agents if agent in lost),
        forms={number: forms[number] for number in order if number in forms},
    )


def sort_nodes(nodes: Sequence[Node]) -> list[int]:
    """The numbers of nodes, each after those that follow it.

    Raises:
        EpigymError: when there is a cycle.
    """
    follows = {k: [branch.next for branch in node.branches] for k, node in enumerate(nodes)}
    try:
        return list(TopologicalSorter(follows).static_order())
    except CycleError as error:
        raise EpigymError(f"it has a cycle: nodes {' → '.join(map(str, error.args[1][::-1]))}") from None


def _take(
    task: Task, actions: Mapping[str, Action], node: Node, estate: PointedModel, consistent_beliefs: bool
) -> Iterator[tuple[reference.OutcomeProduct, int]]:
    """Yield the outcomes of a node's action, each with the node that follows; raises EpigymError on a mismatch."""
    if node.action is None:
        held = zip(task.goal, reference.subgoals(task, estate), strict=True)
        if missing := [str(goal) for goal, holds in held if not holds]:
            raise EpigymError(f"it ends, but these subgoals do not hold: {'; '.join(missing)}")
        return
    if node.action not in actions:
        raise EpigymError(unknown("action", node.action, actions))
    spare = dict(enumerate(node.branches))
    for one in reference.outcomes(task, estate, actions[node.action]):
        if consistent_beliefs:
            reference.require_consistent_beliefs(task, one.product, f"after action {node.action!r}")
        types = dict(zip(task.agents, one.types, strict=True)).items()
        fitting = [k for k, each in enumerate(node.branches) if each.event == one.event and each.types.items() <= types]
        if len(fitting) != 1:
            raise EpigymError(f"{_describe(node.action, one)} has {len(fitting)} branches, expected one")
        spare.pop(fitting[0], None)
        yield one, node.branches[fitting[0]].next
    for k, branch in spare.items():
        raise EpigymError(f"branch {k} of action {node.action!r} (event {branch.event}) cannot happen")


def _describe(action: str | None, outcome: reference.OutcomeProduct) -> str:
    """An outcome as error messages name it."""
    which = f", observability assignment {outcome.assignment}" if outcome.assignment else ""
    return f"action {action!r} with event {outcome.event}{which}"


def _trace_back(nodes: Sequence[Node], ends: Sequence[int]) -> dict[int, None]:
    """Find the nodes from which some execution reaches one of `ends`, the nearest ones first."""
    before = defaultdict[int, list[int]](list)
    for number, node in enumerate(nodes):
        for branch in node.branches:
            before[branch.next].append(number)
    found, queue = dict.fromkeys(ends), deque(ends)
    while queue:
        new = [number for number in dict.fromkeys(before[queue.popleft()]) if number not in found]
        found.update(dict.fromkeys(new))
        queue.extend(new)
    return found
