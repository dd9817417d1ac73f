"""What is true at worlds and which worlds agents consider possible, held against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.errors import TaskError
from epigym.problem import load_problem
from epigym.reference.semantics import Evaluation
from epigym.space.sampling import random_walk
from epigym.space.space import StateSpace
from epigym.space.worlds import Worlds
from epigym.task.formula import actually, believes, common, everybody, fluent, not_
from epigym.task.task import Task
from tests.helpers import strategies


def check(task: Task, seed: int) -> None:
    """The worlds of several e-states together are those of each by itself, and all is true there that should be."""
    space = StateSpace(task)
    try:
        ids = random_walk(space, np.random.default_rng(seed), steps=3)[0]
    except TaskError:  # designated worlds disagree
        ids = [0]
    name, agents = task.fluents[0], task.agents
    formulas = [
        *task.goal,
        everybody(agents, not_(fluent(name))),
        common(agents, not_(believes(agents[0], fluent(name)))),
        actually(not_(believes(agents[-1], fluent(name)))),
    ]
    table = Worlds(space, formulas)([*ids, ids[0]])
    start = 0
    for number, state in enumerate([*ids, ids[0]]):
        estate = space.model(state).state
        evaluation = Evaluation(task.agents, estate)
        worlds = range(start, start + len(estate.valuations))
        assert np.flatnonzero(table.state == number).tolist() == list(worlds)
        for place, world in enumerate(worlds):
            assert table.designated[world] == (place in estate.designated)
            assert {task.fluents[f] for f in np.flatnonzero(table.fluents[world])} == estate.valuations[place]
            assert table.truth[world].tolist() == [place in evaluation.truth(formula) for formula in formulas]
            for agent, row in enumerate(table.row[world]):
                members = table.member[table.ptr[row] : table.ptr[row + 1]] - start
                assert set(members.tolist()) == estate.successors[agent][place]
        start += len(estate.valuations)
    assert len(table.state) == start


@settings(max_examples=80)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4), st.integers(0, 2**32 - 1))
def test_worlds_of_random_tasks(task: Task, seed: int) -> None:
    check(task, seed)


@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "active_muddy_child"])
def test_worlds_of_problems(problem: str) -> None:
    check(load_problem(problem), 0)


def test_no_formulas_and_no_e_states_are_empty_tables() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    assert Worlds(space, [])([0]).truth.shape == (len(space.model(0).state.valuations), 0)
    none = Worlds(space, space.task.goal)([])
    assert none.truth.shape == (0, len(space.task.goal))
    assert none.member.shape == none.state.shape == (0,)


def test_an_unknown_e_state_is_refused() -> None:
    with pytest.raises(IndexError):
        Worlds(StateSpace(load_problem("coin_in_the_box/pl_3")), [])([7])
