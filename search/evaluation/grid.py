"""The cells of an evaluation: one configuration on one problem each, kept in one file each."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

import domains
from epigym.errors import EpigymError, ProblemWarning
from epigym.files import write_rows
from epigym.language import Semantics
from epigym.problem import Reading, load_problem
from epigym.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus, write_json
from search.evaluation.suites import EpddlFiles
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.planning.processes import Ending

_INNER_SHARE = 0.95  # of the memory limit: a search that ends by itself knows how far it came
COLUMNS = (
    "domain",
    "problem",
    "configuration",
    "status",
    "plan_length",
    "expanded",
    "generated",
    "distinct",
    "actions",
    "fluents",
    "initial_worlds",
    "load_seconds",
    "search_seconds",
    "total_seconds",
    "peak_bytes",
    "collapsed_agents",
    "checkpoint",
    "message",
)
MEASURED = ("load_seconds", "search_seconds", "total_seconds", "peak_bytes")
"""The columns that differ from run to run."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One search of an evaluation; plain data that travels between processes.

    Attributes:
        problem: a file, or `domain/instance`.
        configuration: agent and heuristic.
        semantics: the reading of mA*.
        max_expanded: most nodes to expand, or None.
        time_limit: seconds to read, ground and search.
        memory_limit: bytes of resident memory of the process, its children's included.
        files: of an EPDDL problem, which `problem` then only names.
    """

    problem: str
    configuration: Configuration
    semantics: Semantics
    max_expanded: int | None
    time_limit: float
    memory_limit: int
    files: EpddlFiles | None = None

    @property
    def domain(self) -> str:
        """The domain of the problem; for a file the name of its folder."""
        if self.files is not None:
            return self.problem.rpartition("/")[0]
        head = self.problem.partition("/")[0]
        return head if head in domains.DOMAINS else Path(self.problem).resolve().parent.name

    def file(self, folder: Path) -> Path:
        """Where the outcome is kept."""
        parts = self.problem.strip("/").replace("..", "_").split("/")
        return folder.joinpath("cells", *parts, self.configuration.label.replace("/", "+") + ".json")

    def read(self, folder: Path) -> SearchResult | None:
        """The outcome that is kept for this very cell, or None when it is still to be computed."""
        with suppress(OSError, ValueError, KeyError):
            data = json.loads(self.file(folder).read_text(encoding="utf-8"))
            if data["cell"] == json.loads(json.dumps(asdict(self))):
                return SearchResult.from_dict(data["result"])
        return None

    def write(self, folder: Path, result: SearchResult, detail: str = "") -> None:
        """Keep the outcome; `detail` is the traceback of a failure."""
        write_json(self.file(folder), {"cell": asdict(self), "result": result.to_dict(), "detail": detail})

    def search(self) -> SearchResult:
        """Do the search, in a process of its own."""
        start = perf_counter()
        task = self._task()
        load_seconds = perf_counter() - start
        time_left = max(self.time_limit - load_seconds, 0.0)
        limits = Limits(self.max_expanded, time_left, int(_INNER_SHARE * self.memory_limit))
        return replace(find_plan(task, self.configuration, limits), load_seconds=load_seconds)

    def _task(self) -> Task:
        """The task, without the warnings about its text, which `search.solve` shows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            if self.files is None:
                return load_problem(self.problem, Reading(self.semantics))
            files = asdict(self.files)
            return load_problem(files.pop("problem"), Reading(**files))

    def outcome(self, ending: Ending) -> SearchResult:
        """The result of a process that made this search, or one that says how the process failed."""
        if isinstance(ending.value, SearchResult):
            return replace(ending.value, peak_bytes=max(ending.value.peak_bytes, ending.peak_bytes))
        assert ending.failure is not None
        heuristic = self.configuration.heuristic
        return SearchResult(
            status=ending.failure,
            agent=self.configuration.agent["name"],
            problem=self.problem,
            plan=None,
            expanded=0,
            generated=0,
            distinct=0,
            search_seconds=ending.seconds,
            heuristic=heuristic["name"] if heuristic else None,
            peak_bytes=ending.peak_bytes,
            message=ending.message,
        )

    def row(self, result: SearchResult) -> dict[str, str]:
        """The outcome as a row of the table, by `COLUMNS`.

        Counts of a search that time or memory ended are left out: they differ from run to run.
        """
        is_counted = result.status.is_decided or result.status is SearchStatus.EXPANSION_LIMIT
        counts = {name: str(getattr(result, name)) for name in ("expanded", "generated", "distinct") if is_counted}
        sizes = {name: str(getattr(result, name) or "") for name in ("actions", "fluents", "initial_worlds")}
        return dict.fromkeys(COLUMNS, "") | {
            "domain": self.domain,
            "problem": self.problem,
            "configuration": self.configuration.label,
            "status": str(result.status),
            "plan_length": "" if result.plan_length is None else str(result.plan_length),
            **counts,
            **sizes,
            "load_seconds": f"{result.load_seconds:.6f}",
            "search_seconds": f"{result.search_seconds:.6f}",
            "total_seconds": f"{result.total_seconds:.6f}",
            "peak_bytes": str(result.peak_bytes),
            "collapsed_agents": " ".join(result.collapsed_agents),
            "checkpoint": result.checkpoint,
            "message": result.message,
        }


def write_table(folder: Path, cells: Iterable[Cell]) -> None:
    """Derive `results.csv` from the cells that are finished, in the order of the cells."""
    rows = (cell.row(result) for cell in cells if (result := cell.read(folder)) is not None)
    write_rows(folder / "results.csv", COLUMNS, rows)


def shard(cells: list[Cell], part: str | None) -> list[Cell]:
    """The cells of one part of a grid, written `i/n` with i from 0 to n - 1; all of them for None.

    Raises:
        EpigymError: when the part is written in another way.
    """
    if part is None:
        return cells
    match = re.fullmatch(r"(\d+)/(\d+)", part)
    if match is None or not int(match[1]) < int(match[2]):
        raise EpigymError(f"shard={part!r} must be written i/n with i from 0 to n - 1, such as 0/4")
    return cells[int(match[1]) :: int(match[2])]
