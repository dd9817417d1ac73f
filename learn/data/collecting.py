"""The data sets of several problems, loaded from the cache where possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epigym.io.tables import Table
from epigym.space.search_problem import SearchProblem, Source
from learn.data.dataset import DataSet, load_or_make
from learn.data.explorers import ExplorerSettings
from learn.data.progress import show_visits

_LISTED = 12  # maximum number of data sets that are listed one by one


def collect(
    sources: Sequence[Source],
    explorer: ExplorerSettings,
    encoding: Mapping[str, Any],
    outputs: Path,
) -> list[DataSet]:
    """The data sets of some problems, loaded from the cache where possible.

    Args:
        sources: the problems, see `SearchProblem.of`.
        explorer: settings of the exploration.
        encoding: its name and settings.
        outputs: folder whose subfolder `rollouts` is the cache.

    Raises:
        EpigymError: when a setting or a stored data set is wrong.
    """
    sets = []
    for problem in map(SearchProblem.of, sources):
        description = f"exploring {problem.task.name}"
        with show_visits(description, explorer.max_visited, transient=len(sources) > _LISTED) as on_visit:
            sets.append(load_or_make(problem, explorer, encoding, outputs / "rollouts", on_visit))
    return sets


def summarize(sets: Sequence[DataSet]) -> Table:
    """A table with a row for each data set, or for each domain if there are more than 12."""
    groups: dict[str, list[DataSet]] = defaultdict(list)
    for data in sets:
        name = data.metadata["task"]
        groups[name.partition("/")[0] if len(sets) > _LISTED else name].append(data)
    titles = ("problem", "visited", "samples", "goals", "steps", "depth", "worlds", "sec")
    caption = "rollouts; + means that there are more e-states"
    return Table(caption, titles, [_row(name, group) for name, group in groups.items()])


def _row(name: str, group: Sequence[DataSet]) -> list[str]:
    counts = [data.metadata["counts"] for data in group]
    kept = sum(one["kept"] for one in counts)
    return [
        f"{len(group)} of {name}" if len(group) > 1 else name,
        f"{sum(one['visited'] for one in counts):,}{'' if all(one['complete'] for one in counts) else '+'}",
        f"{kept:,}",
        f"{sum(one['goals'] for one in counts) / kept:.0%}",
        f"0–{max(len(one['distances']) for one in counts) - 1}",
        f"{max(len(one['depths']) for one in counts) - 1}",
        f"{sum(one['worlds'] for one in counts) / kept:.1f}",
        f"{sum(sum(data.metadata['seconds'].values()) for data in group):.1f}",
    ]
