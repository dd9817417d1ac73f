"""`DomainEnv`: the environments of the parametric domains, with goals that can be sampled."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from epigym.config.values import Count, convert
from epigym.envs.env import ARGUMENTS, EpistemicEnv
from epigym.language import Reading, Semantics
from epigym.language.reading import Determines
from epigym.problem import domain_problem, vocabulary
from epigym.space.sampling import sample_goal, sample_walk
from epigym.space.space import Query
from epigym.task.formula import Formula, and_, conjuncts

RANDOM = "random"
"""The value of the reset option `goal` that samples one."""


class DomainEnv(EpistemicEnv):
    """The environment of a domain of problems; see `EpistemicEnv` for all that environments share.

    The reset option `goal="random"` samples a goal of the domain that can be reached: a conjunction of formulas
    of the domain's vocabulary that is true after a random walk of applicable actions, and false at the start.
    With `random_goals=True` every `reset` does so; the goals follow from the seed given to `reset`.

    Args:
        domain: a domain of `domains`, such as `grapevine`.
        instance: a named instance of the domain, such as `3_pl_4`; the domain's default parameters otherwise.
        semantics: of a domain in mA*, its reading, see `epigym.Reading`.
        determines: the same.
        random_goals: whether every episode has a random goal.
        goal_steps: length of the longest random walk to a goal.
        goal_size: number of formulas of the largest random goal.
        **arguments: those of `EpistemicEnv`, and parameters of the domain, which `python -m domains show DOMAIN`
            explains.

    Raises:
        EpigymError: when the domain, the instance or a parameter does not exist or is out of range.
    """

    def __init__(
        self,
        domain: str,
        instance: str | None = None,
        *,
        semantics: Semantics | None = None,
        determines: Determines | None = None,
        random_goals: bool = False,
        goal_steps: int = 10,
        goal_size: int = 2,
        **arguments: Any,
    ) -> None:
        """Write and read the problem of these parameters."""
        name = domain if instance is None else f"{domain}/{instance}"
        parameters = {key: value for key, value in arguments.items() if key not in ARGUMENTS}
        task = domain_problem(name, Reading(semantics, determines), **parameters)
        self._problem = name, parameters
        self.random_goals = convert(random_goals, bool, "random_goals")
        self.goal_steps = convert(goal_steps, Count, "goal_steps")
        self.goal_size = convert(goal_size, Count, "goal_size")
        super().__init__(task, **{key: arguments[key] for key in ARGUMENTS if key in arguments})

    @cached_property
    def _vocabulary(self) -> tuple[Formula, ...]:
        name, parameters = self._problem
        return vocabulary(name, **parameters)[1]

    @cached_property
    def _vocabulary_query(self) -> Query:
        return self.space.query(self._vocabulary)

    def goal_option(self, option: Any, rng: np.random.Generator, state: int) -> tuple[Formula, ...]:
        """The subgoals that the reset option `goal` asks for; random ones for `random`, or by default when so made.

        Raises:
            EpigymError: when it is no goal of the task, or no random one is found.
        """
        if option == RANDOM or (option is None and self.random_goals):
            return self._sample_goal(rng, state)
        return super().goal_option(option, rng, state)

    def _sample_goal(self, rng: np.random.Generator, state: int) -> tuple[Formula, ...]:
        steps = int(rng.integers(1, self.goal_steps, endpoint=True))
        size = int(rng.integers(1, self.goal_size, endpoint=True))
        walk = partial(sample_walk, start=state)
        sampled = sample_goal(self.space, self._vocabulary_query, rng, steps=steps, size=size, walk=walk)
        return conjuncts(and_(*(self._vocabulary[index] for index in sampled.subgoals)))
