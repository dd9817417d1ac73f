"""Plan files: a plan that is not validated is never in the plan file."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from epigym.cli.codes import ExitCode
from epigym.errors import EpigymError, MissingError, UsageError
from epigym.io.files import read_plan
from epigym.reference.semantics import Validation
from learn.models.shipped import locate_shipped
from search import competition
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.plan_files import make_unverified_path
from search.planning.planner import find_plan
from search.processes.channel import NO_CHANNEL, ProgressChannel
from search.processes.supervisor import Job, JobResult
from search.solve import Solve
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import PLANS, write_problem
from tests.helpers.tasks import COIN, coin, hopeless

PLAN = ["lift", "look", "shout"]


def raising(error: type[BaseException]) -> Callable[..., Validation]:
    def validate(*_: object, **__: object) -> Validation:
        raise error

    return validate


REJECTING = """
import sys
from epigym.reference.semantics import Validation
from search.planning import planner
planner.validate = lambda *_, **__: Validation(valid=False, step=2, reason="step 2: no", inconsistent_agents=())
from search.solve import main
main()
"""


def test_solve_keeps_a_rejected_plan_apart(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text(COIN)
    command = [sys.executable, "-c", REJECTING, "problem=coin.txt", "agent=bfs", "plan_file=plan.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, (tmp_path / "plan.json").exists()) == (70, False), done.stderr
    assert "a plan that is not valid (see plan.json.unverified): step 2: no" in done.stdout
    assert "plan of bfs (3 actions, not valid):" in done.stdout
    assert read_plan(tmp_path / "plan.json.unverified") == PLAN


def end_with(call: Callable[[Job], object], message: str = "") -> Callable[..., Iterator[JobResult]]:
    """Replaces `watch`: the value of a call, or with a message the time limit."""

    def watch(jobs: Iterable[Job], **_: object) -> Iterator[JobResult]:
        for job in jobs:
            value = call(job)
            yield JobResult(job, *((None, SearchStatus.TIME_LIMIT, message) if message else (value, None)))

    return watch


def call_here(job: Job) -> object:
    return job.call(*job.arguments, channel=NO_CHANNEL)


def stop(job: Job) -> None:
    with suppress(Stopped):
        call_here(job)


class Stopped(BaseException):
    """Stands for a signal during validation."""


@pytest.mark.parametrize(
    ("reference", "watch", "code", "message", "left"),
    [
        (
            lambda *_, **__: Validation(valid=False, step=2, reason="step 2: no", inconsistent_agents=()),
            end_with(call_here),
            70,
            "returned a plan that is not valid (see {draft}): step 2: no",
            ["plan.json.unverified"],
        ),
        (
            raising(Stopped),
            end_with(stop, "killed"),
            12,
            "killed, a plan that was not verified in time is in {draft}",
            ["plan.json.unverified"],
        ),
        (
            raising(AssertionError),
            lambda jobs, **_: (
                JobResult(job, None, SearchStatus.ERROR, "", "in", error=TypeError("odd")) for job in jobs
            ),
            70,
            "TypeError: odd",
            ["plan.json"],
        ),
        (raising(AssertionError), end_with(lambda job: None, "killed"), 12, "killed\n", []),  # before it searched
    ],
    ids=["rejected", "in vain", "fails", "early"],
)
def test_the_competition_keeps_plans_apart_that_were_not_verified(
    reference: Any,
    watch: Any,
    code: int,
    message: str,
    left: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(planner, "validate", reference)
    monkeypatch.setattr(planner, "watch", watch)
    file = tmp_path / "out" / "plan.json"
    file.parent.mkdir()
    for path in (file, make_unverified_path(file)):
        path.write_text("[]")  # of an earlier call
    with pytest.raises(SystemExit) as stop:
        competition.main([str(write_problem(tmp_path).spec), str(file)])
    assert stop.value.code == code
    assert message.format(draft=make_unverified_path(file)) in capsys.readouterr().err
    assert [path.name for path in file.parent.iterdir()] == left
    assert "plan.json.unverified" not in left or read_plan(make_unverified_path(file)) in PLANS


def test_the_limits_of_the_competition_hold_until_the_plan_is_verified(tmp_path: Path) -> None:
    sent: list[object] = []
    channel = ProgressChannel()
    channel.send_message = sent.append  # of `find_plan` a message that there is no time limit any more
    file = tmp_path / "plan.json"
    result = competition.read_and_search(str(write_problem(tmp_path).spec), str(file), SearchOptions(Limits()), channel)
    assert result.plan in map(tuple, PLANS)
    assert sent == []


@pytest.mark.parametrize(
    ("history", "costs", "said"),
    [
        (((9, 0.5), (2, 0.6)), Costs(0.04, 0.0, 0.26, 1.0, 0.2, 3.0),
         "plan of 2 actions (first 9), 7 nodes expanded, 0.0 s "
         "(set-up 0.3 s, search 1.0 s, shortening 0.2 s, validation 3.0 s)"),
        (((2, 0.6),), Costs(search_seconds=0.04), "plan of 2 actions, 7 nodes expanded, 0.0 s"),
    ],
)  # fmt: skip
def test_the_competition_says_how_long_the_first_plan_was_and_what_each_part_took(
    history: tuple[tuple[int, float], ...], costs: Costs, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SearchResult(SearchStatus.SOLVED, "a", "coin", ("b", "c"), 7, history=history, costs=costs)
    monkeypatch.setattr(competition, "run_search", lambda *_: found)
    monkeypatch.setattr(competition, "perf_counter", lambda: 5.0)
    assert competition.solve("coin.json", str(tmp_path / "plan.json")) == (found, f"coin: {said}")


@pytest.mark.parametrize("limits", [Limits(max_expanded=1, time_limit=None), None], ids=["process", "here"])
def test_a_search_without_a_plan_leaves_none(limits: Limits | None, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    for path in (file, make_unverified_path(file)):
        path.write_text('["old"]')
    result = find_plan(coin() if limits else hopeless(), Configuration.of("bfs"), SearchOptions(limits), file)
    assert result.plan is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["coin.epddl", "coin-1.json", "model.safetensors"])
@pytest.mark.parametrize("ending", ["", ".unverified"])
def test_only_plans_are_overwritten(
    name: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_problem(tmp_path)
    shutil.copyfile(locate_shipped("linear", "general"), "model.safetensors")
    if ending:
        Path(name).rename(name + ending)
    content = Path(name + ending).read_bytes()
    message = f"{name}{ending} exists and is not a plan, which is a JSON array of action names"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        find_plan(coin(), Configuration.of("bfs"), plan_file=name)
    with pytest.raises(UsageError, match=f"^plan_file: {re.escape(message)}") as caught:
        compose(Solve, "solve", "problem=coin.txt", f"plan_file={name}")
    assert ExitCode.after(caught.value) == 64
    with pytest.raises(SystemExit) as stop:
        competition.main(["coin-1.json", name])
    assert stop.value.code == 64
    assert message in capsys.readouterr().err
    assert Path(name + ending).read_bytes() == content
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises(UsageError, match="exists and is not a plan"):
            find_plan(coin(), Configuration.of("bfs"), plan_file=path)


def test_plan_files_that_cannot_be_read_are_explained(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"gone\.json: No such file"):
        read_plan("gone.json")
    for text, message in (
        ("[", "not JSON"),
        ('{"a": 1}', "is a JSON array"),
        ("[1]", "is a JSON array"),
        ("", "plan.json is empty: expected a plan, a JSON array"),
        ('{"planning-task-info": 1}', "is a problem, not a plan: give it as problem="),
        ('{"nodes": []}', "is a policy, not a plan: give it as policy="),
    ):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(EpigymError, match=message):
            read_plan(tmp_path / "plan.json")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    assert read_plan(tmp_path / "plan.json") == PLAN
