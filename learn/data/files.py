"""Stub until it is there."""

from __future__ import annotations

from collections.abc import Sequence

from epigym.task.task import Task


def sample_files(tasks: Sequence[Task], *, draws: int, validation: int, seed: int) -> tuple[list[Task], list[Task]]:
    return list(tasks), list(tasks)
