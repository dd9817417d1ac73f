"""Scoring e-states with a trained regressor, many at a time.

The scorer computes what the plain network computes, with these exact savings: the shared computation of training (see
`learn.models.gine.shared`), the goal part and every world identifier embedded once, and batch normalisation folded into
the linear layers.
"""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.fusion import fuse_linear_bn_eval

from epigym.encoding.encoder import Encoder
from epigym.space.growing import GrowingTable
from epigym.space.space import StateSpace
from learn.models.checkpoints import Trained
from learn.models.gine.regressor import Regressor
from learn.models.gine.shared import make_goals, make_states
from learn.models.scoring import chunks

_CHUNK = 256  # e-states scored at once


class RegressorScorer:
    """Scores the e-states of one space with a trained regressor.

    Args:
        trained: the regressor.
        space: where the e-states live.

    Raises:
        LimitError: when the task does not fit the encoding that the regressor was trained with.
    """

    relaxation = None

    @torch.inference_mode()
    def __init__(self, trained: Trained, space: StateSpace) -> None:
        self._encoder = Encoder(space, **trained.encoding)
        self._target = trained.target
        self._regressor = folded(trained.regressor)
        self._constants = self._regressor.constants(make_goals([self._encoder.goal]), len(space.task.agents))
        self._identifiers = GrowingTable(self._constants.from_epsilon[0].shape[1], np.float32)

    def score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[k]: the predicted number of steps to a goal from each of `ids` (int32[k])."""
        return np.concatenate([np.empty(0), *map(self._score, chunks(self._encoder.space, ids, _CHUNK))])

    @torch.inference_mode()
    def _score(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        """The same for one batch."""
        rows = self._encoder.rows(ids)
        new = self._encoder.identifiers[len(self._identifiers) :]
        if len(new):
            self._identifiers.append(self._regressor.node_mlp(torch.from_numpy(new).float()).numpy())
        met, classes = np.unique(rows.label, return_inverse=True)
        goal = np.zeros(len(ids), dtype=np.int64)
        states = make_states(rows, classes, goal, layers=len(self._regressor.convs), gradients=False)
        output = self._regressor.regress_shared(torch.from_numpy(self._identifiers.rows[met]), self._constants, states)
        return self._target.steps(output.double()).numpy()


def folded(regressor: Regressor) -> Regressor:
    """A copy in evaluation mode whose batch normalisations are part of the linear layers before them."""
    regressor = copy.deepcopy(regressor).eval()
    regressor.head = FoldedHead(cast(nn.Sequential, regressor.head))
    return regressor


class FoldedHead(nn.Module):
    """The head of a regressor in evaluation mode, without the costs of a call for each of its modules.

    Args:
        head: of the regressor.
    """

    def __init__(self, head: nn.Sequential) -> None:
        super().__init__()
        first, _, *blocks, last = cast(Any, head)
        self._first, self._last = _affine(first), _affine(last)
        self._blocks = [
            (_affine(fuse_linear_bn_eval(one, one_norm)), _affine(fuse_linear_bn_eval(two, two_norm)))
            for one, one_norm, _, _, two, two_norm in (block.inner for block in blocks)
        ]

    def forward(self, x: Tensor) -> Tensor:
        """float32[k, hidden_size] to float32[k, 1]."""
        x = linear(x, *self._first).relu_()
        for one, two in self._blocks:
            x = (x + linear(linear(x, *one).relu_(), *two)).relu_()
        return linear(x, *self._last)


def _affine(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    return layer.weight, layer.bias
