"""The parts of the total time of a search, with a clock of the test."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

import search.solve
from epigym.cli import settings
from epigym.cli.codes import ExitCode
from epigym.config import packages
from epigym.config.packages import slow_imports
from epigym.problem import load_problem
from epigym.task.task import Task
from search.agents import limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.heuristics.goal_count import GoalCount
from search.planning import planner, shortening, single_search
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.policies import planner as policies
from search.policies.planner import find_policy_here
from search.reports.display import show_results
from search.solve import Solve, solve
from tests.helpers.commands import compose
from tests.helpers.policy_tasks import loose_switch
from tests.helpers.tasks import COIN

READING, IMPORTS, BUILDING, SCORING, SHORTENING, VALIDATION = 1.0, 2.0, 4.0, 8.0, 32.0, 64.0
COLUMNS = 80


class Clock:
    """Seconds that pass only where the test lets them pass."""

    now = 0.0
    scored = 0

    def wrap(self, owner: Any, name: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let seconds pass in every call of a function."""
        function = getattr(owner, name)

        def call(*arguments: Any, **settings: Any) -> Any:
            self.now += seconds
            return function(*arguments, **settings)

        monkeypatch.setattr(owner, name, call)


class Slow(GoalCount):
    """The goal count, whose making, with an import, and values take their seconds."""

    clock: Clock

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        with slow_imports():
            self.clock.now += IMPORTS
        self.clock.now += BUILDING
        super().__init__(*arguments, **settings)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        self.clock.now += SCORING
        self.clock.scored += 1
        return super().score(ids)


SLOW = {"_target_": f"{__name__}.Slow"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Slow, "clock", clock, raising=False)
    clock.wrap(shortening, "shorten_plan", SHORTENING, monkeypatch)
    clock.wrap(planner, "validate", VALIDATION, monkeypatch)
    for module in (search.solve, planner, single_search, limits, packages, policies):
        monkeypatch.setattr(module, "perf_counter", lambda: clock.now)
    return clock


def list_times(lines: list[str]) -> dict[str, list[float]]:
    """The rows of times in a table of the terminal, in seconds."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    return {
        name: [float(cell.split()[0]) * units[cell.split()[1]] if cell != "–" else 0.0 for cell in cells]
        for name, *cells in rows
        if name.endswith("time")
    }


def test_the_parts_add_up_to_all_time_since_the_start(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_plan(task: Task, one: Configuration, options: SearchOptions, file: None, **_: object) -> SearchResult:
        return planner.find_plan_here(task, one, options, file)

    monkeypatch.setattr(planner, "find_plan", find_plan)
    clock.wrap(settings, "load_problem", READING, monkeypatch)
    (tmp_path / "coin.txt").write_text(COIN)
    words = (
        f"problem={tmp_path}/coin.txt",
        "agent=hfs",
        f"heuristic={{_target_: {__name__}.Slow}}",
        f"run_dir={tmp_path}",
    )
    assert solve(compose(Solve, "solve", *words)) is ExitCode.SUCCESS
    searching = clock.scored * SCORING
    costs = Costs(**json.loads((tmp_path / "result.json").read_text())["costs"])
    assert costs == Costs(READING, IMPORTS, BUILDING, searching, SHORTENING, VALIDATION, peak_bytes=costs.peak_bytes)
    assert costs.total_seconds == clock.now
    assert list_times(capsys.readouterr().out.splitlines()) == {
        "reading time": [READING],
        "PyTorch import time": [IMPORTS],
        "set-up time": [BUILDING],
        "search time": [searching],
        "shortening time": [SHORTENING],
        "validation time": [VALIDATION],
        "total time": [clock.now],
    }


def test_imports_of_a_component_are_no_part_of_the_search(clock: Clock, tmp_path: Path) -> None:
    """Components of `interleaved` make their heuristics during the search."""
    (tmp_path / "coin.txt").write_text(COIN)
    components = {"name": "interleaved", "components": [{"agent": "hfs", "heuristic": SLOW}]}
    task = load_problem(str(tmp_path / "coin.txt"))
    result = planner.find_plan_here(task, Configuration.of(components), SearchOptions())
    searching = BUILDING + clock.scored * SCORING
    assert result.costs == Costs(
        0.0, IMPORTS, 0.0, searching, SHORTENING, VALIDATION, peak_bytes=result.costs.peak_bytes
    )
    assert result.costs.total_seconds == clock.now


def test_imports_are_no_part_of_the_search_for_a_policy(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.wrap(policies.Policy, "validate", VALIDATION, monkeypatch)
    options = SearchOptions(consistent_beliefs=True)
    result = find_policy_here(loose_switch(), Configuration.of("hfs", SLOW), options, kind="cyclic")
    costs = result.costs
    assert result.status is SearchStatus.SOLVED
    assert (costs.import_seconds, costs.validation_seconds) == (IMPORTS, VALIDATION)
    assert costs.search_seconds == BUILDING + clock.scored * SCORING
    assert costs.total_seconds == clock.now


def test_the_parts_are_shown_side_by_side() -> None:
    """Parts that took no time in any search have no row; the sum holds within the three digits that are shown."""
    costs = {
        ("hfs_star", "learned"): Costs(0.0946, 4.1, 0.4121, 0.5961, 0.0833, 0.0095),
        ("bfs", None): Costs(0.0946, 0.0, 0.0042, 0.0199, 0.0, 0.0061),
        ("hfs_star", "goal_count"): Costs(0.0946, 0.0, 0.0041, 0.00764, 0.0, 0.00062),
    }
    results = [
        SearchResult(
            SearchStatus.SOLVED, agent, "collaboration_communication/3_3_3_pl_6", heuristic=heuristic, costs=one
        )
        for (agent, heuristic), one in costs.items()
    ]
    console = Console(file=StringIO(), width=COLUMNS)
    show_results(console, results)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= COLUMNS
    assert not any("…" in line for line in lines)
    *parts, total = list_times(lines).values()
    assert [sum(column) for column in zip(*parts, strict=True)] == pytest.approx(total, rel=0.01)
    assert "PyTorch import time" in list_times(lines)

    console = Console(file=StringIO(), width=COLUMNS)
    show_results(console, results[1:])
    assert [*list_times(console.file.getvalue().splitlines())] == [  # type: ignore[attr-defined]
        "reading time",
        "set-up time",
        "search time",
        "validation time",
        "total time",
    ]
