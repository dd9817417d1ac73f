"""The problems of a training: those that validate the network, and others for the verdict on it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import chain, islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from domains import DOMAINS
from epigym.encoding.encoder import Encoding, make_encoder
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.features.types import FeatureTypes
from epigym.io.progress import track
from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data import distribution
from learn.data.dataset import DataSet
from learn.data.distribution import GOALS, sample_problems
from learn.data.sources import DataSource, PublishedData, SampledData, drop_isomorphic, keep_known, sample_tasks
from learn.training.options import LossValidation, SearchValidation, Training
from learn.training.validation import Problems
from learn.training.verdict import HELD_OUT, LARGER, NEW, PUBLISHED

_SIZES = [("validation", 0.0), ("test", 0.0)]  # split and share of growing problems
_RESERVE = ("test", 0.5)  # some of its sizes are larger than all published training problems
_TRIED = 4 * GOALS  # problems of a size that are tried at least: those with equal parameters follow each other

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
    domains = _choose_domains(settings, data.domains)
    return _sample_larger(settings, _list_sizes(settings), domains, validation.problems, settings.seed)


def sample_tiers(
    settings: Training, data: DataSet, trained: Sequence[Task], others: Iterable[Task] = ()
) -> dict[str, list[Task]]:
    """The problems of the verdict by tier, see `learn.training.verdict`; tiers without problems are left out.

    They are sampled with another seed than those of validation; of problems held out they are the others. There are
    none if neither problems are held out nor those of the data set belong to a domain that can be sampled.

    Args:
        settings: of the training.
        data: its data set.
        trained: the problems of the data set.
        others: further problems of training and validation; they are left out, as those of the data set.
    """
    most, seed = settings.validation.verdict, settings.seed + 1
    domains = keep_known(data.domains)
    if not most:
        return {}
    if data.held_out:
        return {HELD_OUT: data.choose_held_out(most, start=1)}
    if not domains:
        return {}
    each = -(-most // len(domains))
    tiers = {
        PUBLISHED: _load_tests(domains) if data.settings["kind"] == "published" else [],
        NEW: _sample_new(data, domains, each, seed),
        LARGER: [
            task
            for domain in track(domains, "sampling larger problems", "domains")
            for task in _sample_above(settings, domain, each, seed, trained)
        ],
    }
    differing = set(map(id, drop_isomorphic(chain.from_iterable(tiers.values()), [*trained, *others])))
    found = {name: _take_turns([task for task in tasks if id(task) in differing]) for name, tasks in tiers.items()}
    return {name: tasks if name == PUBLISHED else tasks[:most] for name, tasks in found.items() if tasks}


def _load_tests(domains: Sequence[str]) -> list[Task]:
    return [domain_problem(f"{domain}/{name}") for domain in domains for name in DOMAINS[domain].test]


def _sample_new(data: DataSet, domains: Sequence[str], instances: int, seed: int) -> list[Task]:
    """Problems with the sizes of the training problems."""
    options = data.settings["data"]
    if data.settings["kind"] == "published":
        return sample_tasks(domains, distribution.PUBLISHED, instances, seed)
    chosen = {name: options[name] for name in ("goals", "partially_explored", "long_goals")}
    return sample_tasks(domains, options["split"], instances, seed, **chosen)


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


def _list_sizes(settings: Training) -> list[tuple[str, float]]:
    """Split and share of growing problems of those larger than the training problems; with an expert its own ones."""
    return [("test", 0.0), ("test", settings.expert.growth)] if settings.expert.problems else _SIZES


def _sample_larger(
    settings: Training, sizes: Sequence[tuple[str, float]], domains: Sequence[str], instances: int, seed: int
) -> list[Task]:
    """Problems of each domain, as many of each size; goals are long, except where the network learns distances."""
    is_long = isinstance(settings.validation, SearchValidation)
    found = []
    for place, (split, growth) in enumerate(sizes):
        count = (instances + len(sizes) - 1 - place) // len(sizes)
        found += sample_tasks(domains, split, count, seed, long_goals=is_long, growth=growth)
    return found


def _sample_above(settings: Training, domain: str, instances: int, seed: int, trained: Sequence[Task]) -> list[Task]:
    """Problems as for validation that are larger than all training problems of a domain in at least one measure.

    Missing problems of a size are replaced by those of the next one, at last by growing problems.
    """
    sizes = [*_list_sizes(settings), _RESERVE]
    largest = np.max([measure_sizes(task) for task in trained if task.domain == domain], axis=0)
    is_long = isinstance(settings.validation, SearchValidation)
    found: list[Task] = []
    for place, (split, growth) in enumerate(sizes, 1):
        count = instances * min(place, len(sizes) - 1) // (len(sizes) - 1) - len(found)
        problems = sample_problems(domain, split, seed, long_goals=is_long, growth=growth)
        tried = (one.task for one in islice(problems, max(count, _TRIED) if count else 0))
        found += islice((task for task in tried if (measure_sizes(task) > largest).any()), count)
    return found


def measure_sizes(task: Task) -> NDArray[np.int64]:
    """int64[3]: the numbers of fluents, agents and initial worlds of a problem."""
    return np.array([len(task.fluents), len(task.agents), len(task.initial.valuations)])


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
