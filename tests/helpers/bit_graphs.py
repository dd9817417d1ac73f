"""The space of graphs whose nodes are identifiers."""

import numpy as np

from epigym.envs.graph_space import GraphSpace


def bit_graphs(width: int = 64, seed: int | None = None) -> GraphSpace:
    """Graphs with identifiers of so many bits."""
    return GraphSpace(np.ones(width, np.uint8), 256, seed)
