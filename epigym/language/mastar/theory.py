"""Expresses a contracted e-state by `initially` formulas of mA*, a finitary S5 theory.

The constraints that hold at all worlds are common knowledge. Each agent knows whether fluents hold that are constant
on its classes of worlds. If these fluents do not distinguish all classes, it knows whether further formulas hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError, TaskError
from epigym.task.formula import Formula, and_, common, knows_whether, literal, not_, or_
from epigym.task.task import EState

MAX_LITERALS = 200_000
_Table = NDArray[np.bool_]


def build_theory(estate: EState, fluents: Sequence[str], agents: Sequence[str]) -> list[Formula]:
    """Build the formulas after `initially` that describe an e-state.

    Args:
        estate: the e-state, contracted.
        fluents: names, one or more.
        agents: names.

    Raises:
        TaskError: if there are none, with the reason.
        LimitError: if they would have more than `MAX_LITERALS` literals.
    """
    _check(estate, agents)
    worlds = np.array([[name in valuation for name in fluents] for valuation in estate.valuations])
    actual = estate.valuations[estate.designated[0]]
    shared = [common(agents, part) for part in _constraints(worlds, fluents)]
    known = [
        common(agents, knows_whether(agent, part))
        for agent, rows in zip(agents, estate.successors, strict=True)
        for part in _find_known_formulas(worlds, fluents, rows)
    ]
    return [and_(*(literal(name, name in actual) for name in fluents)), *shared, *known]


def _check(estate: EState, agents: Sequence[str]) -> None:
    if len(estate.designated) > 1:
        raise TaskError(f"it has {len(estate.designated)} designated worlds, mA* allows one")
    if len(set(estate.valuations)) < len(estate.valuations):
        raise TaskError("some of its worlds differ only in beliefs, mA* requires different fluents")
    for agent, rows in zip(agents, estate.successors, strict=True):
        if not all(world in row for world, row in enumerate(rows)):
            raise TaskError(f"agent {agent!r} has a false belief in some world, mA* requires true beliefs")
        if any(rows[world] != row for row in set(rows) for world in row):
            raise TaskError(f"agent {agent!r} does not know its own beliefs, mA* requires introspection")


def _find_known_formulas(worlds: _Table, fluents: Sequence[str], rows: Sequence[frozenset[int]]) -> Iterator[Formula]:
    """Find formulas such that worlds agree on all of them iff they have the same row."""
    number = {row: index for index, row in enumerate(dict.fromkeys(rows))}
    classes = np.array([number[row] for row in rows])
    first = np.unique(classes, return_index=True)[1]
    known = (worlds == worlds[first][classes]).all(axis=0) & (worlds != worlds[0]).any(axis=0)
    yield from (literal(fluents[index], True) for index in np.flatnonzero(known).tolist())
    if len(np.unique(worlds[:, known], axis=0)) < len(number):
        for bit in range((len(number) - 1).bit_length()):
            yield and_(*_constraints(worlds[classes >> bit & 1 == 1], fluents))


def _constraints(worlds: _Table, fluents: Sequence[str]) -> Iterator[Formula]:
    """Formulas whose conjunction holds exactly at the worlds, which are bool[n, fluents] and distinct."""
    varying = (worlds != worlds[0]).any(axis=0)
    yield from (literal(fluents[index], bool(worlds[0, index])) for index in np.flatnonzero(~varying).tolist())
    groups = _group_dependent(worlds, np.flatnonzero(varying).tolist())
    if prod(len(np.unique(worlds[:, group], axis=0)) for group in groups) != len(worlds):
        groups = [np.flatnonzero(varying).tolist()]
    for group in groups:
        yield from _normal_form(np.unique(worlds[:, group], axis=0), [fluents[index] for index in group])


def _group_dependent(worlds: _Table, varying: list[int]) -> list[list[int]]:
    """Group the varying fluents: two of them are linked if some pair of their values does not occur."""
    true, false = worlds.astype(np.float64), (~worlds).astype(np.float64)
    free = np.all([first.T @ second > 0 for first in (true, false) for second in (true, false)], axis=0)
    groups: list[list[int]] = []
    waiting = list(varying)
    while waiting:
        group = [waiting.pop(0)]
        for index in group:
            group += [other for other in waiting if not free[index, other]]
            waiting = [other for other in waiting if free[index, other]]
        groups.append(sorted(group))
    return groups


def _normal_form(rows: _Table, fluents: Sequence[str]) -> Iterator[Formula]:
    """Formulas that hold exactly at these rows of values: a disjunctive or a conjunctive normal form."""
    count = 2 ** len(fluents)
    if len(fluents) * min(len(rows), count - len(rows)) > MAX_LITERALS:
        raise LimitError(f"its {len(rows)} worlds would take more than {MAX_LITERALS} literals")
    if len(rows) <= count - len(rows):
        yield or_(*(_term(row, fluents) for row in rows))
    else:
        places = 1 << np.arange(len(fluents))
        missing = np.setdiff1d(np.arange(count), rows @ places)
        yield from (not_(_term(number & places > 0, fluents)).negation_normal_form() for number in missing)


def _term(row: _Table, fluents: Sequence[str]) -> Formula:
    return and_(*(literal(name, bool(value)) for name, value in zip(fluents, row, strict=True)))
