"""All models of propositional constraints.

Fluent by fluent, all partial valuations at once; a partial valuation is dropped as soon as some constraint
cannot become true any more, so the work follows the number of models and not 2^fluents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError
from epigym.formula import FALSE, TRUE, Formula, Op, and_, fluent

MAX_WORLDS = 2**20
_SHOWN = 8
Column: TypeAlias = NDArray[np.bool_]
_ALWAYS = np.array(True)


def models(constraints: Iterable[Formula], fluents: tuple[str, ...]) -> NDArray[np.bool_]:
    """Every valuation of `fluents` that satisfies the constraints.

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
    order = _order(mentioned.values(), [name for name in fluents if name not in fixed])
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
                possible &= _possible(constraint, columns)[0]
        columns = {known: column[possible] for known, column in columns.items()}
        count = int(possible.sum())
    valuations = np.empty((count, len(fluents)), dtype=np.bool_)
    for index, name in enumerate(fluents):
        valuations[:, index] = fixed[name] if name in fixed else columns[name]
    return valuations[np.lexsort(valuations.T[::-1])] if fluents else valuations


def truth(formula: Formula, columns: Mapping[str, Column]) -> Column:
    """The truth of a propositional formula at every row of the columns: bool[rows], or bool[] for all."""
    return _possible(formula, columns)[0]


def _possible(formula: Formula, columns: Mapping[str, Column]) -> tuple[Column, Column]:
    """Whether the formula can still become true, and false, as far as the known columns tell."""
    if formula.op is Op.FLUENT:
        column = columns.get(formula.name)
        return (_ALWAYS, _ALWAYS) if column is None else (column, ~column)
    if formula.op is Op.NOT:
        true, false = _possible(formula.children[0], columns)
        return false, true
    if formula.op in (Op.AND, Op.OR):
        both, one = (np.logical_and, np.logical_or) if formula.op is Op.AND else (np.logical_or, np.logical_and)
        parts = [_possible(child, columns) for child in formula.children]
        return reduce(both, (true for true, _ in parts)), reduce(one, (false for _, false in parts))
    return np.array(formula is TRUE), np.array(formula is FALSE)


def _propagate(formula: Formula) -> tuple[dict[str, bool], list[Formula]]:
    """Values forced by single literals, and the constraints that remain."""
    fixed: dict[str, bool] = {}
    rest: dict[Formula, None] = {}
    mentioning: dict[str, list[Formula]] = {}
    queue = [formula]
    while queue:
        part = queue.pop()
        names = part.fluents()
        if not names.isdisjoint(fixed):
            part = part.map_fluents(lambda name: _constant(fixed[name]) if name in fixed else fluent(name))
            queue.append(part)
        elif part.op is Op.AND:
            queue += part.children
        elif part is FALSE:
            return fixed, [FALSE]
        elif (atom := _atom(part)) is not None:
            fixed[atom.name] = atom is part
            for constraint in mentioning.pop(atom.name, ()):
                if constraint in rest:
                    del rest[constraint]
                    queue.append(constraint)
        elif part is not TRUE:
            rest[part] = None
            for name in names:
                mentioning.setdefault(name, []).append(part)
    return fixed, list(rest)


def _constant(value: bool) -> Formula:
    return TRUE if value else FALSE


def _atom(formula: Formula) -> Formula | None:
    """The fluent of a literal."""
    inner = formula.children[0] if formula.op is Op.NOT else formula
    return inner if inner.op is Op.FLUENT else None


def _order(constraints: Iterable[frozenset[str]], fluents: list[str]) -> list[str]:
    """The fluents, those first that complete a constraint soonest; unconstrained ones last."""
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
