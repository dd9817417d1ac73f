"""A delete relaxation whose facts are what agents believe.

In the sense of h_add and FF (Bonet & Geffner 2001; Hoffmann & Nebel 2001), for any ground task: nothing that was made
true is ever made false. *Facts* are literals, beliefs about facts, negated beliefs and common beliefs. An *operator*, a
designated event of an action, adds every fact that its event model brings about: its effects, what its preconditions
tell those who notice, what these know of each other. On one world it is exactly the classical heuristic.

The relaxation is no proof: it sees neither knowledge by elimination nor plans that make agents believe everything, so
an infinite value means that it is uninformative, not that there is no plan.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym import _core
from epigym.space.space import StateSpace, as_id, as_ids
from epigym.task.formula import Formula
from epigym.task.packing import PackedFormulas, unpack_formulas


class Relaxed(NamedTuple):
    """The relaxations of k e-states. Subgoals whose normal forms have the same conjuncts count as one.

    Attributes:
        h_add: float64[k], the sum of the subgoals' costs; infinite where the relaxation does not reach one.
        h_ff: float64[k], the number of actions of the relaxed plan; infinite where `h_add` is.
        cost: float64[k], the sum of the costs of the subgoals that the relaxation reaches, `h_add` where these are all.
        actions: int32[k], the number of actions of the relaxed plan for the subgoals that the relaxation reaches; it is
            `h_ff` where these are all.
        unreached: int32[k], the number of subgoals that it does not reach.
        preferred_ptr: int64[k + 1], where the preferred actions of each e-state start.
        preferred: int32[h], actions of the relaxed plan whose requirement holds, ascending.
    """

    h_add: NDArray[np.float64]
    h_ff: NDArray[np.float64]
    cost: NDArray[np.float64]
    actions: NDArray[np.int32]
    unreached: NDArray[np.int32]
    preferred_ptr: NDArray[np.int64]
    preferred: NDArray[np.int32]


class Landmarks(NamedTuple):
    """The landmarks of an e-state: parts of the goal, and what every relaxed plan makes true.

    Attributes:
        formulas: n distinct ones, no conjunction among them.
        is_goal: bool[n], which are parts of the goal, the only ones that may hold already.
        before: bool[n, n], `before[i, j]`: all actions that may first make j true require i (a greedy-necessary order).
    """

    formulas: tuple[Formula, ...]
    is_goal: NDArray[np.bool_]
    before: NDArray[np.bool_]


class Relaxation:
    """The relaxation of a space's task.

    It is built once for each space and relaxes each e-state once: all `Relaxation` objects of a space share what they
    remember, which is some 30 bytes and 4 for each preferred action of an e-state.

    Args:
        space: where the e-states live.
    """

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._core = _core.Relaxation(space.core)

    @cached_property
    def facts(self) -> tuple[Formula, ...]:
        """The formulas that `find_added_facts` names, the first that of the first subgoal.

        A node that is no fact stands for the formula that it requires.
        """
        lists, numbers = self._core.formulas()
        formulas = unpack_formulas(self._space.task.fluents, self._space.task.agents, PackedFormulas(*lists))
        return tuple(formulas[number] for number in numbers)

    @property
    def size(self) -> int:
        """Number of nodes (facts and their requirements) and edges, which bounds the work of relaxing an e-state."""
        return self._core.size

    @property
    def evaluated(self) -> int:
        """How often costs were computed in this space.

        Once for each e-state, and again by `find_added_facts` and `landmarks`.
        """
        return self._core.evaluations

    def __call__(self, ids: ArrayLike) -> Relaxed:
        """Relax e-states, int32[k], by the threads of the space."""
        return Relaxed(*self._core.evaluate(as_ids(ids), self._space.threads))

    def find_added_facts(self, state: int) -> NDArray[np.int32]:
        """int32[a]: the facts that the relaxed plan of an e-state adds, as indices into `facts`, ascending.

        None where the relaxation does not reach the goal. They are computed anew by each call.
        """
        return self._core.find_added_facts(as_id(state))

    def is_uninformative(self, state: int) -> bool:
        """Whether it does not reach the goal from an e-state, which is no proof that nothing does."""
        return bool(np.isinf(self([state]).h_add[0]))

    def landmarks(self, state: int) -> Landmarks:
        """The landmarks of an e-state; where the relaxation is uninformative, no more than the parts of the goal.

        Source: Hoffmann, Porteous, Sebastia, "Ordered Landmarks in Planning" (JAIR 22, 2004). A formula is a landmark
        if the relaxation does not reach the goal without it, which finds all of them.
        """
        goal, nodes, orders = self._core.find_landmarks(as_id(state))
        node_of: dict[Formula, int] = {}  # the node of a formula stands before the fact that is the formula's own
        for node in (*goal, *nodes):
            node_of.setdefault(self.facts[node], node)
        place = {node: number for number, node in enumerate(node_of.values())}
        before = np.zeros((len(place), len(place)), dtype=np.bool_)
        for one, other in orders:
            if one in place and other in place:
                before[place[one], place[other]] = True
        return Landmarks(tuple(node_of), np.arange(len(place)) < len(goal), before)
