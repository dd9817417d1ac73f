"""The influence of the nodes of a typed graph on the value of an e-state, by the names of the task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.encoding.pyg import to_pyg
from epigym.encoding.relational import MAX_WORLDS, Relational
from epigym.errors import UsageError
from epigym.features.texts import list_names
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.base import BaseHeuristic
from learn.models.gine.kinds import GINE
from learn.models.gine.model import NetworkModel


class Influence(NamedTuple):
    """The influence of a node.

    Attributes:
        name: name of the node.
        value: gradient of the correction times the node's input, summed over the width: a linear estimate of the part
            of the correction that is due to the input.
    """

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class NetworkExplanation:
    """A decomposed value.

    Attributes:
        base: value of the base heuristic.
        correction: difference to the value with the network, see `learn.models.base.correct`.
        nodes: the nodes of the graph, by descending absolute influence.
    """

    base: float
    correction: float
    nodes: list[Influence]

    @property
    def value(self) -> float:
        """The sum of base heuristic and correction."""
        return self.base + self.correction


def explain_network(space: StateSpace, model: NetworkModel, state: int, types: FeatureTypes) -> NetworkExplanation:
    """Decompose the value of an e-state under a network.

    Args:
        space: the state space.
        model: of the kind `gine` with the encoding `relational`.
        state: id of the e-state.
        types: types of the space's task.

    Raises:
        IndexError: when there is no such e-state.
        UsageError: when the network is of another kind or has another encoding.
    """
    encoding = make_encoding(model.encoding)
    if model.kind != GINE or not isinstance(encoding, Relational):
        raise UsageError(f"{model.path}: only networks of model=gine encoding=relational have nodes with names")
    ids = np.array([state], dtype=np.int32)
    data = to_pyg(make_encoder(space, encoding).graphs(ids))
    output, influence = measure_influence(model.network, data)
    heuristic = BaseHeuristic(space, model.base)
    base = float(heuristic(ids)[0])
    nodes = starmap(Influence, zip(name_nodes(space, state, types), influence.tolist(), strict=True))
    return NetworkExplanation(
        base=base,
        correction=float(heuristic.correct(ids, np.array([output]))[0]) - base,
        nodes=sorted(nodes, key=lambda node: -abs(node.value)),
    )


def measure_influence(network: Any, data: Any) -> tuple[float, Tensor]:
    """The output for one graph, and float[n], gradient times input of each node, see `Influence`.

    Args:
        network: a network whose module `nodes` computes the inputs of nodes, float[n, width].
        data: the graph, a batch of PyTorch Geometric.
    """
    inputs: list[Tensor] = []

    def keep(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        inputs.append(output.detach().requires_grad_())
        return inputs[0]

    with network.nodes.register_forward_hook(keep), torch.enable_grad():
        value = network(data).sum()
    [gradient] = torch.autograd.grad(value, inputs)
    return value.item(), (gradient * inputs[0].detach()).sum(dim=1)


def name_nodes(space: StateSpace, state: int, types: FeatureTypes) -> Iterator[str]:
    """Name the nodes of an e-state's typed graph, in their order; arguments as `explain_network`.

    These are objects, subformulas of the goal as `goal: …`, static facts by their objects, fluents, beliefs as
    `agent about fluent`, worlds by their canonical number, and successor classes as `agent: worlds {0, 2}`.
    """
    task, tables, rows = space.task, types.tables, space.rows([state])
    names = list_names(task, tables)
    truth = [[name in valuation for name in task.fluents] for valuation in space.model(state).state.valuations]
    true, designated = np.array(truth, dtype=np.bool_).reshape(len(truth), -1), rows.designated.astype(np.bool_)
    kept = np.argsort(~designated, kind="stable")[:MAX_WORLDS]
    members = np.split(rows.successor, rows.successor_ptr[1:-1])
    yield from (*names["object"], *(f"goal: {text}" for text in names["subformula"]), *names["fact"])
    fluents = true[kept].any(axis=0) | tables.relevant_fluent
    is_nowhere = ~true[designated].any(axis=0)
    beliefs = tables.relevant_belief.copy()
    for own, belief in zip(rows.row_of[designated].T, beliefs, strict=True):
        possible = np.concatenate([members[row] for row in own])
        belief |= ~is_nowhere | true[possible].any(axis=0) | (len(possible) == 0)
    for kind, present in (("fluent", fluents), ("belief", beliefs.ravel())):
        yield from (names[kind][number] for number in np.flatnonzero(present))
    yield from (f"world {number}" for number in kept.tolist())
    agents = task.agents
    for pair in np.unique(rows.row_of[kept] * len(agents) + np.arange(len(agents))).tolist():
        row, agent = divmod(pair, len(agents))
        yield f"{agents[agent]}: worlds {{{', '.join(map(str, members[row].tolist()))}}}"
