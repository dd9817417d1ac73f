"""What a training says about its network: comparisons problem by problem, their words, and the searches behind them."""

import re
from itertools import islice
from math import comb, log
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.space.space import StateSpace
from learn.data.distribution import sample_problems
from learn.models import open_model
from learn.models.gine.model import NetworkModel
from learn.models.shipped import locate_shipped
from learn.training.diagnosis import Diagnosis
from learn.training.judging import BASELINES, PUBLISHED_LIMIT, Agent, Judge, describe_problem
from learn.training.verdict import (
    FEWEST,
    LARGER,
    NETWORK,
    NEW,
    PUBLISHED,
    UNTRAINED,
    Expanded,
    PairedExpansions,
    Tier,
    Verdict,
    correct_by_holm,
)
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.heuristics import make_heuristic
from tests.helpers.marks import slow_but

COUNTS = st.lists(st.tuples(*[st.none() | st.integers(0, 99)] * 2), min_size=1, max_size=30)
DEMO = ((*[5] * 9, 900, 800, *[9] * 10, *[7] * 16), (*[6] * 9, 9_000, 8_000, *[8] * 10, *[7] * 16))
"""11 problems with fewer expansions, 10 with more, 16 with as many; two of them hold nearly all expansions."""


def tier_of(name: str = LARGER, domain: str = "gossip", **expanded: Expanded) -> Tier:
    count = len(expanded[NETWORK])
    problems = tuple({"name": str(n), "fluents": 1, "agents": 1, "worlds": 1} for n in range(count))
    diagnosis = Diagnosis("types", (False,) * count, (0.5,) * count, (0.0,) * count)
    return Tier(name, (domain,) if domain else (), 500, problems, expanded, diagnosis)


def verdict_of(network: Expanded, untrained: Expanded, *others: Tier) -> Verdict:
    return Verdict("hfs", "h_ff", (*others, tier_of(network=network, untrained=untrained)))


@pytest.mark.parametrize(
    ("network", "untrained", "word"),
    [
        (*DEMO, "no difference"),
        ((5,) * 6, (6,) * 6, "gain"),  # p = 0.03
        ((6,) * 6, (5,) * 6, "loss"),
        ((5,) * 5, (6,) * 5, "too few"),
        ((5,) * 5 + (7,) * 40, (6,) * 5 + (7,) * 40, "too few"),
        ((None,) * 8, (None,) * 8, "too few"),
        ((9,) * 6 + (1,), (None,) * 6 + (1,), "gain"),  # it solves more
        ((None,) * 6 + (1,), (1,) * 6 + (9_000,), "no difference"),  # p = 0.13 for 1 to 6
        ((None,) * 9 + (1,), (1,) * 9 + (9_000,), "loss"),
    ],
)
def test_the_word_of_a_verdict(network: Expanded, untrained: Expanded, word: str) -> None:
    verdict = verdict_of(network, untrained)
    assert verdict.word == word
    assert verdict.is_gain is (word == "gain")
    opposite = {"gain": "loss", "loss": "gain"}
    assert verdict_of(untrained, network).word == opposite.get(word, word)


def test_problems_count_alike_however_many_expansions_they_take() -> None:
    """Two of 37 problems hold 97 % of the expansions; the sums alone would tell of a tenth."""
    found = PairedExpansions(*DEMO)
    assert (found.better, found.worse, found.common) == (11, 10, 37)
    assert found.p == 1.0
    assert found.ratio == pytest.approx(((5 / 6) ** 9 * 0.1**2 * (9 / 8) ** 10) ** (1 / 37))
    assert " ".join(verdict_of(*DEMO).describe()[:2]) == (
        "verdict: no difference from the untrained network (h_ff) shown on new larger   problems"
    )


def test_a_kept_untrained_network_is_no_gain() -> None:
    """Whatever stands beside it: it has no control."""
    verdict = Verdict("hfs", "h_ff", (tier_of(network=(1,) * 9, h_add=(None,) * 9),))
    assert (verdict.word, verdict.is_gain, verdict.is_trained) == ("untrained", False, False)
    first, *rest = verdict.describe()
    assert first == "verdict: untrained, no validation after a step was better than the one before"
    assert any("gain over h_add alone" in line for line in rest)
    assert not any("untrained" in line for line in rest)


def test_the_larger_problems_decide() -> None:
    gain, loss = {"network": (1,) * 9, "untrained": (2,) * 9}, {"network": (2,) * 9, "untrained": (1,) * 9}
    both = Verdict("hfs", "none", (tier_of(PUBLISHED, **gain), tier_of(NEW, **gain), tier_of(LARGER, **loss)))
    assert both.word == "loss"
    assert [both.find_word(tier, UNTRAINED) for tier in both.tiers] == ["gain", "gain", "loss"]
    assert Verdict("hfs", "none", both.tiers[:2]).word == "gain"


@given(COUNTS)
def test_comparisons_are_counted_by_problem_and_symmetric(rows: list[tuple[int | None, int | None]]) -> None:
    ours, others = zip(*rows, strict=True)
    found, back = PairedExpansions(ours, others), PairedExpansions(others, ours)
    better = [b is None or a < b for a, b in rows if a is not None]
    worse = [a is None or b < a for a, b in rows if b is not None]
    assert (found.better, found.worse) == (sum(better), sum(worse)) == (back.worse, back.better)
    n, k = found.untied, min(found.better, found.worse)
    assert found.p == back.p == pytest.approx(min(1.0, 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n))
    both = [(a, b) for a, b in rows if a is not None and b is not None]
    assert found.common == len(both)
    assert (found.ratio is None) == (not both)
    if found.ratio is not None and back.ratio is not None:
        logs = [log(max(a, 1)) - log(max(b, 1)) for a, b in both]
        assert log(found.ratio) == pytest.approx(fmean(logs), abs=1e-9)
        assert found.ratio * back.ratio == pytest.approx(1)
    if found.interval is not None and back.interval is not None:
        low, high = found.interval
        assert low <= high
        assert (1 / high, 1 / low) == pytest.approx(back.interval)
        assert found.ratio is not None
        assert low - 1e-9 <= found.ratio <= high + 1e-9


def test_the_interval_covers_the_true_ratio_in_nineteen_of_twenty_samples() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        others = rng.integers(50, 500, 40)
        ours = np.rint(others * np.exp(rng.normal(np.log(0.7), 0.8, 40))).astype(int)
        interval = PairedExpansions(tuple(ours.tolist()), tuple(others.tolist())).interval
        assert interval is not None
        covered += interval[0] <= 0.7 <= interval[1]
    assert 180 <= covered <= 198


def test_p_by_holm() -> None:
    """The example of three tests: 0.01 · 3, 0.02 · 2, and 0.03 raised to the one before."""
    assert correct_by_holm({"a": 0.02, "b": 0.01, "c": 0.03, "d": 0.9}) == pytest.approx(
        {"b": 0.04, "a": 0.06, "c": 0.06, "d": 0.9}
    )
    assert correct_by_holm({}) == {}


def test_only_the_main_comparison_is_not_corrected() -> None:
    """Comparisons that can show nothing do not count."""
    six, ten = PairedExpansions((1,) * 6, (2,) * 6).p, PairedExpansions((1,) * 10, (2,) * 10).p
    few = {"network": (1,) * 3, "untrained": (2,) * 3, "h_add": (2,) * 3}
    larger = tier_of(network=(1,) * 6, untrained=(2,) * 6, h_add=(2,) * 6)
    new = tier_of(NEW, network=(1,) * 10, untrained=(2,) * 10, h_add=(1,) * 10)
    found = Verdict("hfs", "h_ff", (tier_of(PUBLISHED, **few), new, larger)).probabilities
    assert found[LARGER, UNTRAINED] == six
    assert found[NEW, UNTRAINED] == pytest.approx(2 * ten)
    assert found[LARGER, "h_add"] == max(six, 2 * ten)
    assert (found[PUBLISHED, UNTRAINED], found[PUBLISHED, "h_add"]) == (0.25, 0.25)
    assert six < 0.05 < PairedExpansions((1,) * (FEWEST - 1), (2,) * (FEWEST - 1)).p


def recompute(record: dict[str, Any]) -> list[str]:
    """The lines of a verdict, from the expansions and values in a record."""
    lines = []
    tests = {}
    for number, tier in enumerate(record["tiers"]):
        for name, counts in tier["expanded"].items():
            if name != NETWORK:
                pairs = list(zip(tier["expanded"][NETWORK], counts, strict=True))
                worth = [(a is not None, b is not None, a or 0, b or 0) for a, b in pairs]
                better = sum((a and not b) or (a and b and x < y) for a, b, x, y in worth)
                worse = sum((b and not a) or (a and b and y < x) for a, b, x, y in worth)
                tests[number, name] = better, worse
    raw = {
        key: min(1.0, 2 * sum(comb(a + b, i) for i in range(min(a, b) + 1)) / 2 ** (a + b))
        for key, (a, b) in tests.items()
    }
    last = len(record["tiers"]) - 1
    family = sorted((raw[key], key) for key, (a, b) in tests.items() if key != (last, UNTRAINED) and a + b >= 6)
    largest = 0.0
    for place, (p, key) in enumerate(family):
        raw[key] = largest = max(largest, min(1.0, p * (len(family) - place)))
    for number, tier in enumerate(record["tiers"]):
        lines.append(str(len(tier["problems"])))
        for name, counts in tier["expanded"].items():
            solved = sum(count is not None for count in counts)
            if name == NETWORK:
                lines.append(f"{solved}")
                continue
            better, worse = tests[number, name]
            both = [(a, b) for a, b in zip(tier["expanded"][NETWORK], counts, strict=True) if None not in (a, b)]
            ratio = np.exp(np.mean(np.diff(np.log(np.maximum(both, 1)), axis=1))) ** -1 if both else None
            shown = [f"{solved}", f"{better}", f"{worse}", *([f"{ratio:.2f}"] if ratio is not None else [])]
            p = raw[number, name]
            shown += [] if better + worse < 6 else ["< 0.001" if p < 0.001 else f"{p:.2g}"]
            lines.append(" ".join(shown))
    return lines


def test_every_number_of_the_text_follows_from_the_record() -> None:
    rng = np.random.default_rng(3)

    def draw(scale: float) -> Expanded:
        return tuple(None if one > 90 else int(one) for one in rng.exponential(scale, 30) + 1)

    tiers = tuple(
        tier_of(name, network=draw(20), untrained=draw(40), h_add=draw(scale), goal_count=draw(30))
        for name, scale in ((PUBLISHED, 300), (NEW, 40), (LARGER, 25))
    )
    verdict = Verdict("hfs", "h_ff", tiers)
    record = verdict.to_dict()
    lines = [line for line in record["text"] if re.search(r"\d", line) and "expansions" not in line]
    shown = [
        re.sub(
            r" \[[^]]*\]|^ *(network|untrained network \(h_ff\)|h_add alone|goal count) *|^.*: (?=\d+ problems)",
            "",
            line,
        )
        for line in lines
    ]
    numbers = [
        " ".join(re.sub(r"problems.*", "", line).split())
        for line in shown
        if "correlation" not in line and "of the types" not in line
    ]
    assert numbers == recompute(record)
    for tier in record["tiers"]:
        for name, found in tier["comparisons"].items():
            comparison = PairedExpansions(tuple(tier["expanded"][NETWORK]), tuple(tier["expanded"][name]))
            assert (found["better"], found["worse"]) == (comparison.better, comparison.worse)
            assert found["interval"] == pytest.approx(comparison.interval)
            low, high = found["interval"]
            assert f"{found['ratio']:.2f} [{low:.2f}, {high:.2f}]" in "\n".join(record["text"])


def test_lines_fit_a_terminal() -> None:
    expanded = dict.fromkeys((NETWORK, UNTRAINED, "h_add", "h_ff", "goal_count", "bfs"), (10_000, None, *[1] * 99))
    verdict = Verdict(
        "hfs_star", "h_add", (tier_of(PUBLISHED, **expanded), tier_of(NEW, **expanded), tier_of(**expanded))
    )
    assert max(map(len, verdict.describe())) <= 80


@pytest.mark.parametrize("agent", slow_but(get_args(Agent), "hfs"))
def test_all_search_the_same_problems_with_the_same_limit(agent: Agent, tmp_path: Path) -> None:
    """As `search.solve` with `max_expanded` would; published tests may take more expansions."""
    tasks = [one.task for one in islice(sample_problems("gossip", "test", 3), 3)]
    path, limit = str(locate_shipped("gine", "gossip")), 30
    model = open_model(path)
    assert isinstance(model, NetworkModel)
    judge = Judge(agent=agent, limit=limit, model=model, untrained=model)
    published, larger = judge.judge({PUBLISHED: tasks[:1], LARGER: tasks}).tiers
    names = [name for name in BASELINES[agent] if name != model.base]
    assert list(larger.expanded) == [NETWORK, UNTRAINED, *names]
    assert (larger.limit, published.limit) == (limit, PUBLISHED_LIMIT)
    for name, found in larger.expanded.items():
        expected = []
        for task in tasks:
            space = StateSpace(task)
            if name in (NETWORK, UNTRAINED):
                heuristic = make_heuristic("learned", space, model=path)
            else:
                heuristic = None if name == "bfs" else make_heuristic(name, space)
            searched = run_agent(make_agent(agent if heuristic else "bfs"), space, heuristic, Limits(limit))
            expected.append(searched.expanded if searched.plan is not None else None)
        assert list(found) == expected, name
    assert {None} < {count for found in larger.expanded.values() for count in found}
    assert list(larger.problems) == list(map(describe_problem, tasks))
    assert larger.problems[0]["worlds"] == StateSpace(tasks[0]).world_counts([0])[0]
