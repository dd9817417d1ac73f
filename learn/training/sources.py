"""The training and validation problems of networks: published problems, sampled problems, or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from epigym.errors import UsageError
from epigym.language import Reading
from epigym.problem import find_problems, load_problem
from epigym.task.task import Task
from learn.data.distribution import sample_problems
from learn.data.files import sample_files
from learn.data.pairs import Pairs, make_rollout
from learn.data.problems import check_domains, list_problems
from learn.data.progress import show_visits
from learn.training.options import DistanceOptions, PublishedOptions, SampledOptions, SearchValidation, Training
from learn.training.sampling import make_all_pairs, sample_tasks


@dataclass(frozen=True)
class TrainingProblems:
    """The problems of a training.

    Args:
        settings: of the training.
        domains: training domains if no problems are named.
        problems: files or instances as `domain/instance`; empty to use the domains.
        reading: how files are read.
    """

    settings: Training
    domains: Sequence[str]
    problems: Sequence[str]
    reading: Reading

    @property
    def card(self) -> dict[str, Any]:
        """The description of the problems in a checkpoint: their kind, and numbers of samples."""
        data, seed = self.settings.data, self.settings.seed
        if isinstance(data, PublishedOptions):
            return {"kind": "published", "seed": seed}
        kind = "files" if self.problems else "sampled"
        return {"kind": kind, "instances": data.instances, "goals": data.goals, "seed": seed}

    @cached_property
    def names(self) -> list[str]:
        """The names of the problems that are read; empty if they are sampled from domains."""
        if self.problems or isinstance(self.settings.data, SampledOptions):
            return find_problems(self.problems)
        return list_problems("train", self.domains, [])

    @cached_property
    def tasks(self) -> list[Task]:
        """The problems that are read."""
        return [load_problem(name, self.reading) for name in self.names]

    @cached_property
    def learned_domains(self) -> list[str]:
        """The domains of the problems."""
        return list(dict.fromkeys(task.domain for task in self.tasks if task.domain)) or list(self.domains)

    @cached_property
    def _sampled(self) -> tuple[list[Task], list[Task]]:
        """The training problems, and the problems of validation by search."""
        data, validation, seed = self.settings.data, self.settings.validation, self.settings.seed
        most = validation.problems if isinstance(validation, SearchValidation) else 0
        if isinstance(data, SampledOptions) and self.problems:
            return sample_files(self.tasks, instances=data.instances, validation=most, seed=seed)
        if isinstance(data, SampledOptions):
            tasks = sample_tasks(self.domains, "train", data.instances, seed, data.goals, partially_explored=True)
        else:
            tasks = self.tasks
            if most and not self.learned_domains:
                raise UsageError(
                    "validation=search samples problems of the domains of problem=, but these belong to none: "
                    "give data=sampled or validation=loss"
                )
            if most:
                check_domains(self.learned_domains)
        if not most:
            return tasks, []
        larger = sample_tasks(self.learned_domains, "test", most // 2, seed, long_goals=True)
        return tasks, sample_tasks(self.learned_domains, "validation", most - most // 2, seed, long_goals=True) + larger

    @property
    def to_validate(self) -> list[Task]:
        """The problems of validation by search."""
        return self._sampled[1]

    @property
    def first_task(self) -> Task:
        """The first training problem; the others are not read or sampled."""
        if self.tasks:
            return self.tasks[0]
        return next(sample_problems(self.domains[0], "train", self.settings.seed, partially_explored=True)).task

    @cached_property
    def labelled(self) -> list[Pairs]:
        """The labelled training e-states, the same for both base heuristics.

        Raises:
            EpigymError: when there are none.
        """
        data, tasks = self.settings.data, self._sampled[0]
        if isinstance(data, PublishedOptions) and isinstance(self.settings.objective, DistanceOptions):
            return [self._explore(task) for task in tasks]
        return make_all_pairs(tasks, data.expansions, self.settings.seed, partially_explored=True)

    def _explore(self, task: Task) -> Pairs:
        explorer = self.settings.explorer
        with show_visits(f"exploring {task.name}", explorer.max_visited, transient=True) as on_visit:
            return make_rollout(task, explorer, on_visit)
