"""`Execution`: follows the actions and the observed outcomes of an execution outside of epigym."""

from __future__ import annotations

from typing import Any

from epigym.config.values import convert
from epigym.errors import TaskError, UsageError
from epigym.names import unknown
from epigym.space.branching import Outcome, outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.search_problem import SearchProblem
from epigym.space.space import StateSpace
from epigym.task.formula import Formula
from epigym.task.task import Task
from search.agents.result import SearchStatus
from search.policies.planner import Kind, PolicyResult, plan
from search.policies.policy import Policy


class Execution:
    """An execution of a task, for example by a robot: it updates an e-state by actions and observed outcomes.

        >>> from epigym.problem import load_problem
        >>> execution = Execution(load_problem("active_muddy_child/amc_03_02_clean"))
        >>> [str(outcome) for outcome in execution.apply("ask_c2")]
        ['wonders']
        >>> execution.observe("wonders")

    Args:
        task: the planning task; the execution starts at its initial e-state.
        policy: the policy to follow; without one `replan` searches for a policy.

    Attributes:
        policy: the policy to follow; `replan` changes it.
        pending: the name of the action whose outcome `observe` expects; None when no action is pending.
    """

    def __init__(self, task: Task, policy: Policy | None = None) -> None:
        """Start at the initial e-state."""
        self.policy = policy
        self.pending: str | None = None
        self._space = StateSpace(task)
        self._state = self._space.initial
        self._number = {action.name: k for k, action in enumerate(task.actions)}
        self._targets: dict[str, int] = {}

    @property
    def estate(self) -> KripkeModel:
        """The current e-state, before the pending action."""
        return self._space.model(self._state)

    @property
    def is_goal(self) -> bool:
        """Whether the goal holds in the current e-state."""
        return bool(self._space.is_goal([self._state])[0])

    @property
    def action(self) -> str:
        """The action that the policy takes in the current e-state.

        Raises:
            UsageError: when there is no policy, or the policy has no action in the current e-state.
        """
        if self.policy is None:
            raise UsageError("there is no policy: call replan, or apply actions of your own")
        return self.policy.act(self.estate)

    def holds(self, formula: Formula | str) -> bool:
        """Whether a formula, or its mA* text, holds in the current e-state; errors as `KripkeModel.holds`."""
        return self.estate.holds(formula)

    def apply(self, action: str) -> list[Outcome]:
        """Begin an action and return its possible outcomes; a pending action is dropped.

        Raises:
            UsageError: when there is no such action.
            TaskError: when the action is not applicable.
        """
        if action not in self._number:
            raise UsageError(unknown("action", action, self._number))
        number = self._number[action]
        if not (found := outcomes_of(self._space, self._state, number)):
            raise TaskError(f"action {action!r} is not applicable: {self._space.obstacles(self._state, number)}")
        self.pending, self._targets = action, {str(outcome): target for outcome, target in found}
        return [outcome for outcome, _ in found]

    def observe(self, outcome: Outcome | str) -> None:
        """Update the e-state by the observed outcome: one that `apply` returned, or its text.

        Raises:
            UsageError: when no action is pending, or the pending action has no such outcome.
        """
        if self.pending is None:
            raise UsageError("there is nothing to observe: apply an action first")
        if str(outcome) not in self._targets:
            raise UsageError(unknown(f"outcome of {self.pending!r}", str(outcome), self._targets))
        self._state, self.pending = self._targets[str(outcome)], None

    def replan(self, policy: Kind = "strong", **options: Any) -> PolicyResult:
        """Search for a policy from the current e-state, and follow it from now on if there is one.

        Args:
            policy: the kind of the policy, see `search.plan`.
            **options: other arguments of `search.plan`.

        Raises:
            EpigymError: as `search.plan`.
        """
        problem = SearchProblem(self._space, self._state, self._space.task.goal)
        result = plan(problem, policy=convert(policy, Kind, "policy"), **options)
        assert isinstance(result, PolicyResult)
        if result.status is SearchStatus.SOLVED:
            self.policy = result.policy
        return result
