"""The data sets of several problems, from the cache where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epigym.io.tables import ScreenTable
from epigym.space.search_problem import SearchProblem, Source
from learn.data.dataset import DataSet, cached
from learn.data.explorers import ExplorerSettings
from learn.data.progress import visits


def collect(
    sources: Sequence[Source],
    explorer: ExplorerSettings,
    encoding: Mapping[str, Any],
    outputs: Path,
) -> list[DataSet]:
    """The data sets of some problems, from the cache where they are.

    Args:
        sources: the problems, see `SearchProblem.of`.
        explorer: how their state spaces are explored.
        encoding: keyword arguments of `epigym.encoding.encoder.Encoder`.
        outputs: the cache is the folder `rollouts` there.

    Raises:
        EpigymError: when a setting or a stored data set is wrong.
    """
    sets = []
    for problem in map(SearchProblem.of, sources):
        with visits(f"exploring {problem.task.name}", explorer.max_visited) as on_visit:
            sets.append(cached(problem, explorer, encoding, outputs / "rollouts", on_visit))
    return sets


def summary(sets: Sequence[DataSet]) -> ScreenTable:
    """What the data sets hold, one line each."""
    titles = ("problem", "visited", "samples", "goals", "steps", "depth", "worlds", "sec")
    return ScreenTable("rollouts; + means that there are more e-states", titles, list(map(_row, sets)))


def _row(data: DataSet) -> list[str]:
    counts, seconds = data.metadata["counts"], data.metadata["seconds"]
    return [
        data.metadata["task"],
        f"{counts['visited']:,}{'' if counts['complete'] else '+'}",
        f"{counts['kept']:,}",
        f"{counts['goals'] / counts['kept']:.0%}",
        f"0–{len(counts['distances']) - 1}",
        f"{len(counts['depths']) - 1}",
        f"{counts['worlds'] / counts['kept']:.1f}",
        f"{sum(seconds.values()):.1f}",
    ]
