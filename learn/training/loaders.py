"""From data sets to training and validation batches: balancing, split, loaders (paper, section 3.4)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import torch
from lightning import LightningDataModule, Trainer
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from epigym.errors import EpigymError
from learn.data.dataset import DataSet
from learn.models.gine.batches import Batch, make_batch

logger = logging.getLogger(__name__)

MIN_STRATUM = 5
"""Distance classes with fewer samples go to training as a whole."""


def balance(distance: NDArray[np.integer], max_share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Rows to keep so that no distance class exceeds a share of the problem's original count.

    Args:
        distance: int[k], the labels of one problem.
        max_share: largest share p_M of k that a class may have; ignored when there is one class only.
        generator: draws the samples to keep of a class that is too large.

    Returns:
        int64[m]: the rows kept, ascending.
    """
    classes = _classes(distance)
    if len(classes) == 1:
        return np.arange(len(distance))
    limit = max(1, int(max_share * len(distance)))
    kept = [generator.choice(rows, limit, replace=False) if len(rows) > limit else rows for rows in classes]
    return np.sort(np.concatenate(kept))


def split(
    distance: NDArray[np.integer], validation_share: float, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and validation rows, stratified by distance; classes under 5 samples go to training.

    Args:
        distance: int[k], labels of one problem.
        validation_share: share of every class that goes to validation, rounded.
        generator: draws the validation samples.

    Returns:
        int64[t] and int64[v]: the rows of both parts, ascending.
    """
    validation = [
        generator.choice(rows, round(validation_share * len(rows)), replace=False)
        for rows in _classes(distance)
        if len(rows) >= MIN_STRATUM
    ]
    held_out = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *validation]))
    return np.setdiff1d(np.arange(len(distance)), held_out), held_out


class Selection(Dataset[Batch]):
    """Some rows of some data sets, fetched as whole batches.

    Args:
        sets: the data sets.
        rows: for each data set the samples in the selection.
        gradients: whether the batches are to train on.
    """

    def __init__(self, sets: Sequence[DataSet], rows: Sequence[NDArray[np.int64]], *, gradients: bool) -> None:
        self.sets = sets
        self.gradients = gradients
        self.problem = np.repeat(np.arange(len(sets)), [len(part) for part in rows])
        self.row = np.concatenate(rows)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.row)

    def __getitem__(self, index: int) -> Batch:
        """A batch of one sample."""
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """One batch of the samples `indices`; the data loader calls it with all indices of a batch."""
        problem, row = self.problem[indices], self.row[indices]
        parts, distances = [], []
        for number in np.unique(problem):
            rows = row[problem == number]
            samples = self.sets[number].samples
            parts.append((samples.encoded, rows))
            distances.append(samples.distance[rows])
        return make_batch(parts, np.concatenate(distances), gradients=self.gradients)


class RolloutData(LightningDataModule):
    """Training and validation loaders over the data sets of one or more problems.

    Args:
        sets: the data sets; all need one width of identifiers.
        batch_size: samples per batch.
        max_class_share: see `balance`.
        validation_share: see `split`.
        seed: of balancing, split and the order of the batches.

    Raises:
        EpigymError: when fewer than two samples are left for training, or the widths differ.
    """

    def __init__(
        self,
        sets: Sequence[DataSet],
        *,
        batch_size: int = 1024,
        max_class_share: float = 0.5,
        validation_share: float = 0.2,
        seed: int = 42,
    ) -> None:
        super().__init__()
        widths = {data.samples.encoded.identifiers.shape[1] for data in sets}
        if len(widths) != 1:
            raise EpigymError(f"the data sets have identifiers of different widths {sorted(widths)}: encode them alike")
        self.batch_size = batch_size
        self._seed = seed
        generator = np.random.default_rng(seed)
        train: list[NDArray[np.int64]] = []
        validation: list[NDArray[np.int64]] = []
        for data in sets:
            distance = data.samples.distance
            kept = balance(distance, max_class_share, generator)
            for part, rows in zip((train, validation), split(distance[kept], validation_share, generator), strict=True):
                part.append(kept[rows])
        self.train = Selection(sets, train, gradients=True)
        self.validation = Selection(sets, validation, gradients=False)
        if len(self.train) < 2:
            raise EpigymError(f"{len(self.train)} training samples are too few: at least 2 are needed")
        if not len(self.validation):
            logger.warning(
                "all distance classes have under %d samples: validating on the training samples", MIN_STRATUM
            )
            self.validation = Selection(sets, train, gradients=False)

    def train_dataloader(self) -> DataLoader[Batch]:
        """Batches of training samples in random order."""
        own = ceil(len(self.train) / (self.trainer.world_size if self.trainer else 1))  # of this process
        lonely = own % self.batch_size == 1  # batch normalisation needs two samples
        order = shuffled(self.train, self.trainer, self._seed)
        return whole_batches(self.train, self.batch_size, sampler=order, drop_last=lonely)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Batches of validation samples."""
        return whole_batches(self.validation, self.batch_size)


def shuffled(data: Dataset[Any], trainer: Trainer | None, seed: int) -> DistributedSampler[Any]:
    """The samples, or this process's share of them, in an order that depends on the seed and the epoch alone."""
    size, rank = (1, 0) if trainer is None else (trainer.world_size, trainer.global_rank)
    return DistributedSampler(data, num_replicas=size, rank=rank, seed=seed)


def whole_batches(data: Dataset[Any], batch_size: int, **options: Any) -> DataLoader[Any]:
    """Fetches the samples of a batch together, and draws from no generator that training draws from."""
    return DataLoader(data, batch_size, collate_fn=lambda batch: batch, generator=torch.Generator(), **options)


def _classes(distance: NDArray[np.integer]) -> list[NDArray[np.int64]]:
    """The rows of every distance class."""
    return [np.flatnonzero(distance == value) for value in np.unique(distance)]
