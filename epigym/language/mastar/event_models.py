"""What an action of mA* is: its description in words of the language, and the event model that this means.

Three readings of the language are in use (Baral, Gelfond, Pontelli and Son, "An action language for multi-agent
domains", 2022; the EFP planners): they differ in whether executability is part of what observers learn, and in
what a false announcement does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from epigym.language import Semantics
from epigym.task.formula import TRUE, Formula, actually, and_, implies, literal, not_
from epigym.task.task import Action, Effect, Event

SIGMA, TAU, EPSILON = frozenset({0}), frozenset({1}), frozenset({2})
SENSING_RELATIONS = {
    "full": (SIGMA, TAU, EPSILON),
    "partial": (SIGMA | TAU, SIGMA | TAU, EPSILON),
    "oblivious": (EPSILON, EPSILON, EPSILON),
}
ONTIC_RELATIONS = {"full": (frozenset({0}), frozenset({1})), "oblivious": (frozenset({1}), frozenset({1}))}


@dataclass(frozen=True, slots=True)
class Description:
    """A ground action in words of mA*.

    Attributes:
        name: of the action.
        verb: `causes`, `determines` or `announces`; empty when the text does not say what the action does.
        executable: when it can be executed.
        effects: the literals that follow the verb, each with its condition.
        observers: for agents the condition under which they observe the action; others never do.
        aware: for agents the condition under which they are aware of it.
    """

    name: str
    verb: str
    executable: Formula
    effects: tuple[Effect, ...]
    observers: Mapping[str, Formula]
    aware: Mapping[str, Formula]

    def formulas(self) -> Iterator[Formula]:
        """The conditions."""
        yield self.executable
        yield from (effect.condition for effect in self.effects)
        yield from (*self.observers.values(), *self.aware.values())

    def build_action(self, agents: Sequence[str], semantics: Semantics) -> Action:
        """The ground action under a reading of the language; `agents` are those of the task, in its order."""
        learned = self.executable if semantics == "update_model" else TRUE
        if self.verb in ("", "causes"):
            return Action(
                name=self.name,
                applicability=self.executable,
                events=(Event("sigma", learned, self.effects), Event("epsilon")),
                designated=(0,),
                relations=ONTIC_RELATIONS,
                observability=tuple(_chain((self.observers.get(agent), "full")) for agent in agents),
            )
        phi = and_(*(implies(actually(e.condition), literal(e.fluent, e.value)) for e in self.effects))
        truthful = self.verb == "announces" and semantics != "efp"
        return Action(
            name=self.name,
            applicability=self.executable,
            events=(Event("sigma", and_(learned, phi)), Event("tau", and_(learned, not_(phi))), Event("epsilon")),
            designated=(0,) if truthful else (0, 1),
            relations=SENSING_RELATIONS,
            observability=tuple(
                _chain((self.observers.get(agent), "full"), (self.aware.get(agent), "partial")) for agent in agents
            ),
        )


def _chain(*stated: tuple[Formula | None, str]) -> tuple[tuple[Formula, str], ...]:
    """The observability conditions of an agent, up to the first that always holds."""
    types = [(condition, kind) for condition, kind in stated if condition is not None]
    types.append((TRUE, "oblivious"))
    last = next(index for index, (condition, _) in enumerate(types) if condition is TRUE)
    return tuple(types[: last + 1])
