"""The problems of a training: a data set to learn from, and problems to validate on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from epigym.errors import UsageError
from epigym.task.task import Task
from learn.data.dataset import DataSet
from learn.data.distribution import sample_problems
from learn.data.problems import check_domains
from learn.data.rollout import Rollout
from learn.data.sources import PublishedData, SampledData, Source, sample_tasks
from learn.training.options import DistanceOptions, LossValidation, SearchValidation, Training


@dataclass(frozen=True)
class TrainingProblems:
    """The problems of a training.

    Args:
        settings: of the training.
        source: where its data set comes from.
    """

    settings: Training
    source: Source

    @cached_property
    def data(self) -> DataSet:
        """The data set, which is made if need be.

        Raises:
            EpigymError: when it is wrong, or when validation by search finds no problems.
        """
        source = self.source
        if source.data.folder is None and isinstance(source.data, PublishedData) and source.problems:
            self._require_domains(source.task_domains)
        return source.open(self.settings.outputs)

    @property
    def card(self) -> dict[str, Any]:
        """The description of the data set in the record of a run."""
        return {**self.data.settings, "key": self.data.key}

    @cached_property
    def rollouts(self) -> list[Rollout]:
        """The labelled training e-states, the same for both base heuristics.

        Raises:
            EpigymError: when there are none.
        """
        return self.data.rollouts("samples" if isinstance(self.settings.objective, DistanceOptions) else "pairs")

    @cached_property
    def first_task(self) -> Task:
        """The first training problem; nothing is explored for it."""
        if self.source.data.folder is not None:
            return self.data.first_task
        if self.source.problems or not isinstance(self.source.data, SampledData):
            return self.source.tasks[0]
        return next(
            sample_problems(self.source.domains[0], "train", self.source.data.seed, partially_explored=True)
        ).task

    @cached_property
    def to_validate(self) -> list[Task]:
        """The problems of validation by search: those held out, or larger problems sampled from the domains."""
        validation, seed = self.settings.validation, self.settings.seed
        if isinstance(validation, LossValidation):
            return []
        if self.data.held_out:
            return self.data.choose_held_out(validation.problems)
        self._require_domains(self.data.domains)
        check_domains(self.data.domains)
        large = validation.problems // 2
        found = sample_tasks(self.data.domains, "validation", validation.problems - large, seed, long_goals=True)
        return found + sample_tasks(self.data.domains, "test", large, seed, long_goals=True)

    def _require_domains(self, domains: Sequence[str]) -> None:
        """Check that validation by search has domains to sample from."""
        if isinstance(self.settings.validation, SearchValidation) and not any(domains):
            raise UsageError(
                "validation=search samples problems of the domains of problem=, but these belong to none: "
                "give data=sampled or validation=loss"
            )
