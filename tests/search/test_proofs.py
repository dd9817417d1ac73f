"""That there is no plan is looked at again by the reference, which a wrong core does not deceive."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from epigym.formula import fluent, not_
from epigym.problem import load_problem
from epigym.space import StateSpace, Transitions
from epigym.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.planning import proofs
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.planning.proofs import RefutedError, confirmed
from tests.helpers.tasks import coin, deluded, hopeless

LONG = 60.0  # seconds: what is looked at here takes far less


def endless() -> Task:
    """Gossip with a goal that is never reached: 64 e-states, six actions."""
    task = load_problem("gossip")
    secret = fluent(task.fluents[0])
    return replace(task, goal=(secret, not_(secret)))


def test_a_small_space_is_explored_again() -> None:
    assert confirmed(hopeless(), LONG) == "the reference explored all 3 e-states again"
    # Its only plan makes an agent believe everything.
    assert confirmed(deluded(), LONG, forbid_collapse=True) == "the reference explored all 2 e-states again"
    with pytest.raises(RefutedError, match=r"^the reference reaches an e-state in which the goal holds$"):
        confirmed(deluded(), LONG)


def test_of_a_larger_space_some_e_states_are_expanded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "_SMALL", 10)
    monkeypatch.setattr(proofs, "_SAMPLE", 10)
    found = re.fullmatch(r"the reference expanded 10 of (\d+) and more e-states again", confirmed(endless(), LONG))
    assert found is not None
    assert 10 < int(found[1]) < 64


def test_what_there_was_no_time_for_is_not_claimed() -> None:
    assert confirmed(hopeless(), 0.0) == "the reference expanded 0 of 2 and more e-states again"


@pytest.mark.parametrize("small", [10, 2_000], ids=["sampled", "whole"])
def test_a_core_that_forgets_successors_is_refuted(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    expand = StateSpace.expand

    def forgetful(self: StateSpace, ids: Any, **options: Any) -> Transitions:
        found = expand(self, ids, **options)
        return Transitions(*(column[found.action < 2] for column in found))

    monkeypatch.setattr(StateSpace, "expand", forgetful)
    monkeypatch.setattr(proofs, "_SMALL", small)
    with pytest.raises(RefutedError, match=r"^the reference (explores|sees other successors)"):
        confirmed(endless(), LONG)


def test_a_core_that_misses_goals_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StateSpace, "is_goal", lambda self, ids: np.zeros(np.size(ids), np.bool_))
    configuration = Configuration.of("bfs")
    result = find_plan(coin(), configuration)
    assert result.status is SearchStatus.ERROR
    assert result.message == (
        "bfs says that there is no plan, but the reference reaches an e-state in which the goal holds"
    )
    monkeypatch.setattr(proofs, "_explore", lambda *_: None)  # as when there is no time for it
    assert find_plan(coin(), configuration).message.endswith("but the goal holds in e-state 3")


def test_a_result_says_what_was_looked_at() -> None:
    result = find_plan(hopeless(), Configuration.of("bfs"))
    assert (result.status, result.proof) == (SearchStatus.UNSOLVABLE, "the reference explored all 3 e-states again")
    assert result.validation_seconds > 0
    assert not find_plan(hopeless(), Configuration.of("bfs"), reexecute=False).proof
    assert not find_plan(coin(), Configuration.of("bfs")).proof
    assert not find_plan(coin(), Configuration.of("bfs"), Limits(max_expanded=1)).proof
