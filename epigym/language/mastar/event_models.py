"""Actions of mA*: descriptions in words of the language, and their event models.

Three readings of the language are in use (Baral, Gelfond, Pontelli and Son, "An action language for multi-agent
domains", 2022; the EFP planners). They differ in whether observers learn that the action was executable, and in
the effect of false announcements. An action that determines several literals has two readings: observers learn whether
all of them hold, or whether each one holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from epigym.language.reading import Reading
from epigym.task.formula import TRUE, Formula, actually, and_, implies, literal, not_, or_
from epigym.task.task import Action, Effect, Event

Relations = Mapping[str, tuple[frozenset[int], ...]]
MAX_SENSED = 5
"""Most fluents that an action may sense one by one: a state space takes 64 events."""


def make_sensing_relations(count: int) -> Relations:
    """The relations of sensing: full observers distinguish all of `count` events, and `epsilon` is the last event."""
    sensed, epsilon = frozenset(range(count)), frozenset({count})
    return {
        "full": (*(frozenset({event}) for event in range(count)), epsilon),
        "partial": (*(sensed,) * count, epsilon),
        "oblivious": (epsilon,) * (count + 1),
    }


SENSING_RELATIONS = make_sensing_relations(2)
ONTIC_RELATIONS: Relations = {"full": (frozenset({0}), frozenset({1})), "oblivious": (frozenset({1}), frozenset({1}))}


@dataclass(frozen=True, slots=True)
class ActionDescription:
    """A ground action in words of mA*.

    Attributes:
        name: of the action.
        verb: `causes`, `determines` or `announces`; empty if the action has no effects in the text.
        executable: the condition under which it can be executed.
        effects: the literals after the verb, each with its condition.
        observers: by agent, the condition for observing the action; other agents never do.
        aware: by agent, the condition for being aware of it.
    """

    name: str
    verb: str
    executable: Formula
    effects: tuple[Effect, ...]
    observers: Mapping[str, Formula]
    aware: Mapping[str, Formula]

    def formulas(self) -> Iterator[Formula]:
        """All conditions."""
        yield self.executable
        yield from (effect.condition for effect in self.effects)
        yield from (*self.observers.values(), *self.aware.values())

    def build_action(self, agents: Sequence[str], reading: Reading) -> Action:
        """Build the ground action under a reading of the language; `agents` are in the task's order."""
        learned = self.executable if reading.semantics == "update_model" else TRUE
        if self.verb in ("", "causes"):
            return Action(
                name=self.name,
                applicability=self.executable,
                events=(Event("sigma", learned, self.effects), Event("epsilon")),
                designated=(0,),
                relations=ONTIC_RELATIONS,
                observability=tuple(_truncate((self.observers.get(agent), "full")) for agent in agents),
            )
        told = self._group_told(one_by_one=self.verb == "determines" and reading.determines == "literals")
        results = list(product((True, False), repeat=len(told)))
        truthful = self.verb == "announces" and reading.semantics != "efp"
        return Action(
            name=self.name,
            applicability=self.executable,
            events=(*(_make_event(learned, told, result) for result in results), Event("epsilon")),
            designated=(0,) if truthful else tuple(range(len(results))),
            relations=SENSING_RELATIONS if len(told) == 1 else make_sensing_relations(len(results)),
            observability=tuple(
                _truncate((self.observers.get(agent), "full"), (self.aware.get(agent), "partial")) for agent in agents
            ),
        )

    def _group_told(self, *, one_by_one: bool) -> list[Formula]:
        """The formulas whose truth full observers learn: one for each fluent, or the conjunction of all literals."""
        fluents = dict.fromkeys(effect.fluent for effect in self.effects)
        if not one_by_one or not fluents:
            return [and_(*(implies(actually(e.condition), literal(e.fluent, e.value)) for e in self.effects))]
        found: list[Formula] = []
        for name in fluents:
            effects = [effect for effect in self.effects if effect.fluent == name]
            condition = or_(*(effect.condition for effect in effects))
            found.append(implies(actually(condition), literal(name, effects[0].value)))
        return found


def is_ambiguous(verb: str, effects: Iterable[Effect]) -> bool:
    """Whether an action determines several literals, of which there are two readings."""
    return verb == "determines" and len({(effect.fluent, effect.value) for effect in effects}) > 1


def _make_event(learned: Formula, told: Sequence[Formula], result: Sequence[bool]) -> Event:
    """The event in which these formulas are true or false."""
    names = ("sigma" if truth else "tau" for truth in result)
    parts = (formula if truth else not_(formula) for formula, truth in zip(told, result, strict=True))
    return Event("_".join(names), and_(learned, *parts))


def _truncate(*stated: tuple[Formula | None, str]) -> tuple[tuple[Formula, str], ...]:
    """The observability conditions of an agent, up to the first unconditional one."""
    types = [(condition, kind) for condition, kind in stated if condition is not None]
    types.append((TRUE, "oblivious"))
    last = next(index for index, (condition, _) in enumerate(types) if condition is TRUE)
    return tuple(types[: last + 1])
