"""Observations of fixed size, for libraries that refuse graph spaces."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, GraphInstance
from numpy.typing import NDArray

from epigym.envs.graph_space import LABELS, GraphSpace
from epigym.errors import LimitError

Arrays = dict[str, NDArray[Any]]


class PaddedObservation(
    gymnasium.ObservationWrapper[Arrays, np.int64, GraphInstance], gymnasium.utils.RecordConstructorArgs
):
    """Pads every graph to the same size.

    Observations are dictionaries, zero wherever a mask is zero:
    - `nodes`: uint8[max_nodes, width], the bits of the node identifiers.
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
        self.max_nodes = max_nodes
        self.max_edges = max_edges
        self.observation_space: Dict[Any] = Dict(  # type: ignore[assignment]
            {
                "nodes": Box(0, 1, (max_nodes, space.width), np.uint8),
                "edges": Box(0, LABELS - 1, (max_edges,), np.int64),
                "edge_links": Box(0, max_nodes - 1, (max_edges, 2), np.int64),
                "node_mask": Box(0, 1, (max_nodes,), np.int8),
                "edge_mask": Box(0, 1, (max_edges,), np.int8),
            }
        )

    def observation(self, observation: GraphInstance) -> Arrays:
        """The padded graph.

        Raises:
            LimitError: when the graph has more nodes or edges than fit.
        """
        nodes, edges, links = (np.asarray(part) for part in observation)
        for name, count, limit in (
            ("max_nodes", len(nodes), self.max_nodes),
            ("max_edges", len(edges), self.max_edges),
        ):
            if count > limit:
                raise LimitError(
                    f"{name}={limit} is too small for an e-state: make the wrapper with {name}={count} or more"
                )
        return {
            "nodes": _pad(nodes, self.max_nodes),
            "edges": _pad(edges, self.max_edges),
            "edge_links": _pad(links, self.max_edges),
            "node_mask": _pad(np.ones(len(nodes), np.int8), self.max_nodes),
            "edge_mask": _pad(np.ones(len(edges), np.int8), self.max_edges),
        }


def _pad(array: NDArray[Any], length: int) -> NDArray[Any]:
    padded = np.zeros((length, *array.shape[1:]), array.dtype)
    padded[: len(array)] = array
    return padded
