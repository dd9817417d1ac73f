"""A record of an evaluation: one configuration on one problem, and the file with its outcome."""

from __future__ import annotations

import logging
import platform
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from epigym.errors import DamagedError, EpigymError, MissingError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.io.files import slug
from epigym.task.task import Task
from search.agents.limits import memory_bytes
from search.agents.result import SearchResult, SearchStatus
from search.evaluation.fingerprint import hash_dependencies
from search.evaluation.suites import Problem
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan_here
from search.processes.channel import NO_CHANNEL, ProgressChannel

logger = logging.getLogger("search.evaluate")

_INNER_SHARE = 0.95  # of the memory limit: a search that stops by itself reports its counts
_SHOWN = 8  # digits of a key in a file name
COLUMNS = (
    "domain", "problem", "configuration", "consistent_beliefs", "status", "plan_length", "first_length", "optimal",
    "expanded", "generated", "distinct", "actions", "fluents", "initial_worlds",
    "load_seconds", "search_seconds", "shortening_seconds", "total_seconds", "cpu_seconds", "peak_bytes",
    "host", "processor", "inconsistent_agents", "model", "message", "proof", "other_outcomes", "file",
)  # fmt: skip
MEASURED = (
    "load_seconds", "search_seconds", "shortening_seconds", "total_seconds", "cpu_seconds", "peak_bytes", "host",
    "processor", "proof"
)  # fmt: skip
"""The columns that differ from run to run."""


@dataclass(frozen=True, slots=True)
class Record:
    """One search of an evaluation; plain data that travels between processes.

    Attributes:
        problem: what to solve.
        configuration: agent and heuristic.
        options: of the search; its limits are expanded nodes, seconds to read, ground and search, and bytes of resident
            memory of the process and its children.
        key: a hash of all that the outcome depends on, computed when the grid was made, see `assign_key`.
    """

    problem: Problem
    configuration: Configuration
    options: SearchOptions
    key: str = ""

    def assign_key(self, content: str) -> Record:
        """The record with its current key; `content` is the digest of the problem."""
        return replace(self, key=hash_dependencies(content, self.problem, self.configuration, asdict(self.options)))

    @property
    def time_limit(self) -> float | None:
        """Seconds to read, ground and search."""
        return self.options.limits.time_limit if self.options.limits else None

    def file(self, folder: Path) -> Path:
        """The file of the outcome."""
        return folder / self.file_name

    @property
    def file_name(self) -> str:
        """The path of the file in the folder of an evaluation."""
        parts = self.problem.name.strip("/").replace("..", "_").split("/")
        return Path("records", *parts, slug(self.configuration.label) + self._ending).as_posix()

    @property
    def _ending(self) -> str:
        return f".{self.key[:_SHOWN]}.json"

    def read(self, folder: Path) -> SearchResult | None:
        """The cached outcome with the key of this record, or None."""
        data = self._read_file(folder)
        return SearchResult.from_dict(data["result"]) if data else None

    def write(self, folder: Path, result: SearchResult, detail: str = "") -> None:
        """Write an outcome computed on this machine; `detail` is the traceback of a failure."""
        machine = {"host": platform.node(), "processor": _find_processor()}
        data = {"key": self.key, "record": asdict(self), **machine, "result": result.to_dict(), "detail": detail}
        write_checksummed(self.file(folder), data)

    def invalidate(self, folder: Path) -> None:
        """Delete the cached outcome."""
        self.file(folder).unlink(missing_ok=True)

    def estimate_seconds(self, folder: Path) -> float:
        """Total seconds of the newest outcome with another key; without one, the time limit."""
        most = float("inf") if self.time_limit is None else self.time_limit
        with suppress(OSError, ValueError, KeyError, EpigymError):  # missing, damaged or of an older format
            newest = max(self._list_others(folder), key=lambda path: path.stat().st_mtime)
            result = SearchResult.from_dict(read_checksummed(newest, "computed again when needed")["result"])
            return min(result.costs.total_seconds, most)
        return most

    def search(self, *, channel: ProgressChannel = NO_CHANNEL) -> SearchResult:
        """Search in this process.

        Raises:
            EpigymError: when the problem is wrong, or the problem, a file of the settings or the program has changed.
        """
        if self.assign_key(self.problem.digest()) != self:
            raise EpigymError(
                "the problem, a file of the settings or the program has changed since the start: start again"
            )
        return search_from(self.problem.load, self.configuration, self.options, channel)

    def row(self, folder: Path) -> dict[str, str]:
        """The outcome as a row of the table, by `COLUMNS`; without an outcome its status is empty.

        Counts of a search that ended at a time or memory limit are left out: they differ from run to run.
        """
        row = dict.fromkeys(COLUMNS, "") | {
            "domain": self.problem.domain,
            "problem": self.problem.name,
            "configuration": self.configuration.label,
            "consistent_beliefs": str(self.options.consistent_beliefs).lower(),
            "other_outcomes": str(len(self._list_others(folder))),
        }
        if data := self._read_file(folder):
            row |= {name: data[name] for name in ("host", "processor")} | _make_entries(
                SearchResult.from_dict(data["result"]), self.options.anytime
            )
            row["file"] = self.file_name
        return row

    def _read_file(self, folder: Path) -> dict[str, Any]:
        """The content of the file; empty when it is missing or damaged or has another key."""
        data = read_cached(self.file(folder), "the record is computed again")
        return data if data.get("key") == self.key else {}

    def _list_others(self, folder: Path) -> list[Path]:
        """The files of outcomes of the same problem and configuration with another key."""
        mine = self.file(folder)
        alike = re.compile(re.escape(mine.name.removesuffix(self._ending)) + rf"\.[0-9a-f]{{{_SHOWN}}}\.json")
        return [path for path in mine.parent.glob("*.json") if path != mine and alike.fullmatch(path.name)]


def read_cached(path: Path, consequence: str) -> dict[str, Any]:
    """The values of a checksummed file; empty when it does not exist or is damaged.

    A damaged file causes a warning and is renamed: `.damaged` is appended to its name.

    Args:
        path: the file.
        consequence: of a damaged file, for the warning, such as "the record is computed again".
    """
    aside = path.with_name(f"{path.name}.damaged")
    try:
        return read_checksummed(path, f"{consequence}, what was there is kept as {aside.name}")
    except MissingError:
        return {}
    except DamagedError as error:
        with suppress(FileNotFoundError):  # another process was faster
            path.replace(aside)
            logger.warning("%s", error)
        return {}


def search_from(
    load: Callable[[], Task],
    configuration: Configuration,
    options: SearchOptions,
    channel: ProgressChannel = NO_CHANNEL,
) -> SearchResult:
    """Load a problem and search in this process; the time limit covers both.

    The search checks its limits itself; the supervisor of the process enforces them.
    """
    start = perf_counter()
    task = load()
    load_seconds = perf_counter() - start
    limits = options.active_limits
    inner = replace(limits, memory_limit=int(_INNER_SHARE * memory_bytes(limits.memory_limit)))
    result = find_plan_here(task, configuration, replace(options, limits=inner.after(load_seconds)), channel=channel)
    return result.with_costs(load_seconds=load_seconds)


def _make_entries(result: SearchResult, anytime: bool) -> dict[str, str]:
    """The columns of the table that come from a result."""
    was_cut = anytime and result.plan is not None and not result.optimal  # during the search for a shorter plan
    is_counted = not was_cut and (result.status.is_decided or result.status is SearchStatus.EXPANSION_LIMIT)
    counts = {name: str(getattr(result, name)) for name in ("expanded", "generated", "distinct") if is_counted}
    is_solved = result.plan_length is not None
    sizes = {name: str(value or "") for name, value in asdict(result.size).items()}
    seconds = ("load_seconds", "search_seconds", "shortening_seconds", "total_seconds", "cpu_seconds")
    return {
        "status": str(result.status),
        "plan_length": str(result.plan_length) if is_solved else "",
        "first_length": str(result.first_length) if is_solved else "",
        "optimal": str(result.optimal).lower() if is_solved else "",
        **counts,
        **sizes,
        **{name: f"{getattr(result.costs, name):.6f}" for name in seconds},
        "peak_bytes": str(result.costs.peak_bytes),
        "inconsistent_agents": " ".join(result.inconsistent_agents),
        "model": result.model,
        "message": result.message,
        "proof": result.proof,
    }


def _find_processor() -> str:
    """The model of this machine's processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
