"""Single environments work in the vector environments of Gymnasium without further ado."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import GraphInstance
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import VectorEnv

from tests.helpers.bit_graphs import bit_graphs

ENVS = 3


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
        "epi/CoinInTheBox-v0", num_envs=ENVS, vectorization_mode=mode, instance="pl_3", random_goals=True, **arguments
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


def test_observations_stay_as_they_were() -> None:
    envs = make("async")
    first, infos = envs.reset(seed=1)
    kept = [graph.nodes.copy() for graph in first]
    envs.step(np.array([np.flatnonzero(mask)[0] for mask in infos["action_mask"]]))
    assert all((graph.nodes == nodes).all() for graph, nodes in zip(first, kept, strict=True))
    envs.close()


def graph(nodes: Any, edges: Any, links: Any) -> GraphInstance:
    return GraphInstance(np.asarray(nodes), edges, links)


GOOD = graph(np.eye(2, 64, dtype=np.uint8), np.array([1, 255]), np.array([[0, 1], [1, 1]]))


def test_the_space_contains_its_samples() -> None:
    space = bit_graphs(seed=3)
    assert all(space.sample(num_nodes=nodes) in space for nodes in range(1, 8))
    assert GOOD in space
    assert GOOD._replace(edges=None, edge_links=None) in space
    assert space == bit_graphs() != bit_graphs(32)


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
