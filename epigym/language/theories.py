"""Finitary S5 theories: the models of common knowledge, and the equivalence relations of agents on them.

Unit literals are propagated first. Then groups of fluents that no constraint links are searched apart, so that their
models are counted before they are combined. The search assigns one fluent after another in all partial valuations at
once. It drops a partial valuation as soon as some constraint cannot become true, so that the work grows with the number
of models rather than 2^fluents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush
from itertools import compress, pairwise
from math import prod
from operator import is_
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError
from epigym.task.formula import FALSE, TRUE, Formula, Op, and_, conjuncts, not_, or_

MAX_WORLDS = 2**20
_SHOWN = 8
_MANY = 8
Column: TypeAlias = NDArray[np.bool_]
_Table: TypeAlias = NDArray[np.bool_]
_Test: TypeAlias = Callable[[Mapping[str, Column]], Column | None]
"""Whether a formula can hold in each row, given the columns of some of its fluents; None is always."""


def find_models(constraints: Iterable[Formula], fluents: tuple[str, ...]) -> NDArray[np.bool_]:
    """Find all valuations of `fluents` that satisfy the constraints.

    Args:
        constraints: propositional formulas over the fluents.
        fluents: the fluents, most significant first.

    Returns:
        The valuations in binary counting order: bool[models, fluents].

    Raises:
        LimitError: if there are more than `MAX_WORLDS` models, or partial valuations of fluents that constraints link.
    """
    fixed, rest = _propagate(and_(*constraints).negation_normal_form())
    if FALSE in rest:
        return np.empty((0, len(fluents)), dtype=np.bool_)
    left = [name for name in fluents if name not in fixed]
    position = {name: index for index, name in enumerate(fluents)}
    parts = [_find_linked(group, position) for group in _group_linked({one: one.fluents() for one in rest})]
    linked = frozenset().union(*parts)
    parts += [{name: np.array([False, True])} for name in left if name not in linked]
    count = prod(len(next(iter(part.values()))) for part in parts)
    if count > MAX_WORLDS:
        raise LimitError(_too_many(count, left))
    valuations = np.empty((count, len(fluents)), dtype=np.bool_)
    for name, value in fixed.items():
        valuations[:, position[name]] = value is TRUE
    before = 1
    for part in parts:
        size = len(next(iter(part.values())))
        for name, column in part.items():
            valuations[:, position[name]] = np.tile(np.repeat(column, before), count // (before * size) if size else 0)
        before *= size
    varying = [position[name] for name in left]
    return valuations[np.lexsort(valuations[:, varying].T[::-1])] if varying else valuations


def evaluate(formula: Formula, columns: Mapping[str, Column]) -> Column:
    """Evaluate a propositional formula at every row of the columns: bool[rows], or bool[] for all rows."""
    normal = formula.negation_normal_form()
    found = None if normal in (TRUE, FALSE) else _compile(normal)(columns)
    return np.array(normal is TRUE) if found is None else found


def list_valuations(worlds: NDArray[np.bool_], fluents: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """List for each world of bool[worlds, fluents] the names of the fluents that are true."""
    return tuple(frozenset(compress(fluents, world)) for world in worlds.tolist())


def number_classes(known: Iterable[Formula], columns: Mapping[str, Column], count: int) -> NDArray[np.int64]:
    """Number worlds so that two have equal numbers iff they agree on all `known` formulas: int64[count]."""
    found = np.zeros(count, dtype=np.int64)
    for formula in dict.fromkeys(known):
        # Renumbering after every formula keeps the numbers below `count`.
        found = np.unique(2 * found + evaluate(formula, columns), return_inverse=True)[1]
    return found


def list_rows(classes: NDArray[np.int64]) -> tuple[frozenset[int], ...]:
    """List for each world the worlds of its class; the worlds of a class share one row."""
    order = np.argsort(classes, kind="stable")
    ends, worlds = np.cumsum(np.bincount(classes)).tolist(), order.tolist()
    shared = [frozenset(worlds[start:end]) for start, end in pairwise([0, *ends])]
    return tuple(map(shared.__getitem__, classes.tolist()))


def _compile(formula: Formula) -> _Test:
    """Compile a conjunction, disjunction or literal in negation normal form into a test of columns."""
    parts = formula.children if formula.op in (Op.AND, Op.OR) else (formula,)
    positive = [part.name for part in parts if part.op is Op.FLUENT]
    negative = [part.children[0].name for part in parts if part.op is Op.NOT]
    inner = [_compile(part) for part in parts if part.op in (Op.AND, Op.OR)]
    names = frozenset([*positive, *negative])

    def can_all_hold(columns: Mapping[str, Column]) -> Column | None:
        found = [columns[name] for name in positive if name in columns]
        if denied := [columns[name] for name in negative if name in columns]:
            found.append(~_join(np.logical_or, denied))
        found += [column for test in inner if (column := test(columns)) is not None]
        return _join(np.logical_and, found) if found else None

    def can_some_hold(columns: Mapping[str, Column]) -> Column | None:
        if not columns.keys() >= names:
            return None
        found = [columns[name] for name in positive]
        if negative:
            found.append(~_join(np.logical_and, [columns[name] for name in negative]))
        for test in inner:
            if (column := test(columns)) is None:
                return None
            found.append(column)
        return _join(np.logical_or, found)

    return can_some_hold if formula.op is Op.OR else can_all_hold


def _join(connective: np.ufunc, columns: Sequence[Column]) -> Column:
    """Join columns of equal length; of many, in one call."""
    joined: Column = connective.reduce(columns) if len(columns) > _MANY else reduce(connective, columns)
    return joined


def _group_linked(mentioned: Mapping[Formula, frozenset[str]]) -> list[dict[Formula, frozenset[str]]]:
    """Group constraints, each with its fluents, so that those of different groups have no fluent in common."""
    mentioning: dict[str, list[Formula]] = {}
    for constraint, names in mentioned.items():
        for name in names:
            mentioning.setdefault(name, []).append(constraint)
    groups, waiting = [], dict(mentioned)
    while waiting:
        stack, group = [next(iter(waiting))], {}
        while stack:
            constraint = stack.pop()
            if constraint in waiting:
                group[constraint] = waiting.pop(constraint)
                for name in group[constraint]:
                    stack += mentioning.pop(name, ())
        groups.append({one: group[one] for one in mentioned if one in group} if len(group) > 1 else group)
    return groups


def _find_linked(mentioned: Mapping[Formula, frozenset[str]], position: Mapping[str, int]) -> dict[str, Column]:
    """Find the valuations of their fluents that satisfy all constraints: the column of each fluent."""
    denying: dict[tuple[str, bool], list[_Test]] = {}
    for constraint in mentioned:
        test = _compile(constraint)
        for name, value in _list_literals(constraint):
            denying.setdefault((name, not value), []).append(test)
    order = _order_fluents(list(mentioned.values()), position)
    table = np.empty((0, 1), dtype=np.bool_)
    for name in order:
        parts = [_extend(table, order, name, value, denying.get((name, value), ())) for value in (False, True)]
        if sum(part.shape[1] for part in parts) > MAX_WORLDS:
            raise LimitError(_too_many(2 ** len(order), order))
        table = np.hstack(parts)
    return dict(zip(order, table, strict=True))


def _extend(table: _Table, order: Sequence[str], name: str, value: bool, tests: Iterable[_Test]) -> _Table:
    """Extend partial valuations by a value, as far as the constraints can hold that it may deny."""
    count = table.shape[1]
    columns = dict(zip(order, table, strict=False)) | {name: np.full(count, value)}
    possible = np.ones(count, dtype=np.bool_)
    for test in tests:
        if (can_hold := test(columns)) is not None:
            possible &= can_hold
    kept = table if possible.all() else table[:, possible]
    return np.vstack([kept, np.full(kept.shape[1], value)])


def _list_literals(formula: Formula) -> set[tuple[str, bool]]:
    """List the literals of a formula in negation normal form."""
    found, stack = set(), [formula]
    while stack:
        node = stack.pop()
        if (atom := node.unnegated).op is Op.FLUENT:
            found.add((atom.name, atom is node))
        stack += node.children if atom is node else ()
    return found


def _propagate(formula: Formula) -> tuple[dict[str, Formula], list[Formula]]:
    """Propagate unit literals: the constants of their fluents, and the remaining constraints."""
    fixed: dict[str, Formula] = {}
    rest: dict[Formula, None] = {}
    mentioning: dict[str, list[Formula]] = {}
    queue = sorted(conjuncts(formula), key=lambda part: part.unnegated.op is Op.FLUENT)  # the last is popped first
    while queue:
        part = _simplify(queue.pop(), fixed)
        if part.op is Op.AND:
            queue += part.children
        elif part is FALSE:
            return fixed, [FALSE]
        elif (atom := part.unnegated).op is Op.FLUENT:
            fixed[atom.name] = TRUE if atom is part else FALSE
            for constraint in mentioning.pop(atom.name, ()):
                if constraint in rest:
                    del rest[constraint]
                    queue.append(constraint)
        elif part is not TRUE:
            rest[part] = None
            for name in part.fluents():
                mentioning.setdefault(name, []).append(part)
    return fixed, list(rest)


def _simplify(formula: Formula, fixed: Mapping[str, Formula]) -> Formula:
    """A formula in negation normal form with the constants of some fluents in place of them."""
    atom = formula.unnegated
    if atom.op is Op.FLUENT:
        value = fixed.get(atom.name, atom)
        return value if atom is formula else not_(value)
    if formula.op not in (Op.AND, Op.OR):
        return formula
    absorbing = FALSE if formula.op is Op.AND else TRUE
    children = []
    for child in formula.children:
        if (part := _simplify(child, fixed)) is absorbing:
            return absorbing
        children.append(part)
    if all(map(is_, children, formula.children)):
        return formula
    return and_(*children) if formula.op is Op.AND else or_(*children)


def _order_fluents(constraints: Sequence[frozenset[str]], position: Mapping[str, int]) -> list[str]:
    """Order the fluents of constraints so that constraints are complete early: those with the fewest others first."""
    mentioning: dict[str, list[int]] = {}
    for index, names in enumerate(constraints):
        for name in names:
            mentioning.setdefault(name, []).append(index)
    left = list(map(len, constraints))
    waiting = [(count, index) for index, count in enumerate(left)]
    heapify(waiting)
    order: dict[str, None] = {}
    while waiting:
        count, index = heappop(waiting)
        if count != left[index]:  # a later entry has the present number
            continue
        for name in sorted(constraints[index] - order.keys(), key=position.__getitem__):
            order[name] = None
            for other in mentioning[name]:
                left[other] -= 1
                heappush(waiting, (left[other], other))
    return list(order)


def _too_many(count: int, names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return (
        f"the theory leaves up to 2^{(count - 1).bit_length()} worlds, more than {MAX_WORLDS}: nothing fixes {shown}; "
        "state more of them as common knowledge"
    )
