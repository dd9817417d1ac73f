"""Actions of mA*: descriptions in words of the language, and their event models.

Three readings of the language are in use (Baral, Gelfond, Pontelli and Son, "An action language for multi-agent
domains", 2022; the EFP planners). They differ in whether observers learn that the action was executable, and in
the effect of false announcements.
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

    def build_action(self, agents: Sequence[str], semantics: Semantics) -> Action:
        """Build the ground action under a reading of the language; `agents` are in the task's order."""
        learned = self.executable if semantics == "update_model" else TRUE
        if self.verb in ("", "causes"):
            return Action(
                name=self.name,
                applicability=self.executable,
                events=(Event("sigma", learned, self.effects), Event("epsilon")),
                designated=(0,),
                relations=ONTIC_RELATIONS,
                observability=tuple(_truncate((self.observers.get(agent), "full")) for agent in agents),
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
                _truncate((self.observers.get(agent), "full"), (self.aware.get(agent), "partial")) for agent in agents
            ),
        )


def _truncate(*stated: tuple[Formula | None, str]) -> tuple[tuple[Formula, str], ...]:
    """The observability conditions of an agent, up to the first unconditional one."""
    types = [(condition, kind) for condition, kind in stated if condition is not None]
    types.append((TRUE, "oblivious"))
    last = next(index for index, (condition, _) in enumerate(types) if condition is TRUE)
    return tuple(types[: last + 1])
