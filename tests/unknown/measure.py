"""Measure one configuration on the problems of the unknown domains, each search in a process of its own.

python -m tests.unknown.measure time_limit=10
python -m tests.unknown.measure agent=hfs/h_add time_limit=10 domain=hats version=linear size=large
python -m tests.unknown.measure agent=bfs time_limit=60 out=tests/unknown/breadth_first.csv
python -m tests.unknown.measure version=sensing policy=strong,cyclic time_limit=60

Without `agent` it is the default of `search.plan`. `domain`, `version` and `size` choose problems, `policy` kinds of
policies to search for in place of plans; the length of a policy is its depth.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import search
from epigym.io.files import write_rows
from search.agents.result import SearchStatus
from search.policies.planner import PolicyResult
from tests.unknown.registry import DOMAINS, PROBLEMS, SIZES, VERSIONS, Problem

_CHOICES = {"domain": DOMAINS, "version": VERSIONS, "size": SIZES}
_SETTINGS = ("agent", "policy", "time_limit", "out", *_CHOICES)
# Width of each column of the table.
_COLUMNS = {
    **{"domain": 18, "version": 8, "size": 7, "actions": 8, "fluents": 8, "worlds": 7, "designated": 11},
    **{"policy": 9, "status": 13, "length": 7, "expanded": 9, "cpu_seconds": 11},
}


def main(arguments: Sequence[str]) -> None:
    """Print a line for each problem, as soon as it is measured, and how many were solved; write them all to `out`.

    Raises:
        SystemExit: with one line, when an argument is wrong.
    """
    given = dict(argument.partition("=")[::2] for argument in arguments)
    wrong = [key for key, value in given.items() if key not in _SETTINGS or value not in _CHOICES.get(key, (value,))]
    if wrong:
        raise SystemExit(f"unknown setting or value: {', '.join(f'{key}={given[key]}' for key in wrong)}")
    agent = given["agent"].split("/", 1) if "agent" in given else []
    print(_format_line(_COLUMNS), flush=True)
    rows = []
    for problem in PROBLEMS:
        if all(given.get(key, getattr(problem, key)) == getattr(problem, key) for key in _CHOICES):
            for policy in given.get("policy", "none").split(","):
                rows.append(_measure(problem, agent, policy, float(given.get("time_limit", 60))))
                print(_format_line(rows[-1].values()), flush=True)
    print(f"{sum(row['status'] == SearchStatus.SOLVED for row in rows)} of {len(rows)} solved")
    if "out" in given:
        write_rows(given["out"], list(_COLUMNS), rows)


def _measure(problem: Problem, agent: Sequence[str], policy: Any, time_limit: float) -> dict[str, Any]:
    task = problem.read()
    result = search.plan(task, *agent, policy=policy, time_limit=time_limit)
    length = result.depth if isinstance(result, PolicyResult) else result.plan_length
    return {
        "domain": problem.domain,
        "version": problem.version,
        "size": problem.size,
        "actions": len(task.actions),
        "fluents": len(task.fluents),
        "worlds": len(task.initial.valuations),
        "designated": len(task.initial.designated),
        "policy": policy,
        "status": str(result.status),
        "length": "" if length is None else length,
        "expanded": result.expanded,
        "cpu_seconds": round(result.costs.cpu_seconds, 1),
    }


def _format_line(values: Iterable[object]) -> str:
    return " ".join(f"{value!s:<{width}}" for value, width in zip(values, _COLUMNS.values(), strict=True)).rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
