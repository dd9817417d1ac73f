"""E-states as typed graphs of objects, atoms, the goal, worlds and successor classes.

Nodes are the objects (including agents), the subformulas of the goal and the static facts of a task; the fluents that
are true in some world or occur in the goal; all beliefs but those that a false fluent is false, unless the goal has
them; the worlds; and a *row*, a successor class, for every agent and list of worlds that it considers possible at some
world. A node has a kind, a state, and types (see `epigym.features.types`). Nothing depends on names, so a graph means
the same in every task.

Edges lead from beliefs to their agent and fluent, from subformulas to their children, agents and fluents, from atoms
and facts to their arguments, from worlds to their true fluents and subformulas and to their rows, and from rows to
their agent and worlds. Every edge has a reverse edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.config.values import AtLeast, AtMost, Count
from epigym.errors import LimitError
from epigym.features.counts import FeatureTables
from epigym.features.types import FeatureTypes
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import Formula

MAX_WORLDS = _core.MAX_WORLDS
"""Worlds of an e-state that are nodes: the designated ones first, then the first in canonical order."""

KIND_OF = _core.list_state_kinds()
"""int64[s]: the kind of a node in each of s states; states are numbered over all kinds."""
KINDS = int(KIND_OF[-1]) + 1
"""Kinds of nodes."""
RELATIONS = _core.RELATIONS
"""Kinds of edges; each direction is a kind of its own."""


@dataclass(frozen=True, kw_only=True)
class Relational:
    """Typed graphs without names: renaming agents, objects, fluents and actions changes no node and no edge.

    A node is a row of whole numbers: its kind (`KIND_OF`), its state, numbered over all kinds, and the ids of its
    types, zeros after the last. A type is the role of an object, a fluent or a belief in a task, or the shape of a
    subformula of the goal, see `epigym.features.types`; of the 64-bit colour c it has the id 1 + c mod `type_ids`.
    So ids need no data, mean the same in every task, episode and process, and fix the observation space when an
    environment is made, as Gymnasium expects. Two types may share an id; this is more frequent with fewer ids (feature
    hashing, Weinberger et al. 2009). A model keeps the ids that occur in its training data; others add nothing.

    The graph of an e-state with more than `MAX_WORLDS` worlds has only `MAX_WORLDS` of them; the choice depends on the
    order of fluents and agents.

    Attributes:
        types_per_node: columns of type ids.
        type_ids: number of different ids without 0. 30 sampled problems of a domain have 63 to 276 types, those of all
            domains together 1,580.
    """

    name: ClassVar[str] = "relational"
    node_types: ClassVar[int] = KINDS
    """Number of node types in PyTorch Geometric data."""
    world_types: ClassVar[tuple[int, ...]] = (KINDS - 2, KINDS - 1)
    """The node types whose number depends on the worlds of an e-state: worlds and successor classes."""
    types_per_node: Count = 2
    type_ids: Annotated[int, AtLeast(1), AtMost(2**31)] = 65536

    def encoder(self, space: StateSpace, goal: Sequence[Formula] | None = None) -> RelationalEncoder:
        """The graphs of a space's e-states under a goal, that of its task by default."""
        return RelationalEncoder(space, self, goal)


class RelationalEncoder:
    """Makes typed graphs of the e-states of a space under a goal.

    Args:
        space: where the e-states live.
        encoding: with its settings.
        goal: the subgoals; those of the space's task by default.

    Attributes:
        space: where the e-states live.
        encoding: with its settings.
        core: the same in the core, for scorers of its graphs.
        largest: int64[2 + types_per_node], the largest value of each column of a node.
        labels: number of relations.

    Raises:
        LimitError: when a node has more types than columns for them.
    """

    labels = RELATIONS

    def __init__(self, space: StateSpace, encoding: Relational, goal: Sequence[Formula] | None = None) -> None:
        self.space = space
        self.encoding = encoding
        task = space.task if goal is None else replace(space.task, goal=tuple(goal))
        tables = FeatureTypes(task).tables
        colours = _colours(tables)
        columns, needed = encoding.types_per_node, int(np.count_nonzero(colours, axis=1).max(initial=0))
        if needed > columns:
            raise LimitError(
                f"a node of {task.name!r} has {needed} types, which does not fit the {encoding.name} encoding with "
                f"types_per_node={columns}: raise to types_per_node={needed}"
            )
        types = np.zeros((len(colours), max(columns, colours.shape[1])), dtype=np.int64)
        types[:, : colours.shape[1]] = np.where(colours == 0, 0, 1 + colours % np.uint64(encoding.type_ids))
        self.core = _core.RelationalGraphs(space.core, tables.pack(space), types[:, :columns].copy())
        self.largest = np.array([KINDS - 1, len(KIND_OF) - 1, *[encoding.type_ids] * columns])

    def under(self, goal: Sequence[Formula]) -> RelationalEncoder:
        """The same encoding under another goal; errors as the class."""
        return RelationalEncoder(self.space, self.encoding, goal)

    def graphs(self, ids: ArrayLike) -> GraphBatch:
        """The graphs of e-states, int32[k]."""
        return GraphBatch(*self.core.graphs(as_ids(ids)))

    def without_worlds(self) -> GraphBatch:
        """One graph of the goal alone, with the objects and facts of the task."""
        return GraphBatch(*self.core.build_without_worlds())


def _colours(tables: FeatureTables) -> NDArray[np.uint64]:
    """uint64[m, 2]: the fine and the coarse types of all possible nodes but worlds and rows; 0 is none."""
    none = np.zeros_like
    fine = [tables.objects, tables.goal_fine, tables.fact_fine, tables.fluent_fine, tables.belief_fine.ravel()]
    coarse = [
        none(tables.objects), tables.goal_coarse, none(tables.fact_fine), tables.fluent_coarse,
        tables.belief_coarse.ravel(),
    ]  # fmt: skip
    return np.stack([np.concatenate(fine), np.concatenate(coarse)], axis=1)


def type_ids_of(types: Iterable[FeatureTypes], encoding: Relational) -> list[int]:
    """The ids of the types of some tasks, ascending."""
    colours = np.unique(
        np.concatenate([np.empty(0, dtype=np.uint64), *(_colours(one.tables).ravel() for one in types)])
    )
    ids: list[int] = np.unique(1 + colours[colours > 0] % np.uint64(encoding.type_ids)).tolist()
    return ids
