"""The data sets of the expert: its plans, which equal trainings share, and its corrections of a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from epigym.errors import EpigymError
from epigym.io.checksummed import digest
from epigym.io.progress import track
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.dataset import VERSION, DataSet, write_data_set
from learn.data.distribution import sample_problems
from learn.data.sources import FOLDER, digest_domains, keep_known, open_or_make
from learn.models.gine.model import NetworkModel
from learn.training.expert.collecting import make_corrected_trees, make_expert_trees
from learn.training.options import Training

_APART = 1_000  # between the seeds of aggregations


def open_plans(settings: Training, data: DataSet) -> DataSet:
    """Open the data set of the expert's plans, which is made if need be.

    Args:
        settings: of the training.
        data: the data set that it extends.

    Raises:
        EpigymError: when the expert solves no problem.
    """
    own = _describe(settings, data, 0)
    key = digest({"version": VERSION, "settings": own, "parent": data.key, "program": digest_domains()})[:32]

    def make(folder: Path) -> DataSet:
        trees = make_expert_trees(_sample(settings, data, 0), settings.expert.expansions, settings.data.seed)
        if (first := next(trees, None)) is None:
            remedy = "give more with expert.problems= or expert.expansions="
            raise EpigymError(f"the expert solves none of {_count_problems(settings, data)} problems: {remedy}")
        return write_data_set(folder, chain([first], trees), settings=own, parent=data.key)

    return open_or_make(settings.outputs / FOLDER / key, make)


def make_corrections(
    settings: Training, data: DataSet, parent: str, number: int, model: NetworkModel, validating: Sequence[Task]
) -> DataSet | None:
    """Make the data set of an aggregation in the folder of the run; None if the expert corrects nothing.

    Args:
        settings: of the training.
        data: the first data set of the training.
        parent: key of the last one.
        number: of the aggregation, from 1 on.
        model: the network.
        validating: the problems of the validation, which are left out.
    """
    own = _describe(settings, data, number)
    weights = {name: array.tobytes() for name, array in model.weights.items()}
    key = digest({"version": VERSION, "settings": own, "parent": parent, "weights": weights})[:32]
    known = set(map(signature, validating))
    spaces = (one for one in _sample(settings, data, number) if signature(one.task) not in known)
    found = make_corrected_trees(
        spaces,
        lambda space: model.make_scorer(space, threads=torch.get_num_threads()).score,
        settings.expert.expansions,
        settings.data.seed + number,
    )
    trees = list(found)
    return write_data_set(locate_corrections(settings, key), trees, settings=own, parent=parent) if trees else None


def locate_corrections(settings: Training, key: str) -> Path:
    """The folder of a data set of corrections."""
    return settings.run_dir / FOLDER / key


def _describe(settings: Training, data: DataSet, number: int) -> dict[str, Any]:
    """The settings of the data set of an aggregation; of plans for 0."""
    expert = {name: value for name, value in vars(settings.expert).items() if name != "aggregation"}
    return {
        "kind": "expert",
        "domains": keep_known(data.domains),
        "data": {**expert, "seed": settings.data.seed, "aggregation": number},
        "explorer": {"name": "expert", "consistent_beliefs": data.consistent_beliefs},
    }


def _count_problems(settings: Training, data: DataSet) -> int:
    return settings.expert.problems * len(keep_known(data.domains))


def _sample(settings: Training, data: DataSet, number: int) -> Iterator[StateSpace]:
    """Growing problems of each domain, others for each aggregation, about which the expert is asked."""
    seed, expert = settings.data.seed + _APART * (1 + number), settings.expert
    sampled = (
        sample_problems(domain, "test", seed, long_goals=True, growth=expert.growth)
        for domain in keep_known(data.domains)
    )
    problems = chain.from_iterable(islice(each, expert.problems) for each in sampled)
    for one in track(problems, "asking the expert", total=_count_problems(settings, data)):
        yield StateSpace(one.task, consistent_beliefs=data.consistent_beliefs, threads="auto")
