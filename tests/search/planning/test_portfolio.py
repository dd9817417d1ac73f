"""The portfolio: parallel members, the first answer wins."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epigym.io.sealed import write_sealed
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning import portfolio
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.planning.portfolio import search_in_portfolio
from search.processes.processes import Ending, Job, supervise
from tests.helpers.tasks import coin, deluded, done, hopeless

MEMBERS = ({"agent": "bfs"}, {"agent": "hfs", "heuristic": "open_goals"})


UNTRAINED = {"agent": "hfs", "heuristic": {"name": "gnn", "checkpoint": "gone.ckpt", "label": "gone"}}


def of(*members: dict[str, Any], **more: Any) -> Configuration:
    return Configuration.of({"name": "portfolio", "head_start": 0, "members": members, **more})


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


@pytest.mark.parametrize("head_start", [0, 5.0])
def test_all_members_are_asked_for_plans_without_collapse(head_start: float) -> None:
    """In this process as in those of their own, and where they fail."""
    configuration = of({"agent": "bfs"}, UNTRAINED, head_start=head_start)
    assert find_plan(deluded(), configuration).status is SearchStatus.SOLVED
    result = find_plan(deluded(), configuration, forbid_collapse=True)
    assert (result.verdict, result.distinct) == ("unsolvable (without collapse)", 2)
    failed = find_plan(deluded(), of(UNTRAINED, head_start=head_start), forbid_collapse=True)
    assert failed.status is SearchStatus.ERROR
    assert all(member.forbid_collapse for member in (result, failed, *result.members, *failed.members))


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


NOBODY = Generator[Ending, None, None]


class Processes:
    """In place of processes side by side: remembers what was to run, and how, and lets nobody answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[Job] = []
        self.limits: dict[str, Any] = {}
        monkeypatch.setattr(portfolio, "supervise", self.supervise)

    def supervise(self, jobs: list[Job], **limits: Any) -> NOBODY:
        if limits.get("copies"):
            yield from supervise(jobs, **limits)
            return
        self.jobs, self.limits = jobs, limits
        yield from (Ending(job, None, SearchStatus.ERROR) for job in jobs)


def test_what_is_solved_in_a_moment_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch)
    result = find_plan(coin(), of(*MEMBERS, head_start=60))
    assert (result.status, result.message, processes.limits) == (SearchStatus.SOLVED, "decided by bfs", {})
    assert [member.label for member in result.members] == ["bfs"]


def test_who_had_too_little_time_goes_on_with_the_time_and_the_memory_that_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = Processes(monkeypatch)
    limits = Limits(time_limit=500.0, memory_limit="64GiB")
    search_in_portfolio(coin(), of(*MEMBERS, UNTRAINED, head_start=1e-9), limits)
    labels = [(job.key, job.arguments[1].label) for job in processes.jobs]
    assert labels == [(0, "bfs"), (1, "hfs/open_goals"), (2, "hfs/gone")]
    assert processes.limits["shared_memory"] == 64 << 30
    for job in processes.jobs:
        assert job.arguments[2].memory_limit == 64 << 30
        assert 490 < job.arguments[2].time_limit < 500


def test_a_limit_of_expansions_is_not_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch)
    result = search_in_portfolio(coin(), of(*MEMBERS, head_start=60), Limits(max_expanded=1))
    assert (result.status, processes.jobs) == (SearchStatus.EXPANSION_LIMIT, [])


def test_the_newest_regressor_joins_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    processes = Processes(monkeypatch)
    task = replace(coin(), domain="coin")
    learned = {"agent": "hfs", "heuristic": "gnn"}
    find_plan(task, of({"agent": "bfs"}, learned))
    assert [job.arguments[1].label for job in processes.jobs] == ["bfs"]
    run = Path("outputs/train/run")
    run.mkdir(parents=True)
    record = {"finished": "2026-01-01", "checkpoint": "best.ckpt", "domains": ["coin"]}
    write_sealed(run / "run.json", record | {"metrics": {"val/mae": 1.0, "median/mae": 2.0}})
    run.joinpath("best.ckpt").touch()
    find_plan(task, of({"agent": "bfs"}, learned))
    assert [job.arguments[1].label for job in processes.jobs] == ["bfs", "hfs/gnn"]


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
