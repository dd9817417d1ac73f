"""Breadth-first search on every published problem finds exactly the known numbers."""

from __future__ import annotations

import numpy as np
import pytest

from epigym.space.space import StateSpace
from tests.helpers.benchmark_files import published_task, table

COLUMNS = ("plan_length", "expanded", "generated", "distinct_states", "max_worlds")


def breadth_first(space: StateSpace) -> tuple[int | None, int, int, int, int]:
    """Plan length, expanded, generated, distinct e-states, most worlds; goal test at generation."""
    depth = {space.initial: 0}
    expanded = generated = 0
    solution = 0 if space.is_goal([space.initial])[0] else None
    queue = [] if solution == 0 else [space.initial]
    for state in queue:  # the queue grows while it is read
        expanded += 1
        targets = space.expand([state], stop_at_goal=True).target
        generated += len(targets)
        for target in dict.fromkeys(targets.tolist()):
            if target not in depth:
                depth[target] = depth[state] + 1
                queue.append(target)
        if len(targets) and space.is_goal(targets[-1:])[0]:
            solution = depth[state] + 1
            break
    worlds = space.world_counts(np.fromiter(depth, dtype=np.int32))
    return solution, expanded, generated, len(depth), int(worlds.max())


@pytest.mark.reference
@pytest.mark.parametrize("row", table("expected_mastar"), ids=lambda row: row["instance"])
def test_breadth_first_search(row: dict[str, str]) -> None:
    assert breadth_first(StateSpace(published_task(row))) == tuple(
        int(row[column]) if row[column] else None for column in COLUMNS
    )
