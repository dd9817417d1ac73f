"""Training goals and goals held out, and the evaluation of policies on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.encoder import AnyEncoder
from epigym.envs.domain_env import DomainEnv
from epigym.envs.goals import Goal, Goals
from epigym.errors import EpigymError
from epigym.space.rows import GraphBatch
from epigym.space.space import StateSpace
from epigym.space.traversal import breadth_first
from epigym.task.formula import and_

Choose = Callable[[GraphBatch, NDArray[np.bool_]], NDArray[np.int64]]
_DRAWS = 20  # samples for each requested goal


class SampledGoal(NamedTuple):
    """A sampled goal.

    Attributes:
        goal: its subgoals.
        way: the e-states before it on a random walk that reaches it, the initial one first.
    """

    goal: Goal
    way: tuple[int, ...]


class GoalsEnv(DomainEnv):
    """The environment of a domain whose episodes have goals from a list; arguments as `DomainEnv`.

    Attributes:
        goals: `reset` samples one of them, unless its options name a goal or an e-state; without goals it uses the
            task's.
        on_the_way: the share of these episodes that start at a random e-state of the goal's way.
    """

    goals: Sequence[SampledGoal] = ()
    on_the_way: float = 0.0

    def start(self, options: Mapping[str, Any], rng: np.random.Generator) -> tuple[Goal, int]:
        """As `DomainEnv`, with a goal of the list by default."""
        if not self.goals or options.keys() & {"goal", "state"}:
            return super().start(options, rng)
        goal, way = self.goals[int(rng.integers(len(self.goals)))]
        return goal, int(rng.choice(way)) if rng.random() < self.on_the_way else self.space.initial


def sample_goals(env: DomainEnv, count: int, seed: int, size: int | None = None) -> list[SampledGoal]:
    """Sample different goals of an environment's distribution with up to `size` formulas, in random order.

    Raises:
        EpigymError: when there are fewer.
    """
    rng = np.random.default_rng(seed)
    found: dict[Goal, SampledGoal] = {}
    for _ in range(_DRAWS * count):
        goal, plan = env.sample_goal(rng, size)
        if goal not in found:
            way = accumulate(plan[:-1], env.space.successor, initial=env.space.initial)
            found[goal] = SampledGoal(goal, tuple(way))
        if len(found) == count:
            drawn = list(found.values())  # rare goals tend to be last
            return [drawn[index] for index in rng.permutation(count)]
    raise EpigymError(f"{_DRAWS * count} draws gave {len(found)} different goals, not {count}: ask for fewer")


def split_goals(
    env: GoalsEnv, goals: int, held_out: int, larger_goals: int, seed: int
) -> tuple[list[SampledGoal], list[Goal]]:
    """Sample training goals and goals held out.

    Args:
        env: the environment with the distribution of goals.
        goals: number of different training goals.
        held_out: number of other goals.
        larger_goals: number of further goals with up to one formula more; those not held out are used in training, too.
        seed: of the sampling.

    Raises:
        EpigymError: when there are fewer.
    """
    drawn = sample_goals(env, goals + held_out, seed)
    others = [goal for goal, _ in drawn[goals:]]
    wider = (
        {draw.goal: draw for draw in sample_goals(env, larger_goals, seed, env.goal_size + 1)} if larger_goals else {}
    )
    learned = wider | {draw.goal: draw for draw in drawn}
    return [draw for goal, draw in learned.items() if goal not in others], others


def measure_shortest_plans(space: StateSpace, goals: Sequence[Goal]) -> NDArray[np.int64]:
    """int64[g]: the length of a shortest plan for each goal, by breadth-first search; 0 where it holds at the start.

    Raises:
        EpigymError: when a goal cannot be reached.
    """
    queries = [space.query([and_(*goal)]) for goal in goals]
    lengths = np.array([0 if holds([space.initial])[0, 0] else -1 for holds in queries])
    for wave in breadth_first(space):
        reached = wave.transitions.target[wave.fresh]
        for index in np.flatnonzero(lengths < 0).tolist():
            if queries[index](reached).any():
                lengths[index] = wave.depth + 1
        if not (lengths < 0).any():
            return lengths
    raise EpigymError(f"the goal {and_(*goals[int(np.argmin(lengths))])} cannot be reached")


def play(
    space: StateSpace, encoder: AnyEncoder, goals: Sequence[Goal], choose: Choose, limit: int
) -> NDArray[np.int64]:
    """Pursue each goal once from the initial e-state.

    Args:
        space: the state space.
        encoder: makes the observations of e-states.
        goals: the goals, pursued in parallel.
        choose: the policy, from graphs and allowed actions bool[g, n_actions] to actions int64[g].
        limit: maximum number of steps.

    Returns:
        int64[g]: the number of steps, `limit` where a goal is not reached.
    """
    pursued, every = Goals(encoder, goals), np.arange(len(goals))
    states = np.full(len(goals), space.initial, np.int32)
    is_open = ~pursued.holds(states)
    taken = np.where(is_open, limit, 0)
    for step in range(1, limit + 1):
        allowed = space.allowed(states)
        actions = choose(pursued.graphs(states), allowed)
        moving = np.flatnonzero(is_open & allowed[every, actions])
        states[moving] = space.successors(states[moving], actions[moving])
        reached = is_open & pursued.holds(states)
        taken[reached] = step
        is_open &= ~reached
        if not is_open.any():
            break
    return taken
