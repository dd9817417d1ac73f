"""The problems of a training: those that validate the network, and others for the verdict on it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from epigym.encoding.encoder import Encoding, make_encoder
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.dataset import DataSet
from learn.data.distribution import sample_problems
from learn.data.sources import DataSource, PublishedData, SampledData, drop_isomorphic, keep_known, sample_tasks
from learn.training.options import LossValidation, SearchValidation, Training
from learn.training.validation import Problems

_SIZES = (("validation", 0.0), ("test", 0.0))  # split and share of growing problems

logger = logging.getLogger(__name__)


def find_first_task(settings: Training, source: DataSource) -> Task:
    """The first training problem; nothing is explored for it.

    Raises:
        EpigymError: when it is wrong, or validation by search would find no problems.
    """
    if source.data.folder is not None:
        data = source.open(settings.outputs)
        _require_sampled(settings, data.domains)
        return data.first_task
    _require_sampled(settings, source.task_domains)
    if source.problems and (isinstance(source.data, PublishedData) or not source.data.held_out):
        _choose_domains(settings, source.task_domains)
    if source.problems or not isinstance(source.data, SampledData):
        return source.tasks[0]
    return next(sample_problems(source.domains[0], "train", source.data.seed, partially_explored=True)).task


def sample_validation(settings: Training, data: DataSet) -> list[Task]:
    """The problems for validation by search: every second one held out, or larger ones sampled from the domains.

    Raises:
        UsageError: when there are none of either.
    """
    validation = settings.validation
    if isinstance(validation, LossValidation):
        return []
    if data.held_out:
        return data.choose_held_out(validation.problems, start=0)
    return _sample_larger(settings, _choose_domains(settings, data.domains), validation.problems, settings.seed)


def sample_verdict(settings: Training, data: DataSet, known: Iterable[Task]) -> list[Task]:
    """New problems for the verdict: of those held out the others, else sampled with another seed than for validation.

    With validation by loss they have the sizes of the published test problems. There are none if neither problems are
    held out nor those of the data set belong to a domain that can be sampled.

    Args:
        settings: of the training.
        data: its data set.
        known: the problems of its training and validation, which are left out.
    """
    validation, seed = settings.validation, settings.seed + 1
    if data.held_out:
        return data.choose_held_out(validation.verdict, start=1) if validation.verdict else []
    domains = keep_known(data.domains)
    if not domains or not validation.verdict:
        return []
    each = -(-validation.verdict // len(domains))
    if isinstance(validation, LossValidation):
        found = sample_tasks(domains, "test", each, seed)
    else:
        found = _sample_larger(settings, domains, each, seed)
    return _take_turns(drop_isomorphic(found, known))[: validation.verdict]


def _take_turns(tasks: Sequence[Task]) -> list[Task]:
    """The tasks in the order in which their domains take turns."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.domain, []).append(task)
    return [task for turn in zip_longest(*groups.values()) for task in turn if task is not None]


def choose_fitting(tasks: Sequence[Task], encoding: Encoding) -> Problems:
    """The problems that fit an encoding, with their types; logs a warning for each other.

    Raises:
        EpigymError: when there are problems and none of them fits.
    """
    found = [(task, FeatureTypes(task)) for task in tasks if fits(task, encoding)]
    if tasks and not found:
        raise EpigymError(
            f"no problem to validate on fits the {encoding.name} encoding: give it more room, see conf/encoding"
        )
    return found


def fits(task: Task, encoding: Encoding) -> bool:
    """Whether a problem fits an encoding; logs a warning if not."""
    try:
        make_encoder(StateSpace(task), encoding)
    except LimitError as error:
        logger.warning("left out: %s", error)
        return False
    return True


def _sample_larger(settings: Training, domains: Sequence[str], instances: int, seed: int) -> list[Task]:
    """Problems of each domain, all with long goals: half of the split `validation`, half of `test`.

    With an expert half of the split `test`, half of the sizes of its problems.
    """
    sizes = (("test", 0.0), ("test", settings.expert.growth)) if settings.expert.problems else _SIZES
    counts = (instances - instances // 2, instances // 2)
    parts = [
        sample_tasks(domains, split, count, seed, long_goals=True, growth=growth)
        for (split, growth), count in zip(sizes, counts, strict=True)
    ]
    return [task for part in parts for task in part]


def _require_sampled(settings: Training, domains: Sequence[str]) -> None:
    """Check that there are domains to sample problems for an expert from.

    Raises:
        UsageError: when it has none.
    """
    if settings.expert.problems and not keep_known(domains):
        raise UsageError(
            "expert.problems: they are sampled from the domains of the problems, which belong to none: "
            "give domain=, or expert.problems=0"
        )


def _choose_domains(settings: Training, domains: Sequence[str]) -> list[str]:
    """The domains that validation samples from.

    Raises:
        UsageError: when validation by search has none.
    """
    known = keep_known(domains)
    if isinstance(settings.validation, SearchValidation) and not known:
        raise UsageError(
            "validation=ranking samples problems of the domains of problem=, but these belong to none: "
            "give data=sampled with data.held_out=, or objective=distance validation=distance"
        )
    return known
