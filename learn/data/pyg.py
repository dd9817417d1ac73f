"""A stored data set as a PyTorch Geometric data set, for custom models."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data, Dataset

from epigym.encoding.encoder import graph_instance
from epigym.encoding.pyg import to_pyg
from learn.data.dataset import load


class PygDataSet(Dataset):  # type: ignore[misc]  # PyG is not typed
    """The samples of a stored data set as complete graphs, made on access.

    Each graph is a `torch_geometric.data.Data` as returned by `epigym.to_pyg`, with y float32[1], the number of steps
    to the nearest goal.

    Args:
        folder: of the data set, as `learn.rollouts` prints it.

    Raises:
        EpigymError: when it is missing or damaged.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.samples = load(Path(folder)).samples
        super().__init__()

    def len(self) -> int:
        """Number of samples."""
        return len(self.samples)

    def get(self, idx: int) -> Data:
        """The graph of one sample."""
        data = to_pyg(graph_instance(self.samples.encoded.graphs(np.array([idx]))))
        data.y = torch.from_numpy(self.samples.distance[idx : idx + 1].astype(np.float32))
        return data
