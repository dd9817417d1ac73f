"""`StateSpace`: the reachable e-states of a task, explored lazily and named by integers.

The typed Python face of the core. Every e-state is contracted to its coarsest bisimulation and interned
by its canonical form, so two ids are equal iff the e-states are bisimilar. Ids count up from 0, the
initial e-state, in the order in which e-states are reached.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.config.values import Count
from epigym.errors import InconsistentBeliefsError, TaskError, UsageError
from epigym.space.kripke_model import KripkeModel
from epigym.space.rows import Rows
from epigym.task.formula import Formula
from epigym.task.packing import PackedModel, pack_formulas, pack_model, pack_task, unpack_model
from epigym.task.symmetry import Symmetry, symmetries
from epigym.task.task import EState, Task

Query = Callable[[ArrayLike], NDArray[np.bool_]]
BoundQuery = _core.Query


Threads = Count | Literal["auto"]
"""A number of threads; `auto` is as many as processors that this process may use."""


class Transitions(NamedTuple):
    """The transitions of an expansion, sources in the order asked for, actions in declaration order.

    Attributes:
        source: int32[m], ids of the expanded e-states.
        action: int32[m], ids of the applied actions.
        target: int32[m], ids of the successors.
        is_new: bool[m], whether the successor is new in this space.
    """

    source: NDArray[np.int32]
    action: NDArray[np.int32]
    target: NDArray[np.int32]
    is_new: NDArray[np.bool_]


class Outcomes(NamedTuple):
    """What actions may come to, sources in the order asked for, then by action, event and assignment.

    Attributes:
        source: int32[m], ids of the e-states.
        action: int32[m], ids of the applied actions.
        event: int32[m], which of the action's events happens, a designated one.
        assignment: int32[m], which observability assignment holds within that event; 0 where all designated worlds at
            which it can happen agree. They are sorted by the agents' types, agent after agent, types by their first
            mention in the agent's conditions.
        target: int32[m], ids of the e-states that the outcomes lead to.
        is_new: bool[m], whether the target is new in this space.
    """

    source: NDArray[np.int32]
    action: NDArray[np.int32]
    event: NDArray[np.int32]
    assignment: NDArray[np.int32]
    target: NDArray[np.int32]
    is_new: NDArray[np.bool_]


class StateSpace:
    """The e-states of a task met so far.

    The beliefs of an agent are inconsistent when it considers no world possible at some designated world; no action
    ever changes that. With `consistent_beliefs` the space has no e-state with inconsistent beliefs: an action that
    would lead to one has no transition there.

    Unknown ids raise an `IndexError`, also in queries and encoders that are bound to the space.

    Args:
        task: the ground planning task.
        consistent_beliefs: whether e-states with inconsistent beliefs are left out.
        symmetry: whether expansions leave out actions that a symmetry of the e-state maps to an earlier one, which is
            as good a start of a plan, see `epigym.task.symmetry`. Nothing else changes.
        threads: how many threads compute the successors of an expansion, relaxations, and values of networks, or
            `auto`, as many as processors that this process may use; the results do not depend on it. For successors
            they pay for many e-states at a time, and for single ones of more than 64 worlds.

    Attributes:
        task: the ground planning task.
        consistent_beliefs: whether e-states with inconsistent beliefs are left out.
        symmetry: whether expansions leave out actions that symmetries make needless.
        initial: the id of the initial e-state, 0.
        threads: how many compute successors, relaxations and values of networks.
        symmetries: those of the task; none unless they are used.
        core: the same in the core, for queries and encoders that are bound to the space.

    Raises:
        UsageError: when `task` is no `Task`, or there are fewer threads than one.
        LimitError: when an action has too many events.
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
    """

    def __init__(
        self, task: Task, *, consistent_beliefs: bool = False, symmetry: bool = False, threads: Threads = 1
    ) -> None:
        if not isinstance(task, Task):
            raise UsageError(f"task={task!r}: expected a Task; load_problem makes one of the name or path of a problem")
        self.task = task
        self.consistent_beliefs = consistent_beliefs
        self.initial = 0
        self.threads = count_threads(threads)
        self.symmetry, self.symmetries = False, list[Symmetry]()
        try:
            self.core = _core.Space(**pack_task(task), consistent_beliefs=consistent_beliefs)
        except _core.InconsistentBeliefs as error:
            raise self._inconsistent_beliefs(error, "in the initial e-state") from None
        if symmetry:
            self.use_symmetries()

    def __len__(self) -> int:
        """Number of e-states met so far."""
        return len(self.core)

    def __repr__(self) -> str:
        """The task and the number of e-states reached, on one line."""
        return f"<StateSpace of {len(self)} e-states of {self.task!r}>"

    @property
    def nbytes(self) -> int:
        """Memory held for e-states and transitions, in bytes."""
        return self.core.nbytes

    def use_symmetries(self) -> None:
        """Find the symmetries of the task; from now on expansions leave out actions that they make needless."""
        self.symmetry = True
        self.symmetries = symmetries(self.task)
        self.core.use_symmetries(self.symmetries)

    @property
    def generated(self) -> tuple[int, int]:
        """Successors computed so far, not answered from memory, and the worlds that each was computed from."""
        return self.core.generated

    @property
    def relaxed(self) -> tuple[int, int]:
        """Relaxations computed so far, and the size of each in nodes and edges, see `epigym.features.relaxation`."""
        return self.core.relaxations

    def expand(self, ids: ArrayLike, *, stop_at_goal: bool = False, threads: Threads | None = None) -> Transitions:
        """All actions that are allowed in e-states, less those that symmetries make needless, and where they lead.

        Args:
            ids: int32[k], the e-states to expand; an e-state expanded before is answered from memory.
            stop_at_goal: cut the expansion right after the first transition that reaches a goal.
            threads: number of threads that compute successors; None: that of the space.

        Raises:
            TaskError: when designated worlds disagree about an agent's observability type.
            UsageError: when there are fewer threads than one.
        """
        count = self.threads if threads is None else count_threads(threads)
        try:
            source, action, target, is_new = self.core.expand(as_ids(ids), stop_at_goal, count)
        except _core.Disagreement as error:
            raise self._disagreement(error) from None
        return Transitions(source, action, target, is_new.view(np.bool_))

    def outcomes(self, ids: ArrayLike) -> Outcomes:
        """All outcomes of the actions that are allowed in e-states, less those that symmetries make needless.

        An action has an outcome for each designated event that can happen at some designated world, and for each
        observability assignment on which these worlds disagree. Its e-state is the product update in which only these
        pairs are designated. Where beliefs have to be consistent, an action is left out as a whole when an agent would
        have inconsistent beliefs in one of its outcomes: no policy could use it.

        Args:
            ids: int32[k], e-states; known answers are taken from memory.
        """
        source, action, event, assignment, target, is_new = self.core.outcomes(as_ids(ids))
        return Outcomes(source, action, event, assignment, target, is_new.view(np.bool_))

    def successor(self, state: int, action: int) -> int:
        """The e-state that `action` leads to from `state`.

        Raises:
            TaskError: when the action is not applicable, or designated worlds disagree about an agent's
                observability type.
            InconsistentBeliefsError: when the successor has inconsistent beliefs, and `consistent_beliefs` is set.
            IndexError: when the e-state or the action is unknown.
        """
        return int(self.successors([state], [action])[0])

    def successors(self, ids: ArrayLike, actions: ArrayLike) -> NDArray[np.int32]:
        """int32[k]: where one action each, int32[k], leads from e-states, int32[k].

        Raises:
            ValueError: when there is not one action for each e-state.
            TaskError, InconsistentBeliefsError, IndexError: as `successor`, for the first e-state where that fails.
        """
        try:
            return self.core.successors(as_ids(ids), as_ids(actions))
        except _core.Disagreement as error:
            raise self._disagreement(error) from None
        except _core.InconsistentBeliefs as error:
            raise self._inconsistent_beliefs(error, f"after action {self.task.actions[error.args[1]].name!r}") from None
        except _core.Inapplicable as error:
            state, action = error.args
            raise TaskError(
                f"action {self.task.actions[action].name!r} is not applicable in e-state {state}: "
                + self.obstacles(state, action)
            ) from None

    def obstacles(self, state: int, action: int) -> str:
        """Why an action is not applicable in an e-state, with the conditions that fail; empty when it is."""
        from epigym.reference.semantics import obstacles  # explains errors only: the core answers without it

        return obstacles(self.task, self.model(state).state, self.task.actions[action])

    def applicable(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k, n_actions]: which actions are applicable in which e-states, with any successor."""
        return self.core.applicable(as_ids(ids)).view(np.bool_)

    def allowed(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k, n_actions]: the same without the actions that `consistent_beliefs` rules out."""
        return self.core.allowed(as_ids(ids)).view(np.bool_)

    def representatives(self, ids: ArrayLike) -> NDArray[np.int32]:
        """int32[k, n_actions]: the action that `expand` tries in place of each applicable action of e-states.

        That is the action itself unless a symmetry of the e-state leads from it to an earlier one.
        """
        if not self.symmetries:
            known = self.world_counts(ids)  # refuses unknown ids
            return np.tile(np.arange(len(self.task.actions), dtype=np.int32), (len(known), 1))
        return self.core.representatives(as_ids(ids))

    def is_goal(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """bool[k]: which of the e-states are goals."""
        return self.core.is_goal(as_ids(ids)).view(np.bool_)

    def query(self, formulas: Iterable[Formula]) -> Query:
        """Any formulas, made ready to be evaluated in many e-states.

        The beliefs of agent i are inconsistent where `¬B_i false` does not hold.

        Returns:
            A function from e-states, int32[k], to the truth of every formula in every e-state, bool[k, n].

        Raises:
            TaskError: when a formula names a fluent or agent that the task does not have.
        """
        query = self.bind(formulas)
        return lambda ids: query.holds(as_ids(ids)).view(np.bool_)

    def bind(self, formulas: Iterable[Formula]) -> BoundQuery:
        """The same in the core, for `hold_each`."""
        return _core.Query(self.core, *pack_formulas(self.task, formulas))

    def world_counts(self, ids: ArrayLike) -> NDArray[np.int32]:
        """int32[k]: the number of worlds of the contracted e-states."""
        return self.core.world_counts(as_ids(ids))

    def rows(self, ids: ArrayLike, labels: _core.WorldLabels | None = None) -> Rows:
        """The worlds and successor classes of e-states, int32[k]; worlds are labelled where there are `labels`."""
        return Rows(*self.core.rows(as_ids(ids), labels))

    def model(self, state: int) -> KripkeModel:
        """The contracted e-state for people; worlds are in canonical order."""
        estate = unpack_model(self.task.fluents, PackedModel(*self.core.model(as_id(state))))
        return KripkeModel(self.task.fluents, self.task.agents, estate)

    def intern(self, state: EState) -> int:
        """The id of any e-state over the task's fluents and agents, which is contracted first.

        Raises:
            TaskError: when the e-state names unknown fluents or has relations for other agents.
            InconsistentBeliefsError: when it has inconsistent beliefs, and `consistent_beliefs` is set.
        """
        KripkeModel(self.task.fluents, self.task.agents, state)  # checks the names
        try:
            return self.core.intern(pack_model(self.task.fluents, state))
        except _core.InconsistentBeliefs as error:
            raise self._inconsistent_beliefs(error, "in the e-state given") from None

    def _inconsistent_beliefs(self, error: Exception, where: str) -> InconsistentBeliefsError:
        agent, _ = error.args
        return InconsistentBeliefsError(self.task.agents[agent], where)

    def _disagreement(self, error: Exception) -> TaskError:
        action, agent = error.args
        return TaskError(
            f"action {self.task.actions[action].name!r}: the designated worlds disagree about the observability "
            f"type of agent {self.task.agents[agent]!r}: in a policy (policy=strong) each type is an outcome"
        )


def hold_each(queries: Sequence[BoundQuery], of: ArrayLike, ids: ArrayLike) -> NDArray[np.bool_]:
    """Ask each e-state for the formulas of its own query.

    Args:
        queries: made by `StateSpace.bind` of one space.
        of: int32[k], the query of each e-state.
        ids: int32[k], the e-states.

    Returns:
        bool[k]: whether all formulas of its query hold in each e-state.

    Raises:
        ValueError: when there is not one query for each e-state, or they are of several spaces.
        IndexError: when an e-state is unknown.
    """
    return _core.evaluate_queries(list(queries), as_ids(of), as_ids(ids))


def as_ids(ids: ArrayLike) -> NDArray[np.int32]:
    """int32[k]: ids as the core takes them, none of them changed on the way.

    Raises:
        IndexError: when they are not whole numbers in one dimension, or one of them can be no id.
    """
    if isinstance(ids, np.ndarray) and ids.dtype == np.int32 and ids.ndim == 1:
        return np.ascontiguousarray(ids)  # the core refuses negative ones
    try:
        given = np.asarray(ids)
    except ValueError:  # lists of different lengths
        given = np.empty((), object)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise IndexError(f"ids are whole numbers in one dimension, int32[k]: got {given.dtype}{list(given.shape)}")
    if given.size and np.count_nonzero(beyond := given >> 31):
        raise IndexError(f"{given[beyond != 0][0]} does not exist: ids count up from 0")
    return given.astype(np.int32, order="C", copy=False)


def as_id(number: int) -> int:
    """An id as the core takes it; errors as `as_ids`."""
    return int(as_ids([number])[0])


def count_threads(threads: Threads) -> int:
    """How many threads; `auto` is as many as processors that this process may use.

    Raises:
        UsageError: when there are fewer than one.
    """
    if threads == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise UsageError(f"threads={threads}: expected at least 1, or auto")
    return threads
