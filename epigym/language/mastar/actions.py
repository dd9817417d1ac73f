"""Collects the statements of mA* about an action into its description."""

from __future__ import annotations

from dataclasses import dataclass, field

from epigym.errors import LimitError
from epigym.language.mastar.event_models import MAX_SENSED, ActionDescription, is_ambiguous
from epigym.language.mastar.syntax import Names, Node, conjuncts, subtrees
from epigym.language.reading import Reading
from epigym.language.source import position
from epigym.task.formula import TRUE, Formula, Op, and_, literal, or_
from epigym.task.task import Effect

_KINDS = {"causes": "ontic", "determines": "sensing", "announces": "announcement"}


@dataclass(slots=True)
class ActionStatements:
    """The statements about one action.

    Attributes:
        name: of the action.
        names: the declarations of the text.
        reading: how `determines` with several literals is read.
    """

    name: str
    names: Names
    reading: Reading
    _verb: str = ""
    _executable: list[Formula] = field(default_factory=list)
    _effects: list[Effect] = field(default_factory=list)
    _known: set[Effect] = field(default_factory=set)
    _observers: dict[str, list[Formula]] = field(default_factory=dict)
    _aware: dict[str, list[Formula]] = field(default_factory=dict)
    _aware_places: list[Node] = field(default_factory=list)

    def add(self, statement: Node) -> None:
        """Add a statement about the action."""
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

    def describe(self) -> ActionDescription:
        """Combine the statements."""
        if self._verb in ("", "causes"):
            for place in self._aware_places:
                self.names.source.warn(f"'aware_of' has no effect: action {self.name!r} is ontic", place)
        return ActionDescription(
            name=self.name,
            verb=self._verb,
            executable=and_(*self._executable),
            effects=tuple(self._effects),
            observers={agent: or_(*conditions) for agent, conditions in self._observers.items()},
            aware={agent: or_(*conditions) for agent, conditions in self._aware.items()},
        )

    def _condition(self, statement: Node, *, after: int) -> Formula:
        """The formula after `if`, which follows `after` other parts; true if there is none."""
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
        was_ambiguous = self._is_ambiguous
        condition = self._condition(statement, after=2)
        stated: set[Formula] = set()
        for part in conjuncts(subtrees(statement)[1]):
            formula = self.names.formula(part)
            effect = _effect(formula, condition)
            if effect is None:
                raise source.error(f"{verb!r} takes fluents and negated fluents joined by ',', found {formula}", part)
            opposite = literal(effect.fluent, not effect.value)
            if opposite in stated:
                raise source.error(f"contradictory effects: {effect.fluent!r} and '-{effect.fluent}'", part)
            if self._is_contradicted(effect):
                source.warn(self._contradiction(verb, effect), part)
            stated.add(literal(effect.fluent, effect.value))
            self._effects.append(effect)
            self._known.add(effect)
        if self._is_ambiguous and not was_ambiguous:
            source.warn(
                f"action {self.name!r} determines several literals: read with determines=formula, observers learn "
                "whether all of them hold; determines=literals lets them learn each one",
                statement,
            )
        self._check_number(statement)

    @property
    def _senses_each(self) -> bool:
        """Whether the action senses its literals one by one."""
        return self._verb == "determines" and self.reading.determines == "literals"

    @property
    def _is_ambiguous(self) -> bool:
        """Whether the action senses several literals, and no reading of that was chosen."""
        return self.reading.determines is None and is_ambiguous(self._verb, self._effects)

    def _is_contradicted(self, effect: Effect) -> bool:
        """Whether an earlier statement has the opposite of an effect under the same condition."""
        return Effect(effect.fluent, not effect.value, effect.condition) in self._known and not self._senses_each

    def _check_number(self, statement: Node) -> None:
        """Raise a `LimitError` when the action has too many events."""
        count = len({effect.fluent for effect in self._effects}) if self._senses_each else 0
        if count > MAX_SENSED:
            line, column = position(statement)
            raise LimitError(
                f"{self.names.source.file}:{line}:{column}: action {self.name!r} determines {count} fluents, and "
                f"determines=literals takes at most {MAX_SENSED}: one event for each combination of their values; "
                "split it into several actions"
            )

    def _contradiction(self, verb: str, effect: Effect) -> str:
        """The warning about contradictory statements, which some published problems contain."""
        name = effect.fluent
        when = "without a condition" if effect.condition is TRUE else f"if {effect.condition}"
        if verb == "causes":
            return f"action {self.name!r} both adds and deletes {name!r} {when}: it is added"
        return f"action {self.name!r} {verb} both {name!r} and '-{name}' {when}: no world satisfies them"


def _effect(formula: Formula, condition: Formula) -> Effect | None:
    """The effect of a literal, or None for any other formula."""
    atom = formula.unnegated
    if atom.op is not Op.FLUENT:
        return None
    return Effect(atom.name, formula is atom, condition)
