"""The tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

from epigym.io.tables import ALL, Table
from search.agents.result import SearchStatus
from search.reports.metrics import bootstrap, iqm, iqm_of_samples, mean_of_samples
from search.reports.outcomes import METRICS, PAPER_METRICS, Metric, Outcome, Outcomes, values_of

_PER_INSTANCE = ("length", "nodes", "time [ms]", "memory [MiB]")
_COSTS = ("nodes", "time [ms]")
_SIZES: dict[str, Metric] = {
    "actions": lambda outcome: outcome.actions,
    "fluents": lambda outcome: outcome.fluents,
    "worlds": lambda outcome: outcome.initial_worlds,
}
_STATUS_TEXT = {
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
            row.append(_coverage(len(solved), len(outcomes.known(configuration, problems))))
            chosen = outcomes.solved(configuration, shared) if common else solved
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
    problems = outcomes.problems
    shared = outcomes.common(problems)
    rows = []
    for configuration in outcomes.configurations:
        known = outcomes.known(configuration, problems)
        solved = outcomes.solved(configuration, known)
        row = [configuration, _coverage(len(solved), len(known)), _coverage_interval(solved, known)]
        chosen = outcomes.solved(configuration, shared)
        rows.append(row + [_with_interval(chosen, metric) for metric in METRICS.values()])
    return Table(
        caption=f"All domains: coverage, and IQM ± IQR [95 % bootstrap interval of the IQM] over the {len(shared)} "
        "problems that every configuration solved.",
        titles=["configuration", "solved", "95 % interval", *METRICS],
        rows=rows,
    )


def overview(outcomes: Outcomes) -> Table:
    """One short line for each configuration, for a terminal of 80 columns."""
    problems = outcomes.problems
    shared = outcomes.common(problems)
    rows = []
    for configuration in outcomes.configurations:
        known = outcomes.known(configuration, problems)
        answered = outcomes.answered(configuration, known)
        unsolvable = [outcome for outcome in answered if not outcome.is_solved]
        row = [
            configuration,
            f"{len(answered)}/{len(known)}",
            str(len(unsolvable)),
            _coverage_interval(answered, known),
        ]
        chosen = outcomes.solved(configuration, shared)
        rows.append(row + [_mean(chosen, METRICS[metric]) for metric in _COSTS])
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
        row = [problem, *_sizes(outcomes, problem)]
        for configuration in outcomes.configurations:
            outcome = outcomes.table[configuration].get(problem)
            row += _instance_cells(outcome)
        rows.append(row)
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


def _sizes(outcomes: Outcomes, problem: str) -> list[str]:
    """The ground size of a problem, as far as any of the outcomes knows it."""
    known = [found[problem] for found in outcomes.table.values() if problem in found]
    return [shown(next(iter(values_of(known, size)), None)) for size in _SIZES.values()]


def _instance_cells(outcome: Outcome | None) -> list[str]:
    if outcome is None:
        return ["–"] * len(_PER_INSTANCE)
    length, *costs = (shown(METRICS[name](outcome)) for name in _PER_INSTANCE)
    return [length if outcome.is_solved else _ending(outcome), *costs]


def _ending(outcome: Outcome) -> str:
    text = _STATUS_TEXT[outcome.status]
    return f"{text} without collapse" if outcome.status.is_decided and outcome.consistent_beliefs else text


def shown(value: float | None) -> str:
    """A number that may be unknown, for a table."""
    return "–" if value is None else number(value)


def _coverage(solved: int, known: int) -> str:
    return f"{solved}/{known} ({100 * solved / known:.2f}%)" if known else "–"


def _coverage_interval(chosen: Sequence[Outcome], known: Sequence[str]) -> str:
    """The 95 % interval of the share that some outcomes are of all problems with one."""
    names = {outcome.problem for outcome in chosen}
    low, high = bootstrap([float(problem in names) for problem in known], mean_of_samples)
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _mean(outcomes: Sequence[Outcome], metric: Metric) -> str:
    values = values_of(outcomes, metric)
    return number(iqm(values).mean) if values else "–"


def _aggregate(outcomes: Sequence[Outcome], metric: Metric) -> str:
    values = values_of(outcomes, metric)
    if not values:
        return "–"
    mean, spread = iqm(values)
    return f"{number(mean)} ± {number(spread)}"


def _with_interval(outcomes: Sequence[Outcome], metric: Metric) -> str:
    values = values_of(outcomes, metric)
    if not values:
        return "–"
    low, high = bootstrap(values, iqm_of_samples)
    return f"{_aggregate(outcomes, metric)} [{number(low)} to {number(high)}]"
