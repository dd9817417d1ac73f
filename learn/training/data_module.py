"""Training batches: labelled e-states of some problems, and pairs of them, whose graphs are made when fetched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning import LightningDataModule, Trainer
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from epigym.encoding.encoder import Encoding, make_encoder
from epigym.encoding.pyg import to_pyg
from epigym.errors import EpigymError
from learn.data.labels import make_targets
from learn.data.pairs import Pairs
from learn.models.base import Base, BaseHeuristic
from learn.models.gine.shared import share
from learn.models.scoring import split_into_chunks
from learn.training.validation import Problems

logger = logging.getLogger(__name__)

MIN_STRATUM = 5
"""Distance classes with fewer samples go to training as a whole."""
_RUN = 64  # pairs of a problem that stay together, as they share e-states
_CHUNK = 256  # e-states encoded at once


class Batch(NamedTuple):
    """k e-states and p pairs of them, maybe of several problems.

    Attributes:
        graphs: of the e-states, a batch of PyTorch Geometric; of the paper's network `SharedGraphs`.
        base: float32[k], their base heuristic in steps.
        distance: float32[k], actions to the nearest goal; what has none is farther than all others of its problem.
        better: int64[p], of each pair the e-state that is preferred.
        worse: int64[p], the other.
        weight: float32[p], of each pair, together 1.
    """

    graphs: Any
    base: Tensor
    distance: Tensor
    better: Tensor
    worse: Tensor
    weight: Tensor


class LabelledStates:
    """The labelled e-states of some problems as graphs with their base heuristics.

    Args:
        problems: the e-states.
        encoding: of the graphs.
        base: the heuristic to correct.
        shared: whether graphs are `SharedGraphs`, for the paper's network.

    Raises:
        LimitError: when a problem does not fit the encoding.
    """

    def __init__(self, problems: Sequence[Pairs], encoding: Encoding, base: Base, *, shared: bool) -> None:
        self.problems = problems
        self.distance = [make_targets(pairs.distance) for pairs in problems]
        self._encoders = [make_encoder(pairs.space, encoding) for pairs in problems]
        self._bases = [BaseHeuristic(pairs.space, base)(pairs.ids) for pairs in problems]
        self._shared = shared
        if shared:
            self._number_worlds()

    def _number_worlds(self) -> None:
        """Meet all e-states in one order: sums run over worlds by number, whichever batches training begins with."""
        encoder: Any
        for encoder, pairs in zip(self._encoders, self.problems, strict=True):
            for ids in split_into_chunks(pairs.space, pairs.ids, _CHUNK):
                encoder.rows(ids)

    def batch(self, parts: Sequence[tuple[int, NDArray[np.integer]]], *, gradients: bool = True) -> dict[str, Any]:
        """Graphs, base and distance of some e-states.

        Args:
            parts: problems by number, each with the positions of its e-states.
            gradients: whether the batch is to train on.
        """
        chosen: list[Any] = [(self._encoders[number], self.problems[number].ids[rows]) for number, rows in parts]
        graphs = (
            share(chosen, gradients=gradients)
            if self._shared
            else to_pyg([encoder.graphs(ids) for encoder, ids in chosen])
        )
        base, distance = (
            torch.from_numpy(np.concatenate([table[number][rows] for number, rows in parts])).float()
            for table in (self._bases, self.distance)
        )
        return {"graphs": graphs, "base": base, "distance": distance}


class PairRuns(Dataset[Batch]):
    """The pairs of some problems in runs of a problem's pairs, fetched as whole batches.

    Args:
        states: the e-states, with their pairs.
    """

    def __init__(self, states: LabelledStates) -> None:
        self._states = states
        self._runs = [
            (number, slice(start, start + _RUN))
            for number, pairs in enumerate(states.problems)
            for start in range(0, len(pairs.better), _RUN)
        ]

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._runs)

    def __getitem__(self, index: int) -> Batch:
        """A batch of one run."""
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """One batch of the runs `indices`; the data loader calls it with all indices of a batch."""
        parts, better, worse, weights = [], [], [], []
        first = 0
        for number, run in (self._runs[index] for index in indices):
            pairs = self._states.problems[number]
            used, places = np.unique([pairs.better[run], pairs.worse[run]], return_inverse=True)
            places = places.reshape(2, -1) + first
            parts.append((number, used))
            better.append(places[0])
            worse.append(places[1])
            weights.append(pairs.weight[run])
            first += len(used)
        weight = np.concatenate(weights)
        return Batch(
            **self._states.batch(parts),
            better=torch.from_numpy(np.concatenate(better)),
            worse=torch.from_numpy(np.concatenate(worse)),
            weight=torch.from_numpy(weight / weight.sum()).float(),
        )


class Samples(Dataset[Batch]):
    """Some of the e-states, fetched as whole batches without pairs.

    Args:
        states: the e-states.
        rows: for each problem the positions of those that are sampled.
        gradients: whether the batches are to train on.
    """

    def __init__(self, states: LabelledStates, rows: Sequence[NDArray[np.int64]], *, gradients: bool) -> None:
        self.states = states
        self.gradients = gradients
        self.problem = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
        self.row = np.concatenate(rows)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.row)

    @property
    def distance(self) -> NDArray[np.float64]:
        """float64[k]: of all samples, in steps."""
        return np.concatenate([table[self.row[self.problem == n]] for n, table in enumerate(self.states.distance)])

    def __getitem__(self, index: int) -> Batch:
        """A batch of one sample."""
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """One batch of the samples `indices`, by problem."""
        problem, row = self.problem[indices], self.row[indices]
        parts = [(int(number), row[problem == number]) for number in np.unique(problem)]
        none = torch.empty(0, dtype=torch.int64)
        return Batch(**self.states.batch(parts, gradients=self.gradients), better=none, worse=none, weight=none.float())


class TrainingData(LightningDataModule):
    """Training batches in random order, and what is validated with.

    Args:
        train: pairs or samples to train on.
        validation: samples, or the problems to search; their numbers are one batch.
        batch_size: pairs or samples in a batch.
        seed: of the order of the batches.
        nodes: most expansions for each of the problems.

    Attributes:
        problems: to search in validation; empty where it measures samples.
        nodes: most expansions for each of them.

    Raises:
        EpigymError: when there are fewer than two samples to train on.
    """

    def __init__(
        self, train: PairRuns | Samples, validation: Samples | Problems, batch_size: int, seed: int, nodes: int = 0
    ) -> None:
        super().__init__()
        if isinstance(train, Samples) and len(train) < 2:
            raise EpigymError(f"{len(train)} training samples are too few: at least 2 are needed")
        self.train, self.validation, self.nodes = train, validation, nodes
        self.problems: Problems = () if isinstance(validation, Samples) else validation
        self._items = max(1, batch_size // _RUN) if isinstance(train, PairRuns) else batch_size
        self._seed = seed

    def train_dataloader(self) -> DataLoader[Batch]:
        """Batches to train on."""
        size = self.trainer.world_size if self.trainer else 1
        # Batch normalisation needs two samples.
        lonely = isinstance(self.train, Samples) and ceil(len(self.train) / size) % self._items == 1
        order = _shuffle(self.train, self.trainer, self._seed)
        return _load_batches(self.train, self._items, sampler=order, drop_last=lonely)

    def val_dataloader(self) -> DataLoader[Any]:
        """Batches of samples; or int64[n], the numbers of the problems, in every process of a distributed run."""
        if isinstance(self.validation, Samples):
            return _load_batches(self.validation, self._items)
        problems: Any = [torch.arange(len(self.problems))]
        return DataLoader(problems, batch_size=None, generator=torch.Generator())


def balance(distance: NDArray[np.integer], max_share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Rows to keep so that no distance class exceeds a share of the problem's original count.

    Args:
        distance: int[k], the labels of one problem.
        max_share: largest share p_M of k that a class may have; ignored when there is one class only.
        generator: samples what is kept of a class that is too large.

    Returns:
        int64[m]: the rows kept, ascending.
    """
    classes = _list_classes(distance)
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
        for rows in _list_classes(distance)
        if len(rows) >= MIN_STRATUM
    ]
    held_out = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *validation]))
    return np.setdiff1d(np.arange(len(distance)), held_out), held_out


def split_samples(
    states: LabelledStates, max_class_share: float, validation_share: float, seed: int
) -> tuple[Samples, Samples]:
    """Samples to train on and to validate on, see `balance` and `split`; the same where no class has enough of them."""
    generator = np.random.default_rng(seed)
    train: list[NDArray[np.int64]] = []
    validation: list[NDArray[np.int64]] = []
    for pairs in states.problems:
        kept = balance(pairs.distance, max_class_share, generator)
        parts = split(pairs.distance[kept], validation_share, generator)
        for part, rows in zip((train, validation), parts, strict=True):
            part.append(kept[rows])
    if validation_share and not any(map(len, validation)):
        logger.warning("all distance classes have under %d samples: validating on the training samples", MIN_STRATUM)
        validation = train
    return Samples(states, train, gradients=True), Samples(states, validation, gradients=False)


def _shuffle(data: Dataset[Any], trainer: Trainer | None, seed: int) -> DistributedSampler[Any]:
    """The samples, or this process's share of them, in an order that depends on the seed and the epoch alone."""
    size, rank = (1, 0) if trainer is None else (trainer.world_size, trainer.global_rank)
    return DistributedSampler(data, num_replicas=size, rank=rank, seed=seed)


def _load_batches(data: Dataset[Any], batch_size: int, **options: Any) -> DataLoader[Any]:
    """Fetches the samples of a batch together, and draws from no generator that training draws from."""
    return DataLoader(data, batch_size, collate_fn=lambda batch: batch, generator=torch.Generator(), **options)


def _list_classes(distance: NDArray[np.integer]) -> list[NDArray[np.int64]]:
    """The rows of every distance class."""
    return [np.flatnonzero(distance == value) for value in np.unique(distance)]
