"""The data of a training: a data set of labelled e-states, in batches, and what validates the network."""

from __future__ import annotations

import logging
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import torch
from lightning import LightningDataModule
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from epigym.encoding.encoder import make_encoding
from epigym.encoding.relational import Relational, type_ids_of
from epigym.features.types import FeatureTypes
from epigym.task.task import Task
from learn.data.dataset import DataSet
from learn.data.rollout import Rollout
from learn.data.sources import DataSource, drop_training
from learn.models.gine.network import find_network
from learn.models.gine.paper import PaperNetwork
from learn.training.batches import RUN, Batch, LabelledStates, PairRuns, StateSamples, Turns, split_samples
from learn.training.expert.data import open_plans
from learn.training.options import DistanceOptions, LossValidation, Training
from learn.training.problems import choose_fitting, sample_validation
from learn.training.validation import Problems

logger = logging.getLogger(__name__)


class RolloutData(LightningDataModule):
    """A data set in batches in random order, with samples or problems for validation.

    Args:
        settings: of the training.
        source: of the data set.

    Attributes:
        train: training pairs or samples; there after `setup`, as `validation` and `problems`.
        validation: validation samples; None if search on problems validates.
        problems: problems for validation by search; empty otherwise.
        corrections: the data sets of the expert's corrections.

    Raises:
        EpigymError: in its methods, when a problem or a setting is wrong, or there is too little to learn from.
    """

    train: PairRuns | StateSamples
    validation: StateSamples | None
    problems: Problems

    def __init__(self, settings: Training, source: DataSource) -> None:
        super().__init__()
        self._settings, self._source = settings, source
        self._is_open = False
        self.corrections: list[DataSet] = []
        self._corrected: list[Rollout] = []

    @cached_property
    def data(self) -> DataSet:
        """The data set, which is made if need be."""
        return self._source.open(self._settings.outputs)

    @cached_property
    def rollouts(self) -> list[Rollout]:
        """The labelled training e-states."""
        is_distance = isinstance(self._settings.objective, DistanceOptions)
        return self.data.rollouts("samples" if is_distance else "pairs")

    @cached_property
    def types(self) -> list[FeatureTypes]:
        """The feature types of each training problem."""
        return list(map(FeatureTypes, self.tasks))

    @property
    def tasks(self) -> list[Task]:
        """The training problems."""
        return [one.space.task for one in (*self.rollouts, *self.planned, *self._corrected)]

    @cached_property
    def plans(self) -> DataSet | None:
        """The data set of the expert's plans, which is made if need be; None without an expert."""
        return open_plans(self._settings, self.data) if self._settings.expert.problems else None

    @cached_property
    def planned(self) -> list[Rollout]:
        """The labelled e-states of the expert's plans."""
        return self.plans.rollouts("pairs") if self.plans is not None else []

    def list_keys(self, aggregations: int | None = None) -> list[str]:
        """The keys of the data sets that it learns from, with the corrections of the first aggregations; None: all."""
        return [one.key for one in (self.data, self.plans, *self.corrections[:aggregations]) if one is not None]

    @property
    def type_ids(self) -> list[int]:
        """Ids of the types in the training problems; empty if the encoding has none."""
        encoding = make_encoding(self._settings.encoding)
        return type_ids_of(self.types, encoding) if isinstance(encoding, Relational) else []

    @property
    def identifiers(self) -> NDArray[np.uint8]:
        """The identifiers in the training graphs, see `NetworkModel`; empty if the encoding has types."""
        is_typed = isinstance(make_encoding(self._settings.encoding), Relational)
        return np.empty((0, 0), np.uint8) if is_typed else self.train.states.list_identifiers()

    def prepare_data(self) -> None:
        """Make the data set, unless it is there."""
        _ = self.data, self.plans

    def setup(self, stage: str = "fit") -> None:
        """Open the data set, and choose what trains and what validates."""
        if self._is_open:
            return
        settings, objective, validation = self._settings, self._settings.objective, self._settings.validation
        encoding = make_encoding(settings.encoding)
        validating = drop_training(sample_validation(settings, self.data), self.tasks)
        self.problems = choose_fitting(validating, encoding)
        is_shared = issubclass(find_network(settings.model.network), PaperNetwork)
        states = LabelledStates(self.rollouts, encoding, settings.base, shared=is_shared)
        if isinstance(objective, DistanceOptions):
            share = validation.share if isinstance(validation, LossValidation) else 0.0
            self.train, held_out = split_samples(states, objective.max_class_share, share, settings.seed)
            self.validation = held_out if isinstance(validation, LossValidation) else None
            logger.info("training on %s samples, validating on %s", f"{len(self.train):,}", self._describe_validation())
        else:
            self.train, self.validation = PairRuns(states), None
            count = sum(len(one.better) for one in self.rollouts)
            logger.info("training on %s pairs of %d problems", f"{count:,}", len(self.rollouts))
            if self.plans is not None:
                self.train.add(self.planned)
                count = sum(len(one.better) for one in self.planned)
                logger.info("and on %s pairs of the expert's plans for %d problems", f"{count:,}", len(self.planned))
        self._is_open = True

    def add_corrections(self, data: DataSet) -> None:
        """Learn from a further data set, from the next epoch on."""
        assert isinstance(self.train, PairRuns)
        self.corrections.append(data)
        rollouts = data.rollouts("pairs")
        self._corrected += rollouts
        self.train.add(rollouts)

    def _describe_validation(self) -> str:
        return f"{len(self.problems)} problems" if self.validation is None else f"{len(self.validation):,}"

    def train_dataloader(self) -> DataLoader[Batch]:
        """Training batches; their order depends on the seed and the epoch only."""
        size, rank = (self.trainer.world_size, self.trainer.global_rank) if self.trainer else (1, 0)
        batch, is_pairs = self._settings.batch_size, isinstance(self.train, PairRuns)
        items = max(1, batch // RUN) if is_pairs else batch
        # Batch normalisation needs at least two samples in a batch.
        if self.plans is not None:
            assert isinstance(self.train, PairRuns)
            return _load_batches(self.train, items, sampler=Turns(self.train, items, self._settings.seed))
        is_lonely = not is_pairs and ceil(len(self.train) / size) % items == 1
        order: Any = DistributedSampler(self.train, num_replicas=size, rank=rank, seed=self._settings.seed)
        return _load_batches(self.train, items, sampler=order, drop_last=is_lonely)

    def val_dataloader(self) -> DataLoader[Any]:
        """Batches of samples, or one batch int64[n] with the numbers of all problems, equal in all processes."""
        if self.validation is not None:
            return _load_batches(self.validation, self._settings.batch_size)
        problems: Any = [torch.arange(len(self.problems))]
        return DataLoader(problems, batch_size=None, generator=torch.Generator())


def _load_batches(data: Dataset[Any], batch_size: int, **options: Any) -> DataLoader[Any]:
    """A loader that fetches the samples of a batch together and uses its own random generator."""
    return DataLoader(data, batch_size, collate_fn=lambda batch: batch, generator=torch.Generator(), **options)
