"""Observations of fixed size, for libraries that refuse graph spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, GraphInstance
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from epigym.config.values import Count, convert
from epigym.encoding.encoder import as_batch
from epigym.envs.graph_space import GraphBatchSpace, GraphSpace
from epigym.errors import LimitError
from epigym.space.rows import GraphBatch

Arrays = dict[str, NDArray[Any]]

if TYPE_CHECKING:
    _VectorWrapper = VectorWrapper[Arrays, NDArray[np.int64], GraphBatch, NDArray[np.int64], NDArray[Any]]
else:
    _VectorWrapper = VectorWrapper  # takes no types before Gymnasium 1.4


class PaddedObservation(
    gymnasium.ObservationWrapper[Arrays, np.int64, GraphInstance], gymnasium.utils.RecordConstructorArgs
):
    """Pads every graph to the same size.

    Observations are dictionaries, zero wherever a mask is zero:

    - `nodes`: [max_nodes, width], the rows of the nodes, uint8 where they are bits of identifiers, else int64.
    - `edges`: int64[max_edges], the edge labels.
    - `edge_links`: int64[max_edges, 2], source and target of every edge.
    - `node_mask`: int8[max_nodes], 1 for the nodes of the graph, which come first.
    - `edge_mask`: int8[max_edges], 1 for the edges of the graph, which come first.

    Args:
        env: an environment whose observations are graphs.
        max_nodes: nodes of the largest graph.
        max_edges: edges of the largest graph.

    Raises:
        TypeError: when the observations of `env` are not graphs.
        UsageError: when a size is no whole number from 1 on.
    """

    def __init__(
        self, env: gymnasium.Env[GraphInstance, np.int64], max_nodes: int = 128, max_edges: int = 1024
    ) -> None:
        """Wrap `env` and fix the sizes."""
        gymnasium.utils.RecordConstructorArgs.__init__(self, max_nodes=max_nodes, max_edges=max_edges)
        super().__init__(env)
        space = env.observation_space
        if not isinstance(space, GraphSpace):
            raise TypeError(
                f"PaddedObservation needs an environment of epigym, whose observations are graphs, got {space}"
            )
        self.max_nodes, self.max_edges = max_nodes, max_edges
        self.observation_space: Dict[Any] = _pad_space(space, max_nodes, max_edges)  # type: ignore[assignment]

    def observation(self, observation: GraphInstance) -> Arrays:
        """The padded graph.

        Raises:
            LimitError: when the graph has more nodes or edges than fit.
        """
        arrays = _pad(as_batch(observation), self.max_nodes, self.max_edges)
        return {name: array[0] for name, array in arrays.items()}


class PaddedVectorObservation(_VectorWrapper, gymnasium.utils.RecordConstructorArgs):
    """Pads the graphs of a vector environment to the same size: those of `PaddedObservation`, stacked.

    Observations that `SameStep` autoreset leaves in `infos["final_obs"]` are padded too, one by one.

    Args:
        env: an `epigym.envs.vector.EpistemicVectorEnv`.
        max_nodes: nodes of the largest graph.
        max_edges: edges of the largest graph.

    Raises:
        TypeError: when the observations of `env` are not a batch of graphs.
    """

    def __init__(
        self,
        env: VectorEnv[GraphBatch, NDArray[np.int64], NDArray[Any]],
        max_nodes: int = 128,
        max_edges: int = 1024,
    ) -> None:
        """Wrap `env` and fix the sizes."""
        gymnasium.utils.RecordConstructorArgs.__init__(self, max_nodes=max_nodes, max_edges=max_edges)
        super().__init__(env)
        space = env.observation_space
        if not isinstance(space, GraphBatchSpace):
            raise TypeError(
                "PaddedVectorObservation needs a vector environment of epigym, whose observations are graphs, "
                f"got {space}"
            )
        self.max_nodes, self.max_edges = max_nodes, max_edges
        self.single_observation_space = _pad_space(space.single, max_nodes, max_edges)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        """Reset, and pad; errors as `observations`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.observations(observations), infos

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Arrays, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Step, and pad; errors as `observations`."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        final = infos.get("final_obs", ())
        for index in (index for index, graph in enumerate(final) if graph is not None):
            padded = self.observations(as_batch(final[index]))
            final[index] = {name: array[0] for name, array in padded.items()}
        return self.observations(observations), rewards, terminations, truncations, infos

    def observations(self, observations: GraphBatch) -> Arrays:
        """The padded graphs, each array with one row for each of them.

        Raises:
            LimitError: when a graph has more nodes or edges than fit.
        """
        return _pad(observations, self.max_nodes, self.max_edges)


def _pad_space(space: GraphSpace, max_nodes: int, max_edges: int) -> Dict[Any]:
    convert(max_nodes, Count, "max_nodes")
    convert(max_edges, Count, "max_edges")
    return Dict(
        {
            "nodes": batch_space(space.node_space, max_nodes),
            "edges": Box(0, int(space.edge_space.n) - 1, (max_edges,), np.int64),
            "edge_links": Box(0, max_nodes - 1, (max_edges, 2), np.int64),
            "node_mask": Box(0, 1, (max_nodes,), np.int8),
            "edge_mask": Box(0, 1, (max_edges,), np.int8),
        }
    )


def _pad(graphs: GraphBatch, max_nodes: int, max_edges: int) -> Arrays:
    nodes, edges = np.diff(graphs.node_ptr), np.diff(graphs.edge_ptr)
    for name, counts, limit in (("max_nodes", nodes, max_nodes), ("max_edges", edges, max_edges)):
        if (count := counts.max(initial=0)) > limit:
            raise LimitError(
                f"{name}={limit} is too small for an e-state: make the wrapper with {name}={count} or more"
            )
    is_node, is_edge = np.arange(max_nodes) < nodes[:, None], np.arange(max_edges) < edges[:, None]
    links = (graphs.edge_index - np.repeat(graphs.node_ptr[:-1], edges)).T
    return {
        "nodes": _place_rows(graphs.nodes, is_node),
        "edges": _place_rows(graphs.edge_label, is_edge),
        "edge_links": _place_rows(links, is_edge),
        "node_mask": is_node.view(np.int8),
        "edge_mask": is_edge.view(np.int8),
    }


def _place_rows(array: NDArray[Any], places: NDArray[np.bool_]) -> NDArray[Any]:
    """The rows of an array where `places` are, one after the other, and zeros elsewhere."""
    padded = np.zeros((*places.shape, *array.shape[1:]), array.dtype)
    padded[places] = array
    return padded
