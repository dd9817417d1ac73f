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

from epigym.encoding.encoder import Encoder, make_encoder, make_encoding
from epigym.encoding.identifiers import Identifiers
from epigym.encoding.pyg import to_pyg
from epigym.encoding.relational import Relational
from epigym.errors import UsageError
from epigym.space.growing import GrowingTable
from epigym.space.space import StateSpace
from learn.models.checkpoints import Trained
from learn.models.gine.model import FusedScorer, NetworkModel
from learn.models.gine.network import GineNetwork
from learn.models.gine.paper import PaperNetwork
from learn.models.gine.shared import make_goals, make_states
from learn.models.scoring import CorrectingScorer, Device, Scorer


class NetworkScorer(CorrectingScorer):
    """A network evaluated by PyTorch, bound to a state space.

    Args:
        trained: the network, on any device.
        space: the state space.

    Raises:
        LimitError: when the task does not fit the encoding that the network was trained with.
    """

    def __init__(self, trained: Trained, space: StateSpace) -> None:
        super().__init__(space, trained.base, trained.steps)
        self._encoder = make_encoder(space, make_encoding(trained.encoding))
        self._network = trained.network
        self._device = next((one.device for one in trained.network.parameters()), torch.device("cpu"))

    @torch.inference_mode()
    def _correct(self, ids: NDArray[np.integer]) -> NDArray[np.float64]:
        values: Tensor = self._network(to_pyg(self._encoder.graphs(ids)).to(self._device))
        return values.double().cpu().numpy()


class PaperScorer(CorrectingScorer):
    """The paper's network on the CPU, bound to a state space; arguments and errors as `NetworkScorer`.

    The encoding of the network must have the method `encoder` of `Identifiers`.
    """

    @torch.inference_mode()
    def __init__(self, trained: Trained, space: StateSpace) -> None:
        super().__init__(space, trained.base, trained.steps)
        self._encoder = cast(Encoder, make_encoder(space, make_encoding(trained.encoding)))
        self._network = fold_batch_norm(cast(PaperNetwork, trained.network))
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


def make_scorer(trained: Trained, space: StateSpace, device: Device = "auto") -> Scorer:
    """Make the fastest scorer of a network.

    Args:
        trained: the network.
        space: the state space.
        device: `cpu`, `cuda`, or `auto`, which uses a GPU if there is one for networks that only PyTorch evaluates.

    Raises:
        LimitError: when the task does not fit the encoding that the network was trained with.
        UsageError: when there is no such device.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("heuristic.device=cuda: PyTorch finds no GPU here: give heuristic.device=cpu")
    kind = type(trained.network)
    encoder = type(make_encoding(trained.encoding)).encoder
    is_fast = device != "cuda" and encoder in (Identifiers.encoder, Relational.encoder)  # others may make other graphs
    if is_fast and kind is PaperNetwork:
        return PaperScorer(trained, space)
    if is_fast and kind is GineNetwork:
        return FusedScorer(as_model(trained), space)
    if device == "cuda" or (device == "auto" and torch.cuda.is_available()):
        trained.network.cuda()
    return NetworkScorer(trained, space)


def as_model(
    trained: Trained, schema: frozenset[int] = frozenset(), card: Mapping[str, Any] | None = None
) -> NetworkModel:
    """Convert a `GineNetwork` to a model that needs no PyTorch.

    Args:
        trained: the network.
        schema: colours of the predicates and action schemas in training.
        card: description of the training and its validation.
    """
    return NetworkModel(
        domain=trained.domains[0] if len(trained.domains) == 1 else "general",
        encoding=trained.encoding,
        types=trained.types,
        base=trained.base,
        steps=trained.steps,
        weights={name: tensor.numpy(force=True).copy() for name, tensor in trained.network.state_dict().items()},
        schema=schema,
        card=card or {},
    )


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
