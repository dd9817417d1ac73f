"""Belief formulas: immutable, hash-consed and printable.

Equal formulas are the same object, so `==` and `hash` are those of the identity and a set of formulas
is a shared DAG. Build formulas with the functions of this module, never with `Formula(...)`: they fold
constants, flatten nested conjunctions and disjunctions, and remove duplicates and double negations.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from threading import RLock
from typing import Any, ClassVar, Final
from weakref import WeakValueDictionary

from epigym.errors import NestingError

MAX_LEVELS: Final = 100
"""How many levels the formulas of a task may have. What reads, writes, rewrites or evaluates a formula calls itself for
each level, here, in libraries and in the core, and all of that ends well with so many; published problems have 13."""

SPARE_LEVELS: Final = 10
"""How many more those may have that are made of a task's formulas, such as the conjunction of its goals."""


class Op(enum.IntEnum):
    """The operator at the root of a formula; the numbers are those of the core."""

    TRUE = 0
    FALSE = 1
    FLUENT = 2
    NOT = 3
    AND = 4
    OR = 5
    BELIEVES = 6
    EVERYBODY = 7
    COMMON = 8
    ACTUALLY = 9


def too_deep() -> NestingError:
    """The error of a formula with too many levels."""
    return NestingError(f"formulas are nested too deeply, at most {MAX_LEVELS} levels are supported: use fewer")


def _levels(op: Op, children: Sequence[Formula]) -> int:
    """The levels of a formula; a negation of a negation, which no function of this module makes, counts as one."""
    own = op >= Op.AND or (op is Op.NOT and children[0].op is Op.NOT)
    return max([child.levels for child in children], default=0) + own + (op is Op.EVERYBODY)


class Formula:
    """A node of the formula DAG.

    Attributes:
        op: the operator.
        name: the fluent, for `Op.FLUENT`, else empty.
        agents: the agents named by `B`, `E` or `C`, sorted, else empty.
        children: the operands.
        levels: how deep operators are nested: junctions and modalities count, `E` twice, as it is a conjunction of `B`,
            and negations do not. No normal form has more.

    Raises:
        NestingError: when there would be more than `MAX_LEVELS + SPARE_LEVELS` levels.
    """

    __slots__ = ("__weakref__", "agents", "children", "levels", "name", "op")

    op: Op
    name: str
    agents: tuple[str, ...]
    children: tuple[Formula, ...]
    levels: int

    # Hash-consing needs one table for the whole process; it holds no formula alive. The lock lets threads agree about
    # new formulas; a finalizer or signal handler of the same thread can take it again.
    _interned: ClassVar[WeakValueDictionary[Any, Formula]] = WeakValueDictionary()
    _lock: ClassVar = RLock()

    def __new__(
        cls,
        op: Op,
        name: str = "",
        agents: tuple[str, ...] = (),
        children: tuple[Formula, ...] = (),
    ) -> Formula:
        """Return the one formula with these parts."""
        key = (op, name, agents, children)
        known = cls._interned.get(key)
        if known is not None:
            return known
        levels = _levels(op, children)
        if levels > MAX_LEVELS + SPARE_LEVELS:
            raise too_deep()
        with cls._lock:
            known = cls._interned.get(key)
            if known is not None:
                return known
            self = super().__new__(cls)
            for attribute, value in zip(("op", "name", "agents", "children", "levels"), (*key, levels), strict=True):
                object.__setattr__(self, attribute, value)
            cls._interned[key] = self
            return self

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: formulas are immutable."""
        raise AttributeError(f"formulas are immutable: cannot set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by parts, so that unpickling meets the interned formula again."""
        return (Formula, (self.op, self.name, self.agents, self.children))

    def __deepcopy__(self, memo: object) -> Formula:
        """Return the formula itself."""
        return self

    def __str__(self) -> str:
        """The formula in mA* syntax.

        `parse_formula` reads it back, except `actually`, constants, and names that neither mA* nor EPDDL can declare.
        """
        texts: dict[Formula, str] = {}
        for node in self.subformulas():
            texts[node] = _text(node, [texts[child] for child in node.children])
        return texts[self]

    def __repr__(self) -> str:
        """The formula in mA* syntax."""
        return f"<{self}>"

    def subformulas(self) -> Iterator[Formula]:
        """Every distinct subformula, children before parents, the formula itself last."""
        seen: set[Formula] = set()
        stack = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))

    def fluents(self) -> frozenset[str]:
        """Names of the fluents that occur in the formula."""
        names, seen, stack = set[str](), set[Formula](), [self]
        while stack:
            node = stack.pop()
            if node.op is Op.FLUENT:
                names.add(node.name)
            elif node.children and node not in seen:
                seen.add(node)
                stack += node.children
        return frozenset(names)

    @property
    def unnegated(self) -> Formula:
        """The negated formula of a negation; any other formula itself."""
        return self.children[0] if self.op is Op.NOT else self

    @property
    def is_propositional(self) -> bool:
        """Whether no modality (`B`, `E`, `C`, `actually`) occurs."""
        return all(node.op < Op.BELIEVES for node in self.subformulas())

    @property
    def depth(self) -> int:
        """Modal depth: the largest number of nested `B`, `E` and `C`."""
        depths: dict[Formula, int] = {}
        for node in self.subformulas():
            below = max((depths[child] for child in node.children), default=0)
            depths[node] = below + (Op.BELIEVES <= node.op <= Op.COMMON)
        return depths[self]

    def map_fluents(self, replace: Callable[[str], Formula]) -> Formula:
        """The formula with every fluent replaced by `replace(name)`, simplified on the way."""
        return self._rebuilt(lambda leaf: replace(leaf.name) if leaf.op is Op.FLUENT else leaf)

    def without_constants(self, name: str) -> Formula:
        """The equivalent formula with `name, -name` in place of falsity; only `TRUE` itself stays."""
        never = and_(fluent(name), not_(fluent(name)))
        return self._rebuilt(lambda leaf: never if leaf is FALSE else leaf)

    def _rebuilt(self, replace: Callable[[Formula], Formula]) -> Formula:
        """The formula with every constant and fluent replaced, simplified on the way."""
        images: dict[Formula, Formula] = {}
        for node in self.subformulas():
            children = [images[child] for child in node.children]
            images[node] = _build(node, children) if children else replace(node)
        return images[self]

    def negation_normal_form(self) -> Formula:
        """The equivalent formula whose negations stand before fluents and modalities only."""

        @cache
        def image(node: Formula, negated: bool) -> Formula:
            if node.op is Op.NOT:
                return image(node.children[0], not negated)
            if node.op in (Op.AND, Op.OR):
                children = [image(child, negated) for child in node.children]
                return and_(*children) if (node.op is Op.AND) != negated else or_(*children)
            positive = _build(node, [image(child, False) for child in node.children])
            return not_(positive) if negated else positive

        return image(self, False)


TRUE = Formula(Op.TRUE)
FALSE = Formula(Op.FALSE)


def fluent(name: str) -> Formula:
    """The fluent `name`."""
    return Formula(Op.FLUENT, name)


def literal(name: str, value: bool) -> Formula:
    """The fluent `name`, or its negation when `value` is false."""
    return fluent(name) if value else not_(fluent(name))


def not_(formula: Formula) -> Formula:
    """The negation of `formula`."""
    if formula.op is Op.NOT:
        return formula.children[0]
    if formula in (TRUE, FALSE):
        return TRUE if formula is FALSE else FALSE
    return Formula(Op.NOT, children=(formula,))


def and_(*formulas: Formula) -> Formula:
    """The conjunction of `formulas`; `TRUE` when there is none."""
    return _junction(Op.AND, formulas, neutral=TRUE, absorbing=FALSE)


def or_(*formulas: Formula) -> Formula:
    """The disjunction of `formulas`; `FALSE` when there is none."""
    return _junction(Op.OR, formulas, neutral=FALSE, absorbing=TRUE)


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a top-level conjunction, or the formula alone; none for `TRUE`."""
    if formula is TRUE:
        return ()
    return formula.children if formula.op is Op.AND else (formula,)


def implies(premise: Formula, conclusion: Formula) -> Formula:
    """The implication, as a disjunction."""
    return or_(not_(premise), conclusion)


def believes(agent: str, formula: Formula) -> Formula:
    """`B_agent formula`: true at a world iff `formula` holds at all successors of that agent."""
    return TRUE if formula is TRUE else Formula(Op.BELIEVES, agents=(agent,), children=(formula,))


def knows_whether(agent: str, formula: Formula) -> Formula:
    """The agent believes `formula` or believes its negation."""
    return or_(believes(agent, formula), believes(agent, not_(formula)))


def considers_possible(agent: str, formula: Formula) -> Formula:
    """The dual of `believes`: `formula` holds at some successor of that agent."""
    return not_(believes(agent, not_(formula)))


def everybody(agents: Iterable[str], formula: Formula) -> Formula:
    """`E_G formula`: every agent of the group believes `formula`."""
    return _group(Op.EVERYBODY, agents, formula)


def common(agents: Iterable[str], formula: Formula) -> Formula:
    """`C_G formula`: `formula` holds wherever one or more steps of the group's relations lead."""
    return _group(Op.COMMON, agents, formula)


def actually(formula: Formula) -> Formula:
    """True at every world iff `formula` holds at all designated worlds."""
    if formula.op in (Op.TRUE, Op.FALSE, Op.ACTUALLY):
        return formula
    return Formula(Op.ACTUALLY, children=(formula,))


def _junction(op: Op, formulas: tuple[Formula, ...], *, neutral: Formula, absorbing: Formula) -> Formula:
    if len(formulas) == 1:
        return formulas[0]
    parts: dict[Formula, None] = {}
    for formula in formulas:
        parts.update(dict.fromkeys(formula.children if formula.op is op else (formula,)))
    parts.pop(neutral, None)
    if absorbing in parts:
        return absorbing
    children = tuple(parts)
    if not children:
        return neutral
    return children[0] if len(children) == 1 else Formula(op, children=children)


def _group(op: Op, agents: Iterable[str], formula: Formula) -> Formula:
    group = tuple(sorted(set(agents)))
    if not group:
        raise ValueError("a group of agents must not be empty")
    return TRUE if formula is TRUE else Formula(op, agents=group, children=(formula,))


def _build(node: Formula, children: Sequence[Formula]) -> Formula:
    """A formula with the operator of `node` over other children."""
    match node.op:
        case Op.NOT:
            return not_(*children)
        case Op.AND:
            return and_(*children)
        case Op.OR:
            return or_(*children)
        case Op.BELIEVES:
            return believes(node.agents[0], *children)
        case Op.EVERYBODY | Op.COMMON:
            return _group(node.op, node.agents, *children)
        case Op.ACTUALLY:
            return actually(*children)
        case _:
            return node


def _text(node: Formula, parts: Sequence[str]) -> str:
    match node.op:
        case Op.TRUE | Op.FALSE:
            return node.op.name.lower()
        case Op.FLUENT:
            return node.name
        case Op.NOT:
            return f"-{parts[0]}"
        case Op.AND | Op.OR:
            return f"({(', ' if node.op is Op.AND else ' | ').join(parts)})"
        case Op.BELIEVES:
            return f"B({node.agents[0]}, {parts[0]})"
        case Op.ACTUALLY:
            return f"actually({parts[0]})"
        case _:
            return f"{node.op.name[0]}([{','.join(node.agents)}], {parts[0]})"


class FormulaNumbers:
    """Numbers formulas; those that are equal up to the order of operands of `and` and `or` have equal numbers.

    Args:
        numbers: of the formulas numbered so far, by operator, names and the numbers of the children.
        agents: other names of agents.
        fluents: other names of fluents.
    """

    def __init__(self, numbers: dict[Hashable, int], agents: Mapping[str, str], fluents: Mapping[str, str]) -> None:
        self._numbers, self._agents, self._fluents = numbers, agents, fluents
        self._known: dict[Formula, int] = {}

    def __call__(self, formula: Formula) -> int:
        """The number of a formula after its names are replaced."""
        stack = [formula]
        while stack:
            node = stack.pop()
            if node in self._known:
                continue
            if unknown := [child for child in node.children if child not in self._known]:
                stack += [node, *reversed(unknown)]
            else:
                self._known[node] = self._numbers.setdefault(self._key(node), len(self._numbers))
        return self._known[formula]

    def _key(self, node: Formula) -> Hashable:
        children = tuple(self._known[child] for child in node.children)
        return (
            node.op,
            self._fluents.get(node.name, node.name),
            frozenset(self._agents.get(agent, agent) for agent in node.agents),
            frozenset(children) if node.op in (Op.AND, Op.OR) else children,
        )


def split_goal(goal: Iterable[Formula]) -> tuple[Formula, ...]:
    """The distinct formulas into which the subgoals of a goal are split by `split_formula`."""
    return tuple(dict.fromkeys(part for subgoal in goal for part in split_formula(subgoal.negation_normal_form())))


def split_formula(formula: Formula) -> Iterator[Formula]:
    """Formulas that hold together iff `formula`, in negation normal form, does.

    Belief distributes over conjunction, and what everybody of a group believes each of them believes:
    `E_{a,b} (p & q)` is `B_a p`, `B_a q`, `B_b p` and `B_b q`.
    """
    match formula.op:
        case Op.AND:
            for child in formula.children:
                yield from split_formula(child)
        case Op.BELIEVES | Op.EVERYBODY:
            parts = list(split_formula(formula.children[0]))
            yield from (believes(agent, part) for agent in formula.agents for part in parts)
        case Op.COMMON:
            yield from (common(formula.agents, part) for part in split_formula(formula.children[0]))
        case _:
            yield formula
