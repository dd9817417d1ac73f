"""The worlds of many e-states at once: what is true in each, and which of them agents consider possible there."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.space.growing import GrowingTable
from epigym.space.rows import Rows
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula, Op

Truth = NDArray[np.bool_]


class WorldTable(NamedTuple):
    """The n worlds of some e-states, in canonical order, and their r rows, both counted through all of these e-states.

    Attributes:
        state: int64[n], the e-state of each world, counted from 0 in the order asked for.
        designated: bool[n], whether it is designated.
        fluents: bool[n, n_fluents], which fluents are true there.
        truth: bool[n, n_formulas], which formulas are.
        row: int64[n, n_agents], the row of worlds that each agent considers possible there.
        ptr: int64[r + 1], where the worlds of each row start.
        member: int64[s], these worlds.
    """

    state: NDArray[np.int64]
    designated: Truth
    fluents: Truth
    truth: Truth
    row: NDArray[np.int64]
    ptr: NDArray[np.int64]
    member: NDArray[np.int64]


class Worlds:
    """The worlds of a space's e-states.

    Args:
        space: where the e-states live.
        formulas: what else is evaluated at every world.
    """

    def __init__(self, space: StateSpace, formulas: Sequence[Formula]) -> None:
        self._space = space
        self._formulas = formulas
        self._labels = _core.WorldLabels()
        self._valuations = GrowingTable(len(space.task.fluents), np.bool_)
        self._lock = Lock()  # labels are handed out and described in one go

    def __call__(self, ids: ArrayLike) -> WorldTable:
        """The worlds of e-states, int32[k].

        Raises:
            IndexError: when an id is unknown.
        """
        with self._lock:
            rows = Rows(*self._space.core.rows(as_ids(ids), self._labels))
            known = len(self._valuations)
            if len(self._labels) > known:
                valuations, _ = self._labels.describe(known, len(self._space.task.fluents))
                self._valuations.append(valuations.view(np.bool_))
        states = np.arange(len(rows.world_ptr) - 1)
        state = np.repeat(states, np.diff(rows.world_ptr))
        state_of_row = np.repeat(states, np.diff(rows.row_ptr))
        starts = np.repeat(rows.world_ptr[state_of_row], np.diff(rows.successor_ptr))
        table = WorldTable(
            state=state,
            designated=rows.designated.view(np.bool_),
            fluents=self._valuations.rows[rows.label],
            truth=np.empty((len(state), 0), dtype=np.bool_),
            row=rows.row_of + rows.row_ptr[state][:, None],
            ptr=rows.successor_ptr,
            member=rows.successor + starts,
        )
        truth = _Evaluation(self._space, table)
        columns = [truth.of(formula) for formula in self._formulas]
        return table._replace(truth=np.stack(columns, axis=1)) if columns else table


class _Evaluation:
    """The truth of formulas at all worlds of a table, each subformula evaluated once."""

    def __init__(self, space: StateSpace, table: WorldTable) -> None:
        self._table = table
        self._row_of_member = np.repeat(np.arange(len(table.ptr) - 1), np.diff(table.ptr))
        self._fluents = {name: place for place, name in enumerate(space.task.fluents)}
        self._agents = {name: place for place, name in enumerate(space.task.agents)}
        self._known: dict[Formula, Truth] = {}

    def of(self, formula: Formula) -> Truth:
        """bool[n]: where a formula is true."""
        for node in formula.subformulas():
            if node not in self._known:
                self._known[node] = self._evaluate(node, [self._known[child] for child in node.children])
        return self._known[formula]

    def _evaluate(self, node: Formula, parts: list[Truth]) -> Truth:
        match node.op:
            case Op.TRUE | Op.FALSE:
                return np.full(len(self._table.state), node.op is Op.TRUE)
            case Op.FLUENT:
                return self._table.fluents[:, self._fluents[node.name]]
            case Op.NOT:
                return ~parts[0]
            case Op.AND:
                return np.asarray(np.all(parts, axis=0))
            case Op.OR:
                return np.asarray(np.any(parts, axis=0))
            case Op.BELIEVES | Op.EVERYBODY:
                return self._believed(node.agents, parts[0])
            case Op.COMMON:
                return self._common(node.agents, parts[0])
            case Op.ACTUALLY:
                state = self._table.state
                fails = np.bincount(state[self._table.designated & ~parts[0]], minlength=len(state))
                return np.asarray(fails[state] == 0)

    def _believed(self, agents: Sequence[str], truth: Truth) -> Truth:
        """Where all of some agents consider only worlds possible where something is true."""
        fails = np.bincount(self._row_of_member[~truth[self._table.member]], minlength=len(self._table.ptr) - 1) > 0
        rows = self._table.row[:, [self._agents[agent] for agent in agents]]
        return np.asarray(~fails[rows].any(axis=1))

    def _common(self, agents: Sequence[str], truth: Truth) -> Truth:
        """Where something is true wherever one or more steps of these agents' relations lead."""
        found = np.ones_like(truth)
        while (narrower := self._believed(agents, truth & found)).sum() < found.sum():
            found = narrower
        return found
