"""Plan files: what was not verified is never under the name that was asked for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from epigym.cli.codes import ExitCode
from epigym.errors import CollapseError, EpigymError, MissingError, UsageError
from epigym.io.files import read_plan
from epigym.reference.semantics import Validation
from learn.models.shipped import LINEAR
from search import competition
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.planning.plans import unverified
from search.processes.processes import Ending, Job
from search.solve import Solve
from tests.helpers.commands import composed
from tests.helpers.epddl_problem import PLANS, write_problem
from tests.helpers.tasks import COIN, coin, deluded, hopeless

PLAN = ["lift", "look", "shout"]
REJECTED = Validation(valid=False, step=2, reason="step 2: no", collapsed=())


class Stopped(BaseException):
    """In place of a signal while the reference is at work."""


def test_a_plan_is_under_its_name_only_after_it_was_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plans" / "plan.json"
    seen = []

    def validate(task: object, plan: object, *, consistent_beliefs: bool) -> Validation:
        seen.append(([path.name for path in file.parent.iterdir()], read_plan(unverified(file))))
        return Validation(valid=True, step=3, reason="", collapsed=())

    monkeypatch.setattr(planner, "validate", validate)
    assert find_plan(coin(), Configuration.of("bfs"), plan_file=file).status is SearchStatus.SOLVED
    assert seen == [(["plan.json.unverified"], PLAN)]
    assert [path.name for path in file.parent.iterdir()] == ["plan.json"]
    assert read_plan(file) == PLAN


def test_a_search_that_is_stopped_leaves_an_unverified_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def validate(task: object, plan: object, *, consistent_beliefs: bool) -> Validation:
        raise Stopped

    monkeypatch.setattr(planner, "validate", validate)
    with pytest.raises(Stopped):
        find_plan(coin(), Configuration.of("bfs"), plan_file=tmp_path / "plan.json")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json.unverified"]
    # The next search, which finds none, does not leave it as if it were its own.
    monkeypatch.undo()
    find_plan(coin(), Configuration.of("bfs"), Limits(max_expanded=1), plan_file=tmp_path / "plan.json")
    assert list(tmp_path.iterdir()) == []


REJECTING = """
import sys
from epigym.reference.semantics import Validation
from search.planning import planner
planner.validate = lambda *_, **__: Validation(valid=False, step=2, reason="step 2: no", collapsed=())
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


def here(jobs: Iterable[Job], **_: object) -> Iterator[Ending]:
    """As `supervise` in this process, where the time limit comes while the reference is at work."""
    for job in jobs:
        try:
            yield Ending(job, job.call(*job.arguments), None, "", "", 1.0, 0, 0.0)
        except Stopped:
            message = "killed from outside at the time limit"
            yield Ending(job, None, SearchStatus.TIME_LIMIT, message, "", 1.0, 0, 0.0)


@pytest.mark.parametrize(
    ("verdict", "code", "message"),
    [
        (REJECTED, 70, "returned a plan that is not valid (see {draft}): step 2: no"),
        (None, 12, "killed from outside at the time limit; a plan that was not verified in time is in {draft}"),
    ],
)
def test_the_competition_keeps_plans_apart_that_were_not_verified(
    verdict: Validation | None,
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def validate(task: object, plan: object, *, consistent_beliefs: bool) -> Validation:
        if verdict is None:
            raise Stopped
        return verdict

    monkeypatch.setattr(planner, "validate", validate)
    monkeypatch.setattr(competition, "supervise", here)
    file = tmp_path / "out" / "plan.json"
    with pytest.raises(SystemExit) as stop:
        competition.main([str(write_problem(tmp_path).spec), str(file)])
    assert stop.value.code == code
    assert message.format(draft=unverified(file)) in capsys.readouterr().err
    assert [path.name for path in file.parent.iterdir()] == ["plan.json.unverified"]
    assert read_plan(unverified(file)) in PLANS


def test_what_an_earlier_call_left_is_not_taken_for_the_plan_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(jobs: Iterable[Job], **_: object) -> Iterator[Ending]:
        yield from (Ending(job, None, SearchStatus.TIME_LIMIT, "killed", "", 1.0, 0, 0.0) for job in jobs)

    monkeypatch.setattr(competition, "supervise", killed)
    for name in ("plan.json", "plan.json.unverified"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(SystemExit):
        competition.main([str(write_problem(tmp_path).spec), str(tmp_path / "plan.json")])
    assert capsys.readouterr().err == "killed\n"
    assert list(tmp_path.glob("plan*")) == []


@pytest.mark.parametrize("limits", [Limits(max_expanded=1, time_limit=None), None], ids=["process", "here"])
def test_a_search_without_a_plan_leaves_none(limits: Limits | None, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    for path in (file, unverified(file)):
        path.write_text('["old"]')
    result = find_plan(coin() if limits else hopeless(), Configuration.of("bfs"), limits, file)
    assert result.plan is None
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_does_not_begin_leaves_an_old_plan(tmp_path: Path) -> None:
    initial = deluded().initial
    successors = (initial.successors[0], (frozenset(),) * len(initial.valuations))
    task = replace(deluded(), initial=replace(initial, successors=successors))
    (tmp_path / "plan.json").write_text('["old"]')
    with pytest.raises(CollapseError):
        find_plan(task, Configuration.of("bfs"), plan_file=tmp_path / "plan.json", consistent_beliefs=True)
    assert read_plan(tmp_path / "plan.json") == ["old"]


@pytest.mark.parametrize("name", ["coin.epddl", "kinds.epddl", "coin-1.epddl", "coin-1.json", "coin.txt", "model.json"])
@pytest.mark.parametrize("ending", ["", ".unverified"])
def test_a_file_that_is_no_plan_is_never_replaced(
    name: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_problem(tmp_path)
    Path("coin.txt").write_text(COIN)
    shutil.copyfile(LINEAR / "general.json", "model.json")
    if ending:
        Path(name).rename(name + ending)
    content = Path(name + ending).read_bytes()
    message = (
        f"{name}{ending} exists and is not a plan, which is a JSON array of action names: "
        "name another file, or remove it"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        find_plan(coin(), Configuration.of("bfs"), plan_file=name)
    with pytest.raises(UsageError, match=f"^plan_file: {re.escape(message)}$") as caught:
        composed(Solve, "solve", "problem=coin.txt", f"plan_file={name}")
    assert ExitCode.after(caught.value) == 64
    with pytest.raises(SystemExit) as stop:
        competition.main(["coin-1.json", name])
    assert (stop.value.code, capsys.readouterr().err) == (64, f"error: {message}\n")
    assert Path(name + ending).read_bytes() == content


def test_what_is_no_file_is_not_replaced_by_a_plan(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises(UsageError, match="exists and is not a plan"):
            find_plan(coin(), Configuration.of("bfs"), plan_file=path)


def test_plan_files_that_cannot_be_read_are_explained(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"gone\.json: No such file"):
        read_plan("gone.json")
    for text, message in (("[", "not JSON"), ('{"a": 1}', "is a JSON array"), ("[1]", "is a JSON array")):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(EpigymError, match=message):
            read_plan(tmp_path / "plan.json")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    assert read_plan(tmp_path / "plan.json") == PLAN
