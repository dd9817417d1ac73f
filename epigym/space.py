"""`StateSpace`: the reachable e-states of a task, explored lazily and named by integers.

The typed Python face of the core. Every e-state is contracted to its coarsest bisimulation and interned
by its canonical form, so two ids are equal iff the e-states are bisimilar. Ids count up from 0, the
initial e-state, in the order in which e-states are met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.errors import TaskError
from epigym.formula import Formula
from epigym.growing import GrowingTable
from epigym.model import KripkeModel
from epigym.packing import pack_formulas, pack_model, pack_task, unpack_model
from epigym.task import EState, Task

Query = Callable[[ArrayLike], NDArray[np.bool_]]


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


class Refinement(NamedTuple):
    """One round of colour refinement (Weisfeiler and Leman) over the n worlds of several e-states.

    The message of a world of colour c to agent i is c × agents + i. Worlds that share their successors under an agent
    send the multiset of their messages to each of these. Worlds have equal colours afterwards iff they had equal
    colours before, agree on being designated and receive equal multisets; these are told apart by 64-bit hashes.

    Attributes:
        sent: int64[t], the messages in each of m distinct multisets.
        sent_ptr: int64[m + 1], where each multiset starts.
        received: int64[s], the multisets that each of d new colours receives.
        received_ptr: int64[d + 1], where each new colour's multisets start.
        own: int64[d], the old colour of each new one.
        designated: int64[e], the new colours of designated worlds, ascending.
        colours: int64[n], the new colour of every world.
    """

    sent: NDArray[np.int64]
    sent_ptr: NDArray[np.int64]
    received: NDArray[np.int64]
    received_ptr: NDArray[np.int64]
    own: NDArray[np.int64]
    designated: NDArray[np.int64]
    colours: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
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
    """The e-states of a task met so far.

    Args:
        task: the ground planning task.

    Attributes:
        task: the ground planning task.
        initial: the id of the initial e-state, 0.

    Raises:
        LimitError: when an action has too many events.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.initial = 0
        self._core = _core.Space(**pack_task(task))
        self._identifiers: WeakKeyDictionary[Encoder, _Identifiers] = WeakKeyDictionary()

    def __len__(self) -> int:
        """Number of e-states met so far."""
        return len(self._core)

    @property
    def nbytes(self) -> int:
        """Memory held for e-states and transitions, in bytes."""
        return self._core.nbytes

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: int = 1) -> Transitions:
        """All applicable actions of e-states and where they lead.

        Args:
            ids: int32[k], the e-states to expand; an e-state expanded before is answered from memory.
            stop_at_goal: cut the expansion right after the first transition that reaches a goal.
            threads: how many threads compute successors; the result does not depend on it.

        Raises:
            TaskError: when designated worlds disagree about an agent's observability type.
            IndexError: when an id is unknown.
        """
        try:
            source, action, target, is_new = self._core.expand(_as_ids(ids), stop_at_goal, threads)
        except _core.Disagreement as error:
            raise self._disagreement(error) from None
        return Transitions(source, action, target, is_new.view(np.bool_))

    def successor(self, state: int, action: int) -> int:
        """The e-state that `action` leads to from `state`.

        Raises:
            TaskError: when the action is not applicable, or designated worlds disagree about an agent's
                observability type.
            IndexError: when the e-state or the action is unknown.
        """
        try:
            target = self._core.successor(state, action)
        except _core.Disagreement as error:
            raise self._disagreement(error) from None
        if target is None:
            raise TaskError(f"action {self.task.actions[action].name!r} is not applicable in e-state {state}")
        return target

    def applicable(self, state: int) -> NDArray[np.bool_]:
        """bool[n_actions]: which actions are applicable in an e-state."""
        return self._core.applicable(state).view(np.bool_)

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k]: which of the e-states are goals."""
        return self._core.is_goal(_as_ids(ids)).view(np.bool_)

    def subgoals(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k, g]: which subgoals hold in which e-states."""
        return self._core.subgoals(_as_ids(ids)).view(np.bool_)

    def query(self, formulas: Iterable[Formula]) -> Query:
        """Any formulas, made ready to be evaluated in many e-states.

        Returns:
            A function from e-states, int32[k], to the truth of every formula in every e-state, bool[k, n].

        Raises:
            TaskError: when a formula names a fluent or agent that the task does not have.
        """
        query = _core.Query(self._core, *pack_formulas(self.task, formulas))
        return lambda ids: query.holds(_as_ids(ids)).view(np.bool_)

    def collapsed(self, state: int) -> NDArray[np.bool_]:
        """bool[n_agents]: which agents believe everything because they consider no world possible."""
        return self._core.collapsed(state).view(np.bool_)

    def world_counts(self, ids: ArrayLike) -> NDArray[np.int32]:
        """int32[k]: the number of worlds of the contracted e-states."""
        return self._core.world_counts(_as_ids(ids))

    def model(self, state: int) -> KripkeModel:
        """The contracted e-state for people; worlds are in canonical order."""
        estate = unpack_model(self.task.fluents, self._core.model(state))
        return KripkeModel(self.task.fluents, self.task.agents, estate)

    def intern(self, state: EState) -> int:
        """The id of any e-state over the task's fluents and agents, which is contracted first.

        Raises:
            TaskError: when the e-state names unknown fluents or has relations for other agents.
        """
        KripkeModel(self.task.fluents, self.task.agents, state)  # checks the names
        return self._core.intern(pack_model(self.task.fluents, self.task.agents, state))

    def graphs(self, ids: ArrayLike, encoder: Encoder, *, threads: int = 1) -> GraphBatch:
        """The graphs of e-states under an encoding of this task (see `epigym.encoding`).

        Each graph starts with the goal part (the encoder's nodes and edges, the same for all e-states of a
        task), then has one node per world in canonical order; edges from node 0 to every designated world,
        then `w -> v` for every agent, world and successor in ascending order.

        Args:
            ids: int32[k].
            encoder: an encoder made for this task.
            threads: how many threads write the graphs; the result does not depend on it.
        """
        states = _as_ids(ids)
        labels = self.world_labels(states, encoder)
        parts = self._core.graphs(
            states,
            encoder.goal_bits,
            encoder.goal_edges,
            encoder.goal_labels,
            self.identifiers(encoder),
            labels,
            threads,
        )
        return GraphBatch(*parts)

    def refine(self, ids: ArrayLike, colours: NDArray[np.int64]) -> Refinement:
        """One round of colour refinement over the worlds of e-states.

        Args:
            ids: int32[k].
            colours: int64[n], not negative: for every world of the e-states, one after the other, its colour.

        Raises:
            ValueError: when there is not one colour for every world.
            IndexError: when an id is unknown.
        """
        return Refinement(*self._core.refine(_as_ids(ids), colours))

    def world_labels(self, ids: ArrayLike, encoder: Encoder) -> NDArray[np.int32]:
        """int32[worlds]: for every world of the e-states, one after the other, its row in `identifiers`."""
        states = _as_ids(ids)
        table = self._identifiers_of(encoder)
        if encoder.by_rank:
            counts = self._core.world_counts(states)
            starts = np.repeat(np.cumsum(counts) - counts, counts)
            labels = (np.arange(counts.sum()) - starts).astype(np.int32)
            table.extend_ranks(int(counts.max(initial=0)), len(self.task.fluents))
            return labels
        labels = table.labels.label(self._core, states)
        table.extend_labels(len(self.task.fluents))
        return labels

    def identifiers(self, encoder: Encoder) -> NDArray[np.uint8]:
        """uint8[L, width]: the identifier bits of all world labels given out so far."""
        return self._identifiers_of(encoder).bits.rows

    def _identifiers_of(self, encoder: Encoder) -> _Identifiers:
        # Encoders hold arrays and are compared by identity; a table goes with its encoder.
        return self._identifiers.setdefault(encoder, _Identifiers(encoder))

    def _disagreement(self, error: Exception) -> TaskError:
        action, agent = error.args
        return TaskError(
            f"action {self.task.actions[action].name!r}: the designated worlds disagree about the observability "
            f"type of agent {self.task.agents[agent]!r}"
        )


class _Identifiers:
    """The identifier bits of the worlds that one encoder has met in one space, each computed once."""

    def __init__(self, encoder: Encoder) -> None:
        self._identify = encoder.identify
        self.labels = _core.WorldLabels()
        self.bits = GrowingTable(encoder.goal_bits.shape[1], np.uint8)

    def extend_labels(self, fluents: int) -> None:
        if len(self.labels) > len(self.bits):
            valuations, repetitions = self.labels.describe(len(self.bits), fluents)
            self.bits.append(self._identify(valuations.view(np.bool_), repetitions))

    def extend_ranks(self, worlds: int, fluents: int) -> None:
        if worlds > len(self.bits):
            ranks = np.arange(len(self.bits), worlds)
            self.bits.append(self._identify(np.zeros((len(ranks), fluents), np.bool_), ranks))


def _as_ids(ids: ArrayLike) -> NDArray[np.int32]:
    return np.ascontiguousarray(np.atleast_1d(ids), dtype=np.int32)
