"""`SearchProblem`: of which sources it is made, and which task and space belong to it."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from epigym import SearchProblem, StateSpace, load_problem
from epigym.errors import UsageError
from epigym.task.formula import believes, fluent
from tests.helpers.benchmark_files import ROOT

NAME = "grapevine/3_pl_4"
GOAL = (believes("a", fluent("sb")),)


@pytest.fixture
def space() -> StateSpace:
    space = StateSpace(load_problem(NAME))
    space.expand([space.initial])
    return space


def test_names_paths_tasks_and_spaces_start_at_the_initial_estate(space: StateSpace) -> None:
    task = load_problem(str(ROOT / "docs/epddl/coin-1.json"))
    for source in (f"{ROOT}/docs/epddl/coin-1.json", ROOT / "docs/epddl/coin-1.json", task):
        problem = SearchProblem.of(source)
        assert (problem.task, problem.start) == (task, 0)
        assert problem.search_space is problem.space
    problem = SearchProblem.of(space)
    assert problem == SearchProblem(space, space.initial, space.task.goal)
    assert (problem.task, problem.search_space) == (space.task, space)
    assert SearchProblem.of(problem) is problem


def test_another_start_or_goal_has_a_task_and_a_space_of_its_own(space: StateSpace) -> None:
    problem = SearchProblem(space, 3, GOAL)
    task = problem.task
    assert task == replace(space.task, initial=space.model(3).state, goal=GOAL)
    assert (task.name, task.domain, task.instance) == (NAME, "grapevine", "3_pl_4")
    assert task.structure is space.task.structure
    assert problem.search_space is problem.search_space
    assert problem.search_space is not space
    assert problem.search_space.task is task
    assert SearchProblem(space, 0, GOAL).task.initial is space.task.initial
    assert SearchProblem(space, 3, space.task.goal).task.goal == space.task.goal


def test_the_derived_space_is_explored_like_the_given_one() -> None:
    given = StateSpace(load_problem("gossip"), consistent_beliefs=True, symmetry=True, threads=2)
    derived = SearchProblem(given, int(given.expand([0]).target[0]), given.task.goal).search_space
    assert derived is not given
    assert (derived.consistent_beliefs, derived.symmetry, derived.threads) == (True, True, 2)
    plain = SearchProblem(StateSpace(given.task), 0, GOAL[:0]).search_space
    assert (plain.consistent_beliefs, plain.symmetry, plain.threads) == (False, False, 1)


@pytest.mark.parametrize("seed", range(4))
def test_environments_give_their_current_estate_and_goal(seed: int) -> None:
    env = gymnasium.make("epi/Grapevine-v0", random_goals=True)
    env.reset(seed=seed)
    central = env.unwrapped
    assert central.goal != central.task.goal
    assert SearchProblem.of(env) == central.search_problem() == SearchProblem(central.space, 0, central.goal)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        env.step(rng.choice(np.flatnonzero(central.action_masks())))
    assert SearchProblem.of(env) == SearchProblem(central.space, central.state, central.goal)
    assert SearchProblem.of(env).task.initial == central.model().state


def test_vector_environments_have_one_for_each() -> None:
    envs = gymnasium.make_vec("epi/Grapevine-v0", num_envs=3, random_goals=True)
    envs.reset(seed=5)
    envs.step(np.argmax(envs.unwrapped.space.allowed(envs.unwrapped.states), axis=1))
    for index in range(3):
        single = gymnasium.make("epi/Grapevine-v0", random_goals=True)
        single.reset(seed=5 + index)
        single.step(np.argmax(single.unwrapped.action_masks()))
        assert envs.unwrapped.search_problem(index).task == single.unwrapped.search_problem().task
    with pytest.raises(IndexError):
        envs.unwrapped.search_problem(3)
    with pytest.raises(UsageError, match=r"choose env\.unwrapped\.search_problem\(i\)$"):
        SearchProblem.of(envs)
    several = gymnasium.make_vec("epi/Grapevine-v0", num_envs=2, vectorization_mode="sync")
    with pytest.raises(UsageError, match=r"choose env\.unwrapped\.envs\[i\]$"):
        SearchProblem.of(several)
    assert SearchProblem.of(several.unwrapped.envs[1]).task == load_problem("grapevine")


@pytest.mark.parametrize("source", [None, 3, ["grapevine"], gymnasium.make("CartPole-v1")], ids=repr)
def test_other_sources_are_refused(source: Any) -> None:
    with pytest.raises(UsageError, match=f"got an object of type {type(source).__name__}$"):
        SearchProblem.of(source)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"space": NAME}, f"space='{NAME}': expected a StateSpace; SearchProblem.of takes other sources"),
        ({"start": 10**6}, r"start=1000000: expected the id of an e-state, 0 to \d+"),
        ({"start": -1}, "start=-1: expected the id of an e-state"),
        ({"start": True}, "start=True: expected the id of an e-state"),
        ({"start": 1.0}, "start=1.0: expected the id of an e-state"),
        ({"goal": GOAL[0]}, "goal=.*: expected a tuple of formulas, the subgoals"),
        ({"goal": ("B(a, sb)",)}, "goal=.*: expected a tuple of formulas, the subgoals"),
    ],
)
def test_wrong_parts_are_explained(space: StateSpace, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        SearchProblem(**{"space": space, "start": 0, "goal": GOAL, **arguments})


def test_numbers_of_numpy_are_ids(space: StateSpace) -> None:
    assert SearchProblem(space, np.int32(2), GOAL) == SearchProblem(space, 2, GOAL)
