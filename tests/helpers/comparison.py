"""A state space and the reference side by side."""

import random

import pytest

from epigym import EState, StateSpace, Task, TaskError
from epigym.reference import semantics as reference
from epigym.task.formula import TRUE, Formula, considers_possible


class Comparison:
    """A state space and the reference, side by side; every e-state and transition is compared once."""

    def __init__(self, task: Task, formulas: list[Formula]) -> None:
        self.task = task
        self.space = StateSpace(task)
        self.formulas = tuple(dict.fromkeys([*task.goal, *task.formulas(), *formulas]))
        self.holds = self.space.query(self.formulas)
        self.consistent = self.space.query(considers_possible(agent, TRUE) for agent in task.agents)
        self.estates: dict[int, EState] = {}
        self.forms: dict[int, reference.CanonicalForm] = {}
        self.ids: dict[reference.CanonicalForm, int] = {}
        self.actions: dict[int, list[int]] = {}
        self.targets: dict[tuple[int, int], int | None] = {}
        self.meet(self.space.initial, task.initial)

    def meet(self, state: int, estate: EState) -> None:
        """Compare an e-state of the space, which is contracted, with the uncontracted one of the reference."""
        contracted = reference.contract(estate)
        form = reference.canonical(contracted, self.task.fluents)
        assert self.ids.setdefault(form, state) == state
        if state in self.estates:
            assert self.forms[state] == form
            return
        self.forms[state] = form
        self.estates[state] = contracted
        found = self.space.model(state).state
        valuations, edges, designated = form
        assert found.designated == designated
        assert [[name in valuation for name in self.task.fluents] for valuation in found.valuations] == [
            list(truth) for truth in valuations
        ]
        ranked = {row: tuple(sorted(row)) for row in frozenset().union(*found.successors)}
        assert [[ranked[row] for row in rows] for rows in found.successors] == [list(rows) for rows in edges]
        truth = tuple(map(reference.Evaluation(self.task.agents, estate).holds, self.formulas))
        assert tuple(self.holds([state])[0]) == truth
        assert self.space.is_goal([state])[0] == all(truth[: len(dict.fromkeys(self.task.goal))])
        assert tuple(~self.consistent([state])[0]) == reference.find_inconsistent_beliefs(estate)
        applicable = reference.applicable_actions(self.task, estate)
        assert tuple(self.space.applicable([state])[0]) == applicable
        self.actions[state] = [index for index, possible in enumerate(applicable) if possible]

    def step(self, state: int, action: int) -> int | None:
        """Compare one transition; None when designated worlds disagree about an agent's type."""
        if (state, action) not in self.targets:
            self.targets[state, action] = self._step(state, action)
        return self.targets[state, action]

    def _step(self, state: int, action: int) -> int | None:
        try:
            estate = reference.update(self.task, self.estates[state], self.task.actions[action])
        except TaskError as error:
            with pytest.raises(TaskError) as caught:
                self.space.successor(state, action)
            agent = str(error).split("agent ")[1].split()[0]
            assert agent in str(caught.value)
            assert repr(self.task.actions[action].name) in str(caught.value)
            with pytest.raises(TaskError, match="disagree"):
                self.space.expand([state])
            return None
        target = self.space.successor(state, action)
        self.meet(target, estate)
        return target


def random_plan(both: Comparison, length: int, rng: random.Random, max_worlds: int = 200) -> None:
    """Apply random applicable actions; stop at an e-state of more than `max_worlds` worlds."""
    state = both.space.initial
    for _ in range(length):
        if not both.actions[state] or both.space.world_counts([state])[0] > max_worlds:
            return
        target = both.step(state, rng.choice(both.actions[state]))
        assert target is not None
        state = target
