"""The portfolio: parallel members, the first answer wins."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import psutil
import pytest

from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning import portfolio
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.planning.processes import Ending, Job
from tests.helpers.tasks import coin, done, hopeless

MEMBERS = ({"agent": "bfs"}, {"agent": "hfs", "heuristic": "open_goals"})


def of(*members: dict[str, Any], **more: str) -> Configuration:
    return Configuration.of({"name": "portfolio", "members": members, **more})


def test_the_default_members_solve_and_the_plan_is_checked() -> None:
    result = find_plan(coin(), Configuration.of("portfolio"))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ("lift", "look", "shout"))
    assert (result.label, result.actions) == ("portfolio", 3)
    winner = next(member for member in result.members if member.status is SearchStatus.SOLVED)
    assert result.message == f"decided by {winner.label}"
    assert (result.expanded, result.generated) == (winner.expanded, winner.generated)


def test_a_member_that_proves_that_there_is_no_plan_decides() -> None:
    result = find_plan(hopeless(), of(*MEMBERS))
    assert (result.status, result.plan, result.distinct) == (SearchStatus.UNSOLVABLE, None, 3)


def test_a_goal_at_the_start() -> None:
    result = find_plan(done(), of(*MEMBERS))
    assert (result.status, result.plan) == (SearchStatus.SOLVED, ())


def test_labels_stand_in_results_as_in_tables() -> None:
    hfs = {"agent": {"name": "hfs", "label": "greedy"}, "heuristic": {"name": "l_pg", "label": "graph"}}
    configuration = of(hfs, label="crowd")
    result = find_plan(coin(), configuration)
    assert (result.label, configuration.label) == ("crowd", "crowd")
    assert [member.label for member in result.members] == ["greedy/graph"]
    assert result.message == "decided by greedy/graph"


def test_members_share_the_memory_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def supervise(jobs: list[Job], **_: object) -> Generator[Ending, None, None]:
        given.extend(job.arguments[2].memory_limit for job in jobs)
        yield from (Ending(job, None, SearchStatus.ERROR, "", "", 0.0, 0, 0.0) for job in jobs)

    monkeypatch.setattr(portfolio, "supervise", supervise)
    used = psutil.Process().memory_info().rss
    find_plan(coin(), of(*MEMBERS), Limits(memory_limit=3 * used))
    assert given == [pytest.approx(used, rel=0.1)] * 2


UNTRAINED = {"agent": "hfs", "heuristic": {"name": "gnn", "checkpoint": "gone.ckpt", "label": "gone"}}


def test_a_failing_member_leaves_the_others_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The member that works is stopped by its limit, so that both have ended.
    result = find_plan(coin(), of(UNTRAINED, {"agent": "bfs"}), Limits(max_expanded=1))
    assert (result.status, result.expanded) == (SearchStatus.EXPANSION_LIMIT, 1)
    failed = next(member for member in result.members if member.label == "hfs/gone")
    assert failed.status is SearchStatus.ERROR
    assert "there is no checkpoint gone.ckpt" in failed.message


def test_when_all_members_fail_the_portfolio_says_why() -> None:
    result = find_plan(coin(), of(UNTRAINED))
    assert result.status is SearchStatus.ERROR
    assert "there is no checkpoint gone.ckpt" in result.message
