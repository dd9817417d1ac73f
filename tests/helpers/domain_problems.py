"""Problems of domains: read without a warning, searched breadth first."""

import warnings
from typing import Any

from epigym import StateSpace, Task
from epigym.problem import domain_problem
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst


def read(name: str, **parameters: Any) -> Task:
    """The task, in whose text nothing is to be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return domain_problem(name, **parameters)


def shortest_plan(task: Task) -> list[str] | None:
    """The plan that breadth-first search finds; None when there is none."""
    plan = run_agent(BreadthFirst(), StateSpace(task)).plan
    return None if plan is None else list(plan)
