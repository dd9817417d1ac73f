"""Heuristics by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epigym.space import StateSpace
from search.heuristics.divided_goals import DividedGoals
from search.heuristics.heuristic import Heuristic
from search.heuristics.open_goals import OpenGoals
from search.heuristics.registry import lookup
from search.heuristics.relaxed import EntailedLevels, GoalLevels, GraphLength


def _gnn(space: StateSpace, checkpoint: str | None = None, threads: int = 1) -> Heuristic:
    from search.heuristics.gnn import Gnn  # torch takes seconds to import

    return Gnn(space, checkpoint, threads)


def _onnx(space: StateSpace, path: str | None = None, threads: int = 1) -> Heuristic:
    from search.heuristics.onnx import Onnx  # the packages of the extra export may be missing

    return Onnx(space, path, threads)


HEURISTICS: Mapping[str, Callable[..., Heuristic]] = {
    "open_goals": OpenGoals,
    "divided_goals": DividedGoals,
    "c_pg": EntailedLevels,
    "l_pg": GraphLength,
    "s_pg": GoalLevels,
    "gnn": _gnn,
    "onnx": _onnx,
}


def make_heuristic(name: str, space: StateSpace, **settings: Any) -> Heuristic:
    """The heuristic `name` on `space` with its settings, as in `conf/heuristic/<name>.yaml`.

    Raises:
        EpigymError: when there is no such heuristic or setting; the message suggests close names.
    """
    return lookup(HEURISTICS, "heuristic", name, space, **settings)


__all__ = ["HEURISTICS", "Heuristic", "make_heuristic"]
