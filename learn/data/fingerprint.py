"""Fingerprints: short hexadecimal names of tasks and settings, by which results are cached."""

from __future__ import annotations

from typing import Any

from epigym.io.checksummed import digest
from epigym.task.packing import pack_task
from epigym.task.task import Task


def fingerprint(**parts: Any) -> str:
    """32 hexadecimal digits computed from the parts (plain values and containers)."""
    return digest(parts)[:32]


def fingerprint_task(task: Task) -> str:
    """The fingerprint of a task without its name."""
    actions = [action.name for action in task.actions]
    return fingerprint(fluents=task.fluents, agents=task.agents, actions=actions, packed=pack_task(task))
