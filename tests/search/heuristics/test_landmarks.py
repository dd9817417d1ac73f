"""`landmarks`: the landmarks required on a path, by hand and by definition."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, Task, TaskError, load_problem
from epigym.features.relaxation import Relaxation
from epigym.language import parse_mastar
from epigym.reference.semantics import holds
from search.heuristics import make_heuristic
from search.heuristics.heuristic import Heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers import strategies
from tests.helpers.tasks import COUNTER, counter, hopeless

WIPED = COUNTER.replace("undo", "wipe").replace("wipe causes -p;", "wipe causes -p; wipe causes -q;")


def score_along(space: StateSpace, heuristic: Heuristic, *names: str) -> list[float]:
    """The scores along a sequence of actions."""
    actions = [action.name for action in space.task.actions]
    state, scores = space.initial, [score(heuristic, space.initial, -1, -1)]
    for name in names:
        action = actions.index(name)
        parent, state = state, space.successor(state, action)
        scores.append(score(heuristic, state, parent, action))
    return scores


def score(heuristic: Heuristic, state: int, parent: int, action: int) -> float:
    return heuristic.evaluate(np.array([state], np.int32), np.array([parent]), np.array([action])).scores[0]


@pytest.mark.parametrize(
    ("way", "scores"),
    [
        # p, q and r; q, r and -p; r and -p; -p.
        (("first", "second", "third", "undo"), [3, 3, 2, 1, 0]),
        # p is required again, for q was never true; but not once it was.
        (("first", "undo"), [3, 3, 3]),
        (("first", "second", "undo"), [3, 3, 2, 1]),
    ],
)
def test_a_landmark_is_required_again_while_another_needs_it(way: tuple[str, ...], scores: list[float]) -> None:
    space = StateSpace(counter())
    assert score_along(space, make_heuristic("landmarks", space), *way) == scores


def test_scores_depend_on_the_path() -> None:
    space = StateSpace(parse_mastar(WIPED.replace("goal r; goal -p;", "goal q; goal r;")))
    once, never = make_heuristic("landmarks", space), make_heuristic("landmarks", space)
    # Both ways lead to an e-state where nothing holds. Whoever had q needs no p any more.
    assert score_along(space, once, "first", "second", "wipe")[-1] == 2
    assert score_along(space, never, "first", "wipe")[-1] == 3
    assert once.score(np.array([space.initial], np.int32)).tolist() == [3]


@settings(max_examples=60)
@given(st.integers(0, 1 << 32))
def test_scores_follow_their_definition_on_random_paths(seed: int) -> None:
    rng = random.Random(seed)
    space = StateSpace(strategies.telling_task(rng))
    task, heuristic, found = space.task, make_heuristic("landmarks", space), Relaxation(space).landmarks(space.initial)
    state, parent, action, accepted = space.initial, -1, -1, set[int]()
    for _ in range(4):
        model = space.model(state).state
        true = {number for number, formula in enumerate(found.formulas) if holds(model, task.agents, formula)}
        accepted |= true
        opened = set(range(len(found.formulas))) - accepted
        needed = {number for number in accepted if found.is_goal[number] or found.before[number, list(opened)].any()}
        required = len(opened) + len(needed - true)
        is_goal = all(holds(model, task.agents, subgoal) for subgoal in task.goal)
        assert score(heuristic, state, parent, action) == (0 if is_goal else max(required, 1))
        try:
            ways = space.expand([state])
        except TaskError:  # designated worlds disagree
            return
        new = np.flatnonzero(ways.is_new)
        if len(new) == 0:
            return
        step = rng.choice(new.tolist())
        parent, state, action = state, int(ways.target[step]), int(ways.action[step])


@settings(max_examples=100)
@given(strategies.tasks())
def test_goals_score_zero_and_only_they(task: Task) -> None:
    space = StateSpace(task)
    heuristic = make_heuristic("landmarks", space)
    ids = np.array([space.initial], np.int32)
    scores = heuristic.evaluate(ids, np.array([-1]), np.array([-1])).scores
    assert ((scores == 0) == space.is_goal(ids)).all()
    assert (scores == heuristic.score(ids)).all()


def test_a_batch_is_its_e_states_one_by_one_with_the_preferred_actions() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    together, alone = make_heuristic("landmarks", space), make_heuristic("landmarks", space)
    root = np.array([0], np.int32), np.array([-1]), np.array([-1])
    assert together.evaluate(*root).scores == alone.evaluate(*root).scores
    _, action, target, is_new = space.expand([0])
    ids, actions, parents = target[is_new], action[is_new], np.zeros(int(is_new.sum()), np.int64)
    found = together.evaluate(ids, parents, actions)
    assert found.scores.tolist() == [score(alone, s, 0, a) for s, a in zip(ids.tolist(), actions.tolist(), strict=True)]
    preferred = make_heuristic("h_ff", space).evaluate(ids, parents, actions)
    assert found.preferred.tolist() == preferred.preferred.tolist()
    assert found.preferred_ptr.tolist() == preferred.preferred_ptr.tolist()


@pytest.mark.parametrize("name", ["h_add", "h_ff", "landmarks"])
def test_an_uninformative_relaxation_is_replaced_by_split_goal_count(name: str) -> None:
    space = StateSpace(hopeless())
    ids = np.array([space.initial, *space.expand([space.initial]).target], dtype=np.int32)
    ways = np.full(len(ids), -1)
    heuristic, counted = make_heuristic(name, space), make_heuristic("split_goal_count", space)
    found = heuristic.evaluate(ids, ways, ways)
    assert found.scores.tolist() == heuristic.score(ids).tolist() == counted.score(ids).tolist()
    assert len(found.preferred) == 0
    assert heuristic.is_uninformative


@pytest.mark.parametrize(
    ("problem", "configuration", "nodes", "length"),
    [
        ("grapevine/3_pl_4", "hfs/landmarks", 4, 4),
        ("coin_in_the_box/pl_7", "hfs/landmarks", 16, 8),
        ("grapevine/3_pl_4", "hfs_preferred/h_add", 4, 4),
        ("coin_in_the_box/pl_7", "hfs_preferred/h_add", 14, 7),
    ],
)
def test_known_counts(problem: str, configuration: str, nodes: int, length: int) -> None:
    result = find_plan(load_problem(problem), Configuration.parse(configuration))
    assert (result.expanded, result.first_length) == (nodes, length)
