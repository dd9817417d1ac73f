"""Heuristics by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from epigym.config.registry import maker
from epigym.space.search_problem import SearchProblem, Source
from search.heuristics.heuristic import Heuristic

HEURISTICS: Mapping[str, str] = {
    "goal_count": "search.heuristics.goal_count.GoalCount",
    "split_goal_count": "search.heuristics.goal_count.SplitGoalCount",
    "c_pg": "search.heuristics.planning_graph.EntailedLevels",
    "l_pg": "search.heuristics.planning_graph.GraphLength",
    "s_pg": "search.heuristics.planning_graph.GoalLevels",
    "h_add": "search.heuristics.belief_relaxation.AdditiveCost",
    "h_ff": "search.heuristics.belief_relaxation.RelaxedPlan",
    "landmarks": "search.heuristics.landmarks.LandmarkCount",
    "learned": "search.heuristics.learned.Learned",
}
"""The class of each heuristic; its module is imported when the heuristic is chosen."""


def choose_heuristic(choice: Mapping[str, Any]) -> partial[Heuristic]:
    """The function from a state space to the heuristic of a mapping as in `conf/heuristic/<name>.yaml`.

    Raises:
        UsageError: when there is no such heuristic or setting (close names are suggested), or a value does not fit.
    """
    return maker("heuristic", choice, HEURISTICS, Heuristic, given=1)


def make_heuristic(name: str, source: Source, **settings: Any) -> Heuristic:
    """Make the heuristic `name` for a state space, or for the state space of another source.

    Raises:
        UsageError: as `choose_heuristic`, and when `source` is no problem, see `SearchProblem.of`.
    """
    return choose_heuristic({"name": name, **settings})(SearchProblem.of(source).search_space)


__all__ = ["HEURISTICS", "Heuristic", "choose_heuristic", "make_heuristic"]
