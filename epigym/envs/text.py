"""`TextEnv`: a planning task in plain English, for language models."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Text

from epigym.drawing.english import describe_formula, describe_model, join_names
from epigym.envs.env import Info, ProblemEnv
from epigym.errors import EpigymError
from epigym.names import unknown


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
        self.central = ProblemEnv(problem, **options)
        self.render_mode = self.central.render_mode
        task, names = self.central.task, self.central.action_names
        characters = frozenset(string.printable).union(*names, *task.fluents, *task.agents)
        facts, goals = (
            sum(len(name) + 12 for name in task.fluents),
            sum(len(describe_formula(goal)) + 20 for goal in task.goal),
        )
        most = (1 + len(task.agents)) * (facts + 100) + goals + sum(len(name) + 2 for name in names) + 10_000
        self.observation_space = Text(most, charset=characters)
        self.action_space = Text(max(map(len, names)), charset=characters)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, Info]:
        """Start an episode; arguments and errors as `EpistemicEnv.reset`."""
        super().reset(seed=seed)
        _, info = self.central.reset(seed=seed, options=options)
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
            reward, terminated, truncated = -1.0, info["is_goal"], False
        return self._describe(info), reward, terminated, truncated, info

    def render(self) -> Any:
        """The e-state as `ProblemEnv` renders it."""
        return self.central.render()

    def _describe(self, info: Info) -> str:
        central, model = self.central, self.central.model()
        goals = [f"- {describe_formula(goal)} ({'holds' if model.holds(goal) else 'does not hold'})"
                 for goal in central.goal]  # fmt: skip
        names = [name for name, is_allowed in zip(central.action_names, info["action_mask"], strict=True) if is_allowed]
        parts = [describe_model(model), "Goals:", *goals, f"Available actions: {join_names(names) or 'none'}."]
        return "\n".join(parts)
