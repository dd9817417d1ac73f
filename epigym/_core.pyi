"""
The core of epigym: Kripke models, updates, contraction, graphs. Use `epigym.space.space.StateSpace`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


MAX_EVENTS: int = 64

MAX_LEVELS: int = 110

MAX_WORLDS: int = 64

RELATIONS: int = 28

class Disagreement(Exception):
    pass

class InconsistentBeliefs(Exception):
    pass

class Inapplicable(Exception):
    pass

class Space:
    """The interned, lazily explored state space of a task."""

    def __init__(self, fluents: int, agents: int, formulas: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], events: Sequence[tuple[int, Sequence[tuple[int, bool, int]]]], event_models: Sequence[tuple[Sequence[int], int]], relations: Sequence[Sequence[tuple[int, int]]], observability: Sequence[Sequence[tuple[int, int]]], actions: Sequence[tuple[int, int, Sequence[int]]], goal: Sequence[int], initial: tuple[int, Sequence[Sequence[int]], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], consistent_beliefs: bool) -> None: ...

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def generated(self) -> tuple[int, int]:
        """
        The number of successors computed so far, and the sum of the worlds of their predecessors.
        """

    @property
    def relaxations(self) -> tuple[int, int]:
        """
        The number of relaxations computed so far, and the size of the relaxation.
        """

    def use_symmetries(self, symmetries: Sequence[tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]], Sequence[tuple[int, int]]]]) -> None:
        """From now on expansions use one action of each orbit only."""

    def expand(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], stop_at_goal: bool, threads: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]: ...

    def outcomes(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]: ...

    def successors(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    def applicable(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...

    def allowed(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...

    def representatives(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...

    def is_goal(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    def world_counts(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    def model(self, id: int) -> tuple[int, list[list[int]], list[int], list[int], list[int], list[int], list[int]]: ...

    def intern(self, model: tuple[int, Sequence[Sequence[int]], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]]) -> int: ...

    def rows(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: WorldLabels | None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]: ...

class Query:
    """Formulas to evaluate in e-states of a space."""

    def __init__(self, space: Space, formulas: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], roots: Sequence[int]) -> None: ...

    def holds(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...

def evaluate_queries(queries: Sequence[Query], of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
    """
    Whether all formulas of each e-state's query hold in it: queries[of[k]] for ids[k].
    """

class Relaxation:
    """The delete relaxation of a space's task, one for each space."""

    def __init__(self, space: Space) -> None: ...

    def formulas(self) -> tuple[tuple[list[int], list[int], list[int], list[int], list[int], list[int]], list[int]]:
        """The formulas of the relaxation, and the number of each node's formula."""

    @property
    def size(self) -> int:
        """The number of nodes and edges."""

    @property
    def evaluations(self) -> int:
        """The number of computations of costs."""

    def evaluate(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]: ...

    def find_added_facts(self, id: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    def find_landmarks(self, id: int) -> tuple[list[int], list[int], list[tuple[int, int]]]: ...

class FeatureTables:
    """The types of everything in a task under a goal."""

    def __init__(self, space: Space, formulas: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], goal: Sequence[int], arrays: object) -> None:
        """
        `arrays`: an object with the arrays as attributes, see `epigym.features.counts.FeatureTables`.
        """

class Features:
    """Relational features of e-states of a space."""

    def __init__(self, space: Space, tables: FeatureTables, level: int, worlds: bool) -> None: ...

    def evaluate(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]: ...

class RelationalGraphs:
    """Typed graphs of e-states of a space."""

    def __init__(self, space: Space, tables: FeatureTables, types: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        `types` int64[m, k] has the type ids of objects, subformulas of the goal, facts, fluents and beliefs.
        """

    def graphs(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """The graphs of e-states, as the arrays of a `GraphBatch`."""

    def build_without_worlds(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        One graph of objects, the goal and facts, as the arrays of a `GraphBatch`.
        """

class GineNetwork:
    """
    The forward pass of a residual graph network, with one value per graph.
    """

    def __init__(self, state: Mapping[str, Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)]], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        `state`: the arrays of the network by name; `index`: the row of `types.weight` of each type id (unknown: 0).
        """

    def forward(self, nodes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], edge_index: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], edge_label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], node_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The value of each graph of a relational `GraphBatch`."""

    def forward_features(self, features: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_index: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], edge_label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], node_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_ptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        The value of each graph, from the input float32[n, width] and the kind of every node.
        """

    def score(self, graphs: RelationalGraphs, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The value of each e-state's graph."""

class WorldLabels:
    """
    Numbers for the distinct (valuation, repetition index) pairs of worlds.
    """

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def describe(self, first: int, fluents: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]: ...

def list_state_kinds() -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The kind of nodes for each state; states are numbered over all kinds."""

def graphs(rows: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], identifiers: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], goals: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], goal_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """Unrolls rows to graphs."""

def refine(rows: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], colours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """Runs one round of colour refinement over worlds."""

def holds(model: tuple[int, Sequence[Sequence[int]], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], formulas: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int]], id: int) -> bool:
    """Whether a formula holds at every designated world of a model."""
