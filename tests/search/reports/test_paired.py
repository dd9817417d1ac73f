"""Tests and intervals for two configurations, with numbers made by hand."""

from typing import Any

import pytest

from search.agents.result import SearchStatus
from search.reports.outcomes import SearchOutcome, SearchOutcomes
from search.reports.paired import Comparison, compare, compare_pairs


def outcomes(first: str, second: str, nodes: list[tuple[float, float]] = []) -> SearchOutcomes:  # noqa: B006
    """Outcomes of `a` and `b`, one problem a letter: Solved, Unsolvable, Time limit, Error, or – for none.

    Args:
        first: how `a` ended.
        second: how `b` ended.
        nodes: of both, on further problems that both solved.
    """
    statuses = {
        "S": SearchStatus.SOLVED,
        "U": SearchStatus.UNSOLVABLE,
        "T": SearchStatus.TIME_LIMIT,
        "E": SearchStatus.ERROR,
    }
    found: dict[str, dict[str, SearchOutcome]] = {}
    for place, (name, letters) in enumerate((("a", first), ("b", second))):
        ended = [(f"x/{number}", statuses.get(letter), None) for number, letter in enumerate(letters)]
        solved = [(f"y/{number}", SearchStatus.SOLVED, both[place]) for number, both in enumerate(nodes)]
        found[name] = {
            problem: SearchOutcome("x", problem, name, status, expanded=expanded)
            for problem, status, expanded in ended + solved
            if status is not None
        }
    return SearchOutcomes(found)


def compare_outcomes(*described: Any, names: str = "ab") -> Comparison:
    found = compare(outcomes(*described), *names)
    assert found is not None
    return found


def test_only_problems_with_an_outcome_of_both_count_and_unsolvable_ones_are_answered() -> None:
    found = compare_outcomes("SUUTE–S", "STUSSST")
    assert (found.problems, found.both, found.only_first, found.only_second) == (6, 2, 2, 2)
    assert (found.difference, found.mcnemar, found.counted, found.ratio) == (0.0, 1.0, 0, None)
    assert compare(outcomes("S–", "–S"), "a", "b") is None


@pytest.mark.parametrize(
    ("first", "second", "probability"),
    [
        (5, 0, 2 / 32),  # all heads or all tails of five coins
        (0, 5, 2 / 32),
        (3, 1, 2 * (1 + 4) / 16),  # at least three alike of four
        (2, 2, 1.0),
        (0, 0, 1.0),
        (20, 0, 2 / 2**20),
    ],
)
def test_the_mcnemar_test_is_a_sign_test_on_what_only_one_answered(first: int, second: int, probability: float) -> None:
    found = compare_outcomes("S" * first + "T" * second + "ST", "T" * first + "S" * second + "ST")
    assert found.mcnemar == pytest.approx(probability)


def test_the_interval_of_the_difference() -> None:
    # The number of heads of 40 coins lies from 14 to 26 in the middle 95 %.
    found = compare_outcomes("S" * 40, "ST" * 20)
    assert found.difference == 0.5
    assert found.interval == pytest.approx((14 / 40, 26 / 40))
    swapped = compare_outcomes("S" * 40, "ST" * 20, names="ba")
    assert (swapped.difference, swapped.interval) == (-0.5, pytest.approx((-26 / 40, -14 / 40)))
    assert compare_outcomes("SST", "SST").interval == (0.0, 0.0)
    assert compare_outcomes("S", "T").interval == (1.0, 1.0)


def test_nodes_are_compared_where_both_solved() -> None:
    found = compare_outcomes("SU", "SU", [(2, 1), (8, 2), (8, 1), (16, 1), (32, 1)])
    assert (found.counted, found.unequal) == (5, 5)  # nodes of the others are not known
    assert found.ratio == pytest.approx(2 ** ((1 + 2 + 3 + 4 + 5) / 5))
    assert found.wilcoxon == pytest.approx(2 / 32)  # all five ranks on one side
    # One of three lies on the other side, with the least rank: of 8 signs 2 have a sum of at most 1, 4 with the mirror.
    mixed = compare_outcomes("", "", [(1, 2), (4, 1), (8, 1), (5, 5)])
    assert (mixed.counted, mixed.unequal, mixed.wilcoxon) == (4, 3, pytest.approx(0.5))
    swapped = compare_outcomes("", "", [(1, 2), (4, 1), (8, 1), (5, 5)], names="ba")
    assert mixed.ratio == pytest.approx(2)
    assert (swapped.ratio, swapped.wilcoxon) == (pytest.approx(1 / 2), mixed.wilcoxon)
    equal = compare_outcomes("", "", [(0, 1), (3, 3)])  # no node at all counts as one
    assert (equal.ratio, equal.unequal, equal.wilcoxon) == (1.0, 0, 1.0)


def test_the_table_and_the_sentences_say_it() -> None:
    described = "S" * 9 + "TTT", "T" * 9 + "TTT", [(2, 1), (8, 2), (8, 1), (16, 1), (32, 1)]
    table = compare_pairs(outcomes(*described), [("a", "b"), ("b", "a")])
    assert len(table.titles) == len(table.rows[0])
    row = table.cells[0]
    assert row[:7] == ["a", "b", "17", "5", "9", "0", "0.0039"]
    assert row[7].startswith("+52.9 [+")
    assert row[8:] == ["5", "8", "0.062"]
    assert table.cells[1][7].startswith("-52.9 [-")
    first, second, third, fourth = compare_outcomes(*described).write_sentences()
    assert first == "a answered 14 of 17 problems and b 5; 9 only a, 0 only b."
    assert "with probability 0.0039 (exact McNemar test" in second
    assert "differs from that of b by +52.9 percentage points" in third
    assert fourth.startswith("On the 5 problems that both solved, a expanded 8 times the nodes of b (geometric mean).")
    assert (
        "with probability 0.062 (Wilcoxon signed-rank test on their logarithms; problems where they differ: 5)"
        in fourth
    )
    assert compare_pairs(outcomes("S–", "–S"), [("a", "b")]).rows == []
    assert compare_pairs(outcomes("S" * 20, "T" * 20), [("a", "b")]).cells[0][6] == "< 0.001"
