"""The problems of the unknown domains: their sizes, plans that are known, and what breadth-first search finds."""

from pathlib import Path

import pytest

import domains
import search
from epigym.io.files import read_rows
from epigym.reference.semantics import validate
from search.agents.result import SearchStatus
from tests.unknown.registry import DOMAINS, PROBLEMS, Problem

# As `python -m tests.unknown.measure agent=bfs time_limit=150 out=tests/unknown/breadth_first.csv` writes it. Searches
# ran beside other work, those of two sensing Russian cards with limits of 400 and 240 s: see the CPU seconds.
TABLE = {
    Problem(row["domain"], row["version"], row["size"]): row
    for row in read_rows(Path(__file__).parent / "breadth_first.csv", ("domain", "version", "size", "status"))
}


def test_there_are_at_least_eight_domains_that_the_project_does_not_know() -> None:
    assert len(DOMAINS) >= 8
    assert set(DOMAINS).isdisjoint(domains.DOMAINS)
    assert tuple(TABLE) == PROBLEMS


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_sizes_and_plans_are_the_known_ones(problem: Problem) -> None:
    task, row, plan = problem.read(), TABLE[problem], problem.construct_plan()
    worlds, designated = len(task.initial.valuations), len(task.initial.designated)
    found = {"actions": len(task.actions), "fluents": len(task.fluents), "worlds": worlds, "designated": designated}
    assert {name: str(number) for name, number in found.items()} == {name: row[name] for name in found}
    assert (designated > 1) == (problem.version == "sensing")
    if plan is not None:
        validation = validate(task, plan)
        assert validation.valid, validation.reason
        assert not validation.inconsistent_agents
        assert row["status"] != SearchStatus.UNSOLVABLE
        assert not row["length"] or int(row["length"]) <= len(plan)


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(problem, marks=[pytest.mark.slow] * (problem.size != "small"), id=problem.name)
        for problem, row in TABLE.items()
        if row["status"] != SearchStatus.TIME_LIMIT
    ],
)
def test_breadth_first_search_finds_a_shortest_plan_or_that_there_is_none(problem: Problem) -> None:
    row, result = TABLE[problem], search.plan(problem.read(), "bfs", time_limit=None)
    found = str(result.status), str(result.plan_length or ""), str(result.expanded)
    assert found == (row["status"], row["length"], row["expanded"])
