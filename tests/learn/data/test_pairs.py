"""Pairs of e-states to learn an order from: exact labels, the right one preferred, each expansion weighing the same."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from epigym import StateSpace, Task, load_problem
from epigym.task.formula import fluent
from learn.data.explorers import ExplorerSettings, explore, keep
from learn.data.labels import UNREACHABLE
from learn.data.making import make_rollout
from learn.data.pairs import make_plan_pairs
from learn.data.rollout import Rollout, Use
from learn.training.validation import find_states_along
from search.agents import make_agent, run_agent
from search.heuristics import make_heuristic
from tests.helpers.marks import slow_but
from tests.helpers.structures import steps_to_a_goal
from tests.helpers.tasks import coin, delusion, hopeless, trivial

PROBLEMS = (
    "collaboration_communication/2_2_3_pl_6",
    "selective_communication/4_2_pl_5",
    "consecutive_numbers/g_cn_3_11_k2",
    "active_muddy_child/g_amc_05_03_muddy_s1517",
    "gossip",
    "assembly_line/b5_pl_5",
)
MOST = 100_000


@cache
def build_pairs(problem: str, expansions: int = 20) -> Rollout:
    return make_pairs(load_problem(problem), expansions)


def make_pairs(task: Task, expansions: int, max_visited: int = MOST, seed: int = 0) -> Rollout:
    found = make_rollout(task, ExplorerSettings("exhaustive", max_visited=max_visited, seed=seed), expansions)
    assert found is not None
    return found


def expansions_of(pairs: Rollout, count: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """So many expansions that weigh the same: each with its e-state, which is what the last of its pairs is worse."""
    assert pairs.weight.sum() == pytest.approx(1)
    share = np.concatenate([[0], np.cumsum(pairs.weight)]) * count
    ends = [int(np.argmin(np.abs(share - number))) for number in range(count + 1)]
    assert share[ends] == pytest.approx(np.arange(count + 1))
    better, worse = pairs.ids[pairs.better], pairs.ids[pairs.worse]
    for first, last in pairwise(ends):
        state = int(worse[last - 1])
        after = pairs.space.expand([state]).target.tolist()
        assert len(set(pairs.weight[first:last].tolist())) == 1
        assert set(better[first:last].tolist()) <= set(after)
        assert set(worse[first : last - 1].tolist()) <= set(after) - {state}
        yield state, list(zip(better[first:last].tolist(), worse[first:last].tolist(), strict=True))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_labels_are_distances(problem: str) -> None:
    pairs = build_pairs(problem)
    fresh = StateSpace(pairs.space.task)
    for state, distance in zip(pairs.ids.tolist(), pairs.distance.tolist(), strict=True):
        assert steps_to_a_goal(fresh, fresh.intern(pairs.space.model(state).state)) == distance


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_is_better_is_nearer_and_no_dead_end(problem: str) -> None:
    pairs = build_pairs(problem)
    better, worse = pairs.distance[pairs.better], pairs.distance[pairs.worse]
    assert (better != UNREACHABLE).all()
    assert ((better < worse) | (worse == UNREACHABLE)).all()
    assert sorted({*pairs.better.tolist(), *pairs.worse.tolist()}) == list(range(len(pairs.ids)))
    assert (np.diff(pairs.ids) > 0).all()


@pytest.mark.parametrize(
    ("problem", "most"),
    slow_but([(PROBLEMS[0], 190), (PROBLEMS[1], 20), ("coin_in_the_box/pl_2", 60)], ("coin_in_the_box/pl_2", 60)),
)
def test_of_what_is_too_large_that_has_a_goal_in_sight_the_order_is_exact(problem: str, most: int) -> None:
    task = load_problem(problem)
    whole = explore(task, ExplorerSettings("exhaustive", max_visited=MOST))
    seen = explore(task, ExplorerSettings("exhaustive", max_visited=most))
    assert not seen.complete
    pairs = make_pairs(task, MOST, most)
    fresh = StateSpace(task)
    ids = [fresh.intern(pairs.space.model(state).state) for state in pairs.ids.tolist()]
    steps = np.array([steps_to_a_goal(fresh, state) for state in ids])
    better, worse = pairs.better, pairs.worse
    assert (pairs.distance[better] == steps[better]).all()
    assert ((steps[better] < steps[worse]) | (steps[worse] == UNREACHABLE)).all()
    assert (pairs.distance[better] < pairs.distance[worse]).all()
    assert ((pairs.distance <= steps) | (steps == UNREACHABLE)).all()
    # Every e-state from which a shortest plan ends before the last layer, which may be seen in part, is expanded.
    depth = {state: number for number, state in zip(whole.depth.tolist(), whole.states.tolist(), strict=True)}
    near = [
        state
        for state, left in zip(whole.states.tolist(), whole.distance.tolist(), strict=True)
        if left > 0 and depth[state] + left < seen.depth[-1]
    ]
    assert len(list(expansions_of(pairs, len(near)))) == len(near)


def test_dead_ends() -> None:
    pairs = build_pairs("selective_communication/4_2_pl_5")
    assert (pairs.distance[pairs.worse] == UNREACHABLE).any()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_each_expansion_weighs_the_same(problem: str) -> None:
    pairs = build_pairs(problem, 5)
    found = list(expansions_of(pairs, 5))
    distance = dict(zip(pairs.ids.tolist(), pairs.distance.tolist(), strict=True))
    for state, group in found:
        assert {distance[one] for one, _ in group} == {distance[state] - 1}
        assert len({one for one, _ in group}) <= 2
        assert len(set(group)) == len(group)
    assert len({state for state, _ in found}) == len(found)


def test_siblings_of_what_is_best_are_compared_with_it() -> None:
    pairs = build_pairs("gossip", 64)
    goals = pairs.space.is_goal(range(64))
    for state, group in expansions_of(pairs, int((~goals).sum())):
        after = set(pairs.space.expand([state]).target.tolist()) - {state}
        nearest = min(steps_to_a_goal(pairs.space, one) for one in after)
        best = {one for one in after if steps_to_a_goal(pairs.space, one) == nearest}
        assert {one for one, _ in group} <= best
        assert {other for _, other in group} == after - best | {state}


def test_half_of_what_is_expanded_lies_on_shortest_plans_and_in_the_end_it_is_everything() -> None:
    problem = "collaboration_communication/2_2_3_pl_6"
    states = [state for state, _ in expansions_of(build_pairs(problem, 10), 10)]
    depths = [steps_to_a_goal(build_pairs(problem, 10).space, state) for state in states[:5]]
    assert states[0] == 0
    assert depths == [6, 5, 4, 3, 2]
    space = build_pairs(problem, 1000).space
    others = np.flatnonzero(~space.is_goal(range(len(space))))
    assert sorted(state for state, _ in expansions_of(build_pairs(problem, 1000), len(others))) == others.tolist()


def test_another_goal_of_what_was_exhausted_gives_the_pairs_that_a_new_exploration_gives() -> None:
    first = load_problem("collaboration_communication/2_2_3_pl_6")
    second = replace(first, name="hindsight", goal=first.goal[:1])

    other = replace(second, actions=tuple(replace(action, name=f"{action.name}_") for action in second.actions))
    tasks = (first, second, replace(other, structure=None))
    _, known, new = (make_pairs(task, 20) for task in tasks)
    for name in ("ids", "distance", "better", "worse", "weight"):
        assert getattr(known, name).tolist() == getattr(new, name).tolist()
    assert known.space.task == second
    for found in (known, new):
        assert found.space.is_goal(found.ids).tolist() == (found.distance == 0).tolist()
    assert len(known.space) < 225


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_the_number_of_expansions_is_bounded(most: int) -> None:
    assert len(list(expansions_of(build_pairs("gossip", most), most))) == most


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    def arrays(seed: int) -> list[list[float]]:
        pairs = make_pairs(load_problem("gossip"), 6, seed=seed)
        return [getattr(pairs, name).tolist() for name in ("ids", "distance", "better", "worse", "weight")]

    assert arrays(1) == arrays(1)
    assert arrays(1) != arrays(2)


def test_without_a_goal_or_without_pairs_there_is_nothing_to_learn_from(caplog: pytest.LogCaptureFixture) -> None:
    gossip = load_problem("gossip")  # of 64 e-states, among whose nearest 40 is no goal
    assert make_rollout(gossip, ExplorerSettings("exhaustive", max_visited=40), 5) is None
    assert make_rollout(hopeless(), ExplorerSettings("exhaustive"), 5) is None
    assert [message.partition(" is left out: no goal of ")[0] for message in caplog.messages] == [
        gossip.name, hopeless().name,
    ]  # fmt: skip
    assert make_rollout(trivial(), ExplorerSettings("exhaustive"), 0) is None
    assert len(caplog.messages) == 2
    samples = make_rollout(trivial(), ExplorerSettings("exhaustive"), 0, "samples")
    assert samples is not None
    assert samples.distance[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_coin_by_hand(seed: int) -> None:
    """There is one way to the goal: lift, look, shout; until then everything else leaves things as they are."""
    pairs = make_pairs(coin(), 10, seed=seed)
    states = [0]
    for action in range(3):
        states.append(pairs.space.successor(states[-1], action))
    assert pairs.ids.tolist() == sorted(states)
    assert dict(zip(pairs.ids.tolist(), pairs.distance.tolist(), strict=True)) == dict(
        zip(states, (3, 2, 1, 0), strict=True)
    )
    found = dict(expansions_of(pairs, 3))
    assert found == {before: [(after, before)] for before, after in pairwise(states)}


def test_a_plan_is_preferred_to_what_it_leaves_aside() -> None:
    space = StateSpace(load_problem("gossip"))
    plan = run_agent(make_agent("hfs"), space, make_heuristic("h_ff", space)).plan
    path, steps = find_states_along(space, plan), len(plan)
    assert steps > 2
    pairs = make_plan_pairs(space, path, seed=0)
    groups = list(expansions_of(pairs, steps))
    distance = dict(zip(pairs.ids.tolist(), pairs.distance.tolist(), strict=True))
    for number, (state, group) in enumerate(groups):
        after = set(space.expand([state]).target.tolist()) - {state}
        assert state == path[number]
        assert {one for one, _ in group} == {path[number + 1]}
        others = {other for _, other in group[:-1]}
        assert others <= after - {path[number + 1]}
        assert len(others) == min(12, len(after) - 1)
        assert distance[state] == steps - number
        off_the_plan = others - set(path)
        first_met = {other for other in off_the_plan if all(other not in dict(g).values() for _, g in groups[:number])}
        assert all(distance[other] == steps - number for other in first_met)
    assert distance[path[-1]] == 0


def flip_delusion() -> Task:
    """Of three e-states; in one of the two with the goal an agent is left with nothing to believe in."""
    return replace(delusion(), goal=(fluent("tail"),))


@pytest.mark.parametrize("name", ["dfs", "exhaustive"])
@pytest.mark.parametrize(("problem", "forbid"), [(PROBLEMS[0], False), ("", False), ("", True)])
def test_a_rollout_has_the_labels_of_its_exploration(problem: str, forbid: bool, name: str) -> None:
    task = load_problem(problem) if problem else flip_delusion()
    settings = ExplorerSettings(name, max_visited=150, max_kept=60, seed=1, consistent_beliefs=forbid)
    exploration = explore(task, settings)
    places = keep(exploration, settings)
    found = make_rollout(task, settings, 20, "samples")
    assert found is not None
    assert found.distance.tolist() == exploration.distance[places].tolist()
    assert problem or found.distance.tolist() == ([1, 0] if forbid else [1, 0, 0])
    assert found.space.task == task
    assert found.space.consistent_beliefs == forbid
    states = exploration.states[places].tolist()
    for own, state in zip(found.ids.tolist(), states, strict=True):
        assert found.space.model(own).state == exploration.space.model(state).state
    before = dict(zip(exploration.states.tolist(), exploration.predecessor.tolist(), strict=True))
    passed = set()
    for state in states:
        while state != -1:
            passed.add(state)
            state = before[state]
    assert len(found.space) == len(passed), "no other e-states are built"
    assert not len(found.better) + len(found.worse) + len(found.weight)


@pytest.mark.parametrize("use", ["samples", "pairs"])
def test_a_source_keeps_that_its_beliefs_are_consistent(use: Use) -> None:
    space = StateSpace(flip_delusion(), consistent_beliefs=True)
    found = make_rollout(space, ExplorerSettings("exhaustive"), 20, use)
    assert found is not None
    assert found.space.consistent_beliefs
    assert len(found.ids) == 2
