"""What agents and heuristics of users return wrongly is an error that names class and method."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from epigym.cli.codes import ExitCode, line
from search.agents import Agent, make_agent, run_agent
from search.agents.agent import Steps
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.heuristics.heuristic import Estimates, Heuristic
from search.planning.configuration import Configuration
from tests.helpers.tasks import coin

HERE = __name__


class Ending(Agent):
    """Ends at once with a value."""

    def __init__(self, end: Any) -> None:
        self.end = end

    def search(self, run: SearchRun) -> Steps:
        yield
        return self.end  # type: ignore[no-any-return]


class Eager(Agent):
    """Searches without a yield."""

    def search(self, run: SearchRun) -> Steps:
        return SearchStatus.SOLVED  # type: ignore[return-value]


class Scoring(Heuristic):
    """Scores with a function of the number of e-states."""

    def __init__(self, scores: Callable[[int], Any], of: Literal["score", "evaluate"] = "score") -> None:
        self.scores, self.of = scores, of

    def score(self, ids: Any) -> Any:
        return self.scores(len(ids))

    def evaluate(self, ids: Any, parents: Any, actions: Any) -> Estimates:
        return self.scores(len(ids)) if self.of == "evaluate" else super().evaluate(ids, parents, actions)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Eager(), f"TypeError: {HERE}.Eager.search is no generator: yield before e-states are expanded"),
        (Ending(SearchStatus.SOLVED),
         f"ValueError: {HERE}.Ending.search returned 'solved' without a goal: set run.goal"),
        *(
            (Ending(end), f"ValueError: {HERE}.Ending.search returned {end!r}: expected SearchStatus.SOLVED, "
             "UNSOLVABLE or a limit")
            for end in ("found", None, SearchStatus.ERROR)
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_component", [False, True])
def test_a_search_that_ends_wrongly(
    agent: Agent, message: str, is_component: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_component:
        monkeypatch.setattr("search.agents.interleaved.make_agent", lambda **settings: agent)
        agent = make_agent("interleaved", components=[{"agent": "own"}], default_heuristic=None)
    with pytest.raises((TypeError, ValueError)) as raised:
        run_agent(agent, coin())
    assert line(raised.value) == f"{message} (add debug=true for the traceback)"
    assert ExitCode.after(raised.value) is ExitCode.FAILURE


def test_an_incomplete_search_may_give_up() -> None:
    assert run_agent(Ending(SearchStatus.EXPANSION_LIMIT), coin()).status is SearchStatus.EXPANSION_LIMIT


@pytest.mark.parametrize("name", ["hfs", "hfs_star", "hfs_preferred", "lazy", "wa_star", "alternation", "bfws"])
@pytest.mark.parametrize(
    ("heuristic", "message"),
    [
        (Scoring(lambda count: np.zeros(count + 1)), "score returned float64[2]: expected an array float64[1]"),
        (Scoring(lambda count: [0.0] * count), "score returned list: expected an array float64[1]"),
        (Scoring(lambda count: np.array(["a"] * count)), "score returned <U1[1]: expected an array float64[1]"),
        (Scoring(lambda count: 1.0), "score returned float: expected an array float64[1]"),
        (Scoring(lambda count: None), "score returned NoneType: expected an array float64[1]"),
        (Scoring(np.zeros, "evaluate"), "evaluate returned ndarray: expected Estimates"),
    ],
)
def test_a_heuristic_that_returns_no_scores(name: str, heuristic: Scoring, message: str) -> None:
    heuristic.prefers = True
    with pytest.raises(TypeError) as raised:
        run_agent(Configuration.of(name, "h_add").make_agent(), coin(), heuristic)
    assert str(raised.value) == f"{HERE}.Scoring.{message}"


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.bool_])
def test_scores_of_other_numbers_are_taken(kind: type) -> None:
    result = run_agent(make_agent("hfs"), coin(), Scoring(lambda count: np.zeros(count, kind)))
    assert result.status is SearchStatus.SOLVED
