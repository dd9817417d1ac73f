import math
import subprocess
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import EpigymError, Reading, StateSpace, Task, load_problem
from epigym.config.values import make
from epigym.space.traversal import breadth_first
from epigym.task.formula import TRUE, considers_possible
from learn.data.explorers import (
    ExploredGraph,
    ExplorerSettings,
    Newest,
    compute_discard_probability,
    explore,
    is_sparse,
    keep,
)
from learn.data.fingerprint import fingerprint_task
from learn.data.labels import UNREACHABLE, Label, compute_goal_distances
from learn.data.making import make_trees
from learn.data.rollout import Tree
from tests.helpers.structures import steps_to_a_goal
from tests.helpers.tasks import delusion

SMALL = "collaboration_communication/2_2_3_pl_6"  # 225 e-states


@pytest.fixture(scope="module")
def small() -> Task:
    return load_problem(SMALL)


def find_distances(task: Task) -> list[int]:
    """Distance to the nearest goal of every reachable e-state, by one forward search per e-state."""
    space = StateSpace(task)
    list(breadth_first(space))
    return [steps_to_a_goal(space, state) for state in range(len(space))]


def test_exhaustive_visits_everything_and_labels_exactly(small: Task) -> None:
    exploration = explore(small, ExplorerSettings(name="exhaustive"))
    assert exploration.complete
    assert exploration.states.tolist() == list(range(225))
    assert exploration.distance.tolist() == find_distances(small)
    depth = {0: 0}
    for source, target in zip(exploration.source.tolist(), exploration.target.tolist(), strict=True):
        depth.setdefault(target, depth[source] + 1)
    assert exploration.depth.tolist() == [depth[state] for state in exploration.states.tolist()]
    assert explore(small, ExplorerSettings(max_visited=225)).explorer == "exhaustive"
    assert explore(small, ExplorerSettings(max_visited=224)).explorer == "dfs"
    assert explore(small, ExplorerSettings(max_kept=10)).explorer == "exhaustive"


@pytest.mark.parametrize("name", ["dfs", "exhaustive"])
def test_predecessors_and_actions_lead_to_every_visited_state(small: Task, name: str) -> None:
    exploration = explore(small, ExplorerSettings(name=name, max_visited=150, seed=3))
    assert len(exploration.states) == len(set(exploration.states.tolist())) == 150
    assert exploration.predecessor[0] == exploration.action[0] == -1
    depth = dict(zip(exploration.states.tolist(), exploration.depth.tolist(), strict=True))
    for index in range(1, 150):
        state, before = int(exploration.states[index]), int(exploration.predecessor[index])
        assert exploration.space.successor(before, int(exploration.action[index])) == state
        assert depth[state] == depth[before] + 1
        assert before in exploration.states[:index]


@pytest.mark.parametrize("name", ["dfs", "exhaustive"])
def test_an_exploration_stops_at_a_number_of_worlds(small: Task, name: str) -> None:
    whole, part = (explore(small, ExplorerSettings(name, max_worlds=most, seed=3)) for most in (None, 150))
    worlds = part.space.world_counts(part.target)
    is_last = part.source == part.source[-1]
    assert worlds[~is_last].sum() <= 150 < worlds.sum()
    assert not part.complete
    assert 1 < len(part.states) < len(whole.states)
    for column in ("depth", "predecessor", "action"):
        assert np.array_equal(getattr(part, column), getattr(whole, column)[: len(part.states)])
    far = explore(small, ExplorerSettings(name, max_worlds=10**9, seed=3))
    assert (far.complete, len(far.states)) == (whole.complete, len(whole.states))


def test_labels_where_the_worlds_of_a_layer_are_too_many(small: Task) -> None:
    whole = explore(small, ExplorerSettings("exhaustive"))
    part = explore(small, ExplorerSettings("exhaustive", max_worlds=3000))
    is_exact = part.label == Label.EXACT
    true = whole.distance[: len(part.states)]
    assert is_exact.any()
    assert np.array_equal(part.distance[is_exact], true[is_exact])
    assert (part.label[~is_exact] == Label.LOWER_BOUND).all()
    assert (part.distance[~is_exact] <= np.where(true == UNREACHABLE, np.inf, true)[~is_exact]).all()


def test_dfs_labels_are_distances_in_the_recorded_graph(small: Task) -> None:
    exploration = explore(small, ExplorerSettings(name="dfs", max_visited=60, seed=1))
    assert not exploration.complete
    space = exploration.space
    successors: dict[int, set[int]] = {}
    for source, target in zip(exploration.source.tolist(), exploration.target.tolist(), strict=True):
        successors.setdefault(source, set()).add(target)
    labels = dict(zip(exploration.states.tolist(), exploration.distance.tolist(), strict=True))
    for state, distance in labels.items():
        if space.is_goal([state])[0]:
            assert distance == 0
        elif distance != UNREACHABLE:
            reached = {state}
            for _ in range(distance - 1):
                reached = set().union(*(successors.get(source, set()) for source in reached))
                assert not space.is_goal(sorted(reached)).any()
            assert space.is_goal(sorted(set().union(*(successors.get(s, set()) for s in reached)))).any()


def test_dfs_goes_deep_first_and_expands_goals(small: Task) -> None:
    exploration = explore(small, ExplorerSettings(name="dfs", max_depth=4))
    assert exploration.depth.max() == 4
    assert exploration.depth[:5].tolist() == [0, 1, 2, 3, 4]
    expanded = set(exploration.source.tolist())
    at_limit = exploration.states[exploration.depth == 4]
    assert not expanded & set(at_limit.tolist())
    exploration = explore(small, ExplorerSettings(name="dfs", max_depth=200, discard_factor=0.0))
    goals = exploration.states[exploration.distance == 0]
    assert len(goals)
    assert set(goals.tolist()) <= set(exploration.source.tolist())


def test_explorations_depend_on_the_seed_alone(small: Task) -> None:
    def states(seed: int) -> list[int]:
        return explore(small, ExplorerSettings(name="dfs", max_visited=80, seed=seed)).depth.tolist()

    assert states(1) == states(1)
    assert len({tuple(states(seed)) for seed in range(4)}) > 1


def test_keep_draws_states_with_a_finite_label(small: Task) -> None:
    settings = ExplorerSettings(name="exhaustive", max_kept=50)
    exploration = explore(small, settings)
    kept = keep(exploration, settings)
    assert len(kept) == 50
    assert np.all(np.diff(kept) > 0)
    assert np.all(exploration.distance[kept] != UNREACHABLE)
    assert not np.array_equal(kept, keep(exploration, ExplorerSettings(name="exhaustive", max_kept=50, seed=1)))


def test_sparse_by_hand() -> None:
    # (L + 1) ln b - ln(b - 1) > ln(3 V) with L = 2, V = 10: b = 3 gives 27 / 2 = 13.5, b = 6 gives 216 / 5 = 43.2
    assert not is_sparse(3, 2, 10)
    assert is_sparse(6, 2, 10)
    assert not is_sparse(1, 25, 1)


@pytest.mark.parametrize(
    ("depth", "visited", "expanded", "goal_found", "expected"),
    [
        (0, 0, 0, False, 0.0),
        (10, 0, 0, False, 0.2),
        (5, 50, 0, False, 0.05 + 0.1),
        (0, 0, 30, False, 0.01),
        (0, 0, 300, False, 0.1),
        (0, 0, 0, True, 0.2),
        (10, 100, 300, True, 0.4),
    ],
)
def test_discard_probability(depth: int, visited: int, expanded: int, goal_found: bool, expected: float) -> None:
    settings = ExplorerSettings(max_depth=10, max_visited=100)
    found = compute_discard_probability(
        settings, depth=depth, visited=visited, expanded=expanded, goal_found=goal_found
    )
    assert math.isclose(found, expected)


def test_sparse_search_discards(small: Task) -> None:
    settings = ExplorerSettings(name="dfs", max_visited=225)
    exploration = explore(small, settings)
    assert is_sparse(len(small.actions), settings.max_depth, settings.max_visited)
    unexpanded = set(exploration.states.tolist()) - set(exploration.source.tolist())
    below_limit = exploration.states[exploration.depth < settings.max_depth]
    assert unexpanded & set(below_limit.tolist())
    never = explore(small, ExplorerSettings(name="dfs", max_visited=225, discard_factor=0.0))
    below = set(never.states[never.depth < never.depth.max()].tolist())
    assert below <= set(never.source.tolist())


def test_wrong_settings_are_refused() -> None:
    for settings, message in (
        ({"name": "exhaustiv"}, "did you mean 'exhaustive'"),
        ({"max_visited": 0}, "explorer.max_visited=0: expected at least 1"),
        ({"max_kept": 0}, "explorer.max_kept=0: expected at least 1"),
        ({"max_depth": 0}, "explorer.max_depth=0: expected at least 1"),
        ({"seed": -1}, "explorer.seed=-1: expected at least 0"),
        ({"discard_factor": 1.5}, "explorer.discard_factor=1.5: expected at most 1"),
        ({"discard_factor": -0.5}, "explorer.discard_factor=-0.5: expected at least 0"),
    ):
        with pytest.raises(EpigymError, match=message):
            make(ExplorerSettings, settings, "explorer.")


def test_e_states_are_explored_once_whatever_the_goals(small: Task) -> None:
    goals = [small.goal, small.goal[:1], small.goal[1:], small.goal[::-1]]
    tasks = [replace(small, name=str(number), goal=goal) for number, goal in enumerate(goals)]
    visits: list[int] = []
    explorations = [explore(task, ExplorerSettings(name="exhaustive"), visits.append) for task in tasks]
    for task, found in zip(tasks, explorations, strict=True):
        assert found.task is task
        assert found.space is explorations[0].space
        assert found.distance.tolist() == find_distances(task)
    assert visits[-3:] == [225] * 3
    assert len({tuple(found.distance.tolist()) for found in explorations}) > 1


def test_an_exploration_is_reused_for_the_same_e_states(small: Task) -> None:
    whole = explore(small, ExplorerSettings(max_visited=225))
    assert explore(small, ExplorerSettings("exhaustive", max_visited=10_000, seed=1)).space is whole.space
    cut = explore(small, ExplorerSettings("exhaustive", max_visited=224))
    assert (len(cut.states), cut.complete) == (224, False)
    assert explore(small, ExplorerSettings("exhaustive")).space is whole.space  # not the incomplete one
    forbidding = explore(small, ExplorerSettings("exhaustive", consistent_beliefs=True))
    assert forbidding.space.consistent_beliefs
    other = explore(replace(small, structure=None, actions=small.actions[1:]), ExplorerSettings("exhaustive"))
    assert len({id(found.space) for found in (whole, cut, forbidding, other)}) == 4
    visits: list[int] = []
    assert list(make_trees([small], ExplorerSettings(), 8, visits.append))
    assert visits == [225]


@pytest.mark.parametrize("name", ["exhaustive", "dfs"])
def test_e_states_with_inconsistent_beliefs_are_left_out_on_request(name: str) -> None:
    task = load_problem(SMALL, Reading("update_model"))
    met = {}
    for forbid in (False, True):
        space = explore(task, ExplorerSettings(name=name, consistent_beliefs=forbid)).space
        consistent = space.query(considers_possible(agent, TRUE) for agent in task.agents)
        met[forbid] = consistent(np.arange(len(space))).all(axis=1)
    assert not met[False].all()
    assert met[True].all()
    assert len(met[True]) == met[False].sum()  # inconsistent beliefs remain so


@pytest.mark.parametrize("name", ["dfs", "exhaustive"])
@pytest.mark.parametrize("path", [SMALL, "grapevine/3_pl_4"])
def test_an_environment_is_explored_as_its_space_and_task(path: str, name: str) -> None:
    env = gymnasium.make("epi/Problem-v0", path=path)
    settings = ExplorerSettings(name, max_visited=2000, max_depth=15)
    sources = (env, env.unwrapped.space, load_problem(path), path)
    assert_equal([explore(source, settings) for source in sources])
    assert_equal_trees([tree for source in sources for tree in make_trees([source], settings, 8)])


@pytest.mark.parametrize("name", ["dfs", "exhaustive"])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_start_and_goal_that_were_drawn_are_explored_as_their_task(name: str, steps: int) -> None:
    env = gymnasium.make("epi/Grapevine-v0", random_goals=True)
    env.reset(seed=1)
    for _ in range(steps):
        env.step(np.flatnonzero(env.unwrapped.action_masks())[-1])
    central = env.unwrapped
    task = replace(central.task, goal=central.goal)
    if steps:
        task = replace(task, initial=central.model().state)
    settings = ExplorerSettings(name, max_visited=200, max_depth=6)
    ours, theirs = explore(env, settings), explore(task, settings)
    assert_equal([ours, theirs])
    assert (ours.distance == 0).any()
    assert_equal_trees([tree for source in (env, task) for tree in make_trees([source], settings, 8)])


def test_what_a_space_forbids_is_not_explored() -> None:
    task = replace(delusion(), goal=())
    free, forbidding = (StateSpace(task, consistent_beliefs=forbidden) for forbidden in (False, True))
    counts = []
    for source, forbidden in ((free, False), (forbidding, False), (task, True), (task, False)):
        settings = ExplorerSettings("exhaustive", consistent_beliefs=forbidden)
        counts.append(len(explore(source, settings).states))
    assert counts[0] == counts[3] > counts[1] == counts[2]


def assert_equal_trees(trees: list[Tree]) -> None:
    first, *others = trees
    for other in others:
        assert (other.task, other.consistent_beliefs) == (first.task, first.consistent_beliefs)
        names = ("distance", "label", "sample", "better", "worse", "weight")
        for one, same, listed in (first, other, ("predecessor", "action")), (first.goals[0], other.goals[0], names):
            for name in listed:
                np.testing.assert_array_equal(getattr(one, name), getattr(same, name))


def assert_equal(explorations: list[ExploredGraph]) -> None:
    """All explorations are the same, to the bit."""
    first, *others = explorations
    for other in others:
        assert (other.task, other.explorer, other.complete) == (first.task, first.explorer, first.complete)
        for name in ("states", "depth", "predecessor", "action", "source", "target", "distance"):
            np.testing.assert_array_equal(getattr(other, name), getattr(first, name))
        for state in first.states.tolist():
            assert other.space.model(state).state == first.space.model(state).state


def test_labels_by_hand() -> None:
    # 0 -> 1 -> 2(goal) -> 3 -> 3, 4 -> 2, 5 alone
    distances = compute_goal_distances(6, [0, 1, 2, 3, 4], [1, 2, 3, 3, 2], [2])
    assert distances.tolist() == [2, 1, 0, UNREACHABLE, 1, UNREACHABLE]
    assert compute_goal_distances(2, [0], [1], []).tolist() == [UNREACHABLE] * 2
    assert compute_goal_distances(2, [], [], [1]).tolist() == [UNREACHABLE, 0]


@st.composite
def transition_graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], set[int]]:
    count = draw(st.integers(1, 12))
    states = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(states, states), max_size=40)), draw(st.sets(states))


@given(transition_graphs())
def test_against_relaxation_until_nothing_changes(graph: tuple[int, list[tuple[int, int]], set[int]]) -> None:
    count, transitions, goals = graph
    best = np.array([0.0 if state in goals else np.inf for state in range(count)])
    for _ in range(count):
        for source, target in transitions:
            best[source] = min(best[source], best[target] + 1)
    expected = np.where(np.isinf(best), UNREACHABLE, best)
    sources, targets = [source for source, _ in transitions], [target for _, target in transitions]
    assert compute_goal_distances(count, sources, targets, sorted(goals)).tolist() == expected.tolist()


def test_task_fingerprint_sees_every_part() -> None:
    task = load_problem(SMALL)
    variants = [
        replace(task, goal=task.goal[::-1]),
        replace(task, structure=None, actions=task.actions[:-1]),
        replace(task, actions=(replace(task.actions[0], name="other"), *task.actions[1:])),
        replace(task, actions=(replace(task.actions[0], applicability=task.goal[0]), *task.actions[1:])),
        load_problem(SMALL, Reading("update_model")),
        load_problem("collaboration_communication/2_2_3_pl_4"),
    ]
    assert len({fingerprint_task(variant) for variant in [task, *variants]}) == 7
    assert fingerprint_task(task) == fingerprint_task(load_problem(SMALL))


STEPS = st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 12)), max_size=30)


@given(STEPS)
def test_the_newest_that_fit_are_kept(steps: list[tuple[str, int | None]]) -> None:
    """Against a list in which whatever was put in or asked for last comes last."""
    newest, expected = Newest[int](10), list[tuple[str, int]]()
    for key, size in steps:
        found = dict(expected).get(key)
        if size is None:
            assert newest.get(key) == found
        else:
            newest.put(key, size, size)
            found = size
        expected = [entry for entry in expected if entry[0] != key]
        if found is not None and found <= 10:
            expected.append((key, found))
        while sum(entry[1] for entry in expected) > 10:
            del expected[0]
    assert {key: newest.get(key) for key in "abcde"} == {key: dict(expected).get(key) for key in "abcde"}


def test_nothing_is_kept_when_the_interpreter_ends() -> None:
    """Else the core says that it leaks: its objects would outlive it."""
    program = """
from atexit import register
from learn.data.explorers import Newest
register(lambda: print(newest.get("a")))  # called after what is registered later
newest = Newest(1)
newest.put("a", "there", 1)
print(newest.get("a"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["there", "None"]
