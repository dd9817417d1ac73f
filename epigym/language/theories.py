"""Finitary S5 theories: the models of common knowledge, and the equivalence relations of agents on them.

The search for models assigns one fluent after another in all partial valuations at once. It drops a partial valuation
as soon as some constraint cannot become true, so that the work grows with the number of models rather than 2^fluents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import compress
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError
from epigym.task.formula import FALSE, TRUE, Formula, Op, and_, fluent

MAX_WORLDS = 2**20
_SHOWN = 8
Column: TypeAlias = NDArray[np.bool_]
_ALWAYS = np.array(True)


def find_models(constraints: Iterable[Formula], fluents: tuple[str, ...]) -> NDArray[np.bool_]:
    """Find all valuations of `fluents` that satisfy the constraints.

    Args:
        constraints: propositional formulas over the fluents.
        fluents: the fluents, most significant first.

    Returns:
        The valuations in binary counting order: bool[models, fluents].

    Raises:
        LimitError: if there are more than `MAX_WORLDS` models or partial valuations.
    """
    fixed, rest = _propagate(and_(*constraints).negation_normal_form())
    mentioned = {constraint: constraint.fluents() for constraint in rest}
    order = _order_fluents(mentioned.values(), [name for name in fluents if name not in fixed])
    count = 0 if FALSE in mentioned else 1
    columns: dict[str, Column] = {}
    for name in order:
        if 2 * count > MAX_WORLDS:
            raise LimitError(_too_many(order))
        columns = {known: np.concatenate([column, column]) for known, column in columns.items()}
        columns[name] = np.repeat([False, True], count)
        possible = np.ones(2 * count, dtype=np.bool_)
        for constraint, names in mentioned.items():
            if name in names:
                possible &= _evaluate_bounds(constraint, columns)[0]
        columns = {known: column[possible] for known, column in columns.items()}
        count = int(possible.sum())
    valuations = np.empty((count, len(fluents)), dtype=np.bool_)
    for index, name in enumerate(fluents):
        valuations[:, index] = fixed[name] is TRUE if name in fixed else columns[name]
    return valuations[np.lexsort(valuations.T[::-1])] if fluents else valuations


def evaluate(formula: Formula, columns: Mapping[str, Column]) -> Column:
    """Evaluate a propositional formula at every row of the columns: bool[rows], or bool[] for all rows."""
    return _evaluate_bounds(formula, columns)[0]


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
    members = np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)
    shared = [frozenset(worlds.tolist()) for worlds in members]
    return tuple(shared[number] for number in classes.tolist())


def _evaluate_bounds(formula: Formula, columns: Mapping[str, Column]) -> tuple[Column, Column]:
    """Evaluate whether the formula can still become true, and false, given the columns of some fluents."""
    found: dict[Formula, tuple[Column, Column]] = {}
    for node in formula.subformulas():
        true, false = ([found[child][side] for child in node.children] for side in (0, 1))
        match node.op:
            case Op.FLUENT:
                column = columns.get(node.name)
                found[node] = (_ALWAYS, _ALWAYS) if column is None else (column, ~column)
            case Op.NOT:
                found[node] = false[0], true[0]
            case Op.AND:
                found[node] = reduce(np.logical_and, true), reduce(np.logical_or, false)
            case Op.OR:
                found[node] = reduce(np.logical_or, true), reduce(np.logical_and, false)
            case _:
                found[node] = np.array(node is TRUE), np.array(node is FALSE)
    return found[formula]


def _propagate(formula: Formula) -> tuple[dict[str, Formula], list[Formula]]:
    """Propagate unit literals: the constants of their fluents, and the remaining constraints."""
    fixed: dict[str, Formula] = {}
    rest: dict[Formula, None] = {}
    mentioning: dict[str, list[Formula]] = {}
    queue = [formula]
    while queue:
        part = queue.pop()
        names = part.fluents()
        if not names.isdisjoint(fixed):
            part = part.map_fluents(lambda name: fixed.get(name) or fluent(name))
            queue.append(part)
        elif part.op is Op.AND:
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
            for name in names:
                mentioning.setdefault(name, []).append(part)
    return fixed, list(rest)


def _order_fluents(constraints: Iterable[frozenset[str]], fluents: list[str]) -> list[str]:
    """Order fluents so that constraints are complete early; unconstrained fluents come last."""
    position = {name: index for index, name in enumerate(fluents)}
    waiting = list(constraints)
    order: dict[str, None] = {}
    while waiting:
        chosen: frozenset[str] = min(waiting, key=len)
        order.update(dict.fromkeys(sorted(chosen, key=position.__getitem__)))
        waiting = [rest for names in waiting if (rest := names - chosen)]
    return [*order, *(name for name in fluents if name not in order)]


def _too_many(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return (
        f"the theory leaves up to 2^{len(names)} worlds, more than {MAX_WORLDS}: nothing fixes {shown}; "
        "state more of them as common knowledge"
    )
