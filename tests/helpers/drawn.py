"""Checks of problems that domains draw: read without a warning, drawn anew by every seed, solvable."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import domains
from domains import DomainError
from epigym.problem import domain_problem, vocabulary
from epigym.space.space import StateSpace
from epigym.task.task import Task
from search.agents.breadth_first import BreadthFirst

Wrong = list[tuple[dict[str, Any], str]]


def read(name: str, **parameters: Any) -> Task:
    """The task, in whose text nothing is to be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return domain_problem(name, **parameters)


def shortest_plan(name: str, **parameters: Any) -> list[str] | None:
    """The plan that breadth-first search finds; None when there is none."""
    return plan_of(read(name, **parameters))


def plan_of(task: Task) -> list[str] | None:
    """The plan that breadth-first search finds for a task; None when there is none."""
    plan = BreadthFirst().search(StateSpace(task)).plan
    return None if plan is None else list(plan)


def holds_after(task: Task, plan: list[str]) -> bool:
    """Whether a sequence of actions, each of them applicable, reaches the goal."""
    space, names = StateSpace(task), [action.name for action in task.actions]
    state = space.initial
    for name in plan:
        state = space.successor(state, names.index(name))
    return bool(space.is_goal([state])[0])


def assert_seeds_draw(name: str, seeds: range, **parameters: Any) -> None:
    """Check that a seed always draws the same problem, and that there are several to draw."""
    texts = [domains.text(name, seed=seed, **parameters) for seed in seeds]
    assert texts == [domains.text(name, seed=seed, **parameters) for seed in seeds]
    assert len(set(texts)) > len(texts) // 3


def assert_solvable(name: str, seeds: range, **parameters: Any) -> None:
    """Check that there are plans, none of them empty."""
    assert all(shortest_plan(name, seed=seed, **parameters) for seed in seeds)


def assert_vocabulary(name: str, **parameters: Any) -> None:
    """Check that all formulas are different ones, that each is one subgoal, and that no warning is due."""
    texts, formulas = vocabulary(name, **parameters)
    assert len(set(texts)) == len(texts) == len(formulas) == len(set(formulas))
    assert {"and", "forall"}.isdisjoint(text[1:].partition(" ")[0] for text in texts)
    assert set(read(name, **{**parameters, "goals": texts}).goal) == set(formulas)


def assert_told(name: str, wrong: Wrong) -> None:
    """Check the messages about wrong parameters, and that there is one about every parameter."""
    for parameters, message in wrong:
        with pytest.raises(DomainError) as caught:
            domains.text(name, **parameters)
        assert str(caught.value) == message
    assert {parameter for parameters, _ in wrong for parameter in parameters} == set(domains.DOMAINS[name].defaults)
