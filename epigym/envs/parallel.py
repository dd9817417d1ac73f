"""`EpistemicParallelEnv`: a planning task in which all agents choose at once, each from its own perspective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Space

from epigym.config.packages import extras
from epigym.envs.aec import EpistemicAECEnv
from epigym.envs.env import Info
from epigym.errors import EpigymError
from epigym.names import unknown

with extras():
    from pettingzoo import ParallelEnv


class EpistemicParallelEnv(ParallelEnv):  # type: ignore[misc]
    """All agents of an environment choose an action in each round, until its goal holds.

    A PettingZoo parallel environment. Agents, spaces, masks, `state()` and options of `reset` are those of
    `EpistemicAECEnv`, in which agents act one after the other.

    ## Rounds
    The masks at the start of the round say which actions are valid. The actions are applied in the order of
    `possible_agents`. An action that an earlier one has made inapplicable changes nothing, as waiting does, and so does
    an invalid one, unless `env` has `invalid_action="error"`. After the goal is reached no action is applied.

    ## Rewards
    -1 for all agents in every round, so the return is minus the number of rounds.

    ## Episode End
    For all agents at once: termination when the goal holds after a round, truncation after `max_rounds` rounds.

    ## Information
    That of `EpistemicAECEnv`: `failed` also marks actions that an earlier one in the same round made inapplicable.

    Args:
        env: see `EpistemicAECEnv`.
        actors: see `EpistemicAECEnv`.
        max_rounds: the largest number of rounds of an episode.

    Attributes:
        turns: the same task as `EpistemicAECEnv`, with `central`, `perspective` and `action_mask`.

    Raises:
        TypeError: when `env` is not an environment of epigym.
        EpigymError: as `EpistemicAECEnv`.
    """

    metadata = {**EpistemicAECEnv.metadata, "name": "epistemic_parallel_v0"}  # noqa: RUF012

    def __init__(
        self,
        env: gymnasium.Env[Any, np.int64],
        *,
        actors: Mapping[str, str] | None = None,
        max_rounds: int = 100,
    ) -> None:
        """Make the environment with turns; `reset` starts an episode."""
        self.turns = EpistemicAECEnv(env, actors=actors, max_rounds=max_rounds)
        self.possible_agents = self.turns.possible_agents
        self.state_space = self.turns.state_space
        self.agents: list[str] = []
        self.render_mode = self.turns.render_mode
        self._round = 0

    def observation_space(self, agent: str) -> Space[Any]:
        """The same for all agents."""
        return self.turns.observation_space(agent)

    def action_space(self, agent: str) -> Discrete:
        """`Discrete(n + 1)` for an agent with n actions."""
        return self.turns.action_space(agent)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Info]]:
        """Start an episode; arguments and errors as `EpistemicAECEnv.reset`."""
        self.turns.reset(seed=seed, options=options)
        self.agents, self._round = list(self.possible_agents), 0
        return self._observations(), {agent: self.turns.info(agent, False, False) for agent in self.agents}

    def step(
        self, actions: Mapping[str, int | np.integer[Any]]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Apply one action of each agent.

        Raises:
            EpigymError: when no episode is running, an agent has no action, or an action is refused as in
                `EpistemicAECEnv.is_invalid`.
            TaskError: when designated worlds disagree about an agent's observability type.
        """
        if not self.agents:
            raise EpigymError("no episode is running: call reset first")
        for agent in actions.keys() ^ set(self.agents):
            known = agent in self.agents
            raise EpigymError(f"agent {agent!r} has no action" if known else unknown("agent", agent, self.agents))
        invalid = {agent: self.turns.is_invalid(agent, actions[agent]) for agent in self.agents}
        failed = {agent: not invalid[agent] and self.turns.fails(agent, actions[agent]) for agent in self.agents}
        self._round += 1
        is_goal = self.turns.central.is_goal()
        is_over = not is_goal and self._round == self.turns.max_rounds
        agents, observations = self.agents, self._observations()
        infos = {agent: self.turns.info(agent, invalid[agent], failed[agent]) for agent in agents}
        if is_goal or is_over:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return (
            observations,
            dict.fromkeys(agents, -1.0),
            dict.fromkeys(agents, is_goal),
            dict.fromkeys(agents, is_over),
            infos,
        )

    def state(self) -> Any:
        """The observation of the e-state itself, which no agent has."""
        return self.turns.state()

    def render(self) -> Any:
        """The e-state itself, as `env` renders it."""
        return self.turns.render()

    def close(self) -> None:
        """Close `env`."""
        self.turns.close()

    def _observations(self) -> dict[str, Any]:
        return {agent: self.turns.observe(agent) for agent in self.agents}
