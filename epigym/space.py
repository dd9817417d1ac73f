"""`StateSpace`: the reachable e-states of a task, explored lazily and named by integers.

The typed Python face of the core. Every e-state is contracted to its coarsest bisimulation and interned
by its canonical form, so two ids are equal iff the e-states are bisimilar. Ids count up from 0, the
initial e-state, in the order in which e-states are met.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.model import KripkeModel
from epigym.task import EState, Task


class Transitions(NamedTuple):
    """The transitions of an expansion, sources in the order asked for, actions in declaration order.

    Attributes:
        source: int32[m], ids of the expanded e-states.
        action: int32[m], ids of the applied actions.
        target: int32[m], ids of the successors.
        is_new: bool[m], whether the successor was met for the first time in this space.
    """

    source: NDArray[np.int32]
    action: NDArray[np.int32]
    target: NDArray[np.int32]
    is_new: NDArray[np.bool_]


class GraphBatch(NamedTuple):
    """Graphs of several e-states as flat arrays, ready for `torch.from_numpy` and a PyG batch.

    Attributes:
        node_bits: uint8[N, width], the 0/1 identifier bits of every node, least significant first.
        edge_index: int64[2, E], source and target of every edge, counted through the whole batch.
        edge_label: int64[E], the integer labels.
        node_ptr: int64[k + 1], where each graph's nodes start.
        edge_ptr: int64[k + 1], where each graph's edges start.
    """

    node_bits: NDArray[np.uint8]
    edge_index: NDArray[np.int64]
    edge_label: NDArray[np.int64]
    node_ptr: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoder:
    """How the e-states of one task become graphs; `epigym.encoding.encoder` makes one.

    Attributes:
        name: `map`, `hash` or `bitmask`.
        goal_bits: uint8[P, width], identifier bits of the goal part: nodes epsilon, goal root, goal graph.
        goal_edges: int64[2, Q], edges of the goal part.
        goal_labels: int64[Q], their labels.
        by_rank: whether a world's identifier depends on its canonical rank alone; else it depends on the
            world's valuation and its repetition index.
        identify: identifier bits uint8[L, width] of L worlds from their valuations bool[L, n_fluents] and
            their ranks (`by_rank`) or repetition indices, int64[L].
    """

    name: str
    goal_bits: NDArray[np.uint8]
    goal_edges: NDArray[np.int64]
    goal_labels: NDArray[np.int64]
    by_rank: bool
    identify: Callable[[NDArray[np.bool_], NDArray[np.int64]], NDArray[np.uint8]]


class StateSpace:
    """The e-states of `task` met so far.

    Args:
        task: the ground planning task.

    Raises:
        TaskError: when the task cannot be represented.
    """

    def __init__(self, task: Task) -> None: ...

    task: Task
    initial: int  # always 0

    def __len__(self) -> int:
        """Number of e-states met so far."""

    @property
    def nbytes(self) -> int:
        """Memory held for e-states and transitions, in bytes."""

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
        """All applicable actions of the e-states `ids` (int32[k]) and where they lead.

        With `stop_at_goal` the expansion is cut right after the first transition that reaches a goal.
        Raises TaskError when designated worlds disagree about an agent's observability type.
        """

    def successor(self, state: int, action: int) -> int:
        """The e-state that `action` leads to from `state`. Raises TaskError when it is not applicable."""

    def applicable(self, state: int) -> NDArray[np.bool_]:
        """bool[n_actions]: which actions are applicable in `state`."""

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k]: which of the e-states are goals."""

    def subgoals(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k, g]: which subgoals hold in which e-states."""

    def collapsed(self, state: int) -> NDArray[np.bool_]:
        """bool[n_agents]: which agents believe everything because they consider no world possible."""

    def world_counts(self, ids: ArrayLike) -> NDArray[np.int32]:
        """int32[k]: number of worlds of the (contracted) e-states."""

    def model(self, state: int) -> KripkeModel:
        """The contracted e-state for people; worlds are in canonical order."""

    def intern(self, state: EState) -> int:
        """The id of any e-state over the task's fluents and agents (contracted first)."""

    def graphs(self, ids: ArrayLike, encoder: Encoder) -> GraphBatch:
        """The graphs of the e-states `ids` under an encoding of this task (see `epigym.encoding`).

        Each graph starts with the encoder's goal part (its nodes and edges, the same for all e-states of a
        task), then one node per world in canonical order; edges from node 0 to every designated world,
        then `w -> v` for every agent, world and successor in ascending order.
        """
