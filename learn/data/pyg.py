"""The samples of a data set as a PyTorch Geometric data set, for networks and loops of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data, Dataset

from epigym.encoding.encoder import graph_instance, make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from learn.data.labels import make_targets
from learn.data.rollout import Rollout


class GraphDataSet(Dataset):  # type: ignore[misc]  # PyG is not typed
    """The e-states of rollouts as complete graphs, made on access.

    Each graph is a `torch_geometric.data.Data` as returned by `epigym.to_pyg`, with y float32[1], the number of steps
    to the nearest goal, see `learn.data.labels.make_targets`.

    Args:
        rollouts: the e-states.
        encoding: name of the encoding, or a mapping with its name and settings.

    Raises:
        LimitError: when a problem does not fit the encoding.
    """

    def __init__(self, rollouts: Sequence[Rollout], encoding: str | Mapping[str, Any]) -> None:
        made = make_encoding(encoding)
        self._encoders = [make_encoder(one.space, made) for one in rollouts]
        self._ids = [one.ids for one in rollouts]
        self._targets = [make_targets(one.distance) for one in rollouts]
        self._first = np.cumsum([0, *map(len, self._ids)])
        super().__init__()

    def len(self) -> int:
        """Number of graphs."""
        return int(self._first[-1])

    def get(self, idx: int) -> Data:
        """The graph of one e-state."""
        number = int(np.searchsorted(self._first, idx, side="right")) - 1
        row = idx - self._first[number]
        data = to_pyg(graph_instance(self._encoders[number].graphs(self._ids[number][row : row + 1])))
        data.y = torch.tensor([self._targets[number][row]], dtype=torch.float32)
        return data
