"""Ground EPDDL specifications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from epigym.task.task import Task


@dataclass(frozen=True, slots=True)
class GroundSpecification:
    """A ground task with the further content of the official layout.

    Attributes:
        task: the task.
        domain: name of the domain.
        problem: name of the problem.
        libraries: names of the action-type libraries.
        requirements: all requirements, sorted.
        atoms: names of all atoms, facts included.
        facts: names of the facts that hold initially.
        action_types: name of the action type of every action.
    """

    task: Task
    domain: str
    problem: str
    libraries: tuple[str, ...]
    requirements: tuple[str, ...]
    atoms: tuple[str, ...]
    facts: tuple[str, ...]
    action_types: Mapping[str, str]
