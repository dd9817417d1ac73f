"""Results on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from epigym.io.tables import Table
from search.agents.result import PARTS, SearchResult, SearchStatus

if TYPE_CHECKING:
    from search.policies.planner import PolicyResult

_POLICY_LINES = 40
_TIMES = {f"{part} time": name for part, name in PARTS.items()} | {"total time": "total_seconds"}
"""The rows of times: the parts of the total, in their order, then the total."""


def show_results(console: Console, results: Sequence[SearchResult]) -> None:
    """Print results on one problem side by side, then the plan of the first."""
    first = results[0]
    rows = {
        "status": [result.verdict for result in results],
        "plan length": [_format_count(result.plan_length) for result in results],
        "shortest": [_format_proof(result.plan, result) for result in results],
        "first plan": [_format_plan(result, 0) for result in results],
        "best plan": [_format_plan(result, -1) for result in results],
        "expanded nodes": [_format_count(result.expanded) for result in results],
        "generated nodes": [_format_count(result.generated) for result in results],
        "distinct e-states": [_format_count(result.distinct) for result in results],
        **_list_times(results),
    }
    if all(len(result.history) < 2 for result in results):
        del rows["first plan"], rows["best plan"]
    _show_rows(console, results, rows)
    if first.plan is not None:
        show_plan(console, first)


def show_policy(console: Console, results: Sequence[PolicyResult]) -> None:
    """Print the result of a search for a policy, then the policy, one numbered e-state a line."""
    [result] = results
    policy = result.policy
    cells = {
        "status": result.verdict,
        "depth": _format_count(result.depth),
        "least depth": _format_proof(policy, result),
        "e-states of the policy": _format_count(None if policy is None else len(policy.nodes)),
        "goals among them": _format_count(result.leaves),
        "expanded e-states": _format_count(result.expanded),
        "outcomes": _format_count(result.generated),
        "distinct e-states": _format_count(result.distinct),
    }
    _show_rows(console, results, {name: [cell] for name, cell in cells.items()} | _list_times(results))
    if policy is not None:
        _show_note(console, result, "the policy relies on inconsistent beliefs of these agents at some end")
        verdict = "executed by the reference" if result.status is SearchStatus.SOLVED else "not valid"
        _show_line(console, f"policy ({verdict}):")
        for line in policy.lines(_POLICY_LINES):
            _show_line(console, f"  {line}", highlight=False)


def show_plan(console: Console, result: SearchResult) -> None:
    """Print whether the plan of a result relies on inconsistent beliefs, then the plan, one numbered action a line."""
    assert result.plan is not None
    _show_note(console, result, "the plan relies on inconsistent beliefs of these agents at its end")
    if not result.plan:
        _show_line(console, "the goal holds at once: the plan is empty")
    else:
        verdict = "not valid" if result.plan_length is None else "re-executed by the reference"
        length = f"{len(result.plan)} action{'s' * (len(result.plan) != 1)}"
        _show_line(console, f"plan of {result.label} ({length}, {verdict}):")
    for step, name in enumerate(result.plan, start=1):
        _show_line(console, f"  {step:2d}. {name}", highlight=False)


def _list_times(results: Sequence[SearchResult]) -> dict[str, list[str]]:
    """The rows of times without parts that took no time in all results."""
    rows = {name: [getattr(result.costs, cost) for result in results] for name, cost in _TIMES.items()}
    return {
        name: [format_duration(one) if one else "–" for one in times]
        for name, times in rows.items()
        if any(times) or name == "total time"
    }


def _show_rows(console: Console, results: Sequence[SearchResult], rows: Mapping[str, Sequence[str]]) -> None:
    """Print a table with a column for each result, then their messages."""
    titles = ["", *(result.label for result in results)]
    console.print(Table(results[0].problem, titles, [[name, *cells] for name, cells in rows.items()]))
    for result in results:
        if result.model:
            _show_line(console, f"{result.label} uses the model {result.model}")
        for text in filter(None, (result.message, result.proof)):
            _show_line(console, f"{result.label}: {text}")
        if result.is_partly_checked:
            _show_line(console, "verify=whole checks all e-states")


def _show_note(console: Console, result: SearchResult, text: str) -> None:
    if result.inconsistent_agents:
        _show_line(console, f"note: {text}: {', '.join(result.inconsistent_agents)}")


def _show_line(console: Console, line: str, *, highlight: bool = True) -> None:
    """Print a line as it is: names, paths and messages may look like Rich's markup."""
    console.print(line, markup=False, emoji=False, highlight=highlight, soft_wrap=True)


def format_duration(seconds: float) -> str:
    """Format a time in s, ms or µs."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if round(seconds / size) < 1000 else f"{seconds / size:,.0f} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def _format_plan(result: SearchResult, number: int) -> str:
    """Format a plan of the history: its length, and the time at which it was found or validated."""
    if not result.history:
        return "–"
    length, seconds = result.history[number]
    return f"{length:,} after {format_duration(seconds)}"


def _format_proof(found: object, result: SearchResult) -> str:
    return "–" if found is None else "proved" if result.optimal else "not proved"


def _format_count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
