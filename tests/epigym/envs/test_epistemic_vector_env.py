"""The vector environment is as many single environments, step by step."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.spaces import GraphInstance, MultiDiscrete
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import iterate
from gymnasium.wrappers.vector import DictInfoToList
from hypothesis import given, settings
from hypothesis import strategies as st

import epigym
from epigym import LimitError, StateSpace, load_problem
from epigym.encoding.encoder import ENCODINGS, Encoder, graph_instance
from epigym.envs.goals import Goals
from epigym.envs.graph_space import GraphBatchSpace
from epigym.envs.registration import MAX_EPISODE_STEPS
from epigym.envs.vector import EpistemicVectorEnv
from epigym.errors import EpigymError
from epigym.space.rows import GraphBatch, join
from epigym.task.formula import believes, fluent, not_
from tests.helpers.bit_graphs import bit_graphs
from tests.helpers.marks import slow_but

DOMAINS = ("CoinInTheBox", "Grapevine", "Gossip")
MODES = tuple(AutoresetMode)
ENVS = 4
STEPS = 25
INFOS = ("action_mask", "is_goal", "invalid_action", "inconsistent_agents")


def native(domain: str = "CoinInTheBox", num_envs: int = ENVS, **arguments: Any) -> EpistemicVectorEnv:
    envs = gymnasium.make_vec(f"epi/{domain}-v0", num_envs, "vector_entry_point", **arguments)
    assert isinstance(envs, EpistemicVectorEnv)
    return envs


def separate(domain: str, mode: AutoresetMode, **arguments: Any) -> SyncVectorEnv[Any, Any, Any]:
    """Single environments, side by side as Gymnasium does it."""
    envs = gymnasium.make_vec(f"epi/{domain}-v0", ENVS, "sync", vector_kwargs={"autoreset_mode": mode}, **arguments)
    assert isinstance(envs, SyncVectorEnv)
    return envs


def graphs(batch: GraphBatch) -> list[GraphInstance]:
    return [graph_instance(batch, index) for index in range(len(batch.node_ptr) - 1)]


def assert_same_infos(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """All that Gymnasium has of an environment, the vector environment has too, in the same form."""
    assert ours.keys() == theirs.keys()
    assert {*INFOS} <= ours.keys()
    for name in [name for name in theirs if not name.startswith(("_", "final"))]:
        assert (ours[name].dtype, ours[name].shape) == (theirs[name].dtype, theirs[name].shape), name
        for index in np.flatnonzero(theirs[f"_{name}"]).tolist():
            assert ours[f"_{name}"][index]
            assert np.array_equal(ours[name][index], theirs[name][index]), name


def assert_same_end(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The last observations and the information on episodes that ended are the same."""
    assert ("final_obs" in ours) == ("final_obs" in theirs)
    if "final_obs" in theirs:
        for name in ("_final_obs", "_final_info"):
            assert np.array_equal(ours[name], theirs[name])
        assert data_equivalence(list(ours["final_obs"]), list(theirs["final_obs"]), exact=True)
        assert np.array_equal(ours["final_info"]["_is_goal"], theirs["final_info"]["_is_goal"])
        assert_same_infos(ours["final_info"], theirs["final_info"])


def chosen(rng: np.random.Generator, masks: Any) -> Any:
    """Mostly allowed actions; the first one in dead ends."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() and rng.random() < 0.85 else 0 for mask in masks])


def assert_same_play(domain: str, mode: AutoresetMode, seed: int, **arguments: Any) -> tuple[int, int]:
    """Hold the vector environment against single ones; how many episodes terminated, and how many were truncated."""
    arguments = {"max_episode_steps": 6, **arguments}
    ours, theirs = native(domain, autoreset_mode=mode, **arguments), separate(domain, mode, **arguments)
    rng = np.random.default_rng(seed)
    observations, infos = ours.reset(seed=seed)
    expected, expected_infos = theirs.reset(seed=seed)
    ends = [0, 0]
    for _ in range(STEPS):
        assert observations in ours.observation_space
        assert data_equivalence(graphs(observations), list(expected), exact=True)
        assert_same_infos(infos, expected_infos)
        actions = chosen(rng, infos["action_mask"])
        observations, *outcome, infos = ours.step(actions)
        expected, *expected_outcome, expected_infos = theirs.step(actions)
        assert data_equivalence(outcome, expected_outcome, exact=True)
        assert_same_end(infos, expected_infos)
        assert_same_infos(infos, expected_infos)
        _, terminated, truncated = outcome
        ends = [ends[0] + int(terminated.sum()), ends[1] + int(truncated.sum())]
        if mode is AutoresetMode.DISABLED and (terminated | truncated).any():
            mask = terminated | truncated
            observations, infos = ours.reset(options={"reset_mask": mask})
            expected, expected_infos = theirs.reset(options={"reset_mask": mask})
    return ends[0], ends[1]


def test_the_information_can_be_listed_by_environment() -> None:
    ours, theirs = map(DictInfoToList, (native(), separate("CoinInTheBox", AutoresetMode.NEXT_STEP)))
    assert data_equivalence(ours.reset(seed=0)[1], theirs.reset(seed=0)[1])
    actions = np.zeros(ENVS, np.int64)
    assert data_equivalence(ours.step(actions)[-1], theirs.step(actions)[-1])


@pytest.mark.parametrize("mode", MODES)
def test_arrays_that_the_caller_changes_change_no_step(mode: AutoresetMode) -> None:
    changed, other = (native(autoreset_mode=mode, max_episode_steps=6) for _ in range(2))
    rng = np.random.default_rng(0)
    _, infos = changed.reset(seed=0)
    _, expected = other.reset(seed=0)
    over = np.zeros(ENVS, np.bool_)
    for _ in range(STEPS):
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = changed.reset(options={"reset_mask": over})
            _, expected = other.reset(options={"reset_mask": over})
        actions = chosen(rng, expected["action_mask"])
        for name in INFOS:
            infos[name].fill("changed") if infos[name].dtype == object else np.logical_not(infos[name], out=infos[name])
        *outcome, infos = changed.step(actions)
        *expected_outcome, expected = other.step(actions)
        assert data_equivalence(outcome[1:], expected_outcome[1:], exact=True)  # observations aside
        assert all(np.array_equal(infos[name], expected[name]) for name in INFOS)
        over = expected_outcome[2] | expected_outcome[3]


@pytest.mark.parametrize("random_goals", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("domain", slow_but(DOMAINS, *DOMAINS[::2]))
def test_it_is_as_many_single_environments(domain: str, mode: AutoresetMode, random_goals: bool) -> None:
    terminated, truncated = assert_same_play(domain, mode, 3, random_goals=random_goals, goal_steps=2)
    assert truncated
    assert terminated or not random_goals


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    mode=st.sampled_from(MODES),
    encoding=st.sampled_from(list(ENCODINGS)),
    consistent_beliefs=st.booleans(),
    steps=st.integers(1, 9),
)
def test_arguments(seed: int, mode: AutoresetMode, encoding: str, consistent_beliefs: bool, steps: int) -> None:
    assert_same_play(
        "CoinInTheBox",
        mode,
        seed,
        random_goals=True,
        goal_steps=4,
        goal_size=3,
        encoding=encoding,
        consistent_beliefs=consistent_beliefs,
        semantics="update_model",
        max_episode_steps=steps,
    )


def test_make_vec_takes_it_by_default_and_describes_it() -> None:
    envs = gymnasium.make_vec("epi/Problem-v0", num_envs=3, path="coin_in_the_box/pl_3")
    assert isinstance(envs, EpistemicVectorEnv)
    assert (envs.num_envs, envs.max_episode_steps) == (3, MAX_EPISODE_STEPS)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert native(autoreset_mode="SameStep").metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert EpistemicVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert isinstance(envs.action_space, MultiDiscrete)
    assert envs.action_space.nvec.tolist() == [envs.single_action_space.n] * 3
    assert len(envs.unwrapped.action_names) == envs.single_action_space.n
    assert repr(envs) == "EpistemicVectorEnv(epi/Problem-v0, num_envs=3)"


def test_options_hold_for_the_environments_that_are_reset() -> None:
    envs = native(instance="pl_3")
    envs.reset(seed=0)
    names = envs.action_names
    actions = np.full(ENVS, names.index("signal_a_b"))
    envs.step(actions)
    met = int(envs.states[0])
    mask = np.array([True, False, True, False])
    envs.reset()
    _, infos = envs.reset(options={"reset_mask": mask, "goal": "tail", "state": met})
    assert (envs.states == met).tolist() == mask.tolist()
    assert infos["is_goal"].tolist() == mask.tolist()
    _, rewards, terminated, _, _ = envs.step(actions)
    assert terminated.tolist() == mask.tolist()
    assert rewards.tolist() == [-1.0] * ENVS
    _, rewards, terminated, _, _ = envs.step(actions)
    assert rewards.tolist() == [0.0, -1.0, 0.0, -1.0]
    assert not terminated.any()
    assert [envs.goals[index].goal == envs.task.goal for index in range(ENVS)] == [True] * ENVS


def test_seeds_may_be_listed_and_leave_others_alone() -> None:
    def goals(envs: EpistemicVectorEnv) -> list[Any]:
        return [envs.goals[index].goal for index in range(ENVS)]

    envs = native(random_goals=True)
    envs.reset(seed=[7, 8, 9, 10])
    by_list = goals(envs)
    envs.reset(seed=7)
    assert goals(envs) == by_list
    envs.reset(seed=[7, None, None, 10], options={"reset_mask": np.array([True, False, False, True])})
    assert goals(envs) == by_list
    envs.reset()
    onwards = goals(envs)
    envs.reset(seed=7)
    envs.reset(seed=[7, None, None, 10], options={"reset_mask": np.array([True, False, False, False])})
    envs.reset()
    assert goals(envs) == onwards


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"options": {"gaol": "tail"}}, "unknown reset option 'gaol': did you mean 'goal'"),
        ({"options": {"reset_mask": [True] * ENVS}}, r"'reset_mask' is an array bool\[4\]"),
        ({"options": {"reset_mask": np.zeros(ENVS, bool)}}, "marks no environment"),
        ({"seed": [1, 2]}, "2 seeds for 4 environments"),
        ({"seed": 1.0}, "a seed is a whole number, or a list with one for each environment, got 1.0"),
    ],
)
def test_wrong_resets_are_explained(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(EpigymError, match=message):
        native().reset(**asked)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"one for each of 4 environments, got int64\[2\]"),
        ([0.0] * ENVS, r"got float64\[4\]"),
        ([0, 0, 99, 0], "from 0 to 20, got 99"),
        ([0, -1, 0, 0], "from 0 to 20, got -1"),
    ],
)
def test_wrong_actions_are_explained(actions: Any, message: str) -> None:
    envs = native(instance="pl_3")
    envs.reset()
    with pytest.raises(EpigymError, match=message):
        envs.step(np.array(actions))


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(EpigymError, match="unknown autoreset_mode 'NextSteps': did you mean 'NextStep'"):
        native(autoreset_mode="NextSteps")


def test_what_is_not_allowed_is_an_error_on_request_and_names_the_environment() -> None:
    envs = native(instance="pl_3", invalid_action="error")
    _, infos = envs.reset()
    actions = np.array([np.flatnonzero(mask)[0] for mask in infos["action_mask"]])
    actions[2] = envs.action_names.index("peek_a")
    with pytest.raises(EpigymError, match=r"environment 2: action 'peek_a' is not applicable: .*: B\(a, .*noop"):
        envs.step(actions)


def test_a_step_needs_a_reset_and_without_autoreset_another_one() -> None:
    envs = native(autoreset_mode="Disabled", max_episode_steps=1)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(ENVS, int))
    envs.reset()
    envs.step(np.zeros(ENVS, int))
    with pytest.raises(EpigymError, match=r"the episode of environment 0 has ended.*reset_mask"):
        envs.step(np.zeros(ENVS, int))


def test_pictures_of_all_environments() -> None:
    assert native().render() is None
    envs = native(render_mode="svg", instance="pl_3", num_envs=2)
    envs.reset()
    envs.step(np.array([envs.action_names.index("signal_a_b"), envs.action_names.index("open_a")]))
    first, second = envs.render() or ()
    assert first != second
    assert first.startswith("<?xml")


def test_the_space_of_batches() -> None:
    space = GraphBatchSpace(3, bit_graphs(), seed=1)
    sample = space.sample()
    assert sample in space
    assert sample not in GraphBatchSpace(2, bit_graphs())
    assert sample not in GraphBatchSpace(3, bit_graphs(32))
    assert list(sample) not in space
    assert sample._replace(nodes=sample.nodes + 1) not in space
    across = sample._replace(edge_index=np.zeros_like(sample.edge_index))
    assert (across in space) == (sample.edge_ptr[1] == len(sample.edge_label))
    assert space == GraphBatchSpace(3, bit_graphs()) != GraphBatchSpace(4, bit_graphs())
    assert all(graph in space.single for graph in iterate(space, sample))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(0, 100))
def test_graphs_taken_and_joined_are_the_graphs(chosen_graphs: list[int], seed: int) -> None:
    batch = GraphBatchSpace(6, bit_graphs(8), seed=seed).sample()
    assert data_equivalence(join([batch.take(np.arange(2)), batch.take(np.arange(2, 6))]), batch, exact=True)
    taken = batch.take(np.array(chosen_graphs))
    assert taken in GraphBatchSpace(len(chosen_graphs), bit_graphs(8))
    assert data_equivalence(graphs(taken), [graphs(batch)[index] for index in chosen_graphs], exact=True)


@pytest.mark.parametrize("mode", MODES)
def test_padded_batches_are_the_padded_graphs(mode: AutoresetMode) -> None:
    arguments: dict[str, Any] = {"random_goals": True, "max_episode_steps": 4}
    ours = epigym.PaddedVectorObservation(native(autoreset_mode=mode, **arguments))
    theirs: VectorEnv[Any, Any, Any] = gymnasium.make_vec(
        "epi/CoinInTheBox-v0",
        ENVS,
        "sync",
        vector_kwargs={"autoreset_mode": mode},
        wrappers=[epigym.PaddedObservation],
        **arguments,
    )
    observations, infos = ours.reset(seed=1)
    expected, _ = theirs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(4):
        assert observations in ours.observation_space
        assert data_equivalence(observations, expected, exact=True)
        actions = chosen(rng, infos["action_mask"])
        observations, _, _, _, infos = ours.step(actions)
        expected, _, _, _, expected_infos = theirs.step(actions)
    for mine, other in zip(infos.get("final_obs", ()), expected_infos.get("final_obs", ()), strict=True):
        assert data_equivalence(mine, other, exact=True)


def test_only_batches_of_graphs_are_padded() -> None:
    with pytest.raises(TypeError, match="needs a vector environment of epigym"):
        epigym.PaddedVectorObservation(gymnasium.make_vec("CartPole-v1"))
    envs = epigym.PaddedVectorObservation(native(), max_nodes=5)
    with pytest.raises(epigym.LimitError, match=r"max_nodes=5 is too small .* max_nodes="):
        envs.reset()


PLAIN = 3


def play(envs: VectorEnv[Any, Any, Any], steps: int) -> list[Any]:
    """Masked random actions; every batch of observations with rewards and masks."""
    random = np.random.default_rng(0)
    observations, infos = envs.reset(seed=5)
    seen: list[Any] = [(observations, infos["action_mask"])]
    for _ in range(steps):
        actions = np.array([random.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        seen.append((observations, infos["action_mask"], rewards, terminations, truncations))
    return seen


def make(mode: str, **arguments: Any) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(
        "epi/CoinInTheBox-v0", num_envs=PLAIN, vectorization_mode=mode, instance="pl_3", random_goals=True, **arguments
    )


@pytest.fixture(scope="module")
def synchronous() -> list[Any]:
    envs = make("sync")
    seen = play(envs, steps=30)
    envs.close()
    return seen


def test_both_modes_play_alike(synchronous: list[Any]) -> None:
    envs = make("async")
    seen = play(envs, steps=30)
    envs.close()
    assert data_equivalence(seen, synchronous, exact=True)


def test_asynchronous_environments_started_afresh_work_and_clean_up() -> None:
    before = set(Path("/dev/shm").glob("epigym-*"))
    envs = make("async", vector_kwargs={"context": "spawn"})
    observations, _ = envs.reset(seed=1)
    assert all(graph in envs.single_observation_space for graph in observations)
    assert len(set(Path("/dev/shm").glob("epigym-*")) - before) == 1
    envs.close()
    del envs
    assert set(Path("/dev/shm").glob("epigym-*")) == before


def test_observations() -> None:
    envs = make("async")
    first, infos = envs.reset(seed=1)
    kept = [graph.nodes.copy() for graph in first]
    envs.step(np.array([np.flatnonzero(mask)[0] for mask in infos["action_mask"]]))
    assert all((graph.nodes == nodes).all() for graph, nodes in zip(first, kept, strict=True))
    envs.close()
    space = bit_graphs(seed=3)
    assert all(space.sample(num_nodes=nodes) in space for nodes in range(1, 8))
    assert GOOD in space
    assert GOOD._replace(edges=None, edge_links=None) in space
    assert space == bit_graphs() != bit_graphs(32)


def graph(nodes: Any, edges: Any, links: Any) -> GraphInstance:
    return GraphInstance(np.asarray(nodes), edges, links)


GOOD = graph(np.eye(2, 64, dtype=np.uint8), np.array([1, 255]), np.array([[0, 1], [1, 1]]))


@pytest.mark.parametrize(
    "wrong",
    [
        tuple(GOOD),
        GOOD._replace(nodes=None),
        GOOD._replace(nodes=GOOD.nodes * 2),
        GOOD._replace(nodes=GOOD.nodes.astype(np.float32)),
        GOOD._replace(nodes=GOOD.nodes[:, :32]),
        GOOD._replace(edges=np.array([1, 256])),
        GOOD._replace(edges=np.array([1.0, 2.0])),
        GOOD._replace(edges=np.array([1])),
        GOOD._replace(edges=None),
        GOOD._replace(edge_links=None),
        GOOD._replace(edge_links=GOOD.edge_links.T[:, :1]),
        GOOD._replace(edge_links=np.array([[0, 1], [1, 2]])),
        GOOD._replace(edge_links=np.array([[0, 1], [1, -1]])),
    ],
)
def test_the_space_refuses(wrong: Any) -> None:
    assert wrong not in bit_graphs()


def test_a_refused_goal_changes_no_environment() -> None:
    tail = fluent("tail")
    goals = Goals(Encoder(StateSpace(load_problem("coin_in_the_box/pl_3")), "bitmask", goal_bits=6), [(tail,)] * 2)
    large = tuple(reduce(lambda inner, agent: believes(agent, inner), "abc" * depth, tail) for depth in range(1, 9))
    with pytest.raises(LimitError):
        goals.change([0, 1], [(not_(tail),), large])
    start = np.zeros(2, np.int32)
    [before, _] = goals.holds(start).tolist()
    goals.change([0, 1], [(not_(tail),), (tail,)])
    assert (goals[0].goal, goals[1].goal) == ((not_(tail),), (tail,))
    assert goals.holds(start).tolist() == [not before, before]


def test_human_rendering_prints_each_environment(capsys: pytest.CaptureFixture[str]) -> None:
    envs = native(num_envs=2, render_mode="human")
    for act in (lambda: envs.reset(seed=0), lambda: envs.step(np.zeros(2, np.int64))):
        act()
        shown = capsys.readouterr().out
        envs.render()
        assert shown == capsys.readouterr().out != ""
