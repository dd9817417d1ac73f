"""What networks learn from and are validated on: published problems, sampled ones, or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from epigym.errors import UsageError
from epigym.problem import Reading, find_problems, load_problem
from epigym.task.task import Task
from learn.data.distribution import check_domains, sample_problems
from learn.data.files import sample_files
from learn.data.pairs import Pairs, make_rollout
from learn.data.problems import list_problems
from learn.data.progress import show_visits
from learn.training.options import DistanceOptions, PublishedOptions, SampledOptions, SearchValidation, Training
from learn.training.sampling import make_all_pairs, sample_tasks


@dataclass(frozen=True)
class Source:
    """The problems of a training.

    Args:
        settings: of the training.
        domains: to learn from, where no problems are named.
        problems: files or instances as `domain/instance`; empty for those of the domains.
        reading: how files are read.
    """

    settings: Training
    domains: Sequence[str]
    problems: Sequence[str]
    reading: Reading

    @property
    def card(self) -> dict[str, Any]:
        """What a checkpoint says of the problems: their kind, and how much was sampled."""
        data, seed = self.settings.data, self.settings.seed
        if isinstance(data, PublishedOptions):
            return {"kind": "published", "seed": seed}
        kind = "files" if self.problems else "sampled"
        return {"kind": kind, "instances": data.instances, "goals": data.goals, "seed": seed}

    @cached_property
    def names(self) -> list[str]:
        """Of the problems that are read; empty where they are sampled from domains."""
        if self.problems or isinstance(self.settings.data, SampledOptions):
            return find_problems(self.problems)
        return list_problems("train", self.domains, [])

    @cached_property
    def tasks(self) -> list[Task]:
        """The problems that have names."""
        return [load_problem(name, self.reading) for name in self.names]

    @cached_property
    def learned_domains(self) -> list[str]:
        """The domains that the problems belong to."""
        return list(dict.fromkeys(task.domain for task in self.tasks if task.domain)) or list(self.domains)

    @cached_property
    def _sampled(self) -> tuple[list[Task], list[Task]]:
        """To learn from, and to validate on by search."""
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
        """The problems to search in validation."""
        return self._sampled[1]

    @property
    def first_task(self) -> Task:
        """The first problem, without the others."""
        if self.tasks:
            return self.tasks[0]
        return next(sample_problems(self.domains[0], "train", self.settings.seed, partially_explored=True)).task

    @cached_property
    def labelled(self) -> list[Pairs]:
        """The labelled e-states to learn from, the same for both base heuristics.

        Raises:
            EpigymError: when there is nothing to learn from.
        """
        data, tasks = self.settings.data, self._sampled[0]
        if isinstance(data, PublishedOptions) and isinstance(self.settings.objective, DistanceOptions):
            return [self._explore(task) for task in tasks]
        return make_all_pairs(tasks, data.expansions, self.settings.seed, partially_explored=True)

    def _explore(self, task: Task) -> Pairs:
        explorer = self.settings.explorer
        with show_visits(f"exploring {task.name}", explorer.max_visited, transient=True) as on_visit:
            return make_rollout(task, explorer, on_visit)
