"""The actions of mA*: statements about one action to its event model.

Three readings of the language are in use (Baral, Gelfond, Pontelli and Son, "An action language for multi-agent
domains", 2022; the EFP planners): they differ in whether executability is part of what observers learn, and in
what a false announcement does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from epigym.errors import UsageError
from epigym.formula import TRUE, Formula, Op, actually, and_, implies, literal, not_, or_
from epigym.language.mastar.syntax import Names, Node, conjuncts, subtrees
from epigym.names import unknown
from epigym.task import Action, Effect, Event

Semantics = Literal["default", "efp", "update_model"]
SEMANTICS: tuple[Semantics, ...] = ("default", "efp", "update_model")

SIGMA, TAU, EPSILON = frozenset({0}), frozenset({1}), frozenset({2})
SENSING_RELATIONS = {
    "full": (SIGMA, TAU, EPSILON),
    "partial": (SIGMA | TAU, SIGMA | TAU, EPSILON),
    "oblivious": (EPSILON, EPSILON, EPSILON),
}
ONTIC_RELATIONS = {"full": (frozenset({0}), frozenset({1})), "oblivious": (frozenset({1}), frozenset({1}))}

_KINDS = {"causes": "ontic", "determines": "sensing", "announces": "announcement"}


def check_semantics(semantics: str) -> None:
    """Raise an error unless `semantics` names a reading of mA*."""
    if semantics not in SEMANTICS:
        raise UsageError(unknown("semantics", semantics, SEMANTICS))


@dataclass(slots=True)
class ActionStatements:
    """What a text says about one action.

    Attributes:
        name: of the action.
        names: the declarations of the text.
    """

    name: str
    names: Names
    _verb: str = ""
    _executable: list[Formula] = field(default_factory=list)
    _effects: list[Effect] = field(default_factory=list)
    _observers: dict[str, list[Formula]] = field(default_factory=dict)
    _aware: dict[str, list[Formula]] = field(default_factory=dict)
    _aware_places: list[Node] = field(default_factory=list)

    def add(self, statement: Node) -> None:
        """Take in one statement about the action."""
        match statement.data:
            case "executable":
                self._executable.append(self._condition(statement, after=1))
            case "observes" | "aware_of" as verb:
                agent = self.names.find("agent", subtrees(statement)[0])
                observers = self._observers if verb == "observes" else self._aware
                observers.setdefault(agent, []).append(self._condition(statement, after=2))
                if verb == "aware_of":
                    self._aware_places.append(statement)
            case verb:
                self._add_effects(str(verb), statement)

    def compile(self, semantics: Semantics) -> Action:
        """The ground action under a reading of the language."""
        return self._ontic(semantics) if self._verb in ("", "causes") else self._epistemic(semantics)

    def _condition(self, statement: Node, *, after: int) -> Formula:
        """The formula behind `if`, which follows `after` other parts."""
        parts = subtrees(statement)
        return self.names.formula(parts[after]) if len(parts) > after else TRUE

    def _add_effects(self, verb: str, statement: Node) -> None:
        source = self.names.source
        if self._verb not in ("", verb):
            raise source.error(
                f"action {self.name!r} is of kind {_KINDS[self._verb]} and cannot also be of kind {_KINDS[verb]}: "
                "split it into two actions",
                statement,
            )
        self._verb = verb
        condition = self._condition(statement, after=2)
        stated: set[Formula] = set()
        for part in conjuncts(subtrees(statement)[1]):
            formula = self.names.formula(part)
            effect = _effect(formula, condition)
            if effect is None:
                raise source.error(f"{verb!r} takes fluents and negated fluents joined by ',', found {formula}", part)
            opposite = literal(effect.fluent, not effect.value)
            if condition is TRUE and opposite in stated:
                raise source.error(f"contradictory effects: {effect.fluent!r} and '-{effect.fluent}'", part)
            if condition is TRUE and Effect(effect.fluent, not effect.value) in self._effects:
                source.warn(self._contradiction(verb, effect.fluent), part)
            stated.add(literal(effect.fluent, effect.value))
            self._effects.append(effect)

    def _contradiction(self, verb: str, name: str) -> str:
        """What several statements mean that contradict each other; published problems contain such."""
        if verb == "causes":
            return f"action {self.name!r} both adds and deletes {name!r} without a condition: it is added"
        return f"action {self.name!r} {verb} both {name!r} and '-{name}': no world satisfies them"

    def _ontic(self, semantics: Semantics) -> Action:
        for place in self._aware_places:
            self.names.source.warn(f"'aware_of' has no effect: action {self.name!r} is ontic", place)
        psi = and_(*self._executable)
        learned = psi if semantics == "update_model" else TRUE
        return Action(
            name=self.name,
            applicability=psi,
            events=(Event("sigma", learned, tuple(self._effects)), Event("epsilon")),
            designated=(0,),
            relations=ONTIC_RELATIONS,
            observability=tuple(self._types(agent, partial=False) for agent in self.names.declared["agent"]),
        )

    def _epistemic(self, semantics: Semantics) -> Action:
        psi = and_(*self._executable)
        learned = psi if semantics == "update_model" else TRUE
        phi = and_(*(implies(actually(e.condition), literal(e.fluent, e.value)) for e in self._effects))
        truthful = self._verb == "announces" and semantics != "efp"
        return Action(
            name=self.name,
            applicability=psi,
            events=(Event("sigma", and_(learned, phi)), Event("tau", and_(learned, not_(phi))), Event("epsilon")),
            designated=(0,) if truthful else (0, 1),
            relations=SENSING_RELATIONS,
            observability=tuple(self._types(agent, partial=True) for agent in self.names.declared["agent"]),
        )

    def _types(self, agent: str, *, partial: bool) -> tuple[tuple[Formula, str], ...]:
        """The observability conditions of an agent, up to the first that always holds."""
        stated = [("full", self._observers), ("partial", self._aware)] if partial else [("full", self._observers)]
        types = [(or_(*conditions[agent]), kind) for kind, conditions in stated if agent in conditions]
        types.append((TRUE, "oblivious"))
        last = next(index for index, (condition, _) in enumerate(types) if condition is TRUE)
        return tuple(types[: last + 1])


def _effect(formula: Formula, condition: Formula) -> Effect | None:
    """The effect of a literal; None when the formula is something else."""
    atom = formula.unnegated
    if atom.op is not Op.FLUENT:
        return None
    return Effect(atom.name, formula is atom, condition)
