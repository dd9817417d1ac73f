"""The semantics in plain Python sets, written to be obviously right; it shares nothing with the core.

Every plan that is reported is executed again here, and the tests hold the core against this module. Worlds
with equal successors share one row, so that e-states of some thousands of worlds stay possible. The product
update is that of Baltag, Moss and Solecki with conditional effects; contraction is naive partition refinement.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from epigym.errors import CollapseError, TaskError
from epigym.formula import Formula, Op
from epigym.names import unknown
from epigym.task import Action, EState, Event, Task

Worlds = frozenset[int]
Pair = tuple[int, int]
CanonicalForm = tuple[tuple[tuple[bool, ...], ...], tuple[tuple[tuple[int, ...], ...], ...], tuple[int, ...]]


class Evaluation:
    """The truth sets of formulas in one e-state, computed once each.

    Args:
        agents: names, in the order of the e-state's relations.
        estate: the e-state.
    """

    def __init__(self, agents: Sequence[str], estate: EState) -> None:
        self.estate = estate
        self._worlds: Worlds = frozenset(range(len(estate.valuations)))
        self._truth: dict[Formula, Worlds] = {}
        self._members = {agent: _members(rows) for agent, rows in zip(agents, estate.successors, strict=True)}

    def truth(self, formula: Formula) -> Worlds:
        """The worlds at which `formula` holds."""
        if formula not in self._truth:
            for node in formula.subformulas():
                if node not in self._truth:
                    self._truth[node] = self._evaluate(node)
        return self._truth[formula]

    def holds(self, formula: Formula) -> bool:
        """Whether `formula` holds at every designated world."""
        return self.truth(formula).issuperset(self.estate.designated)

    def _evaluate(self, node: Formula) -> Worlds:
        parts = [self._truth[child] for child in node.children]
        match node.op:
            case Op.TRUE:
                return self._worlds
            case Op.FALSE:
                return frozenset()
            case Op.FLUENT:
                return frozenset(w for w in self._worlds if node.name in self.estate.valuations[w])
            case Op.NOT:
                return self._worlds - parts[0]
            case Op.AND:
                return frozenset.intersection(*parts)
            case Op.OR:
                return frozenset.union(*parts)
            case Op.BELIEVES | Op.EVERYBODY:
                return reduce(frozenset.intersection, (self._believes(agent, parts[0]) for agent in node.agents))
            case Op.COMMON:
                return self._worlds - self._leads_to(node.agents, self._worlds - parts[0])
            case Op.ACTUALLY:
                return self._worlds if parts[0].issuperset(self.estate.designated) else frozenset()

    def _believes(self, agent: str, truth: Worlds) -> Worlds:
        return frozenset(w for row, members in self._members[agent].items() if row <= truth for w in members)

    def _leads_to(self, agents: Sequence[str], target: Worlds) -> Worlds:
        """The worlds from which one or more steps of the agents' relations can lead into `target`."""
        found: set[int] = set()
        while True:
            goal = found | target
            before = len(found)
            for agent in agents:
                for row, members in self._members[agent].items():
                    if not row.isdisjoint(goal):
                        found.update(members)
            if len(found) == before:
                return frozenset(found)


def holds(estate: EState, agents: Sequence[str], formula: Formula) -> bool:
    """Whether `formula` holds at every designated world of `estate`."""
    return Evaluation(agents, estate).holds(formula)


def subgoals(task: Task, estate: EState) -> tuple[bool, ...]:
    """Which subgoals of `task` hold in `estate`."""
    evaluation = Evaluation(task.agents, estate)
    return tuple(evaluation.holds(subgoal) for subgoal in task.goal)


def collapsed(estate: EState) -> tuple[bool, ...]:
    """For each agent whether it considers no world possible at some designated world."""
    return tuple(any(not rows[world] for world in estate.designated) for rows in estate.successors)


def refuse_collapse(task: Task, estate: EState, where: str) -> None:
    """Nothing where no agent is collapsed.

    Args:
        task: the task whose agents are meant.
        estate: an e-state.
        where: how to name it, such as `in the initial e-state`.

    Raises:
        CollapseError: where one is, naming it.
    """
    for agent, lost in zip(task.agents, collapsed(estate), strict=True):
        if lost:
            raise CollapseError(agent, where)


def applicable(task: Task, estate: EState, action: Action) -> bool:
    """Whether `action` is applicable in `estate`: its formula holds, and an event can happen everywhere."""
    return not _obstacles(Evaluation(task.agents, estate), action)


def applicable_actions(task: Task, estate: EState) -> tuple[bool, ...]:
    """For each action of `task` whether it is applicable in `estate`."""
    evaluation = Evaluation(task.agents, estate)
    return tuple(not _obstacles(evaluation, action) for action in task.actions)


def observability_types(task: Task, estate: EState, action: Action) -> tuple[str, ...]:
    """For each agent the type of its first observability condition that holds.

    Raises:
        TaskError: when the designated worlds disagree about an agent.
    """
    return _observability_types(task, Evaluation(task.agents, estate), action)


def update(task: Task, estate: EState, action: Action) -> EState:
    """The product update of `estate` with `action`, without the worlds that no designated world reaches.

    Raises:
        TaskError: when the action is not applicable, or the designated worlds disagree about observability.
    """
    evaluation = Evaluation(task.agents, estate)
    obstacles = _obstacles(evaluation, action)
    if obstacles:
        raise TaskError(f"action {action.name!r} is not applicable: {obstacles}")
    return _product(evaluation, action, _observability_types(task, evaluation, action))


def apply(task: Task, estate: EState, action: Action) -> EState:
    """The product update of `estate` with `action`, contracted.

    Raises:
        TaskError: when the action is not applicable, or the designated worlds disagree about observability.
    """
    return contract(update(task, estate, action))


def contract(estate: EState) -> EState:
    """The quotient of the reachable part of `estate` by its coarsest bisimulation."""
    reached = _reachable(estate)
    colours = _rank({world: tuple(sorted(estate.valuations[world])) for world in reached})
    blocks = _refine(estate, colours)
    first = {block: world for world, block in reversed(blocks.items())}
    known: dict[Worlds, Worlds] = {}
    rows = []
    for successors in estate.successors:
        images = {row: frozenset(blocks[v] for v in row) for row in _members(successors, reached)}
        images = {row: known.setdefault(image, image) for row, image in images.items()}
        rows.append(tuple(images[successors[first[block]]] for block in range(len(first))))
    return EState(
        valuations=tuple(estate.valuations[first[block]] for block in range(len(first))),
        successors=tuple(rows),
        designated=tuple(sorted({blocks[world] for world in estate.designated})),
    )


def canonical(estate: EState, fluents: Sequence[str]) -> CanonicalForm:
    """A value that is equal for two e-states iff they are bisimilar.

    It consists of the valuations, the successors of each agent and the designated worlds of the contracted
    e-state, its worlds numbered by rank: the valuation first (false before true, in declared order), refined by
    the sorted ranks of the successors.
    """
    small = contract(estate)
    truth = [tuple(name in valuation for name in fluents) for valuation in small.valuations]
    rank = _refine(small, _rank(dict(enumerate(truth))))
    order = sorted(rank, key=rank.__getitem__)
    edges = []
    for rows in small.successors:
        ranked = {row: tuple(sorted(rank[v] for v in row)) for row in _members(rows)}
        edges.append(tuple(ranked[rows[world]] for world in order))
    return (
        tuple(truth[world] for world in order),
        tuple(edges),
        tuple(sorted(rank[world] for world in small.designated)),
    )


@dataclass(frozen=True, slots=True)
class Validation:
    """What executing a plan showed.

    Attributes:
        valid: whether every action was applicable, the goal holds at the end and, where that was forbidden, no agent
            collapsed.
        step: the 1-based step that fails; None for a valid plan and when only the goal fails.
        reason: one sentence saying why the plan is not valid; empty when it is.
        collapsed: the agents that believe everything in the e-state that was reached.
    """

    valid: bool
    step: int | None
    reason: str
    collapsed: tuple[str, ...]

    @property
    def relies_on_collapse(self) -> bool:
        """Whether the plan is valid and some agent believes everything at its end."""
        return self.valid and bool(self.collapsed)


def validate(task: Task, plan: Sequence[str], forbid_collapse: bool = False) -> Validation:
    """Execute the actions named by `plan` from the initial e-state and test the goal.

    Args:
        task: the planning task.
        plan: names of actions.
        forbid_collapse: whether an action fails after which an agent is collapsed.

    Raises:
        CollapseError: when an agent is collapsed in the initial e-state, and that is forbidden.
    """
    if forbid_collapse:
        refuse_collapse(task, task.initial, "in the initial e-state")
    actions = {action.name: action for action in task.actions}
    estate = task.initial

    def verdict(reason: str, step: int | None = None) -> Validation:
        names = tuple(agent for agent, lost in zip(task.agents, collapsed(estate), strict=True) if lost)
        return Validation(valid=not reason, step=step, reason=reason, collapsed=names)

    for step, name in enumerate(plan, start=1):
        if name not in actions:
            return verdict(f"step {step}: {unknown('action', name, actions)}", step)
        try:
            estate = apply(task, estate, actions[name])
            if forbid_collapse:
                refuse_collapse(task, estate, f"after action {name!r}")
        except TaskError as error:
            return verdict(f"step {step}: {error}", step)
    missing = [str(goal) for goal, held in zip(task.goal, subgoals(task, estate), strict=True) if not held]
    return verdict(f"the plan ends but these subgoals do not hold: {'; '.join(missing)}" if missing else "")


def _obstacles(evaluation: Evaluation, action: Action) -> str:
    """Why `action` is not applicable; empty when it is."""
    formula = action.applicability
    if not evaluation.holds(formula):
        parts = formula.children if formula.op is Op.AND else (formula,)
        failing = "; ".join(str(part) for part in parts if not evaluation.holds(part))
        return f"its condition does not hold: {failing}"
    preconditions = [action.events[event].precondition for event in action.designated]
    possible = frozenset().union(*map(evaluation.truth, preconditions))
    if not possible.issuperset(evaluation.estate.designated):
        return f"no designated event can happen, which needs {' or '.join(map(str, preconditions))}"
    return ""


def _observability_types(task: Task, evaluation: Evaluation, action: Action) -> tuple[str, ...]:
    types: list[str] = []
    for agent, conditions in zip(task.agents, action.observability, strict=True):
        found = {
            next(kind for condition, kind in conditions if world in evaluation.truth(condition))
            for world in evaluation.estate.designated
        }
        if len(found) > 1:
            raise TaskError(
                f"action {action.name!r}: designated worlds disagree on how agent {agent!r} observes it: "
                + " or ".join(sorted(found))
            )
        types.extend(found)
    return tuple(types)


def _product(evaluation: Evaluation, action: Action, types: Sequence[str]) -> EState:
    """The part of the product update that designated worlds reach; worlds are (world, event) pairs."""
    estate = evaluation.estate
    possible = [evaluation.truth(event.precondition) for event in action.events]
    relations = [action.relations[kind] for kind in types]
    known: dict[tuple[Worlds, Worlds], frozenset[Pair]] = {}

    def successors(agent: int, pair: Pair) -> frozenset[Pair]:
        key = (estate.successors[agent][pair[0]], relations[agent][pair[1]])
        if key not in known:
            known[key] = frozenset((v, f) for f in key[1] for v in key[0] & possible[f])
        return known[key]

    designated = [(w, e) for w in estate.designated for e in action.designated if w in possible[e]]
    number = {pair: index for index, pair in enumerate(designated)}
    queue = deque(designated)
    rows: list[dict[int, frozenset[Pair]]] = [{} for _ in relations]
    explored: set[frozenset[Pair]] = set()
    while queue:
        pair = queue.popleft()
        for agent, found in enumerate(rows):
            row = found[number[pair]] = successors(agent, pair)
            if row in explored:
                continue
            explored.add(row)
            for target in row:
                if target not in number:
                    number[target] = len(number)
                    queue.append(target)
    numbered = {row: frozenset(number[pair] for pair in row) for row in explored}
    return EState(
        valuations=tuple(_valuation(evaluation, w, action.events[e]) for w, e in number),
        successors=tuple(tuple(numbered[found[index]] for index in range(len(number))) for found in rows),
        designated=tuple(range(len(designated))),
    )


def _valuation(evaluation: Evaluation, world: int, event: Event) -> frozenset[str]:
    happening = [effect for effect in event.effects if world in evaluation.truth(effect.condition)]
    deleted = {effect.fluent for effect in happening if not effect.value}
    added = {effect.fluent for effect in happening if effect.value}
    return (evaluation.estate.valuations[world] - deleted) | added


def _members(rows: Sequence[Worlds], worlds: Sequence[int] | None = None) -> dict[Worlds, list[int]]:
    """The worlds (all by default) that share each row of successors."""
    members: dict[Worlds, list[int]] = {}
    for world in range(len(rows)) if worlds is None else worlds:
        members.setdefault(rows[world], []).append(world)
    return members


def _reachable(estate: EState) -> list[int]:
    """The worlds that zero or more steps from designated worlds reach, ascending."""
    found = set(estate.designated)
    queue = deque(estate.designated)
    explored: set[Worlds] = set()
    while queue:
        world = queue.popleft()
        for rows in estate.successors:
            row = rows[world]
            if row not in explored:
                explored.add(row)
                queue.extend(row - found)
                found |= row
    return sorted(found)


def _refine(estate: EState, colours: dict[int, int]) -> dict[int, int]:
    """Split the colours of worlds by the colours of their successors until nothing changes."""
    distinct = [_members(rows, list(colours)) for rows in estate.successors]
    while True:
        signatures: dict[int, tuple[Any, ...]] = {world: (colour,) for world, colour in colours.items()}
        for groups in distinct:
            for row, members in groups.items():
                seen = tuple(sorted({colours[v] for v in row}))
                for world in members:
                    signatures[world] += (seen,)
        refined = _rank(signatures)
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _rank(keys: Mapping[int, Any]) -> dict[int, int]:
    """Replace keys by their ranks among the distinct keys in sorted order."""
    rank = {key: index for index, key in enumerate(sorted(set(keys.values())))}
    return {world: rank[key] for world, key in keys.items()}
