"""`TextEnv`: a planning task in plain English, for language models."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Text

from epigym.drawing.english import describe_formula, describe_model, join_names
from epigym.envs.env import ARGUMENTS, Info, ProblemEnv
from epigym.errors import EpigymError, LimitError, UsageError
from epigym.names import unknown
from epigym.space.search_problem import SearchProblem
from epigym.task.formula import Formula

_ROOM = 9000  # characters for longer goals than that of the task


class TextEnv(gymnasium.Env[str, str]):
    """Observations are English text, actions are names.

    The task, its rewards and ends of episodes, and the options of `reset` are those of `EpistemicEnv`.

    ## Action Space
    `Text`: the name of an action. Any other text is an invalid action, which changes nothing or, with
    `invalid_action="error"`, is an error.

    ## Observation Space
    `Text`: which facts hold, what each agent believes about single facts, each subgoal and whether it holds, and the
    names of the available actions. Beliefs about beliefs are not described, so different e-states may look alike.

    ## Information
    That of `EpistemicEnv`.

    Args:
        problem: a problem file, or `domain/instance` such as `coin_in_the_box/pl_5`.
        **options: arguments of `ProblemEnv`, but the encoding.

    Attributes:
        central: the `ProblemEnv` with the task, the space, and the e-state.

    Raises:
        EpigymError: as `ProblemEnv`.
    """

    metadata = ProblemEnv.metadata

    def __init__(self, problem: str = "", **options: Any) -> None:
        """Read the problem."""
        for name in ("encoding", "path"):
            if name in options:
                raise UsageError(unknown("argument", name, [one for one in ARGUMENTS if one != "encoding"]))
        self.central = ProblemEnv(problem, **options)
        self.render_mode = self.central.render_mode
        task, names = self.central.task, self.central.action_names
        characters = frozenset(string.printable).union(*names, *task.fluents, *task.agents)
        facts = sum(len(name) + 12 for name in task.fluents)
        self._most_goals = _measure(task.goal) + _ROOM
        most = (1 + len(task.agents)) * (facts + 100) + self._most_goals + sum(len(name) + 2 for name in names) + 1000
        self.observation_space = Text(most, charset=characters)
        self.action_space = Text(max(map(len, names)), charset=characters)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, Info]:
        """Start an episode; arguments and errors as `EpistemicEnv.reset`; LimitError for a goal with a long text."""
        super().reset(seed=seed)
        before = self.central.clone_state()
        _, info = self.central.reset(seed=seed, options=options)
        if (length := _measure(self.central.goal)) > self._most_goals:
            self.central.restore_state(before)
            raise LimitError(
                f"the text of the goal has {length:,} characters, and the observation space room for "
                f"{self._most_goals:,}: give fewer or shorter subgoals"
            )
        return self._describe(info), info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        """Take the action of a name; errors as `EpistemicEnv.step`."""
        names = self.central.action_names
        if action in names:
            _, reward, terminated, truncated, info = self.central.step(np.int64(names.index(action)))
        elif self.central.invalid_action == "error":
            raise EpigymError(unknown("action", action, names))
        else:
            info = self.central.information(self.central.is_goal(), invalid=True)
            if self.central.nature == "sampled":
                info["outcome"] = None
            if self.render_mode == "human":
                self.render()
            reward, terminated, truncated = -1.0, info["is_goal"], False
        return self._describe(info), reward, terminated, truncated, info

    def render(self) -> Any:
        """The e-state as `ProblemEnv` renders it."""
        return self.central.render()

    def search_problem(self) -> SearchProblem:
        """From the current e-state to the current goal."""
        return self.central.search_problem()

    def _describe(self, info: Info) -> str:
        central, model = self.central, self.central.model()
        goals = [f"- {describe_formula(goal)} ({'holds' if model.holds(goal) else 'does not hold'})"
                 for goal in central.goal]  # fmt: skip
        names = [name for name, is_allowed in zip(central.action_names, info["action_mask"], strict=True) if is_allowed]
        parts = [describe_model(model), "Goals:", *goals, f"Available actions: {join_names(names) or 'none'}."]
        return "\n".join(parts)


def _measure(goal: Iterable[Formula]) -> int:
    """Number of characters that the lines of a goal take at most."""
    return sum(len(describe_formula(one)) + 20 for one in goal)
