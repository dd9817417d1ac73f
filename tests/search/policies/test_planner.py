"""`search.plan` and the commands with a policy: results, files, limits, refusals."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import search
from epigym.cli.codes import ExitCode
from epigym.errors import InconsistentBeliefsError, UsageError
from epigym.language import save
from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.agents.run import Counts
from search.planning import planner
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.policies.planner import Kind, PolicyResult, find_policy, find_policy_here
from search.policies.policy import Policy
from search.policies.policy_search import PolicySearch
from search.policies.validation import PolicyValidation
from search.processes.channel import ProgressChannel
from search.solve import Solve, solve
from tests.helpers.benchmark_files import ROOT
from tests.helpers.clocks import pass_once_written
from tests.helpers.commands import compose
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.policy_tasks import couriers, loose_switch, scouts
from tests.helpers.tasks import coin, delusion, hopeless, trivial
from tests.search.policies.test_policy_search import dice


def found(result: object) -> PolicyResult:
    assert isinstance(result, PolicyResult)
    return result


@pytest.mark.parametrize("kind", ["strong", "shortest", "cyclic"])
def test_a_policy_in_a_process_of_its_own(kind: str) -> None:
    task = muddy_robots(3)
    result = found(search.plan(task, policy=kind))  # type: ignore[arg-type]
    assert (result.status, result.depth, result.leaves, result.plan) == (SearchStatus.SOLVED, 7, 1, None)
    assert result.optimal is (kind == "shortest")
    assert result.label == f"policy/{kind}"
    assert result.consistent_beliefs
    assert result.policy.validate(consistent_beliefs=True).valid
    data = json.loads(json.dumps(result.to_dict()))
    assert (data["depth"], data["leaves"], data["policy"]) == (7, 1, result.policy.to_dict())


def test_which_policies_there_are() -> None:
    result = found(search.plan(scouts(noticed=False), policy="strong"))
    assert (result.status, result.policy, result.depth) == (SearchStatus.UNSOLVABLE, None, None)
    assert result.proof == "the and-or graph is exhausted: 28 e-states, 0 not needed"
    unreachable = found(search.plan(hopeless(), policy="cyclic"))
    assert unreachable.status is SearchStatus.UNSOLVABLE
    assert found(search.plan(coin(), policy="strong")).depth == 3
    assert found(search.plan(trivial(), policy="strong")).depth == 0
    assert found(search.plan(trivial(), policy="cyclic")).leaves == 1


def test_inconsistent_beliefs_are_allowed_on_request_and_noted() -> None:
    result = found(search.plan(scouts(noticed=False), policy="strong", consistent_beliefs=False))
    assert result.status is SearchStatus.SOLVED
    assert result.inconsistent_agents == ("scout2", "ann", "bob")
    assert result.message.startswith("consistent_beliefs=false: ")
    with pytest.raises(InconsistentBeliefsError):
        search.plan(lost_task(), policy="strong")


def lost_task() -> Task:
    task = delusion()
    none = tuple(frozenset[int]() for _ in task.initial.valuations)
    return replace(task, initial=replace(task.initial, successors=(none,) * len(task.agents)))


BFS = Configuration.of("bfs")
CONSISTENT = SearchOptions(consistent_beliefs=True)


def test_limits() -> None:
    result = find_policy(muddy_robots(4), BFS, replace(CONSISTENT, limits=Limits(max_expanded=5)))
    assert (result.status, result.policy) == (SearchStatus.EXPANSION_LIMIT, None)
    assert result.expanded == 5
    late = find_policy(muddy_robots(4), BFS, SearchOptions(Limits(time_limit=0.0)))
    assert (late.status, late.label, late.size.initial_worlds) == (SearchStatus.TIME_LIMIT, "policy/strong", 16)
    assert late.message.startswith("consistent_beliefs=false")


def test_the_space_has_the_threads_of_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    class Recorder(PolicySearch):
        def __init__(self, space: StateSpace, *rest: Any) -> None:
            threads.append(space.threads)
            super().__init__(space, *rest)

    monkeypatch.setattr("search.policies.planner.PolicySearch", Recorder)
    find_policy_here(dice(), Configuration.of({"name": "bfs", "threads": 2}), CONSISTENT)
    assert threads == [2]


@pytest.mark.parametrize(
    ("task", "kind", "depth", "size"),
    [
        (couriers(), "cyclic", None, 2),
        (couriers(prepares=True), "strong", 2, 5),
        (couriers(prepares=True), "shortest", 2, 5),
        (couriers(tosses=False), "cyclic", None, 7),
        (loose_switch(), "cyclic", None, 4),
    ],
    ids=["toss", "prepare", "prepare shortest", "letters", "switch"],
)
def test_small_policies_are_found_where_e_states_grow_without_end(
    task: Task, kind: Kind, depth: int | None, size: int
) -> None:
    result = find_policy_here(task, BFS, replace(CONSISTENT, limits=Limits(max_expanded=20)), kind=kind)
    assert (result.status, result.optimal) == (SearchStatus.SOLVED, kind == "shortest")
    assert result.policy is not None
    assert (result.depth, len(result.policy.nodes)) == (depth, size)


def test_a_limit_that_ends_the_improvement_leaves_the_best_policy() -> None:
    strong = find_policy(muddy_robots(4), BFS, CONSISTENT)
    limits = Limits(max_expanded=strong.expanded + 1)
    result = find_policy(muddy_robots(4), BFS, replace(CONSISTENT, limits=limits), kind="shortest")
    assert (result.status, result.depth, result.optimal) == (SearchStatus.SOLVED, strong.depth, False)


def test_an_invalid_policy_is_an_error_and_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Policy, "validate", lambda *_: PolicyValidation(False, "step 1: wrong"))
    file = tmp_path / "policy.json"
    result = find_policy(dice(), BFS, CONSISTENT, file, kind="cyclic")
    assert (result.status, result.message) == (SearchStatus.ERROR, "the policy is not valid: step 1: wrong")
    assert not file.exists()


def test_counts_are_sent_before_and_after_the_first_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.policies.policy_search.REPORT_SECONDS", 0.0)
    sent: list[object] = []

    class Recorder(ProgressChannel):
        def send(self, value: object) -> None:
            sent.append(value)

    result = find_policy_here(muddy_robots(4), BFS, CONSISTENT, kind="shortest", channel=Recorder())
    first = next(k for k, value in enumerate(sent) if isinstance(value, PolicyResult))
    assert 0 < first < len(sent) - 2
    expanded = [value.expanded for value in sent if isinstance(value, (Counts, PolicyResult))]
    assert expanded == sorted(expanded)
    assert expanded[first] < expanded[-2] <= result.expanded


def test_a_killed_improvement_leaves_the_policy_with_the_latest_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_stuck(search: PolicySearch) -> None:
        search._on_progress(Counts(1_000, 2_000, 3_000))
        (tmp_path / "stuck").write_text("stuck")
        while True:
            signal.pause()

    monkeypatch.setattr(PolicySearch, "improve", get_stuck)
    monkeypatch.setattr(planner, "may_be_copied", lambda: True)  # the process has this method then
    pass_once_written(tmp_path / "stuck", 2000.0, monkeypatch)
    limits = Limits(time_limit=1000.0)
    result = find_policy(muddy_robots(3), BFS, replace(CONSISTENT, limits=limits), kind="shortest")
    assert (result.status, result.depth, result.optimal) == (SearchStatus.SOLVED, 7, False)
    assert (result.expanded, result.generated, result.distinct) == (1_000, 2_000, 3_000)
    assert result.costs.search_seconds >= 2000.0


def run(folder: Path, module: str, *words: str) -> tuple[int, str]:
    epddl = ROOT / "docs" / "epddl"
    problem = [f"problem={epddl}/lamp-1.epddl", f"domain_file={epddl}/lamp.epddl", f"libraries=[{epddl}/kinds.epddl]"]
    command = [sys.executable, "-m", module, *problem, *words]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def test_commands(tmp_path: Path) -> None:
    code, said = run(tmp_path, "search.solve", "policy=shortest", "policy_file=policy.json", "run_dir=run")
    assert code == ExitCode.SUCCESS, said
    assert "   0. look_Ann → is-lit: 1, is-dark: 2\n   1. turn-off_Ann → 3\n   2. say_Ann → 3\n   3. goal" in said
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["depth"], result["consistent_beliefs"], result["optimal"]) == (2, True, True)
    assert result["policy"] == json.loads((tmp_path / "policy.json").read_text())
    code, said = run(tmp_path, "search.validate", "policy=policy.json")
    assert (code, said) == (0, "valid: a policy of 4 e-states, depth 2, reaches the goal of lamp-1\n")
    wrong = (tmp_path / "policy.json").read_text().replace('"event": 1', '"event": 0')
    (tmp_path / "wrong.json").write_text(wrong)
    code, said = run(tmp_path, "search.validate", "policy=wrong.json")
    assert (code, said) == (1, "not valid: step 1: action 'look_Ann' with event 0 has 2 branches, expected one\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "words", "message"),
    [
        ("search.solve", ("policy=strong", "anytime=true"), "anytime=true: linear plans only"),
        ("search.solve", ("policy_file=x.json",), "policy_file=x.json: there is no policy to write"),
        ("search.solve", ("policy=strong", "policy_file=plan.json"), "plan.json exists and is not a policy"),
        ("search.validate", (), "plan: expected a plan, or else a policy"),
        ("search.validate", ("policy=plan.json",), "plan.json is a plan, not a policy: give it as plan="),
    ],
)
def test_commands_refuse(tmp_path: Path, module: str, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "plan.json").write_text('["look_Ann"]')
    code, said = run(tmp_path, module, *words)
    assert code in (ExitCode.USAGE, ExitCode.BAD_INPUT)
    assert message in said
    assert (tmp_path / "plan.json").read_text() == '["look_Ann"]'


def test_a_page_is_written_and_replaced_but_no_other_page(tmp_path: Path) -> None:
    page = tmp_path / "policy.html"
    for _ in range(2):
        find_policy(muddy_robots(2), BFS, CONSISTENT, page)
        assert "bell: yes" in page.read_text()
    page.write_text("<!DOCTYPE html>\n<p>mine</p>")
    with pytest.raises(UsageError, match=r"policy\.html exists and is not a policy"):
        find_policy(muddy_robots(2), BFS, CONSISTENT, page)
    assert "mine" in page.read_text()


def test_a_policy_that_is_no_tree_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "policy.tree.json"
    with pytest.raises(UsageError, match=r"a cyclic policy is no tree: leave \.tree out of the name"):
        find_policy(muddy_robots(2), BFS, CONSISTENT, file, kind="cyclic")
    monkeypatch.setattr("search.policies.policy.MOST_TREE_DEPTH", 3)
    result = find_policy(muddy_robots(2), BFS, CONSISTENT, file)
    assert result.status is SearchStatus.SOLVED
    assert result.policy is not None
    assert "policy.tree.json is not written: as a tree the policy has 4 levels, more than 3" in result.message
    assert not file.exists()
    save(muddy_robots(2), tmp_path / "robots.json", "compact")
    monkeypatch.setattr(planner, "may_be_copied", lambda: True)  # the process has this limit then
    named = (f"problem={tmp_path}/robots.json", f"policy_file={file}", f"run_dir={tmp_path}/run")
    words = (*named, "agent=bfs", "policy=strong")
    assert solve(compose(Solve, "solve", *words)) is ExitCode.CANNOT_WRITE
