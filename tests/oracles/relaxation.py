"""The relaxation over belief literals in plain Python, written to be read; it shares nothing with the core.

A *fact* is a formula that is no conjunction: a literal, a chain of beliefs over one, what is common belief, … A
disjunction is a fact only if it speaks of beliefs and some action has several designated events. An *operator* is an
action with one of its designated events, or with all of them. It adds facts, takes none away, costs 1, and asks for a
formula. What it adds and under which conditions is read off the event model by `Relaxation.supporters`; what a formula
costs in an e-state is defined by `Relaxation.options` and `Guidance.cost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from math import inf

from epigym.reference.semantics import Evaluation
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    actually,
    and_,
    believes,
    common,
    conjuncts,
    considers_possible,
    literal,
    not_,
    or_,
)
from epigym.task.task import Action, EState, Event, Task

BELIEFS = (Op.BELIEVES, Op.COMMON)


def normal_form(formula: Formula) -> Formula:
    """Negations pushed inwards, beliefs distributed over conjunction, E as conjunction of B, and no `actually` left."""
    return _normal(_normal(formula, read=False), read=True)


def _normal(formula: Formula, positive: bool = True, *, read: bool) -> Formula:
    """`formula` or its negation in normal form; with `read`, `actually φ` is read as φ, else it is kept."""
    match formula.op:
        case Op.NOT:
            return _normal(formula.children[0], not positive, read=read)
        case Op.AND | Op.OR:
            parts = [_normal(child, positive, read=read) for child in formula.children]
            return and_(*parts) if (formula.op is Op.AND) is positive else or_(*parts)
        case Op.BELIEVES | Op.EVERYBODY | Op.COMMON:
            inside = conjuncts(_normal(formula.children[0], read=read))
            parts = conjuncts(and_(*(_distribute_belief(formula, part) for part in inside)))
            return and_(*parts) if positive else or_(*map(not_, parts))
        case Op.ACTUALLY:
            inner = formula.children[0]
            if read:
                return _normal(inner, positive, read=True)
            kept = actually(_normal(inner, read=False))
            return kept if positive else not_(kept)
        case _:
            return formula if positive else not_(formula)


def _distribute_belief(box: Formula, part: Formula) -> Formula:
    """The belief `box` in `part` instead; what is actually so does not depend on who believes it."""
    if part.unnegated.op is Op.ACTUALLY:
        return part
    return common(box.agents, part) if box.op is Op.COMMON else and_(*(believes(agent, part) for agent in box.agents))


def alternatives(formula: Formula) -> list[Formula]:
    """Formulas in normal form of which each suffices for `formula`, apart from the formula itself."""
    inner = formula.unnegated
    match formula.op:
        case Op.OR:
            return list(formula.children)
        case Op.BELIEVES:
            return [normal_form(believes(formula.agents[0], other)) for other in alternatives(formula.children[0])]
        case Op.NOT if inner.op is Op.BELIEVES:
            return [normal_form(believes(inner.agents[0], not_(inner.children[0])))]
        case Op.NOT if inner.op is Op.COMMON:
            return [not_(belief) for belief in _each_believes(inner)]
        case _:
            return []


def _each_believes(group: Formula) -> list[Formula]:
    return [believes(agent, group.children[0]) for agent in group.agents]


def guarantees(event: Event) -> list[tuple[Formula, Formula]]:
    """What holds after the event: pairs of a formula in normal form and a condition, which may say `actually`."""
    found: list[tuple[Formula, Formula]] = []
    for effect in event.effects:
        undoing = [other.condition for other in event.effects if other.fluent == effect.fluent and other.value]
        kept = () if effect.value else tuple(map(not_, undoing))
        found.append((literal(effect.fluent, effect.value), and_(effect.condition, *kept)))
    touched = {effect.fluent for effect in event.effects}

    def remains(part: Formula) -> bool:
        return part.unnegated.op is Op.FLUENT and part.unnegated.name not in touched

    known = conjuncts(_normal(event.precondition, read=False))
    found += [(part, TRUE) for part in known if remains(part)]
    for part in known:
        if part.unnegated.op in BELIEFS:
            found += [(belief, TRUE) for belief in conjuncts(normal_form(part))]
    for disjunction in known:
        if disjunction.op is Op.OR:
            for part in disjunction.children:
                others = and_(*(not_(other) for other in disjunction.children if other is not part))
                found += [(piece, others) for piece in conjuncts(part) if remains(piece)]
    for formula, condition in list(found):
        while formula.op is Op.BELIEVES:
            formula = formula.children[0]
            found.append((formula, condition))
    return found


@dataclass(frozen=True, slots=True)
class Operator:
    """An action with one designated event, or with all of them; `requirement` in normal form."""

    action: int
    events: tuple[int, ...]
    requirement: Formula


@dataclass(frozen=True, slots=True)
class Way:
    """Under which conditions something is added: `needs` can be brought about, `possible` must hold already."""

    needs: Formula = TRUE
    possible: frozenset[Formula] = frozenset()


@dataclass(frozen=True, slots=True)
class Supporter:
    """An operator that adds a fact; `requirement` joins that of the operator and what the way needs."""

    operator: Operator
    requirement: Formula
    possible: frozenset[Formula]


def all_of(choices: Iterable[Sequence[Way]]) -> list[Way]:
    """Every way to take one of each, the last varying first."""
    return [
        Way(and_(*(way.needs for way in ways)), frozenset[Formula]().union(*(way.possible for way in ways)))
        for ways in product(*choices)
    ]


class Relaxation:
    """The facts, operators and requirements of a task, and what they say about its e-states."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.goal = tuple(_distinct(map(normal_form, task.goal)))
        self.operators = [operator for index in range(len(task.actions)) for operator in self._operators(index)]
        self._is_sensed = any(len(action.designated) > 1 for action in task.actions)
        self._deepest = max((formula.depth for formula in _formulas(task)), default=0)
        self._doubts = {
            node
            for subgoal in self.goal
            for node in subgoal.subformulas()
            if node.op is Op.NOT and node.children[0].op is Op.BELIEVES
        }
        self._guarantees = cache(guarantees)
        self.supporters = cache(self._supporters)
        self.at = lru_cache(maxsize=16)(self._at)
        self.facts = self._relevant()

    def h_add(self, estate: EState) -> float:
        """The sum of the subgoals' costs."""
        return self.at(estate).h_add

    def h_ff(self, estate: EState) -> float:
        """The number of distinct actions in the relaxed plan."""
        return inf if self.h_add(estate) == inf else len(self.relaxed_plan(estate))

    def relaxed_plan(self, estate: EState) -> set[int]:
        """The actions of the relaxed plan; none where there is no such plan."""
        return {supporter.operator.action for supporter in self.at(estate).plan.values()}

    def list_preferred(self, estate: EState) -> set[int]:
        """The actions of the relaxed plan that have an operator there whose requirement costs nothing."""
        guidance = self.at(estate)
        operators = [supporter.operator for supporter in guidance.plan.values()]
        return {operator.action for operator in operators if guidance.cost(operator.requirement) == 0}

    def added(self, estate: EState) -> set[Formula]:
        """The facts for which the relaxed plan has a supporter."""
        return set(self.at(estate).plan)

    def options(self, formula: Formula) -> list[Formula]:
        """What makes a formula true that is no conjunction: the formula itself (as a fact) or another formula."""
        others = alternatives(formula)
        if formula.op is Op.BELIEVES:
            return [formula, *others]
        if formula.op in (Op.FLUENT, Op.COMMON):
            return [formula]
        is_denial = formula.op is Op.NOT and formula.children[0].op in (Op.FLUENT, Op.BELIEVES)
        is_sensed = self._is_sensed and formula.op is Op.OR and formula.depth > 0
        return [*others, formula] if is_denial or is_sensed else others

    def facts_below(self, formula: Formula) -> Iterator[Formula]:
        """The facts that the cost of a formula may depend on."""
        for part in conjuncts(formula):
            for option in self.options(part):
                if option is part:
                    yield part
                else:
                    yield from self.facts_below(option)

    def _at(self, estate: EState) -> Guidance:
        return Guidance(self, estate)

    def _operators(self, index: int) -> Iterator[Operator]:
        action = self.task.actions[index]
        choices: list[tuple[int, ...]] = [(event,) for event in action.designated]
        if len(action.designated) > 1:
            choices.append(action.designated)
        for events in choices:
            happens = [conjuncts(normal_form(action.events[event].precondition)) for event in events]
            always = [part for part in happens[0] if all(part in parts for parts in happens)]
            rests = or_(*(and_(*(part for part in parts if part not in always)) for parts in happens))
            yield Operator(index, events, and_(normal_form(action.applicability), *always, rests))

    def _relevant(self) -> dict[Formula, None]:
        """The facts that the subgoals may depend on."""
        found: dict[Formula, None] = {}
        formulas = list(self.goal)
        while formulas:
            for fact in self.facts_below(formulas.pop()):
                if fact not in found:
                    found[fact] = None
                    formulas += [supporter.requirement for supporter in self.supporters(fact)]
        return found

    def _supporters(self, fact: Formula) -> list[Supporter]:
        """Everything that adds `fact`, in the order that decides between equally cheap ones."""
        if fact.depth > self._deepest + 1:
            return []
        found: dict[Supporter, None] = {}
        for operator in self.operators:
            if fact.op is Op.OR and len(operator.events) == 1:
                continue  # it would add a part of the disjunction
            action = self.task.actions[operator.action]
            for types in self._types(action, fact):
                for way in all_of([self._ways(action, event, fact, types) for event in operator.events]):
                    requirement = and_(operator.requirement, way.needs)
                    found[Supporter(operator, requirement, way.possible)] = None
        return [supporter for supporter in found if supporter.requirement is not FALSE]

    def _types(self, action: Action, formula: Formula) -> Iterator[dict[str, str]]:
        """Every choice of one observability type for each agent of the formula, the last agent varying first."""
        agents = list(dict.fromkeys(_agents(formula)))
        kinds = [dict.fromkeys(kind for _, kind in self._observability(action, agent)) for agent in agents]
        for chosen in product(*kinds):
            yield dict(zip(agents, chosen, strict=True))

    def _observability(self, action: Action, agent: str) -> tuple[tuple[Formula, str], ...]:
        return action.observability[self.task.agents.index(agent)]

    def _observes(self, action: Action, agent: str, kind: str) -> Way:
        """What the agent needs to be of the type; that no earlier condition holds is left out."""
        conditions = [condition for condition, given in self._observability(action, agent) if given == kind]
        return Way(normal_form(or_(*conditions)))

    def _ways(
        self, action: Action, event: int, formula: Formula, types: Mapping[str, str], above: tuple[Formula, ...] = ()
    ) -> list[Way]:
        """How `event` adds `formula` below the beliefs `above`, outermost first, of which only the agents count."""
        known = self._guarantees(action.events[event])
        found = [Way(_below(above, condition)) for guaranteed, condition in known if guaranteed is formula]

        def ways(part: Formula) -> list[Way]:
            return self._ways(action, event, part, types, above)

        inner = formula.unnegated
        match formula.op:
            case Op.TRUE:
                found.append(Way())
            case Op.AND:
                found += all_of(map(ways, formula.children))
            case Op.OR:
                found += [way for part in formula.children for way in ways(part)]
            case Op.BELIEVES | Op.COMMON:
                observed = [[self._observes(action, agent, types[agent])] for agent in formula.agents]
                if reached := _reach_events(action, event, formula, types):
                    below = (*above, formula)
                    added = [self._ways(action, after, formula.children[0], types, below) for after in reached]
                    found += all_of([*observed, *added])
            case Op.NOT if inner.op is Op.COMMON:
                found += [way for belief in _each_believes(inner) for way in ways(not_(belief))]
            case Op.NOT if inner.op is Op.BELIEVES and formula in self._doubts:
                [agent] = inner.agents
                observed = [[self._observes(action, agent, types[agent])]]
                denied = normal_form(not_(inner.children[0]))
                for after in _reach_events(action, event, inner, types):
                    happens = considers_possible(agent, action.events[after].precondition)
                    possible = [Way(possible=frozenset({_below(above, happens)}))]
                    denials = self._ways(action, after, denied, types, (*above, inner))
                    found += all_of([*observed, possible, denials])
        return list(dict.fromkeys(found))


def _distinct(subgoals: Iterable[Formula]) -> Iterator[Formula]:
    """The first of all subgoals in normal form that are conjunctions of the same formulas, in any order."""
    seen: set[frozenset[Formula]] = set()
    for subgoal in subgoals:
        parts = frozenset(conjuncts(subgoal))
        if parts not in seen:
            yield subgoal
        seen.add(parts)


def _reach_events(action: Action, event: int, belief: Formula, types: Mapping[str, str]) -> list[int]:
    """The events that the agents of a belief consider possible, for common belief in one or more steps."""
    relations = [action.relations[types[agent]] for agent in belief.agents]
    found: set[int] = set()
    new = {event}
    while new:
        new = {after for before in new for relation in relations for after in relation[before]} - found
        found |= new
        if belief.op is Op.BELIEVES:
            break
    return sorted(found)


def _below(above: tuple[Formula, ...], condition: Formula) -> Formula:
    """The condition as the agents of the beliefs `above` must hold it, in normal form."""
    for box in reversed(above):
        condition = common(box.agents, condition) if box.op is Op.COMMON else believes(box.agents[0], condition)
    return normal_form(condition)


def _agents(formula: Formula) -> Iterator[str]:
    yield from formula.agents
    for child in formula.children:
        yield from _agents(child)


def _formulas(task: Task) -> Iterator[Formula]:
    """The formulas whose depth bounds that of the facts that operators add."""
    yield from task.goal
    for action in task.actions:
        yield action.applicability
        yield from (action.events[event].precondition for event in action.designated)
        yield from (effect.condition for event in action.events for effect in event.effects)
        yield from (condition for conditions in action.observability for condition, _ in conditions)


class Guidance:
    """The costs of facts and formulas in one e-state, and the relaxed plan.

    Attributes:
        h_add: the sum of the subgoals' costs.
        unreached: number of subgoals whose cost is ∞.
        reaching: the supporters of the relaxed plan for the other subgoals, by the fact that each is there for.
        plan: the same where there are no others; empty when `h_add` is ∞.
    """

    def __init__(self, relaxation: Relaxation, estate: EState) -> None:
        self._relaxation = relaxation
        self._holds = Evaluation(relaxation.task.agents, estate).holds
        self._costs: dict[Formula, float] = {}
        self._added = self._fixpoint()
        self.h_add = sum(map(self.cost, relaxation.goal))
        self.unreached = [self.cost(subgoal) for subgoal in relaxation.goal].count(inf)
        self.reaching: dict[Formula, Supporter] = {}
        for subgoal in relaxation.goal:
            if self.cost(subgoal) < inf:
                self._need(subgoal)
        self.plan = self.reaching if self.h_add < inf else {}

    def cost(self, formula: Formula) -> float:
        """The cost of a formula, given those of the facts."""
        if formula not in self._costs:
            self._costs[formula] = self._cost(formula)
        return self._costs[formula]

    def _cost(self, formula: Formula) -> float:
        if self._holds(formula):
            return 0
        if formula.op is Op.AND:
            return sum(map(self.cost, conjuncts(formula)))
        return min((self._option(formula, option) for option in self._relaxation.options(formula)), default=inf)

    def _option(self, formula: Formula, option: Formula) -> float:
        return self._added.get(formula, inf) if option is formula else self.cost(option)

    def _support(self, supporter: Supporter) -> float:
        return 1 + self.cost(supporter.requirement) if all(map(self._holds, supporter.possible)) else inf

    def _fixpoint(self) -> dict[Formula, float]:
        """The costs of the facts that do not hold, lowered until they support each other."""
        self._added = {fact: inf for fact in self._relaxation.facts if not self._holds(fact)}
        while True:
            self._costs.clear()
            lowered = {
                fact: min(map(self._support, self._relaxation.supporters(fact)), default=inf) for fact in self._added
            }
            if lowered == self._added:
                return lowered
            self._added = lowered

    def _need(self, formula: Formula) -> None:
        """Put into the plan what makes `formula` true most cheaply, the first of several."""
        if self._holds(formula):
            return
        if formula.op is Op.AND:
            for part in conjuncts(formula):
                self._need(part)
            return
        best = min(self._relaxation.options(formula), key=lambda option: self._option(formula, option))
        if best is not formula:
            self._need(best)
        elif formula not in self.reaching:
            supporter = min(self._relaxation.supporters(formula), key=self._support)
            self.reaching[formula] = supporter
            self._need(supporter.requirement)
