"""Abstract syntax of EPDDL, part one: words, lists and formulas.

Attributes are in the order of the text, beginning with `place`, the word that determines the kind. Words are equal if
their texts are, at any place, so that pieces of syntax are equal if their texts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")


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
class Typed:
    """A declared name, with at most one type, or a variable, with any number of types."""

    name: Symbol
    types: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Binder:
    """Variables with an optional condition on them, as in `?i ?j - agent | (/= ?i ?j)`."""

    variables: tuple[Typed, ...]
    condition: Formula | None = None


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """One element."""

    value: T


@dataclass(frozen=True, slots=True)
class Several(Generic[T]):
    """The concatenation of lists."""

    place: Symbol
    parts: tuple[List[T], ...]


@dataclass(frozen=True, slots=True)
class Each(Generic[T]):
    """A list for every assignment of the binder."""

    place: Symbol
    binder: Binder
    body: List[T]


List: TypeAlias = Item[T] | Several[T] | Each[T]
Group: TypeAlias = tuple[Symbol, ...]
NOTHING: Final[Several[Any]] = Several(Symbol(""), ())


def items(elements: List[T]) -> Iterator[T]:
    """The elements of a list in textual order, without expanding comprehensions."""
    match elements:
        case Item(value):
            yield value
        case Several(_, parts):
            for part in parts:
                yield from items(part)
        case Each(body=body):
            yield from items(body)


# Formulas.


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false`."""

    place: Symbol


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate with its arguments."""

    place: Symbol
    arguments: tuple[Symbol, ...]

    @property
    def predicate(self) -> Symbol:
        """The predicate's word."""
        return self.place


@dataclass(frozen=True, slots=True)
class Equality:
    """`(= left right)` or `(/= left right)`."""

    place: Symbol
    left: Symbol
    right: Symbol


@dataclass(frozen=True, slots=True)
class Negation:
    """`(not formula)`."""

    place: Symbol
    operand: Formula


@dataclass(frozen=True, slots=True)
class Junction:
    """`(and formula+)` or `(or formula+)`."""

    place: Symbol
    operands: tuple[Formula, ...]

    @property
    def is_conjunction(self) -> bool:
        """Whether it is `and`."""
        return self.place == "and"


@dataclass(frozen=True, slots=True)
class Implication:
    """`(imply premise conclusion)`."""

    place: Symbol
    premise: Formula
    conclusion: Formula


@dataclass(frozen=True, slots=True)
class Modal:
    """A box or a diamond.

    Attributes:
        place: the opening bracket, `[` or `<`.
        kind: None for belief, `C.` for common knowledge, `Kw.` for knowing whether.
        group: a term, the word `All`, or a list of agents.
        operand: the formula in its scope.
    """

    place: Symbol
    kind: Symbol | None
    group: Symbol | List[Group]
    operand: Formula

    @property
    def is_box(self) -> bool:
        """`[...]` rather than `<...>`."""
        return self.place == "["


@dataclass(frozen=True, slots=True)
class Quantified:
    """`(forall (binder) formula)` or `(exists (binder) formula)`."""

    place: Symbol
    binder: Binder
    body: Formula

    @property
    def is_universal(self) -> bool:
        """Whether it is `forall`."""
        return self.place == "forall"


Formula: TypeAlias = Constant | Atom | Equality | Negation | Junction | Implication | Modal | Quantified


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, except conditions of binders."""
    match formula:
        case Negation(operand=operand) | Modal(operand=operand):
            return (operand,)
        case Junction(operands=operands):
            return operands
        case Implication(_, premise, conclusion):
            return (premise, conclusion)
        case Quantified(body=body):
            return (body,)
        case _:
            return ()


def subformulas(formula: Formula) -> Iterator[Formula]:
    """A formula and its subformulas, in textual order."""
    yield formula
    for child in children(formula):
        yield from subformulas(child)


def conjuncts(formula: Formula | None) -> Iterator[Formula]:
    """The operands of nested top-level conjunctions."""
    if isinstance(formula, Junction) and formula.is_conjunction:
        for operand in formula.operands:
            yield from conjuncts(operand)
    elif formula is not None:
        yield formula


def parts(node: object) -> tuple[Any, ...]:
    """The direct parts of a piece of syntax; words have none."""
    if isinstance(node, tuple):
        return node
    return tuple(getattr(node, name) for name in getattr(node, "__match_args__", ()))


def rename(node: Any, names: Mapping[str, Symbol]) -> Any:
    """Replace terms in a piece of syntax without bound variables."""
    if isinstance(node, Symbol):
        return names.get(node, node)
    renamed = tuple(rename(part, names) for part in parts(node))
    return renamed if isinstance(node, tuple) else type(node)(*renamed) if renamed else node


def variables(node: object) -> frozenset[str]:
    """All variables in a piece of syntax, bound ones included."""
    if isinstance(node, Symbol):
        return frozenset([str(node)]) if node.is_variable else frozenset()
    return frozenset[str]().union(*map(variables, parts(node)))
