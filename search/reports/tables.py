"""The tables of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from epigym.io.tables import ALL, Numbers, Table
from search.agents.result import SearchStatus
from search.reports.metrics import (
    AGILE_SECONDS,
    bootstrap,
    interquartile_mean,
    iqm,
    score_lengths,
    score_seconds,
    wilson,
)
from search.reports.outcomes import COSTS, COVERAGE, MEASURES, SearchOutcome, SearchOutcomes, values_of

_SPREAD = "interquartile mean (IQM) ± interquartile range (IQR)"
COVERAGE_NOTE = "Wilson 95 %: interval of the share of problems."
BOOTSTRAP_NOTE = "Intervals [low to high]: 95 % percentile bootstrap over problems, 2,000 resamples."
_OVERVIEW = 3  # most measures in 80 columns
_SECONDS = (1, 10, 60)
_SIZES: dict[str, Callable[[SearchOutcome], float | None]] = {
    "actions": lambda outcome: outcome.actions,
    "fluents": lambda outcome: outcome.fluents,
    "worlds": lambda outcome: outcome.initial_worlds,
}
_ENDINGS = {
    SearchStatus.SOLVED: "solved",
    SearchStatus.UNSOLVABLE: "unsolvable",
    SearchStatus.EXPANSION_LIMIT: "NO",
    SearchStatus.TIME_LIMIT: "TO",
    SearchStatus.MEMORY_LIMIT: "MO",
    SearchStatus.ERROR: "error",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """A table cell of how a search ended.

    Attributes:
        text: for readers.
        file: the record of the search, if it was kept.
    """

    text: str
    file: Path | None

    def __str__(self) -> str:
        """The text for readers."""
        return self.text


def make_summary(outcomes: SearchOutcomes, measures: Sequence[str] = MEASURES, *, common: bool) -> Table:
    """Coverage of the problems with an outcome, and other measures as IQM ± IQR, by domain.

    Args:
        outcomes: of all configurations.
        measures: those with a column for each configuration.
        common: aggregate over the problems that every configuration solved; else over all that each one solved.
    """
    rows: list[list[object]] = []
    for domain, problems in [*outcomes.domains.items(), (ALL, outcomes.problems)]:
        rows.append([domain])
        shared = outcomes.find_common(problems)
        for configuration in outcomes.configurations:
            solved, found = (of(configuration, problems) for of in (outcomes.select_solved, outcomes.select))
            chosen = outcomes.select_solved(configuration, shared) if common else solved
            rows[-1] += [
                _coverage(solved, found) if name == COVERAGE else _aggregate(chosen, name) for name in measures
            ]
    scope = "the problems that every configuration solved" if common else "the problems that each configuration solved"
    return Table(
        caption=f"Solved instances, and {_SPREAD} over {scope}.",
        groups=[(configuration, len(measures)) for configuration in outcomes.configurations],
        titles=["", *(_titles(measures) * len(outcomes.configurations))],
        rows=rows,
    )


def make_totals(outcomes: SearchOutcomes, measures: Sequence[str] = MEASURES) -> Table:
    """One line for each configuration: coverage, and other measures on the common problems, with 95 % intervals."""
    shared = outcomes.find_common(outcomes.problems)
    rows: list[list[object]] = []
    for configuration in outcomes.configurations:
        solved, found = (of(configuration, outcomes.problems) for of in (outcomes.select_solved, outcomes.select))
        chosen = outcomes.select_solved(configuration, shared)
        rows.append([configuration])
        for name in measures:
            if name == COVERAGE:
                rows[-1] += [_coverage(solved, found), _coverage_interval(solved, found)]
            else:
                rows[-1].append(_aggregate(chosen, name, has_interval=True))
    return Table(
        caption=f"All domains: coverage, and {_SPREAD} [bootstrap interval of the IQM] over the {len(shared)} problems "
        "that every configuration solved.",
        titles=["configuration", *_titles(measures, COVERAGE, "Wilson 95 %")],
        rows=rows,
        note=" ".join([*([COVERAGE_NOTE] if COVERAGE in measures else []), BOOTSTRAP_NOTE]),
    )


def make_scores(outcomes: SearchOutcomes) -> Table:
    """One line for each configuration: problems solved within some seconds, and the competition's two scores."""
    solved_by = {name: outcomes.select_solved(name, outcomes.problems) for name in outcomes.configurations}
    satisficing = score_lengths(
        {
            name: {outcome.problem: outcome.plan_length for outcome in solved if outcome.plan_length is not None}
            for name, solved in solved_by.items()
        }
    )
    rows: list[list[object]] = []
    for name, solved in solved_by.items():
        seconds = [outcome.total_ms / 1000 for outcome in solved if outcome.total_ms is not None]
        counts = [sum(time <= limit for time in seconds) for limit in _SECONDS]
        scores = (satisficing[name], sum(map(score_seconds, seconds)))
        rows.append([name, *map(show_number, [len(solved), *counts]), *(Numbers(f"{x:.1f}", {"": x}) for x in scores)])
    return Table(
        caption="Problems solved in all and within seconds of total time, and scores of the International Planning "
        "Competition: satisficing, the sum of C* / C (C* is the shortest length here), and agile, the sum of "
        f"1 − log seconds / log {AGILE_SECONDS:.0f}.",
        titles=["configuration", "solved", *(f"{limit} s" for limit in _SECONDS), "satisficing", "agile"],
        rows=rows,
    )


def make_largest(outcomes: SearchOutcomes) -> Table:
    """One line for each domain: fluents of its largest problem, and of the largest that each configuration solved."""
    rows: list[list[object]] = []
    for domain, problems in outcomes.domains.items():
        rows.append([domain])
        fluents = {problem: _find_size(outcomes, problem, _SIZES["fluents"]) for problem in problems}
        solved = (outcomes.select_solved(name, problems) for name in outcomes.configurations)
        for names in (problems, *([outcome.problem for outcome in found] for found in solved)):
            known = [size for name in names if (size := fluents[name]) is not None]
            rows[-1].append(show_number(max(known, default=None)))
    return Table(
        caption="Fluents of the largest problem of each domain, and of the largest one that each configuration solved.",
        titles=["domain", "largest", *outcomes.configurations],
        rows=rows,
    )


def make_overview(outcomes: SearchOutcomes, measures: Sequence[str]) -> Table:
    """One short line for each configuration with the first three measures, for a terminal of 80 columns."""
    shared = outcomes.find_common(outcomes.problems)
    chosen = measures[:_OVERVIEW]
    rows: list[list[object]] = []
    for configuration in outcomes.configurations:
        answered, found = (of(configuration, outcomes.problems) for of in (outcomes.select_answered, outcomes.select))
        unsolvable = len([outcome for outcome in answered if not outcome.is_solved])
        rows.append([configuration])
        for name in chosen:
            if name == COVERAGE:
                share = Numbers(f"{len(answered)}/{len(found)}", {"": len(answered), "of": len(found)})
                rows[-1] += [share, unsolvable, _coverage_interval(answered, found)]
            else:
                values = values_of(outcomes.select_solved(configuration, shared), name)
                rows[-1].append(show_number(iqm(values).mean if values else None))
    means = f"interquartile means over the {len(shared)} problems that every configuration solved."
    answers = "Problems answered, some of them as proved unsolvable; "
    return Table(
        caption=answers + means if COVERAGE in chosen else means.capitalize(),
        titles=["configuration", *_titles(chosen, "answered", "no plan", "Wilson 95 %")],
        rows=rows,
        note=f"{COVERAGE_NOTE}{_count_errors(outcomes)}" if COVERAGE in chosen else "",
    )


def _count_errors(outcomes: SearchOutcomes) -> str:
    """A sentence about the searches that ended with an error; empty without them."""
    found = {name: outcomes.select(name, outcomes.problems) for name in outcomes.configurations}
    counts = {name: sum(one.status is SearchStatus.ERROR for one in each) for name, each in found.items()}
    listed = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    return f" Errors, which are no answers: {listed}." if listed else ""


def make_instances(outcomes: SearchOutcomes, measures: Sequence[str] = MEASURES) -> Table:
    """The table of all problems: ground size, and the measures of each configuration."""
    rows: list[list[object]] = []
    for problem in outcomes.problems:
        by_configuration = [outcomes.table[name].get(problem) for name in outcomes.configurations]
        rows.append([problem, *(show_number(_find_size(outcomes, problem, size)) for size in _SIZES.values())])
        rows[-1] += [_show_measure(outcome, name) for outcome in by_configuration for name in measures]
    return Table(
        caption=f"Every problem: ground size, and {', '.join(_titles(measures, 'outcome'))} of each configuration.",
        groups=[("", 3), *((configuration, len(measures)) for configuration in outcomes.configurations)],
        titles=["problem", *_SIZES, *(_titles(measures, "outcome") * len(outcomes.configurations))],
        rows=rows,
        note="TO: time-out, MO: out of memory, NO: node limit, –: not run or not known.",
    )


def list_left_out(outcomes: SearchOutcomes) -> Table:
    """The table of searches without an outcome, and of outcomes with other settings, files or programs."""
    missing = sum(not entry.has_outcome for entry in outcomes.left_out)
    others = sum(entry.others for entry in outcomes.left_out)
    return Table(
        caption=f"Left out: {missing} searches without an outcome, and {others} outcomes under other settings, limits, "
        "files or versions of the program.",
        titles=["problem", "configuration", "outcome", "others"],
        texts=3,
        rows=[
            [entry.problem, entry.configuration, "yes" if entry.has_outcome else "no", entry.others]
            for entry in outcomes.left_out
        ],
    )


def format_number(value: float) -> str:
    """Format a number for a table: whole from 10 on, with two digits below."""
    return f"{value:.0f}" if abs(value) >= 9.95 or value == int(value) else f"{value:.2g}"


def show_number(value: float | None) -> Numbers:
    """The cell of a number; None is unknown."""
    return Numbers("–" if value is None else format_number(value), {"": value})


def _find_size(outcomes: SearchOutcomes, problem: str, size: Callable[[SearchOutcome], float | None]) -> float | None:
    """A size of a problem, from the first configuration whose outcome has it."""
    known = (outcome for name in outcomes.configurations for outcome in outcomes.select(name, [problem]))
    return next((number for number in map(size, known) if number is not None), None)


def _titles(measures: Sequence[str], *coverage: str) -> list[str]:
    """The titles of the columns of some measures; `coverage` replaces those of coverage."""
    titles = {name: [cost.title] for name, cost in COSTS.items()} | {COVERAGE: list(coverage or [COVERAGE])}
    return [title for name in measures for title in titles[name]]


def _show_measure(outcome: SearchOutcome | None, measure: str) -> object:
    if measure != COVERAGE:
        return show_number(None if outcome is None else COSTS[measure].of(outcome))
    return "–" if outcome is None else Ending(_ENDINGS[outcome.status] + outcome.restriction, outcome.file)


def _coverage(chosen: Sequence[SearchOutcome], found: Sequence[SearchOutcome]) -> Numbers:
    text = f"{len(chosen)}/{len(found)} ({100 * len(chosen) / len(found):.2f}%)" if found else "–"
    return Numbers(text, {"solved": len(chosen), "problems": len(found)})


def _coverage_interval(chosen: Sequence[SearchOutcome], found: Sequence[SearchOutcome]) -> Numbers:
    """The 95 % interval of the share of some outcomes among all outcomes `found`, in percent."""
    low, high = (100 * share for share in wilson(len(chosen), len(found)))
    return Numbers(f"{low:.0f} to {high:.0f} %", {"low": low, "high": high})


def _aggregate(outcomes: Sequence[SearchOutcome], measure: str, *, has_interval: bool = False) -> Numbers:
    """IQM ± IQR of a measure, optionally with the 95 % interval of the IQM."""
    values = values_of(outcomes, measure)
    if not values:
        return Numbers("–", dict.fromkeys(("IQM", "IQR", "low", "high")[: 4 if has_interval else 2]))
    spread = iqm(values)
    text = " ± ".join(map(format_number, spread))
    if not has_interval:
        return Numbers(text, {"IQM": spread.mean, "IQR": spread.range})
    low, high = bootstrap(values, interquartile_mean)
    text += f" [{format_number(low)} to {format_number(high)}]"
    return Numbers(text, {"IQM": spread.mean, "IQR": spread.range, "low": low, "high": high})
