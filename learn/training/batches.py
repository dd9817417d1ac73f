"""Batches of labelled e-states and of pairs of e-states; their graphs are made on access."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from epigym.encoding.encoder import Encoding, make_encoder
from epigym.encoding.pyg import to_pyg
from epigym.errors import EpigymError
from learn.data.labels import make_targets
from learn.data.rollout import Rollout
from learn.models.base import Base, BaseHeuristic
from learn.models.gine.shared import share
from learn.models.scoring import list_identifiers, split_into_chunks

logger = logging.getLogger(__name__)

MIN_STRATUM = 5
"""Distance classes with fewer samples are used for training only."""
RUN = 64  # number of consecutive pairs of a problem in a batch, which share e-states
_RUN_EDGES = 600_000  # approximate maximum number of edges in a run, which bounds the memory of a training step
_MEASURED = 16  # number of e-states whose edges are counted
_CHUNK = 256  # number of e-states encoded at once


class Batch(NamedTuple):
    """k e-states of one or several problems, and p pairs of them.

    Attributes:
        graphs: graphs of the e-states, a batch of PyTorch Geometric, or `SharedGraphs` for the paper's network.
        base: float32[k], values of the base heuristic in steps.
        distance: float32[k], number of actions to the nearest goal, see `learn.data.labels.make_targets`.
        better: int64[p], the preferred e-state of each pair.
        worse: int64[p], the other e-state of each pair.
        weight: float32[p], with sum 1.
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
        base: the base heuristic.
        shared: whether to make `SharedGraphs`, for the paper's network.

    Raises:
        LimitError: when a problem does not fit the encoding.
    """

    def __init__(self, problems: Sequence[Rollout], encoding: Encoding, base: Base, *, shared: bool) -> None:
        self._encoding, self._base, self._shared = encoding, base, shared
        self.problems: list[Rollout] = []
        self.distance: list[NDArray[np.float64]] = []
        self._encoders: list[Any] = []
        self._bases: list[NDArray[np.float64]] = []
        self.add(problems)
        if shared:
            self._number_worlds()

    def add(self, problems: Sequence[Rollout]) -> None:
        """Add the e-states of further problems, not for `SharedGraphs`."""
        self.problems += problems
        self.distance += [make_targets(pairs.distance) for pairs in problems]
        self._encoders += [make_encoder(pairs.space, self._encoding) for pairs in problems]
        self._bases += [BaseHeuristic(pairs.space, self._base)(pairs.ids) for pairs in problems]

    def _number_worlds(self) -> None:
        """Encode all e-states once in a fixed order, so the numbers of worlds do not depend on the order of batches."""
        encoder: Any
        for encoder, pairs in zip(self._encoders, self.problems, strict=True):
            for ids in split_into_chunks(pairs.space, pairs.ids, _CHUNK):
                encoder.rows(ids)

    def list_identifiers(self) -> NDArray[np.uint8]:
        """uint8[n, bytes]: the distinct identifiers in the graphs of all e-states, see `list_identifiers`."""
        found = [
            list_identifiers(encoder, ids)
            for encoder, pairs in zip(self._encoders, self.problems, strict=True)
            for ids in split_into_chunks(pairs.space, pairs.ids, _CHUNK)
        ]
        return np.unique(np.concatenate(found), axis=0)

    def measure_edges(self, number: int) -> float:
        """The mean number of edges of the graphs of a problem, from 16 of its e-states; 0 for `SharedGraphs`."""
        if self._shared:
            return 0.0
        ids = self.problems[number].ids
        chosen = ids[np.linspace(0, len(ids) - 1, _MEASURED).astype(np.intp)]
        return len(self._encoders[number].graphs(chosen).edge_label) / _MEASURED

    def batch(self, parts: Sequence[tuple[int, NDArray[np.integer]]], *, gradients: bool = True) -> dict[str, Any]:
        """Graphs, base heuristic and distances of some e-states.

        Args:
            parts: numbers of problems, each with the positions of its e-states.
            gradients: whether the batch is used for training.
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
    """The pairs of some problems, in runs of 64 pairs of the same problem, fetched as whole batches.

    Runs of problems with large graphs are shorter.

    Args:
        states: the e-states, with their pairs.

    Attributes:
        states: the e-states.
        sources: the runs of each group of problems: the first, and those that were added.
    """

    def __init__(self, states: LabelledStates) -> None:
        self.states = states
        self._runs: list[tuple[int, slice]] = []
        self.sources: list[range] = []
        self._cut(0)

    def add(self, problems: Sequence[Rollout]) -> None:
        """Add the pairs of further problems."""
        known = len(self.states.problems)
        self.states.add(problems)
        self._cut(known)

    def _cut(self, first: int) -> None:
        """Cut the pairs of the problems from a number on into runs."""
        known = len(self._runs)
        for number, pairs in enumerate(self.states.problems[first:], first):
            length = min(RUN, max(1, int(_RUN_EDGES / max(1.0, 2 * self.states.measure_edges(number)))))
            self._runs += [(number, slice(start, start + length)) for start in range(0, len(pairs.better), length)]
        self.sources.append(range(known, len(self._runs)))

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._runs)

    def __getitem__(self, index: int) -> Batch:
        """A batch of one run."""
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        """One batch of several runs; the data loader calls it with all indices of a batch."""
        parts, better, worse, weights = [], [], [], []
        first = 0
        for number, run in (self._runs[index] for index in indices):
            pairs = self.states.problems[number]
            used, places = np.unique([pairs.better[run], pairs.worse[run]], return_inverse=True)
            places = places.reshape(2, -1) + first
            parts.append((number, used))
            better.append(places[0])
            worse.append(places[1])
            weights.append(pairs.weight[run])
            first += len(used)
        weight = np.concatenate(weights)
        return Batch(
            **self.states.batch(parts),
            better=torch.from_numpy(np.concatenate(better)),
            worse=torch.from_numpy(np.concatenate(worse)),
            weight=torch.from_numpy(weight / weight.sum()).float(),
        )


class Turns(Sampler[int]):
    """The runs of batches that take turns: the first pairs, the expert's plans, and its corrections 1 : 2 : 1.

    Without corrections the turns are 1 : 1. An epoch has as many batches as the first pairs have.

    Args:
        runs: the pairs, with plans as the second source and corrections as the others.
        items: number of runs in a batch.
        seed: of the order, with the epoch.
    """

    def __init__(self, runs: PairRuns, items: int, seed: int) -> None:
        self._runs, self._items, self._seed, self._epoch = runs, items, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch; called by Lightning before each."""
        self._epoch = epoch

    def __len__(self) -> int:
        """Number of runs in an epoch."""
        return -(-len(self._runs.sources[0]) // self._items) * self._items

    def __iter__(self) -> Iterator[int]:
        """The runs of an epoch."""
        first, plans, *added = self._runs.sources
        rng = np.random.default_rng([self._seed, self._epoch])
        streams = [_shuffle(first, rng), _shuffle(plans, rng), _shuffle(list(chain(*added)), rng)]
        turns = cycle((0, 1, 2, 1) if added else (0, 1))
        for turn in islice(turns, len(self) // self._items):
            yield from islice(streams[turn], self._items)


def _shuffle(items: Sequence[int], rng: np.random.Generator) -> Iterator[int]:
    """The items again and again, each time in another random order."""
    while items:
        yield from rng.permutation(items).tolist()


class StateSamples(Dataset[Batch]):
    """Samples of e-states, fetched as whole batches without pairs.

    Args:
        states: the e-states.
        rows: positions of the samples of each problem.
        gradients: whether the batches are used for training.
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
        """float64[k]: distances of all samples in steps."""
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


def balance(distance: NDArray[np.integer], max_share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Choose rows so that no distance class exceeds a share of the original number of samples.

    Args:
        distance: int[k], the labels of one problem.
        max_share: maximum size p_M of a class as a share of k; ignored if there is only one class.
        generator: samples the rows of larger classes.

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
    """Split rows into training and validation, stratified by distance; classes under 5 samples are for training.

    Args:
        distance: int[k], labels of one problem.
        validation_share: share of validation rows in each class, rounded.
        generator: samples the validation rows.

    Returns:
        int64[t] and int64[v]: training and validation rows, ascending.
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
) -> tuple[StateSamples, StateSamples]:
    """Make training and validation samples, see `balance` and `split`; equal if all classes are too small to split.

    Raises:
        EpigymError: when there are fewer than two training samples.
    """
    generator = np.random.default_rng(seed)
    train: list[NDArray[np.int64]] = []
    validation: list[NDArray[np.int64]] = []
    for pairs in states.problems:
        kept = balance(pairs.distance, max_class_share, generator)
        parts = split(pairs.distance[kept], validation_share, generator)
        for part, rows in zip((train, validation), parts, strict=True):
            part.append(kept[rows])
    if (count := sum(map(len, train))) < 2:
        raise EpigymError(f"{count} training samples are too few: at least 2 are needed")
    if validation_share and not any(map(len, validation)):
        logger.warning("all distance classes have under %d samples: validating on the training samples", MIN_STRATUM)
        validation = train
    return StateSamples(states, train, gradients=True), StateSamples(states, validation, gradients=False)


def _list_classes(distance: NDArray[np.integer]) -> list[NDArray[np.int64]]:
    """The rows of every distance class."""
    return [np.flatnonzero(distance == value) for value in np.unique(distance)]
