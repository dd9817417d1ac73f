"""Scorers of trained networks.

The scorer of the paper's network is exact and faster than the plain network: it shares computation between e-states as
in training (see `learn.models.gine.shared`), embeds the goal part and every world identifier once, and folds batch
normalisation into the linear layers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.fusion import fuse_linear_bn_eval

from epigym.encoding.encoder import Encoder
from epigym.encoding.pyg import to_pyg
from epigym.space.growing import GrowingTable
from epigym.space.space import StateSpace
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.gine.paper import PaperNetwork
from learn.models.gine.shared import make_goals, make_states
from learn.models.scoring import CorrectingScorer, Known


class NetworkScorer(CorrectingScorer):
    """A network evaluated by PyTorch, bound to a state space.

    Args:
        space: the state space.
        network: the network.
        encoding: of its graphs, with its settings.
        base: the base heuristic that the network corrects.
        steps: calibration of values to steps.
        known: the inputs of its training.
        device: `cpu` or `cuda`.

    Raises:
        LimitError: when the task does not fit the encoding that the network was trained with.
    """

    def __init__(
        self,
        space: StateSpace,
        network: nn.Module,
        encoding: Mapping[str, Any],
        base: Base,
        steps: Calibration,
        known: Known,
        device: str = "cpu",
    ) -> None:
        super().__init__(space, encoding, base, steps, known)
        self._network = network.to(device)
        self._device = torch.device(device)

    @torch.inference_mode()
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        values: Tensor = self._network(to_pyg(self._encoder.graphs(ids)).to(self._device))
        return values.double().cpu().numpy()


class PaperScorer(CorrectingScorer):
    """The paper's network on the CPU, bound to a state space; arguments and errors as `NetworkScorer`.

    The encoding of the network must have the method `encoder` of `Identifiers`.
    """

    _encoder: Encoder

    @torch.inference_mode()
    def __init__(
        self,
        space: StateSpace,
        network: nn.Module,
        encoding: Mapping[str, Any],
        base: Base,
        steps: Calibration,
        known: Known,
    ) -> None:
        super().__init__(space, encoding, base, steps, known)
        self._network = fold_batch_norm(cast(PaperNetwork, network))
        self._constants = self._network.constants(make_goals([self._encoder.goal]), len(space.task.agents))
        self._identifiers = GrowingTable(self._constants.from_epsilon[0].shape[1], np.float32)

    @torch.inference_mode()
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        rows = self._encoder.rows(ids)
        new = self._encoder.identifiers[len(self._identifiers) :]
        if len(new):
            self._identifiers.append(self._network.node_mlp(torch.from_numpy(new).float()).numpy())
        met, classes = np.unique(rows.label, return_inverse=True)
        goal = np.zeros(len(ids), dtype=np.int64)
        states = make_states(rows, classes, goal, layers=len(self._network.convs), gradients=False)
        nodes = torch.from_numpy(self._identifiers.rows[met])
        return self._network.regress_shared(nodes, self._constants, states).double().numpy()


def fold_batch_norm(network: PaperNetwork) -> PaperNetwork:
    """Copy a network to the CPU in evaluation mode, with batch normalisation folded into the linear layers."""
    network = copy.deepcopy(network).cpu().eval()
    network.head = FoldedHead(cast(nn.Sequential, network.head))
    return network


class FoldedHead(nn.Module):
    """The head of the paper's network in evaluation mode, without calls of its modules.

    Args:
        head: head of the network.
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
