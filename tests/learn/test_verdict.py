"""What a training says about its network: the numbers beside the best baseline, and whether that is a gain."""

from itertools import islice
from math import comb, isnan
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.space.space import StateSpace
from learn.data.distribution import sample_problems
from learn.models.shipped import locate_shipped
from learn.training.verdict import BASELINES, Agent, Expanded, Verdict, judge
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.heuristics import make_heuristic
from tests.helpers.marks import slow_but

COUNTS = st.lists(st.tuples(*[st.none() | st.integers(1, 99)] * 3), min_size=1, max_size=30)


def verdict_of(network: Expanded, h_add: Expanded, count: Expanded) -> Verdict:
    return Verdict("grapevine", network, {"the goal count": count, "h_add alone": h_add})


def test_the_words() -> None:
    network, h_add = (*[5] * 36, 7, 7, 7, None), (*[10] * 36, None, None, None, None)
    verdict = verdict_of(network, h_add, (*[10] * 21, *[None] * 19))
    assert verdict.describe() == (
        "on 40 new problems of grapevine the network solves 39, the goal count 21, h_add alone 36 "
        "(3 more, 0 fewer than h_add alone; p = 0.25); "
        "on the 36 that both solve it expands 0.50 times as many e-states as h_add alone"
    )
    assert verdict.is_gain
    worse = verdict_of(h_add, network, h_add)
    assert worse.describe().startswith("no gain over h_add alone; on 40 new problems of grapevine")
    assert not worse.is_gain


@pytest.mark.parametrize(
    ("network", "baseline", "is_gain"),
    [
        ((*[1] * 6, 90), (*[None] * 6, 9), True),  # p = 0.03, though it expands more
        ((*[1] * 5, 90), (*[None] * 5, 9), False),  # p = 0.06
        ((9, None), (10, None), True),
        ((10, None), (10, None), False),
        ((None,) * 6 + (1,), (1,) * 6 + (9,), False),  # it loses, though it expands fewer on the common problem
        ((9, None), (20, 1), False),  # fewer expansions on the common problem, but it solves fewer
        ((None,), (None,), False),
    ],
)
def test_what_is_a_gain(network: Expanded, baseline: Expanded, is_gain: bool) -> None:
    assert Verdict("x", network, {"h_add alone": baseline}).is_gain is is_gain


@given(COUNTS)
def test_the_numbers_are_counted_against_the_best_baseline(rows: list[tuple[int | None, ...]]) -> None:
    network, first, second = map(tuple, zip(*rows, strict=True))
    verdict = verdict_of(network, first, second)
    found = verdict.to_dict()

    def rank(one: Expanded) -> tuple[int, int]:
        return one.count(None), sum(count or 0 for count in one)

    best = verdict.baselines[found["best"]]
    assert rank(best) == min(rank(first), rank(second))
    more = sum(a is not None and b is None for a, b in zip(network, best, strict=True))
    fewer = sum(a is None and b is not None for a, b in zip(network, best, strict=True))
    assert (found["more"], found["fewer"]) == (more, fewer)
    n, k = more + fewer, min(more, fewer)
    assert found["p"] == pytest.approx(min(1.0, 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n))
    both = [(a, b) for a, b in zip(network, best, strict=True) if a and b]
    assert found["common"] == len(both)
    ratio = sum(a for a, _ in both) / sum(b for _, b in both) if both else float("nan")
    assert verdict.ratio == pytest.approx(ratio, nan_ok=True)
    assert (found["ratio"] is None) == isnan(ratio)


@pytest.mark.parametrize("agent", slow_but(get_args(Agent), "hfs"))
def test_all_search_the_same_problems_with_the_same_limit(agent: Agent, tmp_path: Path) -> None:
    """As `search.solve` with `max_expanded` would."""
    tasks = [one.task for one in islice(sample_problems("gossip", "test", 3), 3)]
    limit, model = 30, str(locate_shipped("gine", "gossip"))
    verdict = judge("gossip", tasks, agent, limit, model)
    assert list(verdict.baselines) == list(BASELINES[agent].values())
    names = {"network": "learned"} | {text: name for name, text in BASELINES[agent].items()}
    for text, found in {"network": verdict.network, **verdict.baselines}.items():
        name, expected = names[text], []
        for task in tasks:
            space = StateSpace(task)
            given = {"model": model} if name == "learned" else {}
            heuristic = None if name == "bfs" else make_heuristic(name, space, **given)
            searched = run_agent(make_agent(agent if heuristic else "bfs"), space, heuristic, Limits(limit))
            expected.append(searched.expanded if searched.plan is not None else None)
        assert list(found) == expected, text
    assert {None} < {count for found in verdict.baselines.values() for count in found}
