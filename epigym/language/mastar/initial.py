"""The initial e-state of mA*, given by a finitary S5 theory (Son, Pontelli, Baral and Gelfond, 2014).

`initially` statements say what is commonly known, which fluents agents know whether, and what is actually true.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError, ParseError
from epigym.formula import FALSE, TRUE, Formula, Op, fluent, not_
from epigym.language.mastar.syntax import Names, Node, conjuncts, subtrees
from epigym.task import EState

MAX_FREE_FLUENTS = 20

_SHAPES = (
    "expected a propositional formula, or C over all agents of: φ, B(i, φ), B(i, φ) | B(i, -φ), "
    "or -B(i, φ), -B(i, -φ), with φ propositional"
)
Part = tuple[Formula, Node]
Bools = NDArray[np.bool_]
Columns = dict[str, Bools]


@dataclass(slots=True)
class InitialStatements:
    """What a text says about the initial e-state.

    Attributes:
        names: the declarations of the text.
    """

    names: Names
    _actual: list[Part] = field(default_factory=list)
    _common: list[Part] = field(default_factory=list)
    _known_whether: dict[str, list[Formula]] = field(default_factory=dict)
    _last: Node | None = None

    def add(self, statement: Node) -> None:
        """Take in one `initially` statement."""
        self._last = statement
        for part in conjuncts(subtrees(statement)[0]):
            formula = self.names.formula(part)
            if formula.is_propositional:
                self._actual.append((formula, part))
            elif formula.op is Op.COMMON:
                self._add_common(part)
            else:
                raise self._shape_error(formula, part)

    def estate(self) -> EState:
        """The S5 model over all valuations that satisfy what is commonly known.

        Raises:
            ParseError: when the statements contradict each other or leave the actual world open.
            LimitError: when there are more than 2^20 candidate valuations.
        """
        known, open_parts = self._propagate()
        free = [name for name in self.names.declared["fluent"] if name not in known]
        if len(free) > MAX_FREE_FLUENTS:
            raise LimitError(
                f"{self.names.source.file}: the initial e-state would have up to 2^{len(free)} worlds, more than "
                f"2^{MAX_FREE_FLUENTS}: nothing determines the {len(free)} fluents {', '.join(free)}; "
                "make some of them common knowledge with 'initially C([...], ...)'"
            )
        columns = _enumerate(known, free)
        worlds = self._select(columns, open_parts, np.ones(1 << len(free), dtype=np.bool_))
        columns = {name: column[worlds] for name, column in columns.items()}
        count = int(worlds.sum())
        return EState(
            valuations=_valuations(columns, count),
            successors=tuple(self._relation(agent, columns, count) for agent in self.names.declared["agent"]),
            designated=(self._designated(columns, count),),
        )

    def _add_common(self, node: Node) -> None:
        """Take in `C(AG, φ)`, each conjunct of φ by its shape."""
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

    def _propagate(self) -> tuple[dict[str, bool], list[Part]]:
        """The fluents whose value is common knowledge by unit propagation, and what is left to be said."""
        constants: dict[str, Formula] = {}
        parts = self._common
        while True:
            determined = len(constants)
            simplified: list[Part] = []
            for formula, place in parts:
                image = formula.map_fluents(lambda name: constants.get(name, fluent(name)))
                if image is FALSE:
                    raise self.names.source.error("no valuation satisfies this and what is already common", place)
                for unit in image.children if image.op is Op.AND else (image,):
                    atom = unit.children[0] if unit.op is Op.NOT else unit
                    if atom.op is Op.FLUENT:
                        constants[atom.name] = TRUE if unit is atom else FALSE
                simplified.append((image, place))
            parts = simplified
            if len(constants) == determined:
                return {name: value is TRUE for name, value in constants.items()}, parts

    def _select(self, columns: Columns, parts: list[Part], worlds: Bools) -> Bools:
        """The worlds among `worlds` at which all parts hold; there must be one."""
        for formula, place in parts:
            worlds = worlds & _truth(formula, columns, worlds.shape)
            if not worlds.any():
                raise self.names.source.error("no world satisfies this and the statements before it", place)
        return worlds

    def _designated(self, columns: Columns, count: int) -> int:
        """The one world at which everything that is said to be true is true."""
        worlds = np.flatnonzero(self._select(columns, self._actual, np.ones(count, dtype=np.bool_)))
        if len(worlds) > 1:
            values = {name: column[worlds] for name, column in columns.items()}
            open_fluents = [name for name, column in values.items() if column.any() and not column.all()]
            place = self._actual[-1][1] if self._actual else self._last
            raise self.names.source.error(
                f"{len(worlds)} worlds satisfy the propositional 'initially' statements, exactly one must; "
                f"left open: {', '.join(open_fluents)}",
                place,
            )
        return int(worlds[0])

    def _relation(self, agent: str, columns: Columns, count: int) -> tuple[frozenset[int], ...]:
        """Worlds are linked unless they differ on something of which the agent knows whether it is true."""
        blocks = np.zeros(count, dtype=np.int64)
        for formula in self._known_whether.get(agent, ()):
            differs = 2 * blocks + _truth(formula, columns, blocks.shape)
            blocks = np.unique(differs, return_inverse=True)[1]
        rows = [frozenset(np.flatnonzero(blocks == block).tolist()) for block in range(int(blocks.max()) + 1)]
        return tuple(rows[block] for block in blocks)

    def _shape_error(self, formula: Formula, place: Node) -> ParseError:
        return self.names.source.error(f"cannot build an initial e-state from {formula}: {_SHAPES}", place)


def _knows_whether(formula: Formula) -> str:
    """The agent `i` of `B(i, φ) | B(i, -φ)` with φ propositional; empty for anything else."""
    if formula.op is not Op.OR or len(formula.children) != 2 or not all(map(_is_plain_belief, formula.children)):
        return ""
    left, right = formula.children
    return left.agents[0] if left.agents == right.agents and left.children[0] is not_(right.children[0]) else ""


def _is_plain_belief(formula: Formula) -> bool:
    return formula.op is Op.BELIEVES and formula.children[0].is_propositional


def _enumerate(known: dict[str, bool], free: list[str]) -> Columns:
    """The truth value of every fluent in each of the 2^len(free) candidate valuations."""
    index = np.arange(1 << len(free))
    columns = {name: (index >> k & 1).astype(np.bool_) for k, name in enumerate(free)}
    return columns | {name: np.full(len(index), value) for name, value in known.items()}


def _truth(formula: Formula, columns: Columns, shape: tuple[int, ...]) -> Bools:
    """The truth value of a propositional formula in each valuation."""
    values: dict[Formula, Bools] = {}
    for node in formula.subformulas():
        parts = [values[child] for child in node.children]
        match node.op:
            case Op.FLUENT:
                values[node] = columns[node.name]
            case Op.NOT:
                values[node] = ~parts[0]
            case Op.AND:
                values[node] = np.logical_and.reduce(parts)
            case Op.OR:
                values[node] = np.logical_or.reduce(parts)
            case constant:
                values[node] = np.full(shape, constant is Op.TRUE)
    return values[formula]


def _valuations(columns: Columns, count: int) -> tuple[frozenset[str], ...]:
    true: list[list[str]] = [[] for _ in range(count)]
    for name, column in columns.items():
        for world in np.flatnonzero(column):
            true[world].append(name)
    return tuple(map(frozenset, true))
