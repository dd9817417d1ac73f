"""The data of a report: outcomes of evaluations, and published outcomes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from epigym.errors import EpigymError, MissingError
from epigym.io.files import read_rows
from search.agents.result import SearchStatus

logger = logging.getLogger("search.report")

_COLUMNS = (
    "domain", "problem", "configuration", "consistent_beliefs", "status", "plan_length", "expanded", "actions",
    "fluents", "initial_worlds", "search_seconds", "total_seconds", "peak_bytes", "other_outcomes",
)  # fmt: skip
"""The columns that are read from the table of an evaluation."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The outcome of one configuration on one problem; unknown numbers are None.

    Attributes:
        domain: the domain of the problem.
        problem: its name, `domain/instance` or a file.
        configuration: the label of the configuration.
        status: the status of the search.
        plan_length: the number of actions.
        expanded: the number of expanded nodes.
        search_ms: milliseconds of search.
        total_ms: milliseconds from reading the problem to the validated plan.
        peak_mib: peak memory of the process, in MiB.
        actions: the number of ground actions of the problem.
        fluents: the number of its fluents.
        initial_worlds: the number of worlds of its initial e-state.
        consistent_beliefs: whether plans that make an agent's beliefs inconsistent were excluded.
        file: the record of the search, with its plan.
    """

    domain: str
    problem: str
    configuration: str
    status: SearchStatus
    plan_length: float | None = None
    expanded: float | None = None
    search_ms: float | None = None
    total_ms: float | None = None
    peak_mib: float | None = None
    actions: float | None = None
    fluents: float | None = None
    initial_worlds: float | None = None
    consistent_beliefs: bool = False
    file: Path | None = None

    @property
    def is_solved(self) -> bool:
        """Whether a plan was found."""
        return self.status is SearchStatus.SOLVED

    @property
    def restriction(self) -> str:
        """The qualification of a status that holds for consistent beliefs only."""
        return " with consistent beliefs" if self.status.is_decided and self.consistent_beliefs else ""


class Cost(NamedTuple):
    """A measure of a single outcome.

    Attributes:
        title: the title of its columns, with the unit.
        label: the label of its axes, with the unit.
        of: the value for an outcome; None if unknown.
    """

    title: str
    label: str
    of: Callable[[SearchOutcome], float | None]


COSTS = {
    "expanded": Cost("expanded", "expanded nodes", lambda outcome: outcome.expanded),
    "time": Cost("time [ms]", "total time [ms]", lambda outcome: outcome.total_ms),
    "search_time": Cost("search [ms]", "search time [ms]", lambda outcome: outcome.search_ms),
    "length": Cost("length", "plan length", lambda outcome: outcome.plan_length),
    "memory": Cost("memory [MiB]", "peak memory [MiB]", lambda outcome: outcome.peak_mib),
}
COVERAGE = "coverage"
MEASURES = (COVERAGE, *COSTS)


class LeftOut(NamedTuple):
    """A configuration on a problem of a run without an outcome in the tables, or with further outcomes.

    Attributes:
        configuration: the label of the configuration.
        problem: the name of the problem.
        has_outcome: whether there is an outcome with the settings, files and program of the run.
        others: the number of outcomes with other settings, files or programs.
    """

    configuration: str
    problem: str
    has_outcome: bool
    others: int


@dataclass(frozen=True, slots=True)
class SearchOutcomes:
    """All outcomes of a report.

    Attributes:
        table: by configuration, then by problem; configurations and problems are in the order of the runs.
        left_out: entries of the runs that are not in the table.
    """

    table: Mapping[str, Mapping[str, SearchOutcome]]
    left_out: Sequence[LeftOut] = ()

    @property
    def configurations(self) -> list[str]:
        """The labels of the configurations, published ones last."""
        return list(self.table)

    @property
    def domains(self) -> dict[str, list[str]]:
        """The problems of each domain."""
        found: dict[str, dict[str, None]] = {}
        for outcomes in self.table.values():
            for outcome in outcomes.values():
                found.setdefault(outcome.domain, {})[outcome.problem] = None
        return {domain: list(problems) for domain, problems in found.items()}

    @property
    def problems(self) -> list[str]:
        """All problems."""
        return [problem for problems in self.domains.values() for problem in problems]

    def select(self, configuration: str, problems: Iterable[str]) -> list[SearchOutcome]:
        """The outcomes of a configuration on some problems; published tables may lack some."""
        outcomes = self.table[configuration]
        return [outcomes[problem] for problem in problems if problem in outcomes]

    def select_solved(self, configuration: str, problems: Iterable[str]) -> list[SearchOutcome]:
        """The selected outcomes with a plan."""
        return [outcome for outcome in self.select(configuration, problems) if outcome.is_solved]

    def select_answered(self, configuration: str, problems: Iterable[str]) -> list[SearchOutcome]:
        """The selected outcomes that decide the problem: a plan, or a proof that there is none."""
        return [outcome for outcome in self.select(configuration, problems) if outcome.status.is_decided]

    def find_common(self, problems: Iterable[str]) -> list[str]:
        """The problems that every configuration solved."""
        return [problem for problem in problems if all(self.select_solved(name, [problem]) for name in self.table)]

    def restrict(self, configurations: Sequence[str]) -> SearchOutcomes:
        """The outcomes of these configurations only."""
        kept = tuple(entry for entry in self.left_out if entry.configuration in configurations)
        return SearchOutcomes({name: self.table[name] for name in configurations}, kept)


def values_of(outcomes: Iterable[SearchOutcome], measure: str) -> list[float]:
    """The known values of a measure other than coverage."""
    return [value for value in map(COSTS[measure].of, outcomes) if value is not None]


def read_outcomes(runs: Sequence[str | Path], others: Iterable[SearchOutcome] = ()) -> SearchOutcomes:
    """Read the outcomes of evaluations, and add other outcomes on the same problems.

    Args:
        runs: folders of `search.evaluate`, or their tables, `.csv` or `.csv.gz`.
        others: further outcomes, such as published ones; those on other problems are ignored. An outcome that there is
            no plan becomes an error, with a warning, where an evaluation has found one.

    Raises:
        MissingError: when a folder holds no table, or there is no outcome.
        EpigymError: when two folders hold the same configuration on the same problem, or a table has a wrong entry.
    """
    table: dict[str, dict[str, SearchOutcome]] = {}
    left_out: list[LeftOut] = []
    for run in runs:
        file = Path(run, "results.csv") if Path(run).is_dir() else Path(run)
        if not file.is_file():
            raise MissingError(f"{run} holds no results.csv; name a folder that search.evaluate wrote, or its table")
        for row in read_rows(file, _COLUMNS):
            entry, outcome = _read_row(row, file)
            if entry.others or outcome is None:
                left_out.append(entry)
            if outcome is None:
                continue
            known = table.setdefault(outcome.configuration, {})
            if outcome.problem in known:
                raise EpigymError(f"{outcome.configuration} on {outcome.problem} is in two runs; report them apart")
            known[outcome.problem] = outcome
    if not table:
        raise MissingError(f"there is no outcome yet in {', '.join(map(str, runs))}")
    own = [outcome for outcomes in table.values() for outcome in outcomes.values()]
    plans = {(outcome.problem, outcome.consistent_beliefs) for outcome in own if outcome.is_solved}
    solved = plans | {(problem, False) for problem, _ in plans}  # consistent beliefs allow fewer plans
    problems = {outcome.problem for outcome in own}
    for outcome in others:
        if outcome.problem in problems:
            table.setdefault(outcome.configuration, {}).setdefault(outcome.problem, _check_unsolvable(outcome, solved))
    return SearchOutcomes(table, left_out)


def _check_unsolvable(outcome: SearchOutcome, solved: Collection[tuple[str, bool]]) -> SearchOutcome:
    """The outcome; an error when there is no plan by it and its problem, with its `consistent_beliefs`, has one."""
    question = outcome.problem, outcome.consistent_beliefs
    if outcome.status is not SearchStatus.UNSOLVABLE or question not in solved:
        return outcome
    logger.warning("%s says that %s has no plan, but it has: an error", outcome.configuration, outcome.problem)
    return replace(outcome, status=SearchStatus.ERROR)


def _read_row(row: Mapping[str, str], file: Path) -> tuple[LeftOut, SearchOutcome | None]:
    try:
        entry = LeftOut(row["configuration"], row["problem"], bool(row["status"]), int(row["other_outcomes"]))
        if not entry.has_outcome:
            return entry, None
        return entry, SearchOutcome(
            domain=row["domain"],
            problem=row["problem"],
            configuration=row["configuration"],
            status=SearchStatus(row["status"]),
            plan_length=parse_number(row["plan_length"]),
            expanded=parse_number(row["expanded"]),
            search_ms=parse_number(row["search_seconds"], 1e3),
            total_ms=parse_number(row["total_seconds"], 1e3),
            peak_mib=parse_number(row["peak_bytes"], 1 / 2**20),
            actions=parse_number(row["actions"]),
            fluents=parse_number(row["fluents"]),
            initial_worlds=parse_number(row["initial_worlds"]),
            consistent_beliefs=row["consistent_beliefs"] == "true",
            file=file.parent / row["file"] if row.get("file") else None,
        )
    except ValueError as error:
        place = f"{file}, {row['problem']} with {row['configuration']}"
        raise EpigymError(f"{place}: {error}: start the evaluation again, which makes the table again") from None


def parse_number(text: str, unit: float = 1.0) -> float | None:
    """Read the number in a cell of a table, times a unit; None for an empty cell."""
    return float(text) * unit if text else None
