"""The problems that a data set is made of, and the data sets of `outputs/rollouts`, found by key or made."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import domains as registry
from epigym.config.values import Count, Natural
from epigym.errors import DamagedError, EpigymError, MissingError, UsageError
from epigym.io.checksummed import digest
from epigym.io.progress import Stage, track
from epigym.language.reading import READING, Reading
from epigym.names import unknown
from epigym.problem import load_problem
from epigym.space.signature import signature
from epigym.task.task import Task
from learn.data.dataset import VERSION, DataSet, Row, write_data_set
from learn.data.distribution import GOALS, sample_problems
from learn.data.explorers import ExplorerSettings
from learn.data.fingerprint import fingerprint_task
from learn.data.making import make_trees
from learn.data.problems import list_problems

if TYPE_CHECKING:
    from epigym.io.tables import Table

FOLDER = "rollouts"
"""The subfolder of `outputs` with the data sets."""
_LISTED = 12  # maximum number of problems that are listed one by one

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PublishedData:
    """The published problems of domains, or named problems, see `conf/data/published.yaml`."""

    split: Literal["train", "test"]
    seed: Natural
    expansions: Count
    folder: Path | None = field(default=None, metadata={"exists": True})


@dataclass(frozen=True, kw_only=True)
class SampledData:
    """Problems sampled from domains, or named problems with sampled goals, see `conf/data/sampled.yaml`."""

    split: Literal["train", "validation", "test"]
    seed: Natural
    expansions: Count
    instances: Count
    goals: Count
    partially_explored: bool
    long_goals: bool
    held_out: Natural
    folder: Path | None = field(default=None, metadata={"exists": True})


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Settings of a command that makes, finds or opens a data set, beside those of `ProblemSettings`."""

    reading: Reading = field(metadata={"flat": Reading})
    domain: list[str]
    without: list[str]
    problem: list[str]
    data: PublishedData | SampledData
    explorer: ExplorerSettings
    outputs: Path = field(metadata={"written": "folder"})

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """Settings that the source of problems does not use, with reasons.

        Args:
            values: the composed settings, not checked yet.
        """
        data = values["data"]
        if data.get("folder") is not None:
            reason = "data.folder= names all that is learned from: leave one of them out"
            settings = ("data=published", "data=sampled", *(f"data.{name}" for name in data if name != "folder"))
            others = ("domain", "without", "problem", "explorer", "consistent_beliefs", *READING)
            return dict.fromkeys((*others, *settings), reason)
        if values["problem"]:
            reason = "problem= names all that is learned from: leave one of them out"
            sampled = [f"data.{name}" for name in ("split", "goals", "partially_explored")]
            return dict.fromkeys(("domain", "without", *sampled), reason)
        if "instances" in data:
            reason = "problems are sampled, not read: give it with data=published or problem="
            return dict.fromkeys((*READING, "data.held_out"), reason)
        return {}

    @property
    def source(self) -> DataSource:
        """Where the data set comes from.

        Raises:
            UsageError: when no problem is named, or a domain does not exist.
        """
        if not (self.domain or self.problem or self.data.folder):
            raise UsageError("no problem is named: give domain=<domain or list> or problem=<file, instance or list>")
        is_named = self.problem or self.data.folder
        domains = [] if is_named else choose_domains(self.domain, self.without)
        return DataSource(domains, self.problem, self.reading, self.data, self.explorer)


@dataclass(frozen=True)
class DataSource:
    """Everything that decides the content of a data set.

    Attributes:
        domains: names of domains, unless problems are named.
        problems: files, folders, patterns, or instances as `domain/instance`.
        reading: how files are read.
        data: kind and number of problems.
        explorer: settings of the exploration.

    Raises:
        UsageError: when a domain does not exist.
    """

    domains: Sequence[str]
    problems: Sequence[str]
    reading: Reading
    data: PublishedData | SampledData
    explorer: ExplorerSettings

    @cached_property
    def names(self) -> list[str]:
        """The names of the problems that are read; empty if they are sampled from domains."""
        if isinstance(self.data, SampledData):
            return list_problems("train", [], self.problems) if self.problems else []
        return list_problems(self.data.split, [] if self.problems else self.domains, self.problems)

    @cached_property
    def tasks(self) -> list[Task]:
        """The problems that are read."""
        return [load_problem(name, self.reading) for name in self.names]

    @property
    def task_domains(self) -> list[str]:
        """The domains of the problems, known without exploring; an empty name for problems of none."""
        return list(dict.fromkeys(task.domain for task in self.tasks)) or list(self.domains)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings, with the names of the problems."""
        named = {"problems": self.names} if self.names else {"domains": list(self.domains)}
        kind = "published" if isinstance(self.data, PublishedData) else "sampled" if self.domains else "files"
        data = {name: value for name, value in asdict(self.data).items() if name != "folder"}
        return {"kind": kind, **named, "data": data, "explorer": asdict(self.explorer)}

    @cached_property
    def key(self) -> str:
        """Hash of the settings, of the problems that are read, and of the program of the domains of others."""
        read = [[task.name, task.domain, fingerprint_task(task)] for task in self.tasks]
        parts = {"version": VERSION, "settings": self.settings, "read": read or digest_domains()}
        return digest(parts)[:32]

    def open(self, outputs: Path) -> DataSet:
        """Open the named data set, or the one of this source, which is made if need be; a damaged one is made again.

        Args:
            outputs: the folder whose subfolder `rollouts` has the data sets.

        Raises:
            EpigymError: when a problem or a setting is wrong, or there is nothing to learn from.
        """
        if self.data.folder is not None:
            return DataSet(self.data.folder)
        return open_or_make(outputs / FOLDER / self.key, self._make)

    def _make(self, folder: Path) -> DataSet:
        learned, held_out = self._list_tasks()
        with Stage("exploring", len(learned), stays=True) as stage:
            visits = _Visits(learned, stage)
            trees = make_trees(visits, self.explorer, self.data.expansions, visits.count)
            return write_data_set(folder, trees, held_out, settings=self.settings)

    def _list_tasks(self) -> tuple[Sequence[Task], Sequence[Task]]:
        """The problems to explore, and those held out for validation."""
        from learn.data.files import sample_files

        data = self.data
        if isinstance(data, PublishedData):
            return self.tasks, ()
        if self.problems:
            return sample_files(self.tasks, instances=data.instances, validation=data.held_out, seed=data.seed)
        return sample_tasks(
            self.domains, data.split, data.instances, data.seed, data.goals,
            partially_explored=data.partially_explored, long_goals=data.long_goals,
        ), ()  # fmt: skip


def open_or_make(folder: Path, make: Callable[[Path], DataSet]) -> DataSet:
    """Open a data set, or make it in its folder; a damaged one is made again.

    Args:
        folder: its folder.
        make: makes it there.
    """
    if folder.exists():
        try:
            return DataSet(folder)
        except (DamagedError, MissingError) as error:
            aside = folder.with_name(f"{folder.name}.damaged-{time.time_ns()}")
            folder.rename(aside)
            logger.warning("%s; it is made again, and what was there is kept as %s", error, aside)
    return make(folder)


def keep_known(domains: Sequence[str]) -> list[str]:
    """The domains that problems can be sampled from; a file may belong to another."""
    return [name for name in domains if name in registry.DOMAINS]


def choose_domains(names: Sequence[str], without: Sequence[str] = ()) -> list[str]:
    """The domains of these names, `all` for all, without some.

    Raises:
        UsageError: when a domain does not exist, or none is left.
    """
    found = list(registry.DOMAINS) if list(names) == ["all"] else list(names)
    for name in (*found, *without):
        if name == "all":
            raise UsageError("all is no domain: domain=all stands alone, and without= names domains")
        if name not in registry.DOMAINS:
            raise UsageError(unknown("domain", name, [*registry.DOMAINS, "all"]))
    found = [name for name in found if name not in without]
    if not found:
        raise UsageError("no domain is left to learn from: give domain=<domain, list or all>, and leave fewer out")
    return found


def sample_tasks(
    domains: Sequence[str],
    split: str,
    instances: int,
    seed: int,
    goals: int = GOALS,
    *,
    partially_explored: bool = False,
    long_goals: bool = False,
    growth: float = 0.0,
) -> list[Task]:
    """Sample `instances` problems of each domain, see `sample_problems`.

    Raises:
        UsageError: when there is no such domain.
        EpigymError: when 400 problems in a row are rejected.
    """
    sampled = (
        sample_problems(
            domain, split, seed, goals, partially_explored=partially_explored, long_goals=long_goals, growth=growth
        )
        for domain in domains
    )
    problems = chain.from_iterable(islice(each, instances) for each in sampled)
    return [one.task for one in track(problems, f"sampling, {split}", total=instances * len(domains))]


def drop_isomorphic(tasks: Iterable[Task], others: Iterable[Task]) -> list[Task]:
    """The tasks that differ from all others by more than names."""
    known = set(map(signature, others))
    return [task for task in tasks if signature(task) not in known]


def drop_training(tasks: Sequence[Task], trained: Iterable[Task]) -> list[Task]:
    """The tasks to validate on that are no training problems.

    Raises:
        EpigymError: when there are tasks, but no others.
    """
    if not tasks:  # validation by loss: no signature of a training problem is needed
        return []
    found = drop_isomorphic(tasks, trained)
    if not found:
        raise EpigymError("all problems to validate on are training problems: give data.split=train or another seed=")
    return found


def summarize(rows: Sequence[Row]) -> Table:
    """A table with a row for each problem of a data set, or for each domain if there are more than 12."""
    from epigym.io.tables import Table

    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.domain if len(rows) > _LISTED else row.name, []).append(row)
    titles = ("problem", "visited", "samples", "pairs", "goals", "steps", "depth", "worlds", "sec")
    caption = "rollouts; + means that there are more e-states"
    return Table(caption, titles, [_summarize_group(name, group) for name, group in groups.items()])


def _summarize_group(name: str, group: Sequence[Row]) -> list[str]:
    counts = [row.counts for row in group]
    samples = sum(one["samples"] for one in counts)
    return [
        f"{len(group)} of {name}" if len(group) > 1 else name,
        f"{sum(one['visited'] for one in counts):,}{'' if all(one['complete'] for one in counts) else '+'}",
        f"{samples:,}",
        f"{sum(one['pairs'] for one in counts):,}",
        f"{sum(one['goals'] for one in counts) / max(samples, 1):.0%}",
        f"0–{max(max(len(one['distances']) for one in counts) - 1, 0)}",
        f"{max(max(len(one['depths']) for one in counts) - 1, 0)}",
        f"{sum(one['worlds'] for one in counts) / max(samples, 1):.1f}",
        f"{sum(row.seconds for row in group):.1f}",
    ]


def digest_domains() -> str:
    """The hash of the program of the domains, which decides what is sampled."""
    folder = Path(registry.__file__).parent
    return digest({str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))})


@dataclass
class _Visits:
    """Problems to explore, one after another, with the number of visited e-states of all of them.

    Attributes:
        tasks: the problems.
        stage: shows both numbers.
    """

    tasks: Sequence[Task]
    stage: Stage
    _done: int = 0
    _earlier: int = 0
    _latest: int = 0

    def __iter__(self) -> Iterator[Task]:
        """Yield the problems."""
        for task in self.tasks:
            self.count(0)
            yield task
            self._done, self._earlier = self._done + 1, self._earlier + self._latest
        self.count(0)

    def count(self, visited: int) -> None:
        """Show the number of e-states of the problem that is explored, and those of all problems before."""
        self._latest = visited
        states = f"{self._earlier + visited:,} e-states"
        self.stage.update(self._done, f"{self._done} of {len(self.tasks)} problems, {states}")
