"""Abstract syntax of EPDDL, part one: words, lists and formulas.

Places take no part in equality, so formulas can be compared as formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Symbol(str):
    """A word of the text; equal to every other occurrence of the same word.

    Attributes:
        line: 1-based line.
        column: 1-based column.
        file: name of the file.
    """

    __slots__ = ("column", "file", "line")

    line: int
    column: int
    file: str

    def __new__(cls, text: str, line: int = 1, column: int = 1, file: str = "<string>") -> Symbol:
        """Return the word `text` at its place."""
        self = super().__new__(cls, text)
        self.line = line
        self.column = column
        self.file = file
        return self

    @property
    def location(self) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def is_variable(self) -> bool:
        """Whether the word starts with `?`."""
        return self.startswith("?")


# Lists: `(x)`, `(:and list+)`, `(:forall (binder) list)` and `()`.


@dataclass(frozen=True, slots=True)
class Variable:
    """A typed variable; no types means untyped."""

    name: Symbol
    types: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Binder:
    """Variables with an optional condition on them, as in `?i ?j - agent | (/= ?i ?j)`."""

    variables: tuple[Variable, ...]
    condition: Formula | None = None


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """One element."""

    value: T


@dataclass(frozen=True, slots=True)
class Several(Generic[T]):
    """The concatenation of lists; `place` is the word `:and`."""

    parts: tuple[List[T], ...]
    place: Symbol = field(default=Symbol(""), compare=False)


@dataclass(frozen=True, slots=True)
class Each(Generic[T]):
    """A list for every assignment of the binder; `place` is the word `:forall`."""

    binder: Binder
    body: List[T]
    place: Symbol = field(compare=False)


List: TypeAlias = Item[T] | Several[T] | Each[T]
Group: TypeAlias = tuple[Symbol, ...]


def items(elements: List[T]) -> Iterator[T]:
    """The elements of a list as they are written, comprehensions not expanded."""
    match elements:
        case Item(value):
            yield value
        case Several(parts):
            for part in parts:
                yield from items(part)
        case Each(body=body):
            yield from items(body)


# Formulas. `place` is the operator's word.


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false`."""

    value: bool
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate with its arguments."""

    predicate: Symbol
    arguments: tuple[Symbol, ...]

    @property
    def place(self) -> Symbol:
        """The predicate's word."""
        return self.predicate


@dataclass(frozen=True, slots=True)
class Equality:
    """`(= left right)`, or `(/= left right)` when `negated`."""

    left: Symbol
    right: Symbol
    negated: bool
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`(not formula)`."""

    operand: Formula
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Junction:
    """`(and formula+)`, or `(or formula+)` when not `conjunctive`."""

    conjunctive: bool
    operands: tuple[Formula, ...]
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Implication:
    """`(imply premise conclusion)`."""

    premise: Formula
    conclusion: Formula
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Modal:
    """A box or a diamond.

    Attributes:
        kind: empty for belief, `C.` for common knowledge, `Kw.` for knowing whether.
        is_box: `[...]` rather than `<...>`.
        group: a term, the word `All`, or a list of agents.
        operand: the formula in its scope.
        place: the opening bracket.
    """

    kind: str
    is_box: bool
    group: Symbol | List[Group]
    operand: Formula
    place: Symbol = field(compare=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """`forall`, or `exists` when not `universal`."""

    universal: bool
    binder: Binder
    body: Formula
    place: Symbol = field(compare=False)


Formula: TypeAlias = Constant | Atom | Equality | Negation | Junction | Implication | Modal | Quantified


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, conditions of binders excepted."""
    match formula:
        case Negation(operand) | Modal(operand=operand):
            return (operand,)
        case Junction(operands=operands):
            return operands
        case Implication(premise, conclusion):
            return (premise, conclusion)
        case Quantified(body=body):
            return (body,)
        case _:
            return ()


def conjuncts(formula: Formula | None) -> Iterator[Formula]:
    """The operands of nested top-level conjunctions."""
    if isinstance(formula, Junction) and formula.conjunctive:
        for operand in formula.operands:
            yield from conjuncts(operand)
    elif formula is not None:
        yield formula


def rename(formula: Formula, names: Callable[[Symbol], Symbol]) -> Formula:
    """The quantifier-free, modality-free formula with every term replaced."""
    match formula:
        case Atom(predicate, arguments):
            return Atom(predicate, tuple(map(names, arguments)))
        case Equality(left, right, negated, place):
            return Equality(names(left), names(right), negated, place)
        case Negation(operand, place):
            return Negation(rename(operand, names), place)
        case Junction(conjunctive, operands, place):
            return Junction(conjunctive, tuple(rename(operand, names) for operand in operands), place)
        case Implication(premise, conclusion, place):
            return Implication(rename(premise, names), rename(conclusion, names), place)
        case _:
            return formula


def variables(node: object) -> frozenset[str]:
    """The variables that are written anywhere in a piece of syntax, bound ones included."""
    if isinstance(node, Symbol):
        return frozenset([str(node)]) if node.is_variable else frozenset()
    if is_dataclass(node):
        node = tuple(getattr(node, part.name) for part in fields(node))
    if isinstance(node, tuple):
        return frozenset[str]().union(*map(variables, node))
    return frozenset()
