"""Padded observations hold the same graph as the originals."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import epigym
from epigym.errors import LimitError, ShapeError


def make(**sizes: int) -> epigym.PaddedObservation:
    return epigym.PaddedObservation(gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3"), **sizes)


def test_the_padded_graph_is_the_graph() -> None:
    padded, plain = make(max_nodes=40, max_edges=200), gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    arrays, _ = padded.reset(seed=0)
    graph, _ = plain.reset(seed=0)
    sizes = set()
    for action in (6, 0, 4, 7):
        nodes, edges = int(arrays["node_mask"].sum()), int(arrays["edge_mask"].sum())
        sizes.add(nodes)
        assert (arrays["nodes"][:nodes] == graph.nodes).all()
        assert (arrays["edges"][:edges] == graph.edges).all()
        assert (arrays["edge_links"][:edges] == graph.edge_links).all()
        assert all(arrays["node_mask"][:nodes])
        assert all(arrays["edge_mask"][:edges])
        assert not any(arrays[name][nodes:].any() for name in ("nodes", "node_mask"))
        assert not any(arrays[name][edges:].any() for name in ("edges", "edge_links", "edge_mask"))
        arrays, *_ = padded.step(np.int64(action))
        graph, *_ = plain.step(np.int64(action))
    assert len(sizes) > 1


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_the_space_is_right_and_the_checker_content() -> None:
    env = make()
    assert env.reset(seed=1)[0] in env.observation_space
    check_env(epigym.PaddedObservation(env.unwrapped))
    assert env.get_wrapper_attr("action_masks")().shape == (21,)


def test_padded_environments_are_stacked_in_all_modes() -> None:
    for mode in ("sync", "async"):
        envs = gymnasium.make_vec("epi/CoinInTheBox-v0", 2, mode, wrappers=[epigym.PaddedObservation])
        observations, _ = envs.reset(seed=0)
        assert observations["nodes"].shape == (2, 128, 64)
        assert observations in envs.observation_space
        envs.close()


def test_what_cannot_be_padded_is_named() -> None:
    with pytest.raises(LimitError, match=r"max_nodes=5 is too small .* max_nodes=8 or more"):
        make(max_nodes=5).reset()
    with pytest.raises(LimitError, match=r"max_edges=3 is too small"):
        make(max_edges=3).reset()
    with pytest.raises(TypeError, match="needs an environment of epigym"):
        epigym.PaddedObservation(gymnasium.make("CartPole-v1"))
    env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    with pytest.raises(ShapeError, match=r"wrap the environment with epigym\.PaddedObservation"):
        _ = env.observation_space.shape
    assert getattr(env.observation_space, "shape", None) is None


@pytest.mark.parametrize("name", ["stable_baselines3.PPO", "sb3_contrib.MaskablePPO"])
def test_stable_baselines_on_a_raw_environment_says_what_to_do(name: str) -> None:
    module, _, learner = name.partition(".")
    algorithm = getattr(pytest.importorskip(module), learner)
    env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    with pytest.raises(ShapeError, match=r"PaddedObservation, .* with the policy 'MultiInputPolicy'"):
        algorithm("MlpPolicy", env)
    algorithm("MultiInputPolicy", epigym.PaddedObservation(env, 32, 128), n_steps=2, batch_size=2)
