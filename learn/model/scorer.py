"""Scoring e-states with a trained regressor, many at a time.

The scorer computes what the plain network computes, with these exact savings:

- no edge leads from a world to the goal part, so its nodes contribute constants, found once per task;
- every edge label and every world identifier is embedded once;
- worlds that share their successors send one sum of messages, and not one message along every edge;
- worlds with equal embeddings and equal messages are one computation, in all e-states of a batch (as in training, see
  `learn.model.quotient`);
- batch normalisation is folded into the linear layers.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag
from torch.nn.utils.fusion import fuse_linear_bn_eval

from epigym.encoding import DESIGNATED_LABEL, FIRST_AGENT_LABEL, encoder
from epigym.growing import GrowingTable
from epigym.space import StateSpace
from learn.data import ragged
from learn.model.checkpoints import Trained, load
from learn.model.regressor import label_attributes

_CHUNK = 256
_CHUNK_WORLDS = 8192


class Scorer:
    """A trained regressor, ready to be bound to any state space.

    Args:
        checkpoint: a file that `learn.train` wrote.

    Raises:
        CheckpointError: when it cannot be read.
    """

    def __init__(self, checkpoint: str | os.PathLike[str]) -> None:
        """Read the checkpoint."""
        self.trained = load(checkpoint)

    def bind(self, space: StateSpace) -> BoundScorer:
        """The scorer of the e-states of one space.

        Raises:
            LimitError: when the task does not fit the encoding that the regressor was trained with.
        """
        return BoundScorer(self.trained, space)


class BoundScorer:
    """Scores the e-states of one space; made by `Scorer.bind`.

    Args:
        trained: the regressor.
        space: where the e-states live.
    """

    @torch.inference_mode()
    def __init__(self, trained: Trained, space: StateSpace) -> None:
        """Compute what all e-states of the task share."""
        regressor: Any = trained.regressor
        self._space = space
        self._encoder = encoder(space.task, **trained.encoding)
        self._target = trained.target
        self._margin = regressor.margin
        self._node_mlp = regressor.node_mlp
        self._layers = [(affine(conv.nn[0]), affine(conv.nn[2])) for conv in regressor.convs]
        first, _, *blocks, last = regressor.head
        self._first, self._last = affine(first), affine(last)
        self._blocks = [folded(block) for block in blocks]

        self._agents = len(space.task.agents)
        attributes = regressor.edge_mlp(label_attributes(torch.device("cpu")))
        tables = [conv.lin(attributes) for conv in regressor.convs]
        self._agent_labels = [table[FIRST_AGENT_LABEL : FIRST_AGENT_LABEL + self._agents] for table in tables]
        goal = self._node_mlp(torch.from_numpy(self._encoder.goal_bits).float())
        edges, labels = torch.from_numpy(self._encoder.goal_edges), torch.from_numpy(self._encoder.goal_labels)
        self._to_designated = []
        for conv, table in zip(regressor.convs, tables, strict=True):
            self._to_designated.append(torch.relu(goal[0] + table[DESIGNATED_LABEL]))
            goal = torch.relu(conv(goal, edges, attributes[labels]))
        self._goal_sum, self._goal_size = goal.sum(0), len(goal)
        self._identifiers = GrowingTable(len(tables[0][0]), np.float32)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        counts = self._space.world_counts(ids)
        size = max(1, min(_CHUNK, _CHUNK_WORLDS // int(counts.max(initial=1))))
        parts = (slice(start, start + size) for start in range(0, len(ids), size))
        return np.concatenate([np.empty(0), *(self._score(ids[part], counts[part]) for part in parts)])

    @torch.inference_mode()
    def _score(self, ids: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """The same for one batch; int[k]: how many worlds each e-state has."""
        labels = self._space.world_labels(ids, self._encoder)
        self._embed_identifiers()
        met, colours = np.unique(labels, return_inverse=True)
        nodes = torch.from_numpy(self._identifiers.rows[met])
        for layer, (first, second) in enumerate(self._layers):
            messages = _messages(nodes, self._agent_labels[layer])
            refined = self._space.refine(ids, colours)
            sent = sum_terms(messages, refined.sent, refined.sent_ptr)
            inputs = sum_terms(sent, refined.received, refined.received_ptr) + nodes[torch.from_numpy(refined.own)]
            inputs[torch.from_numpy(refined.designated)] += self._to_designated[layer]
            nodes = apply(second, apply(first, inputs).relu_()).relu_()
            colours = refined.colours
        pooled = sum_terms(nodes, colours, ragged.pointers(counts)) + self._goal_sum
        return self._regress(pooled / torch.from_numpy(counts + self._goal_size)[:, None])

    def _regress(self, pooled: Tensor) -> NDArray[np.float64]:
        """Steps float64[k] of pooled graphs, float32[k, d]."""
        x = apply(self._first, pooled).relu_()
        for first, second in self._blocks:
            x = (x + apply(second, apply(first, x).relu_())).relu_()
        output = torch.sigmoid(apply(self._last, x)).squeeze(-1).clamp(self._margin, 1 - self._margin)
        return self._target.steps(output.double()).numpy()

    def _embed_identifiers(self) -> None:
        """Embed the world identifiers that are new."""
        new = self._space.identifiers(self._encoder)[len(self._identifiers) :]
        if len(new):
            self._identifiers.append(self._node_mlp(torch.from_numpy(new).float()).numpy())


class Affine(NamedTuple):
    """A linear layer with its weight transposed, float32[in, out], which saves time on small inputs."""

    weight: Tensor
    bias: Tensor


def affine(layer: nn.Linear) -> Affine:
    """A copy of a linear layer."""
    return Affine(layer.weight.t().contiguous(), layer.bias)


def apply(layer: Affine, x: Tensor) -> Tensor:
    """float32[n, in] to float32[n, out]."""
    return torch.addmm(layer.bias, x, layer.weight)


def folded(block: Any) -> tuple[Affine, Affine]:
    """The linear layers of a residual block, each with the batch normalisation after it folded in."""
    first, first_norm, _, _, second, second_norm = block.inner
    return affine(fuse_linear_bn_eval(first, first_norm)), affine(fuse_linear_bn_eval(second, second_norm))


def sum_terms(rows: Tensor, terms: NDArray[np.int64], ptr: NDArray[np.int64]) -> Tensor:
    """float32[n, d]: the rows named by `terms`, int64[t], summed between the pointers int64[n + 1]."""
    terms_, ptr_ = torch.from_numpy(terms), torch.from_numpy(ptr)
    return embedding_bag(terms_, rows, ptr_, mode="sum", include_last_offset=True)


def _messages(nodes: Tensor, labels: Tensor) -> Tensor:
    """float32[n × a, d]: the message of every node along an edge of every label, node by node."""
    return torch.relu_(nodes[:, None] + labels).flatten(0, 1)
