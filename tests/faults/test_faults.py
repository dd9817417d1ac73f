"""The table of faults fits the sources; validation detects wrong plans at run time."""

from collections.abc import Callable
from pathlib import Path

import pytest

from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.planning.configuration import Configuration
from search.planning.plan_files import make_unverified_path
from search.planning.planner import find_plan
from tests.faults.faults import FAULTS, find_stale
from tests.helpers.tasks import coin


def test_every_fault_names_existing_places_and_tests() -> None:
    assert find_stale() == []
    slow = "tests/learn/training/"  # as its conftest.py says
    assert not [name for name, fault in FAULTS.items() if any(file.startswith(slow) for file in fault.tests)]


WRONG: dict[str, Callable[[tuple[str, ...]], tuple[str, ...]]] = {
    "without the first action": lambda plan: plan[1:],
    "without the last action": lambda plan: plan[:-1],
    "reversed": lambda plan: plan[::-1],
    "another action": lambda plan: (*plan[:-1], "look"),
    "an unknown action": lambda plan: (*plan, "fly"),
    "nothing": lambda plan: (),
}


@pytest.mark.parametrize("configuration", ["bfs", "dfs", "hfs/goal_count", "lazy/h_ff", "bfws/goal_count"])
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_plans(wrong: str, configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extract = SearchRun.plan
    monkeypatch.setattr(SearchRun, "plan", lambda run: (plan := extract(run)) and WRONG[wrong](plan))
    file = tmp_path / "plan.json"
    result = find_plan(coin(), Configuration.parse(configuration), plan_file=file)
    assert result.status is SearchStatus.ERROR
    assert "returned a plan that is not valid" in result.message
    assert not file.exists()
    assert make_unverified_path(file).exists()
