"""Finds descriptions of ground actions in mA*, and compares actions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, permutations, product
from typing import NamedTuple, TypeAlias

from epigym.errors import TaskError
from epigym.language.ground_json import Chain, compute_values, make_exclusive
from epigym.language.mastar.event_models import (
    MAX_SENSED,
    ONTIC_RELATIONS,
    SENSING_RELATIONS,
    ActionDescription,
    Relations,
    make_sensing_relations,
)
from epigym.language.reading import Reading
from epigym.task.formula import FALSE, TRUE, Formula, FormulaNumbers, Op, and_, conjuncts, fluent, not_, or_
from epigym.task.task import Action, Effect

_MOST_EVENTS = len(SENSING_RELATIONS["full"])
_SIGMA, _TAU = 0, 1
Relation: TypeAlias = frozenset[tuple[int, int]]


class RoleAssignment(NamedTuple):
    """An assignment of the roles of mA* to the events of an action.

    Attributes:
        ontic: whether the action is ontic, rather than sensing or an announcement.
        events: the event of each role.
        kinds: for each agent the conditions of full, partial and no observation, to be tested in this order.
    """

    ontic: bool
    events: Mapping[int, int]
    kinds: list[dict[str, Formula]]


@dataclass(slots=True)
class Recogniser:
    """Finds descriptions in mA* for the actions of a task.

    Attributes:
        agents: names, in the task's order.
        name: a fluent that expresses constants.
    """

    agents: tuple[str, ...]
    name: str
    _number: FormulaNumbers = field(default_factory=lambda: FormulaNumbers({}, {}, {}))

    def describe(self, action: Action, reading: Reading) -> ActionDescription:
        """Find a description that means the action under a reading of the language.

        Raises:
            TaskError: if there is none, with the reason.
        """
        reached = _find_reachable_events(action)
        if len(reached) > _MOST_EVENTS and reading.determines != "literals":
            raise TaskError(f"it has {len(reached)} events, actions of mA* have at most {_MOST_EVENTS}")
        propose = self._propose if len(reached) <= _MOST_EVENTS else self._propose_literals
        inexpressible = ""
        reason = "its relations are not those of an ontic, sensing or announcement action"
        for assignment in _list_assignments(action, reached):
            for found in propose(action, assignment, reading):
                if found.verb != "causes" and not found.effects:
                    continue  # the text would not mention the verb
                if self.matches(found.build_action(self.agents, reading), action):
                    missing = [formula for formula in found.formulas() if has_actually(formula)]
                    if not missing:
                        return found
                    inexpressible = f"it has no counterpart of {missing[0]}"
            reason = "mA* cannot express its effects, or the formula that observers learn, by literals"
        raise TaskError(inexpressible or reason)

    def _propose(self, action: Action, assignment: RoleAssignment, reading: Reading) -> Iterator[ActionDescription]:
        """Candidate descriptions of an action under an assignment of roles."""
        learns_executable = reading.semantics == "update_model"
        sigma, verbs = action.events[assignment.events[_SIGMA]], ["causes"]
        learned = conjuncts(sigma.precondition.negation_normal_form())
        given, contents = learned, [list(sigma.effects)]
        if not assignment.ontic:
            verbs = ["announces"] if len(action.designated) == 1 else ["determines"]
            verbs += ["announces"] if reading.semantics == "efp" else []
            known = self.parts(action.applicability)
            if _TAU in assignment.events:
                known |= self.parts(action.events[assignment.events[_TAU]].precondition)
            given = tuple(part for part in learned if self.parts(part) <= known)
            told = {part: _extract_effect(part) for part in learned}
            # An announced literal may also be a condition: an agent announces tails only if it believes tails.
            contents = [list(told.values())]
            if learns_executable:
                contents.append([effect for part, effect in told.items() if part not in given])
                contents.append([effect for part, effect in told.items() if part not in given or effect.fluent])
        for verb, content in product(verbs, contents):
            yield self._make_description(action, assignment, verb, content, given if learns_executable else ())

    def _propose_literals(
        self, action: Action, assignment: RoleAssignment, reading: Reading
    ) -> Iterator[ActionDescription]:
        """Candidate descriptions of an action that senses several literals one by one."""
        required = {event: self.parts(action.events[event].precondition) for event in action.designated}
        sigma = action.events[min(required, key=lambda event: len(required[event]))]  # a literal is false in all others
        learned = conjuncts(sigma.precondition.negation_normal_form())
        count = len(required).bit_length() - 1
        sensed = [part for part in learned if any(self.parts(not_(part)) <= parts for parts in required.values())]
        common = frozenset.intersection(*required.values())
        certain = [part for part in sensed if not self.parts(part) <= common]
        others = [part for part in sensed if part not in certain]  # conditions, some of which may be sensed, too
        for added in combinations(others, count - len(certain)) if len(certain) <= count else ():
            content = [_extract_effect(part) for part in (*certain, *added)]
            given = [part for part in learned if reading.semantics == "update_model" and part not in certain]
            yield self._make_description(action, assignment, "determines", content, given)

    def _make_description(
        self, action: Action, assignment: RoleAssignment, verb: str, content: Iterable[Effect], given: Iterable[Formula]
    ) -> ActionDescription:
        """The description with these effects; `given` are formulas that observers learn about its executability."""
        needed = self.parts(action.applicability)
        added = [part for part in given if not self.parts(part) <= needed]
        return ActionDescription(
            name=action.name,
            verb=verb,
            executable=and_(action.applicability, *added),
            effects=tuple(effect for effect in content if effect.condition is not FALSE),
            observers=_collect_conditions(self.agents, assignment.kinds, "full"),
            aware=_collect_conditions(self.agents, assignment.kinds, "partial"),
        )

    def matches(self, first: Action, second: Action) -> bool:
        """Whether two actions are equal up to names of events and types, and unreachable events.

        Formulas are compared in negation normal form, up to the order of conjunctions and disjunctions.
        """
        mine, others = self._sort_events(first), self._sort_events(second)
        if [*mine] != [*others] or first.name != second.name:
            return False
        if any(len(mine[key]) != len(others[key]) for key in mine):
            return False
        meaning = self._summarise(first, [*chain(*mine.values())])
        orders = product(*map(permutations, others.values()))
        return any(meaning == self._summarise(second, [*chain(*order)]) for order in orders)

    def _sort_events(self, action: Action) -> dict[tuple[int, ...], list[int]]:
        """The reachable events by the parts of their preconditions, sorted by these."""
        found: dict[tuple[int, ...], list[int]] = {}
        for event in _find_reachable_events(action):
            parts = sorted(self.parts(action.events[event].precondition))
            found.setdefault(tuple(parts), []).append(event)
        return dict(sorted(found.items()))

    def parts(self, formula: Formula) -> frozenset[int]:
        """Numbers of the parts of a conjunction; formulas that differ only in order have equal numbers."""
        spelled = formula.without_constants(self.name).negation_normal_form()
        return frozenset(map(self._number, conjuncts(spelled)))

    def _summarise(self, action: Action, events: Sequence[int]) -> Hashable:
        """The content of an action, with events numbered in the order of `events`."""
        place = {event: index for index, event in enumerate(events)}
        preconditions = [self.parts(action.events[event].precondition) for event in events]
        needed = frozenset.intersection(*(preconditions[place[event]] for event in action.designated))
        changes = [
            frozenset(
                (name, self.parts(value))
                for name, value in compute_values(action.events[event]).items()
                if value is not fluent(name)
            )
            for event in events
        ]
        observability = [self._summarise_chain(_relate_types(chain, action, place)) for chain in action.observability]
        return (
            self.parts(action.applicability) | needed,
            tuple(preconditions),
            tuple(changes),
            frozenset(place[event] for event in action.designated),
            tuple(observability),
        )

    def _summarise_chain(self, chain: Chain[Relation]) -> Hashable:
        """The condition of each relation of an agent; None for the last one, which the others determine."""
        conditions = make_exclusive(chain)
        last = max(conditions, key=sorted)
        return frozenset((row, None if row == last else self.parts(held)) for row, held in conditions.items())


def has_actually(formula: Formula) -> bool:
    """Whether a formula contains `actually`, which mA* cannot express."""
    return any(node.op is Op.ACTUALLY for node in formula.subformulas())


def _find_reachable_events(action: Action) -> list[int]:
    """The designated events, then breadth first the events that an agent may consider possible."""
    kinds = {kind for chain in action.observability for condition, kind in _list_deciding(chain)}
    found = dict.fromkeys(action.designated)
    waiting = list(found)
    while waiting:
        event = waiting.pop(0)
        for target in sorted(frozenset[int]().union(*(action.relations[kind][event] for kind in kinds))):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return list(found)


def _list_deciding(chain: Chain[str]) -> Iterator[tuple[Formula, str]]:
    """The conditions of a chain that may apply."""
    for condition, kind in chain:
        if condition is not FALSE:
            yield condition, kind
        if condition is TRUE:
            return


def _relate_types(chain: Chain[str], action: Action, place: Mapping[int, int]) -> Chain[Relation]:
    """Replace the types of a chain by relations on places of events, and merge neighbours with equal relations."""
    found: list[tuple[Formula, Relation]] = []
    for condition, kind in _list_deciding(chain):
        relation = frozenset(
            (index, place[target]) for event, index in place.items() for target in action.relations[kind][event]
        )
        before = found.pop()[0] if found and found[-1][1] == relation else FALSE
        found.append((or_(before, condition), relation))
    return tuple(found)


def _list_roles(action: Action, reached: Sequence[int]) -> Iterator[tuple[Relations, tuple[int, ...]]]:
    """The relations that an action of mA* may have, each with the roles in which the reached events are tried."""
    count = len(action.designated)
    if len(reached) <= _MOST_EVENTS:
        for relations in (ONTIC_RELATIONS, SENSING_RELATIONS):
            for roles in permutations(range(len(relations["full"])), len(reached)):
                yield relations, roles
    elif len(reached) <= count + 1 <= 2**MAX_SENSED + 1:  # one by one, the designated events first
        yield make_sensing_relations(count), tuple(range(len(reached)))


def _list_assignments(action: Action, reached: Sequence[int]) -> Iterator[RoleAssignment]:
    """List the assignments of roles under which the relations of all agents occur in mA*."""
    for relations, chosen in _list_roles(action, reached):
        place = dict(zip(reached, chosen, strict=True))
        kinds = {
            frozenset((role, target) for role in chosen for target in rows[role]): kind
            for kind, rows in relations.items()
        }
        chains = [_relate_types(chain, action, place) for chain in action.observability]
        if _SIGMA in chosen and all(row in kinds for chain in chains for _, row in chain):
            events = dict(zip(chosen, reached, strict=True))
            sorted_kinds = [_sort_kinds(chain, kinds) for chain in chains]
            yield RoleAssignment(relations is ONTIC_RELATIONS, events, sorted_kinds)


def _sort_kinds(chain: Chain[Relation], kinds: Mapping[Relation, str]) -> dict[str, Formula]:
    """The conditions of an agent's kinds of observation: full, partial, none."""
    order = [list(SENSING_RELATIONS).index(kinds[row]) for _, row in chain]
    pairs = chain if order == sorted(order) else tuple((held, row) for row, held in make_exclusive(chain).items())
    return {kinds[row]: condition for condition, row in pairs}


def _collect_conditions(agents: Sequence[str], kinds: Sequence[Mapping[str, Formula]], kind: str) -> dict[str, Formula]:
    """By agent, the condition of one kind of observation, for agents with this kind."""
    return {agent: found[kind] for agent, found in zip(agents, kinds, strict=True) if kind in found}


def _extract_effect(part: Formula) -> Effect:
    """The literal of a formula with its condition. Other formulas yield an effect without a fluent."""
    conditional = part.op is Op.OR and len(part.children) == 2 and part.children[0].unnegated.op is Op.ACTUALLY
    told = part.children[1] if conditional else part
    condition = part.children[0].unnegated.children[0] if conditional else TRUE
    return Effect(told.unnegated.name, told is told.unnegated, condition)
