"""A delete relaxation whose facts are what agents believe.

In the sense of h_add and FF (Bonet & Geffner 2001; Hoffmann & Nebel 2001), for any ground task: nothing that was made
true is ever made false. *Facts* are literals, beliefs about facts, negated beliefs and common beliefs. An *operator*, a
designated event of an action, adds every fact that its event model brings about: its effects, what its preconditions
tell those who notice, what these know of each other. On one world it is exactly the classical heuristic.

The relaxation is no proof: it sees neither knowledge by elimination nor plans that make agents believe everything, so
an infinite value says that it is blind, not that there is no plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.formula import FALSE, TRUE, Formula, Op, actually, and_, believes, common, considers_possible, not_, or_
from epigym.packing import FormulaPacker
from epigym.space import StateSpace, as_ids
from epigym.task import Action, Event, Task

_T = TypeVar("_T")
_FACT, _ANY, _ALL = range(3)  # kinds of nodes, as the core numbers them

Types = Mapping[str, str]
"""The observability type chosen for each agent."""


class Condition(NamedTuple):
    """What an event needs to add something.

    Attributes:
        formula: what must be reached; or what must hold now, as nothing in the relaxation makes it true.
        now: whether it must hold now.
    """

    formula: Formula
    now: bool = False

    def below(self, op: Op, agents: tuple[str, ...]) -> Condition:
        """The condition of what is added below a B or C."""
        return Condition(_modal(op, agents, self.formula), self.now)


Alternative = tuple[Types, tuple[Condition, ...]]
"""A choice of types with what has to be the case for it."""


class Relaxed(NamedTuple):
    """The relaxations of k e-states.

    Attributes:
        h_add: float64[k], the sum of the subgoals' costs; infinite where the relaxation does not reach one.
        h_ff: float64[k], the number of actions of the relaxed plan; infinite where `h_add` is.
        helpful_ptr: int64[k + 1], where the helpful actions of each e-state start.
        helpful: int32[h], actions of the relaxed plan whose requirement holds, ascending.
        added_ptr: int64[k + 1], where the relaxed facts of each e-state start.
        added: int32[a], the facts that the relaxed plan adds, as indices into `Relaxation.facts`, ascending.
    """

    h_add: NDArray[np.float64]
    h_ff: NDArray[np.float64]
    helpful_ptr: NDArray[np.int64]
    helpful: NDArray[np.int32]
    added_ptr: NDArray[np.int64]
    added: NDArray[np.int32]


class Landmarks(NamedTuple):
    """The landmarks of an e-state: parts of the goal, and what every relaxed plan makes true.

    Attributes:
        formulas: n distinct ones, no conjunction among them.
        is_goal: bool[n], which are parts of the goal, the only ones that may hold already.
        before: bool[n, n], `before[i, j]`: whatever may first make j true requires i (a greedy-necessary order).
    """

    formulas: tuple[Formula, ...]
    is_goal: NDArray[np.bool_]
    before: NDArray[np.bool_]


class Relaxation:
    """The relaxation of a space's task, built once.

    Args:
        space: where the e-states live.

    Attributes:
        facts: the formulas that `Relaxed.added` names; what is no fact stands for the formula that it requires.
    """

    def __init__(self, space: StateSpace) -> None:
        builder = _Builder(space.task)
        self.facts = tuple(builder.formulas)
        self._core = _core.Relaxation(space.core, **builder.tables())

    def __call__(self, ids: ArrayLike) -> Relaxed:
        """Relax e-states, int32[k].

        Raises:
            IndexError: when an id is unknown.
        """
        return Relaxed(*self._core.evaluate(as_ids(ids)))

    def landmarks(self, state: int) -> Landmarks:
        """The landmarks of an e-state; where the relaxation is blind, no more than the parts of the goal.

        Source: Hoffmann, Porteous, Sebastia, "Ordered Landmarks in Planning" (JAIR 22, 2004). A formula is a landmark
        if the relaxation does not reach the goal without it, which finds all of them.

        Raises:
            IndexError: when the id is unknown.
        """
        goal, nodes, orders = self._core.landmarks(state)
        node_of: dict[Formula, int] = {}  # the node of a formula stands before the fact that is the formula's own
        for node in (*goal, *nodes):
            node_of.setdefault(self.facts[node], node)
        place = {node: number for number, node in enumerate(node_of.values())}
        before = np.zeros((len(place), len(place)), dtype=np.bool_)
        for one, other in orders:
            if one in place and other in place:
                before[place[one], place[other]] = True
        return Landmarks(tuple(node_of), np.arange(len(place)) < len(goal), before)


def normal(formula: Formula, negated: bool = False) -> Formula:
    """The normal form of a formula or of its negation.

    Negations stand before fluents, B and C; these distribute over conjunctions; E is a conjunction of B. What is
    actually the case is so everywhere: B, C and E before `actually` are dropped, and then `actually` itself.
    """
    kept = _pushed(formula, negated)
    return _pushed(_plain(kept), False) if any(part.op is Op.ACTUALLY for part in kept.subformulas()) else kept


def _pushed(formula: Formula, negated: bool) -> Formula:
    """The normal form that keeps `actually`."""
    child = formula.children[0] if formula.children else formula
    match formula.op:
        case Op.NOT:
            return _pushed(child, not negated)
        case Op.AND | Op.OR:
            parts = [_pushed(part, negated) for part in formula.children]
            return and_(*parts) if (formula.op is Op.AND) != negated else or_(*parts)
        case Op.ACTUALLY:
            return _signed(actually(_pushed(child, False)), negated)
        case Op.BELIEVES | Op.EVERYBODY | Op.COMMON:
            parts = [_modal(formula.op, formula.agents, part) for part in _conjuncts(_pushed(child, False))]
            return _signed(and_(*parts), negated)
    return _signed(formula, negated)


def _plain(formula: Formula) -> Formula:
    """The formula without `actually`."""
    parts = tuple(map(_plain, formula.children))
    return parts[0] if formula.op is Op.ACTUALLY else Formula(formula.op, formula.name, formula.agents, parts)


def _modal(op: Op, agents: tuple[str, ...], formula: Formula) -> Formula:
    """B, E or C before a formula that is no conjunction."""
    if formula.unnegated.op is Op.ACTUALLY:
        return formula
    if op is Op.COMMON:
        return common(agents, formula)
    return and_(*(believes(agent, formula) for agent in agents))


def _signed(formula: Formula, negated: bool) -> Formula:
    if not negated:
        return formula
    return or_(*map(not_, formula.children)) if formula.op is Op.AND else not_(formula)


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return formula.children if formula.op is Op.AND else (formula,)


def _alternatives(formula: Formula) -> list[Formula]:
    """What each suffices for a formula in normal form, itself left out; none for a fact that only itself is."""
    if formula.op is Op.OR:
        return list(formula.children)
    if formula.op is Op.BELIEVES:
        return [normal(believes(formula.agents[0], part)) for part in _alternatives(formula.children[0])]
    inner = formula.unnegated
    if inner.op is Op.BELIEVES and inner is not formula:
        return [normal(believes(inner.agents[0], not_(inner.children[0])))]
    if inner.op is Op.COMMON and inner is not formula:
        return [not_(believes(agent, inner.children[0])) for agent in inner.agents]
    return []


class _Builder:
    """Facts, operators and requirements that the goal needs, found backwards from it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._normal: dict[Formula, Formula] = {}
        self.formulas: list[Formula] = []  # of the nodes
        self._number: dict[Formula, int] = {}
        self._now: dict[Formula, int] = {}  # what must hold now
        self._held: dict[tuple[Formula, tuple[Formula, ...]], int] = {}
        self._kinds: list[int] = []
        self._children: list[list[int]] = []
        self._models = [_Actions(self, action, task.agents) for action in task.actions]
        self.negated_goals = {
            part
            for subgoal in task.goal
            for part in self.normal(subgoal).subformulas()
            if part.op is Op.NOT and part.children[0].op is not Op.FLUENT
        }
        needs = {*task.goal, *(need for model in self._models for need in model.needs())}
        self._deepest = max((self.normal(need).depth for need in needs), default=0) + 1
        self._adding: dict[Formula, dict[int, None]] = {}
        for number, model in enumerate(self._models):
            for formula in model.guaranteed:
                self._adding.setdefault(formula, {})[number] = None
        self._operators: dict[tuple[int, int], int] = {}
        self._op_action: list[int] = []
        self._op_requirement: list[int] = []
        self._goal = [self.node(self.normal(subgoal)) for subgoal in task.goal]
        self._adders: list[list[tuple[int, int]]] = []
        while len(self._adders) < len(self.formulas):  # operators bring new facts
            self._adders.append(self._adders_of(len(self._adders)))

    def normal(self, formula: Formula) -> Formula:
        """The normal form, computed once."""
        if formula not in self._normal:
            self._normal[formula] = normal(formula)
        return self._normal[formula]

    def node(self, formula: Formula) -> int:
        """The node of a formula in normal form."""
        if formula in self._number:
            return self._number[formula]
        alternatives = _alternatives(formula)
        is_all = formula is TRUE or formula.op is Op.AND
        number = self._number[formula] = self._add(_ALL if is_all else _ANY if alternatives else _FACT, formula)
        if is_all:
            self._children[number] = [self.node(part) for part in formula.children]
            return number
        others = [self.node(part) for part in alternatives]
        if alternatives and formula.op is Op.BELIEVES:
            others.insert(0, self._add(_FACT, formula))
        elif alternatives and formula.op is Op.NOT and formula.children[0].op is Op.BELIEVES:
            others.append(self._add(_FACT, formula))
        self._children[number] = others
        return number

    def _add(self, kind: int, formula: Formula) -> int:
        self.formulas.append(formula)
        self._kinds.append(kind)
        self._children.append([])
        return len(self.formulas) - 1

    def _adders_of(self, number: int) -> list[tuple[int, int]]:
        """The operators that add a fact and what each alternative requires, as nodes, in the order of ties."""
        fact = self.formulas[number]
        is_given = fact is FALSE or self._now.get(fact) == number
        if self._kinds[number] != _FACT or is_given or fact.depth > self._deepest:
            return []
        actions: dict[int, None] = {}
        for head in self._heads(fact):
            actions.update(self._adding.get(head, {}))
        return [entry for action in sorted(actions) for entry in self._adders_by(action, fact)]

    def _adders_by(self, action: int, fact: Formula) -> Iterator[tuple[int, int]]:
        model = self._models[action]
        designated = model.action.designated
        found = [list(model.adds(event, fact, {})) for event in designated]
        if len(designated) > 1:
            found.append(list(model.all_add(designated, fact, {})))
        for index, alternatives in enumerate(found):
            if not alternatives:
                continue
            key = (action, index)
            own = model.requirement(index)
            if key not in self._operators:
                self._operators[key] = len(self._op_action)
                self._op_action.append(action)
                self._op_requirement.append(self.node(own))
            for types, conditions in dict.fromkeys(
                (tuple(types.items()), conditions) for types, conditions in alternatives
            ):
                chosen = (model.type_condition(agent, kind) for agent, kind in types)
                reached = (condition.formula for condition in conditions if not condition.now)
                needed = and_(own, *map(self.normal, (*reached, *chosen)))
                if needed is not FALSE:
                    now = tuple(
                        dict.fromkeys(self.normal(condition.formula) for condition in conditions if condition.now)
                    )
                    yield self._operators[key], self._with(needed, now)

    def _with(self, needed: Formula, now: tuple[Formula, ...]) -> int:
        """The node of a conjunction and of what must hold now."""
        if not now:
            return self.node(needed)
        if (needed, now) not in self._held:
            for formula in now:
                if formula not in self._now:
                    self._now[formula] = self._add(_FACT, formula)
            children = [self.node(part) for part in _conjuncts(needed)]
            self._held[needed, now] = self._add(_ALL, needed)
            self._children[-1] = [*children, *(self._now[formula] for formula in now)]
        return self._held[needed, now]

    def _heads(self, formula: Formula) -> Iterator[Formula]:
        """Every formula whose guarantee may help to add a formula."""
        yield formula
        if formula.op is Op.NOT and formula.children[0].op is not Op.FLUENT:
            yield from self._heads(normal(not_(formula.children[0].children[0])))
        elif formula.op is not Op.NOT:
            for child in formula.children:
                yield from self._heads(child)

    def tables(self) -> dict[str, Any]:
        """The arguments of the core after the space."""
        pack = FormulaPacker(self._task.fluents, self._task.agents)
        formulas = [
            -1 if kind == _ALL else pack(formula) for kind, formula in zip(self._kinds, self.formulas, strict=True)
        ]
        child_ptr, child = _ragged(self._children)
        adder_ptr, adders = _ragged(self._adders)
        return {
            "formulas": pack.lists(),
            "kind": self._kinds,
            "formula": formulas,
            "child_ptr": child_ptr,
            "child": child,
            "adder_ptr": adder_ptr,
            "requirement": [requirement for _, requirement in adders],
            "op": [op for op, _ in adders],
            "action": self._op_action,
            "op_requirement": self._op_requirement,
            "goal": self._goal,
        }


def _ragged(rows: list[list[_T]]) -> tuple[list[int], list[_T]]:
    ptr, flat = [0], list[_T]()
    for row in rows:
        flat += row
        ptr.append(len(flat))
    return ptr, flat


class _Actions:
    """What the events of one action add."""

    def __init__(self, builder: _Builder, action: Action, agents: Iterable[str]) -> None:
        self._builder = builder
        self.action = action
        self._guarantees = [self._guaranteed_by(event) for event in action.events]
        self.guaranteed = {formula for guarantees in self._guarantees for formula in guarantees}
        self._types: dict[str, dict[str, list[Formula]]] = {}
        for agent, conditions in zip(agents, action.observability, strict=True):
            kinds = self._types[agent] = {}
            for condition, kind in conditions:
                kinds.setdefault(kind, []).append(condition)

    def needs(self) -> Iterator[Formula]:
        """What decides about the action: applicability, designated preconditions, conditions."""
        yield self.action.applicability
        yield from (self.action.events[number].precondition for number in self.action.designated)
        for event in self.action.events:
            yield from (effect.condition for effect in event.effects)
        for conditions in self.action.observability:
            yield from (condition for condition, _ in conditions)

    def requirement(self, index: int) -> Formula:
        """Of an operator, by its place among the action's; the last is that of all designated events together."""
        events = [self.action.events[event] for event in self.action.designated]
        before = events[index].precondition if index < len(events) else or_(*(event.precondition for event in events))
        return and_(self._builder.normal(self.action.applicability), self._builder.normal(before))

    def type_condition(self, agent: str, kind: str) -> Formula:
        """What gives an agent a type."""
        return or_(*self._types[agent][kind])

    def adds(self, event: int, formula: Formula, types: Types) -> Iterator[Alternative]:
        """The ways in which an event adds a formula, given the types of some agents."""
        for condition in self._guarantees[event].get(formula, ()):
            yield types, (() if condition is TRUE else (Condition(condition),))
        inner = formula.children[0] if formula.children else formula
        match formula.op:
            case Op.AND:
                yield from self._add_parts([(event, part) for part in formula.children], types)
            case Op.OR:
                for part in formula.children:
                    yield from self.adds(event, part, types)
            case Op.BELIEVES:
                (agent,) = formula.agents
                for chosen, kind in self._choices(agent, types):
                    considered = self.action.relations[kind][event]
                    if considered:
                        for then, conditions in self.all_add(sorted(considered), inner, chosen):
                            yield then, tuple(condition.below(formula.op, formula.agents) for condition in conditions)
            case Op.COMMON:
                yield from self._add_common(event, formula, inner, types)
            case Op.NOT if inner.op is Op.BELIEVES and formula in self._builder.negated_goals:
                yield from self._add_doubt(event, inner, types)

    def all_add(self, events: Iterable[int], formula: Formula, types: Types) -> Iterator[Alternative]:
        """The ways in which all of some events add a formula."""
        return self._add_parts([(event, formula) for event in events], types)

    def _add_parts(self, parts: list[tuple[int, Formula]], types: Types) -> Iterator[Alternative]:
        if not parts:
            yield types, ()
            return
        (event, formula), *rest = parts
        for chosen, conditions in self.adds(event, formula, types):
            for then, others in self._add_parts(rest, chosen):
                yield then, (*conditions, *others)

    def _add_common(self, event: int, formula: Formula, inner: Formula, types: Types) -> Iterator[Alternative]:
        free = [agent for agent in formula.agents if agent not in types]
        for kinds in product(*(self._types[agent] for agent in free)):
            chosen = {**types, **dict(zip(free, kinds, strict=True))}
            reached = self._reached(event, {chosen[agent] for agent in formula.agents})
            if reached:
                for then, conditions in self.all_add(sorted(reached), inner, chosen):
                    yield then, tuple(condition.below(formula.op, formula.agents) for condition in conditions)

    def _add_doubt(self, event: int, belief: Formula, types: Types) -> Iterator[Alternative]:
        (agent,) = belief.agents
        opposite = normal(belief.children[0], True)
        for chosen, kind in self._choices(agent, types):
            for possible in sorted(self.action.relations[kind][event]):
                precondition = self.action.events[possible].precondition
                for then, conditions in self.adds(possible, opposite, chosen):
                    others = (condition.below(belief.op, belief.agents) for condition in conditions)
                    yield then, (Condition(considers_possible(agent, precondition), now=True), *others)

    def _choices(self, agent: str, types: Types) -> Iterator[tuple[Types, str]]:
        if agent in types:
            yield types, types[agent]
        else:
            yield from (({**types, agent: kind}, kind) for kind in self._types[agent])

    def _reached(self, event: int, kinds: set[str]) -> set[int]:
        """The events that one or more steps of types lead to."""
        reached: set[int] = set()
        border = {event}
        while border:
            border = {target for kind in kinds for at in border for target in self.action.relations[kind][at]} - reached
            reached |= border
        return reached

    def _guaranteed_by(self, event: Event) -> dict[Formula, list[Formula]]:
        """What an event makes or leaves true, each with the conditions under which it does."""
        found: dict[Formula, list[Formula]] = {}

        def add(formula: Formula, condition: Formula) -> None:
            if condition not in found.setdefault(formula, []):
                found[formula].append(condition)
            if formula.op is Op.BELIEVES:
                for part in _conjuncts(formula.children[0]):
                    add(part, condition)

        touched = {effect.fluent for effect in event.effects}
        for effect in event.effects:
            added = (other.condition for other in event.effects if other.fluent == effect.fluent and other.value)
            literal = Formula(Op.FLUENT, effect.fluent)
            add(
                literal if effect.value else not_(literal),
                and_(effect.condition, *map(not_, () if effect.value else added)),
            )
        # With `actually`, which says that a condition is the same for whoever is told.
        for part in () if event.precondition is TRUE else _conjuncts(event.precondition.negation_normal_form()):
            if part.op is Op.OR:
                for alternative in part.children:
                    others = and_(*(not_(other) for other in part.children if other is not alternative))
                    for piece in _conjuncts(alternative):
                        if piece.unnegated.op is Op.FLUENT and not piece.fluents() & touched:
                            add(piece, others)
                continue
            if part.unnegated.op is not Op.ACTUALLY:
                for piece in _conjuncts(self._builder.normal(part)):
                    if piece is not TRUE and not (piece.unnegated.op is Op.FLUENT and piece.fluents() & touched):
                        add(piece, TRUE)
        return found
