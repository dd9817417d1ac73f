"""Paired comparison of two configurations: statistical tests and an interval for their difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from epigym.io.tables import Numbers, Table
from search.reports.metrics import bootstrap, mcnemar
from search.reports.outcomes import COVERAGE, MEASURES, SearchOutcomes
from search.reports.tables import show_number

_COLUMNS = {
    COVERAGE: ("both", "only first", "only second", "p (McNemar)", "difference [bootstrap 95 %]"),
    "expanded": ("both solved", "expanded first/second", "p (Wilcoxon)"),
}
_NOTES = {
    COVERAGE: "p (McNemar): exact test on the problems that only one answered. difference: of the shares answered, in "
    "percentage points, with its 95 % percentile bootstrap interval over problems.",
    "expanded": "p (Wilcoxon): signed-rank test on the logarithms of the ratios of expanded nodes; expanded "
    "first/second: their geometric mean.",
}
_P_NOTE = "p: two-sided, not corrected for the number of lines."


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two configurations on the problems on which both have an outcome.

    A problem is answered when a plan was found or it was proved that there is none. Probabilities are two-sided and not
    corrected for the number of comparisons.

    Attributes:
        first: label of a configuration.
        second: label of the other one.
        problems: number of problems with an outcome of both.
        both: number of problems that both answered.
        only_first: number of problems that only the first one answered.
        only_second: number of problems that only the second one answered.
        mcnemar: probability, were both equally good, of a split at least as uneven of those that only one answered.
        interval: 95 % bootstrap interval over problems of the difference of the shares that they answered.
        counted: number of problems that both solved and whose expanded nodes are known.
        ratio: geometric mean over those of the first one's nodes by the second one's; None when there is none.
        wilcoxon: probability, were neither better, of ranks of the logarithms of these ratios at least as uneven.
    """

    first: str
    second: str
    problems: int
    both: int
    only_first: int
    only_second: int
    mcnemar: float
    interval: tuple[float, float]
    counted: int
    ratio: float | None
    wilcoxon: float

    @property
    def difference(self) -> float:
        """The share of the problems that the first one answered, less that of the second one."""
        return (self.only_first - self.only_second) / self.problems


def compare(outcomes: SearchOutcomes, first: str, second: str) -> Comparison | None:
    """Compare two configurations; None when there is no problem with an outcome of both."""
    problems = [name for name in outcomes.problems if all(name in outcomes.table[label] for label in (first, second))]
    if not problems:
        return None
    from scipy import stats

    answered = [{outcome.problem for outcome in outcomes.select_answered(name, problems)} for name in (first, second)]
    ours, theirs = (len(one - other) for one, other in (answered, reversed(answered)))
    differences = [float(problem in answered[0]) - float(problem in answered[1]) for problem in problems]
    ratios = _compute_log_ratios(outcomes, first, second)
    unequal = [ratio for ratio in ratios if ratio]
    return Comparison(
        first=first,
        second=second,
        problems=len(problems),
        both=len(answered[0] & answered[1]),
        only_first=ours,
        only_second=theirs,
        mcnemar=mcnemar(ours, theirs),
        interval=bootstrap(differences, np.mean),
        counted=len(ratios),
        ratio=math.exp(sum(ratios) / len(ratios)) if ratios else None,
        wilcoxon=float(stats.wilcoxon(unequal).pvalue) if unequal else 1.0,
    )


def compare_pairs(
    outcomes: SearchOutcomes, pairs: Iterable[tuple[str, str]], measures: Sequence[str] = MEASURES
) -> Table:
    """One line for each pair of configurations that have a problem in common."""
    compared = [found for first, second in pairs if (found := compare(outcomes, first, second)) is not None]
    chosen = [name for name in measures if name in _COLUMNS]
    titles = ["problems", *(title for name in chosen for title in _COLUMNS[name])]
    return Table(
        caption="Two configurations on the same problems.",
        texts=2,
        titles=["first", "second", *titles],
        rows=[[one.first, one.second, *map(_make_cells(one).get, titles)] for one in compared],
        note=" ".join([*(_NOTES[name] for name in chosen), _P_NOTE]) if chosen else "",
    )


def _make_cells(one: Comparison) -> dict[str, object]:
    """The cells of a line by the titles of their columns."""
    shares = {"": one.difference, "low": one.interval[0], "high": one.interval[1]}
    difference, low, high = map(_points, shares.values())
    percent = {part: 100 * share for part, share in shares.items()}
    wilcoxon = None if one.ratio is None else one.wilcoxon
    return {
        "problems": one.problems,
        "both": one.both,
        "only first": one.only_first,
        "only second": one.only_second,
        "p (McNemar)": Numbers(format_probability(one.mcnemar), {"": one.mcnemar}),
        "difference [bootstrap 95 %]": Numbers(f"{difference} [{low} to {high}]", percent),
        "both solved": one.counted,
        "expanded first/second": show_number(one.ratio),
        "p (Wilcoxon)": Numbers("–" if wilcoxon is None else format_probability(wilcoxon), {"": wilcoxon}),
    }


def _compute_log_ratios(outcomes: SearchOutcomes, first: str, second: str) -> list[float]:
    """The logarithm of the first one's nodes by the second one's on each problem that both solved; 0 counts as 1.

    They are rounded, so that equal ratios have equal ranks.
    """
    others = {outcome.problem: outcome.expanded for outcome in outcomes.select_solved(second, outcomes.problems)}
    pairs = [(one.expanded, others.get(one.problem)) for one in outcomes.select_solved(first, outcomes.problems)]
    return [
        round(math.log(max(mine, 1) / max(other, 1)), 12)
        for mine, other in pairs
        if mine is not None and other is not None
    ]


def format_probability(probability: float) -> str:
    """Format a p-value for a table or a sentence."""
    return f"{probability:.2g}" if probability >= 1e-3 else "< 0.001"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
