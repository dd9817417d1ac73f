"""The tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epigym.io.tables import ALL, Table
from search.agents.result import SearchStatus
from search.reports.metrics import bootstrap, interquartile_mean, iqm
from search.reports.outcomes import METRICS, PAPER_METRICS, Metric, Outcome, Outcomes, values_of

_PER_INSTANCE = ("length", "nodes", "time [ms]", "memory [MiB]")
_COSTS = ("nodes", "time [ms]")
_SIZES: dict[str, Metric] = {
    "actions": lambda outcome: outcome.actions,
    "fluents": lambda outcome: outcome.fluents,
    "worlds": lambda outcome: outcome.initial_worlds,
}
_ENDINGS = {
    SearchStatus.UNSOLVABLE: "unsolvable",
    SearchStatus.EXPANSION_LIMIT: "NO",
    SearchStatus.TIME_LIMIT: "TO",
    SearchStatus.MEMORY_LIMIT: "MO",
    SearchStatus.ERROR: "error",
}


def summary(outcomes: Outcomes, *, common: bool) -> Table:
    """Coverage of the problems with an outcome, and nodes, time and plan length as IQM ± IQR, by domain.

    Args:
        outcomes: of all configurations.
        common: aggregate over the problems that every configuration solved; else over all that each one solved.
    """
    rows = []
    for domain, problems in [*outcomes.domains.items(), (ALL, outcomes.problems)]:
        row = [domain]
        shared = outcomes.common(problems)
        for configuration in outcomes.configurations:
            solved = outcomes.solved(configuration, problems)
            chosen = outcomes.solved(configuration, shared) if common else solved
            row.append(_coverage(solved, outcomes.found(configuration, problems)))
            row += [_aggregate(chosen, METRICS[metric]) for metric in PAPER_METRICS]
        rows.append(row)
    scope = "the problems that every configuration solved" if common else "the problems that each configuration solved"
    return Table(
        caption=f"Solved instances, and IQM ± IQR over {scope}.",
        groups=[(configuration, 1 + len(PAPER_METRICS)) for configuration in outcomes.configurations],
        titles=["", *(["solved", *PAPER_METRICS] * len(outcomes.configurations))],
        rows=rows,
    )


def totals(outcomes: Outcomes) -> Table:
    """One line for each configuration: coverage with its 95 % interval and all metrics, on common problems."""
    shared = outcomes.common(outcomes.problems)
    rows = []
    for configuration in outcomes.configurations:
        solved, found = (of(configuration, outcomes.problems) for of in (outcomes.solved, outcomes.found))
        chosen = outcomes.solved(configuration, shared)
        costs = [_aggregate(chosen, metric, has_interval=True) for metric in METRICS.values()]
        rows.append([configuration, _coverage(solved, found), _coverage_interval(solved, found), *costs])
    return Table(
        caption=f"All domains: coverage, and IQM ± IQR [95 % bootstrap interval of the IQM] over the {len(shared)} "
        "problems that every configuration solved.",
        titles=["configuration", "solved", "95 % interval", *METRICS],
        rows=rows,
    )


def overview(outcomes: Outcomes) -> Table:
    """One short line for each configuration, for a terminal of 80 columns."""
    shared = outcomes.common(outcomes.problems)
    rows = []
    for configuration in outcomes.configurations:
        answered, found = (of(configuration, outcomes.problems) for of in (outcomes.answered, outcomes.found))
        unsolvable = len([outcome for outcome in answered if not outcome.is_solved])
        costs = [values_of(outcomes.solved(configuration, shared), METRICS[metric]) for metric in _COSTS]
        means = [number(iqm(values).mean) if values else "–" for values in costs]
        share = f"{len(answered)}/{len(found)}"
        rows.append([configuration, share, str(unsolvable), _coverage_interval(answered, found), *means])
    return Table(
        caption="Problems answered, some of them as proved unsolvable, with the 95 % bootstrap interval; IQM over the "
        f"{len(shared)} problems that every configuration solved.",
        titles=["configuration", "answered", "no plan", "95 %", *_COSTS],
        rows=rows,
    )


def instances(outcomes: Outcomes) -> Table:
    """Every problem: its ground size, and what each configuration found at what cost, or how its search ended."""
    rows = []
    for problem in outcomes.problems:
        by_configuration = [outcomes.table[name].get(problem) for name in outcomes.configurations]
        known = list(filter(None, by_configuration))
        sizes = [shown(next(iter(values_of(known, size)), None)) for size in _SIZES.values()]
        rows.append([problem, *sizes, *(cell for outcome in by_configuration for cell in _instance_cells(outcome))])
    return Table(
        caption="Every problem: ground size, plan length, expanded nodes, total time and peak memory. TO: time-out, "
        "MO: out of memory, NO: out of nodes, –: not run or not known.",
        groups=[("", 3), *((configuration, 4) for configuration in outcomes.configurations)],
        titles=["problem", *_SIZES, *(_PER_INSTANCE * len(outcomes.configurations))],
        rows=rows,
    )


def left_out(outcomes: Outcomes) -> Table:
    """What no other table counts: cells without an outcome, and outcomes under other settings, files or programs."""
    missing = sum(not entry.has_outcome for entry in outcomes.left_out)
    others = sum(entry.others for entry in outcomes.left_out)
    return Table(
        caption=f"Left out: {missing} searches without an outcome, and {others} outcomes under other settings, limits, "
        "files or versions of the program.",
        titles=["problem", "configuration", "outcome", "others"],
        texts=3,
        rows=[
            [entry.problem, entry.configuration, "yes" if entry.has_outcome else "no", str(entry.others)]
            for entry in outcomes.left_out
        ],
    )


def number(value: float) -> str:
    """A number for a table: whole from 10 on, two digits below."""
    return f"{value:.0f}" if abs(value) >= 9.95 or value == int(value) else f"{value:.2g}"


def _instance_cells(outcome: Outcome | None) -> list[str]:
    if outcome is None:
        return ["–"] * len(_PER_INSTANCE)
    length, *costs = (shown(METRICS[name](outcome)) for name in _PER_INSTANCE)
    return [length if outcome.is_solved else _ENDINGS[outcome.status] + outcome.restriction, *costs]


def shown(value: float | None) -> str:
    """A number that may be unknown, for a table."""
    return "–" if value is None else number(value)


def _coverage(chosen: Sequence[Outcome], found: Sequence[Outcome]) -> str:
    return f"{len(chosen)}/{len(found)} ({100 * len(chosen) / len(found):.2f}%)" if found else "–"


def _coverage_interval(chosen: Sequence[Outcome], found: Sequence[Outcome]) -> str:
    """The 95 % interval of the share that some outcomes are of all that were found."""
    names = {outcome.problem for outcome in chosen}
    low, high = bootstrap([float(outcome.problem in names) for outcome in found], np.mean)
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _aggregate(outcomes: Sequence[Outcome], metric: Metric, *, has_interval: bool = False) -> str:
    values = values_of(outcomes, metric)
    if not values:
        return "–"
    text = " ± ".join(map(number, iqm(values)))
    if has_interval:
        text += f" [{' to '.join(map(number, bootstrap(values, interquartile_mean)))}]"
    return text
