"""The reference checks that there is no plan, and detects a wrong core."""

import re
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, get_args

import numpy as np
import pytest

from epigym.language import parse_mastar
from epigym.problem import domain_problem
from epigym.space.space import StateSpace, Transitions
from epigym.task.formula import TRUE, fluent, not_
from epigym.task.task import Action, EState, Event, Task
from search.agents import limits
from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.planning import proofs
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions, Verify
from search.planning.planner import find_plan, find_plan_here
from search.planning.proofs import Confirmation, RefutedError, confirm_unsolvable
from search.processes.channel import ProgressChannel
from tests.helpers.tasks import COIN, coin, delusion, hopeless

VERIFIED: tuple[Verify, ...] = get_args(Verify)


def unsolvable(task: Task) -> Task:
    """A copy of the task with a goal that never holds."""
    name = fluent(task.fluents[0])
    return replace(task, goal=(name, not_(name)))


def endless() -> Task:
    """Gossip that never reaches its goal: 64 e-states, 192 transitions."""
    return unsolvable(domain_problem("gossip"))


def dense(worlds: int) -> Task:
    """One e-state and one action without effects; the agent considers all worlds but the actual one possible."""
    names = tuple(f"p{world}" for world in range(worlds))
    every = frozenset(range(worlds))
    initial = EState(tuple(frozenset({name}) for name in names), (tuple(every - {one} for one in range(worlds)),), (0,))
    wait = Action("wait", TRUE, (Event("nothing"),), (0,), {"sees": (frozenset({0}),)}, (((TRUE, "sees"),),))
    return unsolvable(Task("dense", names, ("a",), (wait,), initial, ()))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of searches and of checks stands still."""
    for module in (limits, proofs):
        monkeypatch.setattr(module, "perf_counter", lambda: 0.0)


@pytest.fixture
def applications(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the actions that the reference applies."""
    names: list[str] = []
    apply = proofs.apply

    def record(task: Task, state: EState, action: Action) -> EState:
        names.append(action.name)
        return apply(task, state, action)

    monkeypatch.setattr(proofs, "apply", record)
    return names


def unsolved(task: Task, generated: int, distinct: int, seconds: float = inf, **more: Any) -> SearchResult:
    """The result of a search with these counts."""
    costs = Costs(search_seconds=seconds)
    return SearchResult(
        SearchStatus.UNSOLVABLE, "bfs", task.name, generated=generated, distinct=distinct, costs=costs, **more
    )


def confirm(task: Task, generated: int, distinct: int, **more: Any) -> Confirmation:
    """Check the result of a search with these counts, within their bounds."""
    return confirm_unsolvable(task, unsolved(task, generated, distinct, **more), Limits(time_limit=None))


def test_the_whole_of_a_small_space_is_confirmed() -> None:
    assert str(confirm(hopeless(), 0, 1)) == "confirmed: all 3 e-states"
    assert str(confirm(endless(), 0, 1)) == "confirmed: all 64 e-states"
    # Its only plan makes an agent believe everything.
    assert str(confirm(delusion(), 0, 1, consistent_beliefs=True)) == "confirmed: all 2 e-states"
    with pytest.raises(RefutedError, match=r"^the goal holds in e-state \d$"):
        confirm(delusion(), 0, 1)


@pytest.mark.parametrize(("generated", "spare", "most"), [(0, 30, 1000), (10, 20, 1000), (1000, 1000, 30)])
def test_work(monkeypatch: pytest.MonkeyPatch, applications: list[str], generated: int, spare: int, most: int) -> None:
    monkeypatch.setattr(proofs, "SPARE", spare)
    monkeypatch.setattr(proofs, "MOST", most)
    found = confirm(endless(), generated, 64)
    assert str(found) == f"checked {found.checked} of 64 e-states, stopped after 30 successors"
    assert len(applications) == 30
    assert found.checked == 30 // 6  # in the first e-states all six actions are applicable
    assert confirm(endless(), generated, 64) == found


def test_successors_of_the_search_suffice(monkeypatch: pytest.MonkeyPatch, applications: list[str]) -> None:
    monkeypatch.setattr(proofs, "SPARE", 0)
    assert confirm(endless(), 192, 64) == Confirmation(64, 64)
    assert len(applications) == 192
    assert confirm(endless(), 191, 64).checked < 64


def test_successors_of_large_e_states_count_more(monkeypatch: pytest.MonkeyPatch, applications: list[str]) -> None:
    monkeypatch.setattr(proofs, "SPARE", 100)
    found = confirm(unsolvable(domain_problem("gossip", agents=8)), 0, 1)  # 256 worlds, 56 actions
    assert found.checked == 0
    assert 1 < len(applications) < 10


def test_an_e_state_with_many_actions_is_not_free(monkeypatch: pytest.MonkeyPatch, applications: list[str]) -> None:
    monkeypatch.setattr(proofs, "SPARE", 9)
    never = "".join(f"action n{n}; executable n{n} if tail, -tail; n{n} causes tail;\n" for n in range(200))
    task = unsolvable(parse_mastar(COIN.replace("agent a, b;", f"agent a, b;\n{never}")))
    assert confirm(task, 0, 1).checked == 0
    assert applications == []


def test_a_single_successor_that_would_take_too_long_is_not_generated(applications: list[str]) -> None:
    assert confirm(dense(600), 10**6, 1) == Confirmation(0, 1, "at a successor of more than 1 s")
    assert applications == []
    result = find_plan(dense(600), Configuration.of("bfs"))
    assert result.proof == "checked 0 of 1 e-states, stopped at a successor of more than 1 s"


def test_the_check_stops_at_a_slow_successor(monkeypatch: pytest.MonkeyPatch, applications: list[str]) -> None:
    monkeypatch.setattr(proofs, "perf_counter", lambda: [0.0, 1.0, 2.5][len(applications)])
    assert confirm(hopeless(), 10, 3) == Confirmation(1, 3, "at a successor of more than 1 s")
    assert len(applications) == 2


@pytest.mark.parametrize(("seconds", "least", "time_limit", "stop"), [
    (0.0, 0.0, None, "after 0.0 s"), (inf, 0.0, 0.0, "after 0.0 s"), (0.0, inf, 0.0, "after 0.0 s"),
    (inf, 0.0, None, ""), (0.0, inf, None, ""), (inf, 0.0, 1e9, ""),
])  # fmt: skip
def test_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, least: float, time_limit: float | None, stop: str
) -> None:
    """A bounded check takes as long as the search, or longer if that is short, within the time limit."""
    monkeypatch.setattr(proofs, "LEAST_SECONDS", least)
    found = confirm_unsolvable(hopeless(), unsolved(hopeless(), 10, 3, seconds), Limits(time_limit=time_limit))
    assert found == Confirmation(0 if stop else 3, 3, stop)


@pytest.mark.parametrize("bound", ["MOST", "LEAST_SECONDS", "SLOW_SECONDS", "_LARGEST"])
def test_a_whole_check_has_no_bounds(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(proofs, bound, -1)
    bfs = Configuration.of("bfs")
    bounded, whole = (find_plan(endless(), bfs, SearchOptions(verify=verify)) for verify in VERIFIED)
    assert bounded.is_partly_checked
    assert (whole.proof, whole.is_partly_checked) == ("confirmed: all 64 e-states", False)


def test_the_time_limit_does_not_end_a_whole_check(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[float | None] = []
    monkeypatch.setattr(ProgressChannel, "set_time_limit", lambda _, seconds: sent.append(seconds))
    for verify in VERIFIED:
        find_plan_here(endless(), Configuration.of("bfs"), SearchOptions(verify=verify), channel=ProgressChannel())
    assert sent == [None]


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "REPORT_SECONDS", 0.0)
    received: list[Any] = []
    find_plan(hopeless(), Configuration.of("bfs"), SearchOptions(), on_progress=received.append)
    *_, searched, first, second, third = received
    assert (searched.status, searched.proof) == (SearchStatus.UNSOLVABLE, "")
    assert first == replace(searched, proof="checked 1 of 3 e-states")
    assert second == replace(searched, proof="checked 2 of 3 e-states")
    assert third == replace(searched, proof="confirmed: all 3 e-states")


def _forgetful(found: Transitions) -> Transitions:
    return Transitions(*(column[found.action < 2] for column in found))


def _merging(found: Transitions) -> Transitions:
    return found._replace(target=np.minimum(found.target, 2))


def _confusing(found: Transitions) -> Transitions:
    return found._replace(target=found.target[::-1])


@pytest.mark.parametrize("wrong", [_forgetful, _merging, _confusing])
def test_wrong_successors(monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Transitions], Transitions]) -> None:
    expand = StateSpace.expand

    def expand_wrongly(self: StateSpace, ids: Any, **options: Any) -> Transitions:
        return wrong(expand(self, ids, **options))

    monkeypatch.setattr(StateSpace, "expand", expand_wrongly)
    with pytest.raises(RefutedError, match=r"^the reference sees other successors of e-state \d+ than the core$"):
        confirm(endless(), 192, 64)


def test_a_core_that_misses_goals_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StateSpace, "is_goal", lambda self, ids: np.zeros(np.size(ids), np.bool_))
    result = find_plan(coin(), Configuration.of("bfs"))
    assert result.status is SearchStatus.ERROR
    assert re.fullmatch(r"bfs says that there is no plan, but the goal holds in e-state \d", result.message)


def test_a_result_says_what_was_checked() -> None:
    result = find_plan(hopeless(), Configuration.of("bfs"))
    assert (result.status, result.proof) == (SearchStatus.UNSOLVABLE, "confirmed: all 3 e-states")
    assert result.costs.validation_seconds > 0
    assert not result.is_partly_checked
    assert not find_plan(hopeless(), Configuration.of("bfs"), SearchOptions(verify="none")).proof
    assert not find_plan(coin(), Configuration.of("bfs")).proof
    assert not find_plan(coin(), Configuration.of("bfs"), SearchOptions(Limits(max_expanded=1))).proof
