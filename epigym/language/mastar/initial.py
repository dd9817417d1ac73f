"""The initial e-state of mA*, given by a finitary S5 theory (Son, Pontelli, Baral and Gelfond, 2014).

`initially` statements describe common knowledge, formulas whose truth an agent knows, and the actual world.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError, ParseError
from epigym.language.mastar.syntax import Names, Node, conjuncts, subtrees
from epigym.language.theories import MAX_WORLDS, find_models, list_rows, list_valuations, number_classes
from epigym.task.formula import Formula, Op, not_
from epigym.task.task import EState

_SHAPES = (
    "expected a propositional formula, or C over all agents of: φ, B(i, φ), B(i, φ) | B(i, -φ), "
    "or -B(i, φ), -B(i, -φ), with φ propositional"
)
_IMPOSSIBLE = "no world satisfies this and the statements before it"
Part = tuple[Formula, Node]


@dataclass(slots=True)
class InitialStatements:
    """The statements about the initial e-state.

    Attributes:
        names: the declarations of the text.
    """

    names: Names
    _actual: list[Part] = field(default_factory=list)
    _common: list[Part] = field(default_factory=list)
    _known_whether: dict[str, list[Formula]] = field(default_factory=dict)
    _last: Node | None = None

    def add(self, statement: Node) -> None:
        """Add an `initially` statement."""
        self._last = statement
        for part in conjuncts(subtrees(statement)[0]):
            formula = self.names.formula(part)
            if formula.is_propositional:
                self._actual.append((formula, part))
            elif formula.op is Op.COMMON:
                # The modality may be below nodes without effect, such as double negations; outer subtrees come last.
                self._add_common([node for node in part.iter_subtrees() if node.data == "modality"][-1])
            else:
                raise self._shape_error(formula, part)

    def build_estate(self, *, closed_world: bool) -> EState:
        """Build the S5 model over all valuations that satisfy the common knowledge, in binary counting order.

        Args:
            closed_world: whether fluents that the statements leave open are false in the actual world.

        Returns:
            The e-state; the first declared fluent is the least significant one.

        Raises:
            ParseError: when the statements contradict each other or leave the actual world open.
            LimitError: when there are too many such valuations.
        """
        fluents = tuple(reversed(self.names.declared["fluent"]))
        actual = self._find_actual(fluents, closed_world)
        worlds = self._find_models(self._common, fluents)
        columns = dict(zip(fluents, worlds.T, strict=True))
        known = (self._known_whether.get(agent, ()) for agent in self.names.declared["agent"])
        return EState(
            valuations=list_valuations(worlds, fluents),
            successors=tuple(list_rows(number_classes(formulas, columns, len(worlds))) for formulas in known),
            designated=(int(np.flatnonzero((worlds == actual).all(axis=1))[0]),),
        )

    def _add_common(self, node: Node) -> None:
        """Add `C(AG, φ)`: each conjunct of φ according to its shape."""
        group, body = subtrees(node)
        agents = self.names.agents(group)
        missing = [agent for agent in self.names.declared["agent"] if agent not in agents]
        if missing:
            raise self.names.source.error(f"C must name all agents here: {', '.join(missing)} missing", group)
        unknown: dict[Formula, Node] = {}
        for part in conjuncts(body):
            formula = self.names.formula(part)
            belief = formula.children[0] if formula.op is Op.BELIEVES else formula
            agent = _knows_whether(formula)
            if belief.is_propositional:
                self._common.append((belief, part))
            elif agent:
                self._known_whether.setdefault(agent, []).append(formula.children[0].children[0])
            elif formula.op is Op.NOT and _is_plain_belief(formula.children[0]):
                unknown[formula.children[0]] = part
            else:
                raise self._shape_error(formula, part)
        opposites = {(belief.agents, not_(belief.children[0])) for belief in unknown}
        for belief, part in unknown.items():
            if (belief.agents, belief.children[0]) not in opposites:
                raise self._shape_error(not_(belief), part)

    def _find_models(self, parts: Iterable[Part], fluents: tuple[str, ...]) -> NDArray[np.bool_]:
        try:
            return find_models((formula for formula, _ in parts), fluents)
        except LimitError as error:
            raise LimitError(f"{self.names.source.file}: {error} with 'initially C([...], ...)'") from None

    def _find_actual(self, fluents: tuple[str, ...], closed_world: bool) -> NDArray[np.bool_]:
        """Find the actual world, bool[fluents], without listing the values of fluents that no statement mentions."""
        parts = [*self._common, *self._actual]
        mentioned = _collect_fluents(parts)
        models = self._find_models(parts, tuple(name for name in fluents if name in mentioned))
        if not len(models):
            raise self._contradiction(parts)
        worlds = np.zeros((len(models), len(fluents)), dtype=np.bool_)
        stated = np.array([name in mentioned for name in fluents], dtype=np.bool_)
        worlds[:, stated] = models
        left_open = ~stated | (worlds != worlds[0]).any(axis=0)
        closed = worlds[~worlds[:, left_open].any(axis=1)]
        if left_open.any():
            names = list(compress(reversed(fluents), left_open[::-1].tolist()))
            place = self._actual[-1][1] if self._actual else self._last
            assert place is not None, "a problem has an 'initially' statement"
            if not closed_world or not len(closed):
                raise self._open_error(len(models) << int((~stated).sum()), names, len(closed) > 0, place)
            message = f"left open by the 'initially' statements, false under semantics=efp: {', '.join(names)}"
            self.names.source.warn(message, place)
        actual: NDArray[np.bool_] = closed[0]
        return actual

    def _open_error(self, count: int, names: list[str], can_be_false: bool, place: Node) -> ParseError:
        """The error about fluents that the statements leave open, so that they allow `count` actual worlds."""
        worlds = str(count) if count <= MAX_WORLDS else f"more than {MAX_WORLDS}"
        remedy = "or semantics=efp makes them false" if can_be_false else "they cannot all be false"
        return self.names.source.error(
            f"{worlds} worlds satisfy the propositional 'initially' statements, exactly one must; "
            f"left open: {', '.join(names)}; state them, {remedy}",
            place,
        )

    def _contradiction(self, parts: list[Part]) -> ParseError:
        """The error at the first part that contradicts earlier ones."""
        for count, (_, place) in enumerate(parts, start=1):
            with suppress(LimitError):  # there are models, too many
                stated = parts[:count]
                if not len(find_models((formula for formula, _ in stated), tuple(sorted(_collect_fluents(stated))))):
                    return self.names.source.error(_IMPOSSIBLE, place)
        raise AssertionError("the statements have a model")

    def _shape_error(self, formula: Formula, place: Node) -> ParseError:
        return self.names.source.error(f"cannot build an initial e-state from {formula}: {_SHAPES}", place)


def _collect_fluents(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset[str]().union(*(formula.fluents() for formula, _ in parts))


def _knows_whether(formula: Formula) -> str:
    """The agent `i` of `B(i, φ) | B(i, -φ)` with φ propositional; empty for other formulas."""
    if formula.op is not Op.OR or len(formula.children) != 2 or not all(map(_is_plain_belief, formula.children)):
        return ""
    left, right = formula.children
    return left.agents[0] if left.agents == right.agents and left.children[0] is not_(right.children[0]) else ""


def _is_plain_belief(formula: Formula) -> bool:
    return formula.op is Op.BELIEVES and formula.children[0].is_propositional
