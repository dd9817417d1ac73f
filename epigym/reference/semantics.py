"""What everything means: truth, update, contraction, valid plans; it shares nothing with the core.

Every plan that is reported is executed again here, and the tests hold the core against this module. Each definition is
a line or a few over arrays of truth values, so that e-states of tens of thousands of worlds take a moment; the tests
hold them against the same in sets, world by world. The product update is that of Baltag, Moss and Solecki with
conditional effects; contraction (`epigym/reference/dense_model.py`) is partition refinement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, product
from typing import NamedTuple

import numpy as np

from epigym.errors import InconsistentBeliefsError, TaskError
from epigym.names import unknown
from epigym.reference.dense_model import Numbers, PointedModel, Relation, Truth, rank_numbers, rank_rows, rank_tuples
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Task

AnyState = EState | PointedModel
_GROWTH = 2
"""How many times as many worlds an e-state of a plan may get before it is contracted."""
CanonicalForm = tuple[tuple[tuple[bool, ...], ...], tuple[tuple[tuple[int, ...], ...], ...], tuple[int, ...]]


class Evaluation:
    """The truth of formulas in one e-state, computed once each.

    Args:
        agents: names, in the order of the e-state's relations.
        estate: the e-state.
    """

    def __init__(self, agents: Sequence[str], estate: AnyState) -> None:
        self.model = PointedModel.of(estate)
        self._relations = dict(zip(agents, self.model.relations, strict=True))
        self._known: dict[Formula, Truth] = {}

    def truth(self, formula: Formula) -> frozenset[int]:
        """The worlds at which `formula` holds."""
        return frozenset(np.flatnonzero(self.where(formula)).tolist())

    def holds(self, formula: Formula) -> bool:
        """Whether `formula` holds at every designated world."""
        return bool(self.where(formula)[self.model.designated].all())

    def where(self, formula: Formula) -> Truth:
        """bool[n]: whether `formula` holds at each world."""
        if formula not in self._known:
            for node in formula.subformulas():
                if node not in self._known:
                    self._known[node] = self._evaluate(node)
        return self._known[formula]

    def _evaluate(self, node: Formula) -> Truth:
        model = self.model
        parts = [self._known[child] for child in node.children]
        match node.op:
            case Op.TRUE | Op.FALSE:
                return np.full(len(model.label), node.op is Op.TRUE)
            case Op.FLUENT:
                return np.asarray(model.find_truth(node.name)[model.label])
            case Op.NOT:
                return ~parts[0]
            case Op.AND:
                return np.asarray(np.all(parts, axis=0))
            case Op.OR:
                return np.asarray(np.any(parts, axis=0))
            case Op.BELIEVES | Op.EVERYBODY:
                return ~self._leads_to(node.agents, ~parts[0])
            case Op.COMMON:
                return ~self._comes_to(node.agents, ~parts[0])
            case Op.ACTUALLY:
                return np.full(len(model.label), parts[0][model.designated].all())

    def _leads_to(self, agents: Sequence[str], targets: Truth) -> Truth:
        """Where one step of an agent's relation can lead into `targets`."""
        return np.asarray(np.any([self._relations[agent].preimage(targets) for agent in agents], axis=0))

    def _comes_to(self, agents: Sequence[str], targets: Truth) -> Truth:
        """Where one or more steps of the agents' relations can lead into `targets`."""
        found = np.zeros_like(targets)
        while not np.array_equal(found, wider := self._leads_to(agents, targets | found)):
            found = wider
        return found


def holds(estate: AnyState, agents: Sequence[str], formula: Formula) -> bool:
    """Whether `formula` holds at every designated world of `estate`."""
    return Evaluation(agents, estate).holds(formula)


def subgoals(task: Task, estate: AnyState) -> tuple[bool, ...]:
    """Which subgoals of `task` hold in `estate`."""
    evaluation = Evaluation(task.agents, estate)
    return tuple(evaluation.holds(subgoal) for subgoal in task.goal)


def find_inconsistent_beliefs(estate: AnyState) -> tuple[bool, ...]:
    """For each agent whether it considers no world possible at some designated world."""
    model = PointedModel.of(estate)
    every = np.ones(len(model.label), np.bool_)
    return tuple(not relation.preimage(every)[model.designated].all() for relation in model.relations)


def require_consistent_beliefs(task: Task, estate: AnyState, where: str) -> None:
    """Check that the beliefs of all agents are consistent.

    Args:
        task: the task whose agents are meant.
        estate: an e-state.
        where: how to name it, such as `in the initial e-state`.

    Raises:
        InconsistentBeliefsError: when those of an agent are not.
    """
    for agent, is_inconsistent in zip(task.agents, find_inconsistent_beliefs(estate), strict=True):
        if is_inconsistent:
            raise InconsistentBeliefsError(agent, where)


def applicable(task: Task, estate: EState, action: Action) -> bool:
    """Whether `action` is applicable in `estate`: its formula holds, and an event can happen everywhere."""
    return not _obstacles(Evaluation(task.agents, estate), action)


def obstacles(task: Task, estate: EState, action: Action) -> str:
    """Why `action` is not applicable in `estate`, with the conditions that fail; empty when it is."""
    return _obstacles(Evaluation(task.agents, estate), action)


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

    Its worlds are (world, event) pairs in ascending order.

    Raises:
        TaskError: when the action is not applicable, or the designated worlds disagree about observability.
    """
    return _apply_update(task, estate, action).reachable().estate()


def apply(task: Task, estate: EState, action: Action) -> EState:
    """The product update of `estate` with `action`, contracted.

    Raises:
        TaskError: when the action is not applicable, or the designated worlds disagree about observability.
    """
    return _apply_update(task, estate, action).contract().estate()


def apply_with_local_types(task: Task, estate: EState, action: Action) -> EState:
    """As `apply`, but with an agent's observability type decided at each world instead of the designated worlds.

    Where an agent considers it possible that another one is away, it then believes that the other misses the action.

    Raises:
        TaskError: when the action is not applicable.
    """
    evaluation = _evaluate_applicable(task, estate, action)
    world, event = np.nonzero(_where_possible(evaluation, action))
    number = {pair: place for place, pair in enumerate(zip(world.tolist(), event.tolist(), strict=True))}
    successors = []
    for rows, conditions in zip(estate.successors, action.observability, strict=True):
        kinds = [action.relations[_type_at(evaluation, conditions, place)] for place in range(len(rows))]
        reached = [product(rows[start], kinds[start][happening]) for start, happening in number]
        successors.append([frozenset(number[pair] for pair in pairs if pair in number) for pairs in reached])
    starts = product(estate.designated, action.designated)
    designated = np.array([number[pair] for pair in starts if pair in number])
    relations = tuple(map(Relation.of, successors))
    return PointedModel(*_valuations(evaluation, action, world, event), relations, designated).contract().estate()


class OutcomeProduct(NamedTuple):
    """A possible outcome of an action.

    Attributes:
        event: which of the action's events happens.
        assignment: the number of the observability assignment among those that are possible with this event.
        types: the observability type of each agent.
        worlds: the designated worlds where the event can happen and agents have these types, ascending.
        product: the product update that designates the pairs of these worlds and the event, not contracted.
    """

    event: int
    assignment: int
    types: tuple[str, ...]
    worlds: list[int]
    product: PointedModel

    @property
    def estate(self) -> PointedModel:
        """The contracted product update."""
        return self.product.contract()

    def follow(self, world: int, fluents: Sequence[str]) -> int:
        """The successor of one of `worlds`: a world of the canonical form of the e-state."""
        after = self.product.reachable()
        pair = after.designated[self.worlds.index(world)]  # both ascend
        return int(after.refine(fluents)[pair])


def outcomes(task: Task, estate: AnyState, action: Action) -> list[OutcomeProduct]:
    """The outcomes of `action` in `estate`, sorted by event, then by types as conditions name them.

    Raises:
        TaskError: when the action is not applicable.
    """
    evaluation = _evaluate_applicable(task, estate, action)
    mentions = [[kind for _, kind in conditions] for conditions in action.observability]
    found = list[OutcomeProduct]()
    for event in action.designated:
        possible = evaluation.where(action.events[event].precondition)
        by_types = defaultdict[tuple[str, ...], list[int]](list)
        for world in evaluation.model.designated.tolist():
            if possible[world]:
                by_types[tuple(_type_at(evaluation, conditions, world) for conditions in action.observability)].append(
                    world
                )
        for number, types in enumerate(sorted(by_types, key=lambda types: [*map(list.index, mentions, types)])):
            product = _product(evaluation, action, types, np.array(by_types[types]), [event])
            found.append(OutcomeProduct(event, number, types, by_types[types], product))
    return found


def contract(estate: EState) -> EState:
    """The quotient of the reachable part of `estate` by its coarsest bisimulation."""
    return PointedModel.of(estate).contract().estate()


def canonical(estate: AnyState, fluents: Sequence[str]) -> CanonicalForm:
    """A value that is equal for two e-states iff they are bisimilar.

    It consists of the valuations, the successors of each agent and the designated worlds of the contracted
    e-state, its worlds numbered by rank: the valuation first (false before true, in declared order), refined by
    the sorted ranks of the successors.
    """
    small = PointedModel.of(estate).contract()
    truth = list(map(tuple, small.list_truths(fluents).tolist()))
    rank = small.refine(fluents)
    order = np.argsort(rank)
    edges = []
    for relation in small.relations:
        ranked_relation = relation.to_colours(rank)
        rows = [tuple(row) for row in ranked_relation.lists()]
        edges.append(tuple(rows[row] for row in ranked_relation.row_of[order].tolist()))
    return (
        tuple(truth[label] for label in small.label[order].tolist()),
        tuple(edges),
        tuple(sorted(rank[small.designated].tolist())),
    )


@dataclass(frozen=True, slots=True)
class Validation:
    """What executing a plan showed.

    Attributes:
        valid: whether every action was applicable, the goal holds at the end and, if required, all beliefs remained
            consistent.
        step: the 1-based step that fails; None for a valid plan and when only the goal fails.
        reason: one sentence saying why the plan is not valid; empty when it is.
        inconsistent_agents: the agents with inconsistent beliefs in the last e-state.
    """

    valid: bool
    step: int | None
    reason: str
    inconsistent_agents: tuple[str, ...]


def validate(task: Task, plan: Sequence[str], consistent_beliefs: bool = False) -> Validation:
    """Execute the actions named by `plan` from the initial e-state and test the goal.

    Args:
        task: the planning task.
        plan: names of actions.
        consistent_beliefs: whether an action fails after which the beliefs of an agent are inconsistent.

    Raises:
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
    """
    if consistent_beliefs:
        require_consistent_beliefs(task, task.initial, "in the initial e-state")
    actions = {action.name: action for action in task.actions}
    estate = PointedModel.of(task.initial)
    contracted = len(estate.label)

    def verdict(reason: str, step: int | None = None) -> Validation:
        names = tuple(compress(task.agents, find_inconsistent_beliefs(estate)))
        return Validation(valid=not reason, step=step, reason=reason, inconsistent_agents=names)

    for step, name in enumerate(plan, start=1):
        if name not in actions:
            return verdict(f"step {step}: {unknown('action', name, actions)}", step)
        try:
            estate = _apply_update(task, estate, actions[name]).reachable()
            if len(estate.label) > _GROWTH * contracted:  # many updates add no world, and equal ones change nothing
                estate = estate.contract()
                contracted = len(estate.label)
            if consistent_beliefs:
                require_consistent_beliefs(task, estate, f"after action {name!r}")
        except TaskError as error:
            return verdict(f"step {step}: {error}", step)
    missing = [str(goal) for goal, held in zip(task.goal, subgoals(task, estate), strict=True) if not held]
    return verdict(f"the plan ends but these subgoals do not hold: {'; '.join(missing)}" if missing else "")


def _evaluate_applicable(task: Task, estate: AnyState, action: Action) -> Evaluation:
    """The truth of formulas in an e-state where an action is applicable.

    Raises:
        TaskError: when it is not.
    """
    evaluation = Evaluation(task.agents, estate)
    if obstacles := _obstacles(evaluation, action):
        raise TaskError(f"action {action.name!r} is not applicable: {obstacles}")
    return evaluation


def _obstacles(evaluation: Evaluation, action: Action) -> str:
    """Why `action` is not applicable; empty when it is."""
    formula = action.applicability
    if not evaluation.holds(formula):
        parts = formula.children if formula.op is Op.AND else (formula,)
        failing = "; ".join(str(part) for part in parts if not evaluation.holds(part))
        return f"its condition does not hold: {failing}"
    preconditions = [action.events[event].precondition for event in action.designated]
    possible = np.any([evaluation.where(precondition) for precondition in preconditions], axis=0)
    if not possible[evaluation.model.designated].all():
        return f"no designated event can happen, which needs {' or '.join(map(str, preconditions))}"
    return ""


def _observability_types(task: Task, evaluation: Evaluation, action: Action) -> tuple[str, ...]:
    types: list[str] = []
    for agent, conditions in zip(task.agents, action.observability, strict=True):
        found = {_type_at(evaluation, conditions, world) for world in evaluation.model.designated.tolist()}
        if len(found) > 1:
            raise TaskError(
                f"action {action.name!r}: designated worlds disagree on how agent {agent!r} observes it: "
                + " or ".join(sorted(found))
            )
        types.extend(found)
    return tuple(types)


def _type_at(evaluation: Evaluation, conditions: Sequence[tuple[Formula, str]], world: int) -> str:
    return next(kind for condition, kind in conditions if evaluation.where(condition)[world])


def _apply_update(task: Task, estate: AnyState, action: Action) -> PointedModel:
    """As `update`, with the worlds that are not reached."""
    evaluation = _evaluate_applicable(task, estate, action)
    types = _observability_types(task, evaluation, action)
    return _product(evaluation, action, types, evaluation.model.designated, action.designated)


def _product(
    evaluation: Evaluation, action: Action, types: Sequence[str], starts: Numbers, events: Sequence[int]
) -> PointedModel:
    """The product update that designates the pairs of `starts` and `events`.

    Its worlds are the (world, event) pairs where the event can happen, ascending.
    """
    model, possible = evaluation.model, _where_possible(evaluation, action)
    world, event = np.nonzero(possible)
    designated = np.zeros_like(possible)
    designated[starts[:, None], list(events)] = True
    relations = {kind: Relation.of(rows) for kind, rows in action.relations.items() if kind in types}
    return PointedModel(
        *_valuations(evaluation, action, world, event),
        tuple(
            _pairs(relation, relations[kind], possible) for relation, kind in zip(model.relations, types, strict=True)
        ),
        np.flatnonzero(designated[possible]),
    )


def _where_possible(evaluation: Evaluation, action: Action) -> Truth:
    """bool[n, n_events]: at which worlds each event of an action can happen."""
    return np.stack([evaluation.where(event.precondition) for event in action.events], axis=1)


def _pairs(worlds: Relation, events: Relation, possible: Truth) -> Relation:
    """The relation between `possible` pairs, bool[n, n_events], that leads where both relations lead.

    Its rows are the pairs of their rows.
    """
    world, event = np.nonzero(possible)
    number = (np.cumsum(possible) - 1).reshape(possible.shape)
    i, j = np.nonzero(possible[worlds.member][:, events.member])
    return Relation(
        row_of=worlds.row_of[world] * events.rows + events.row_of[event],
        rows=worlds.rows * events.rows,
        row=worlds.row[i] * events.rows + events.row[j],
        member=number[worlds.member[i], events.member[j]],
    )


def _valuations(
    evaluation: Evaluation, action: Action, world: Numbers, event: Numbers
) -> tuple[tuple[str, ...], Truth, Numbers]:
    """Fluents, the valuations of (world, event) pairs, each once, and the number of each pair's."""
    model = evaluation.model
    changed = {effect.fluent for what in action.events for effect in what.effects}
    fluents = tuple(sorted({*model.fluents, *changed}))
    column = {name: number for number, name in enumerate(fluents)}
    truth, label = model.list_truths(fluents), model.label[world]
    for happening in sorted(set(event.tolist())):
        effects = action.events[happening].effects
        if not effects:
            continue
        here = np.flatnonzero(event == happening)
        # The new valuation depends on the old one and on the conditions of effects.
        conditions = [evaluation.where(effect.condition)[world[here]] for effect in effects]
        first, alike = rank_tuples([label[here], *conditions])
        after = truth[label[here][first]]
        for effect, holds in sorted(zip(effects, conditions, strict=True), key=lambda one: one[0].value):
            after[holds[first], column[effect.fluent]] = effect.value  # what becomes true comes last
        label[here] = len(truth) + alike
        truth = np.concatenate([truth, after])
    place, kind = rank_numbers(label)
    used = truth[label[place]]
    first, rank = rank_rows(used)
    return fluents, used[first], rank[kind]
