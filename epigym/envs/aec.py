"""`EpistemicAECEnv`: a planning task in which the agents act themselves, in turn, each from its own perspective."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Space
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.config.values import Count, convert
from epigym.envs.env import OPTIONS, EpistemicEnv, Info, is_action, require_mapping
from epigym.errors import EpigymError, TaskError
from epigym.names import unknown
from epigym.task.task import Task

with extras():
    from pettingzoo import AECEnv

WAIT = 0
"""The action that every agent can always take; it changes nothing."""


class EpistemicAECEnv(AECEnv):  # type: ignore[misc]
    """The agents of an environment act in turn, each on its own beliefs, until the goal holds.

    A PettingZoo AEC environment around an `EpistemicEnv`, which says what e-states, actions, goals, observations and
    pictures are. There one central planner with a full view chooses every action. Here every agent chooses its own.

    ## Agents
    The agents of the task that can act, in the task's order; in every round each has one turn. An action belongs to
    its actor, which the domain names. An action without a named actor belongs to all agents: every agent that
    believes it applicable may take it. The argument `actors` adds or replaces actors.

    ## Action Spaces
    `Discrete(n + 1)` for an agent with n actions: 0 is to wait, `i` is its `i`-th action in declaration order.
    The attribute `action_names` has their names, and so has each agent's info.

    ## Observation Spaces
    The graph of the agent's perspective and of the goal, as in `EpistemicEnv`: the e-state in which the worlds
    that the agent considers possible are designated. E-states that the agent cannot distinguish have the same
    observation; an agent with false beliefs observes its beliefs. An agent with inconsistent beliefs considers no
    world possible and has no perspective: it observes the goal alone and can only wait.
    `gymnasium.ObservationWrapper`s of `env` apply to every agent; with `epigym.PaddedObservation` observations are
    arrays of fixed size.

    `state()` is the observation of the e-state itself, in the space `state_space`, for example for a centralized
    critic; agents do not see it.

    ## Masks
    `infos[agent]["action_mask"]` marks waiting and the actions that the agent believes applicable, that is, those that
    are applicable in its perspective. An agent may be wrong: an action that it believes applicable but that is not
    changes neither the e-state nor any observation. An action outside the mask is never applied, even where it is
    applicable; it changes nothing or is an error, as `invalid_action` of `env` says.

    ## Starting State
    That of `env`; `reset` takes its options, and warns of and ignores unknown ones.

    ## Rewards
    -1 for all agents in every turn, with or without an action, so the return is minus the number of turns.

    ## Episode End
    - Termination, for all agents: the goal holds in the e-state itself, not only in perspectives. Where it holds at
      reset already, the first turn changes nothing and terminates.
    - Truncation, for all agents: after `max_rounds` rounds.

    A continuing episode reveals to agents that the goal does not hold; observations do not.

    ## Information
    `infos` of each agent:

    - `action_mask`: int8[n + 1], see above.
    - `action_names`: the names of its actions, a tuple.
    - `invalid_action`: whether the mask did not have the action of its last turn.
    - `failed`: whether the mask had it, but it was not applicable. For logs and learners; agents do not observe it.

    ## References
    T. Engesser, T. Bolander, R. Mattmüller, B. Nebel, "Cooperative Epistemic Multi-Agent Planning for Implicit
    Coordination", EPTCS 243, 2017.

    Args:
        env: an `EpistemicEnv`, as `gymnasium.make` makes it. Only its wrappers of single observations apply; a limit of
            steps does not.
        actors: the agent that takes an action, by the name of the action, in place of the actor that the domain names.
        max_rounds: the most turns of every agent.

    Attributes:
        central: the `EpistemicEnv` itself, with the task, the space, and the e-state as it is.
        action_names: for each agent the names of its actions.
        actors: for each action the agent that takes it; None for those that belong to all agents.

    Raises:
        TypeError: when `env` is no environment of epigym.
        EpigymError: when an actor, an action or a number does not exist, or `env` samples an actual world or sets
            `consistent_beliefs`: agents cannot tell whether an action makes the beliefs of another one inconsistent.
    """

    metadata = {  # noqa: RUF012
        **EpistemicEnv.metadata,
        "name": "epistemic_v0",
        "is_parallelizable": False,
    }

    def __init__(
        self,
        env: gymnasium.Env[Any, np.int64],
        *,
        actors: Mapping[str, str] | None = None,
        max_rounds: int = 100,
    ) -> None:
        """Determine the actions of each agent; `reset` starts an episode."""
        super().__init__()
        central = getattr(env, "unwrapped", None)
        if not isinstance(central, EpistemicEnv):
            raise TypeError(f"EpistemicAECEnv needs an environment of epigym, got {env}")
        self.central = central
        if self.central.consistent_beliefs:
            raise EpigymError(
                "agents cannot tell what makes others believe everything: make env without consistent_beliefs"
            )
        if self.central.nature != "none":
            raise EpigymError(
                f"nature={self.central.nature!r} is for a central planner, agents act for all designated worlds: "
                "make env without nature"
            )
        self._layers = _observation_wrappers(env)
        self.max_rounds = convert(max_rounds, Count, "max_rounds")
        task = self.central.task
        self.actors = _find_actors(task, actors or {})
        who = list(self.actors.values())
        self._own = {
            agent: own for agent in task.agents if len(own := np.flatnonzero([one in (agent, None) for one in who]))
        }
        self.action_names = {
            agent: ("wait", *(task.actions[action].name for action in own)) for agent, own in self._own.items()
        }
        self.possible_agents = list(self._own)
        self.agents: list[str] = []
        self.action_spaces = {agent: Discrete(len(names)) for agent, names in self.action_names.items()}
        self.state_space: Space[Any] = (self._layers[-1] if self._layers else self.central).observation_space
        self.observation_spaces = dict.fromkeys(self.possible_agents, self.state_space)
        self.render_mode = self.central.render_mode
        self._perspectives: dict[tuple[int, str], int | None] = {}

    def observation_space(self, agent: str) -> Space[Any]:
        """The same for all agents."""
        return self.observation_spaces[self._require_agent(agent)]

    def action_space(self, agent: str) -> Discrete:
        """`Discrete(n + 1)` for an agent with n actions."""
        return self.action_spaces[self._require_agent(agent)]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start an episode with the turn of the first agent.

        Args:
            seed: seeds the random choices of `env`.
            options: `state` and `goal`, see `EpistemicEnv`.

        Raises:
            EpigymError: when an option does not fit the task.
        """
        options = options or {}
        require_mapping(options)
        for name in options:
            if name not in OPTIONS:
                warnings.warn(f"{unknown('reset option', name, OPTIONS)}; it is ignored", stacklevel=2)
        self.central.reset(seed=seed, options={name: options[name] for name in OPTIONS if name in options})
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self._turns = 0
        self._outcomes = dict.fromkeys(self.agents, (False, False))
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._tell(terminated=False, truncated=False)

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Take the turn of `agent_selection`; None once the episode has ended for it.

        Raises:
            EpigymError: when no episode is running, there is no such action, or the mask does not have it and `env`
                takes that for an error.
            TaskError: when designated worlds disagree about an agent's observability type.
        """
        if not self.agents:
            raise EpigymError("no episode is running: call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        invalid = self.is_invalid(agent, action)
        self._outcomes[agent] = invalid, not invalid and self.fails(agent, action)
        self._turns += 1
        self.agent_selection = self.agents[self._turns % len(self.agents)]
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, -1.0)
        self._accumulate_rewards()
        is_goal = self.central.is_goal()
        self._tell(is_goal, not is_goal and self._turns == self.max_rounds * len(self.agents))
        if self.render_mode == "human":  # `reset` of `env` has shown the start
            self.render()

    def observe(self, agent: str) -> Any:
        """The observation of the agent's perspective; of the goal alone when it has none."""
        return self._make_observation(self.perspective(agent))

    def state(self) -> Any:
        """The observation of the e-state itself, which no agent has."""
        return self._make_observation(self.central.state)

    def perspective(self, agent: str) -> int | None:
        """The id in `central.space` of the agent's perspective; None when its beliefs are inconsistent.

        Raises:
            EpigymError: when the agent does not exist or cannot act.
        """
        key = self.central.state, self._require_agent(agent)
        if key not in self._perspectives:
            try:
                seen = self.central.model().perspective(agent)
            except TaskError:  # it considers no world possible
                self._perspectives[key] = None
            else:
                self._perspectives[key] = self.central.space.intern(seen.state)
        return self._perspectives[key]

    def action_mask(self, agent: str) -> NDArray[np.int8]:
        """int8[n + 1]: waiting, and which of its actions the agent believes applicable."""
        mask = np.zeros(len(self.action_names[self._require_agent(agent)]), np.int8)
        mask[WAIT] = 1
        seen = self.perspective(agent)
        if seen is not None:
            mask[1:] = self.central.space.applicable([seen])[0, self._own[agent]]
        return mask

    def render(self) -> Any:
        """The e-state itself, as `env` renders it."""
        return self.central.render()

    def close(self) -> None:
        """Close `env`."""
        self.central.close()

    def is_invalid(self, agent: str, action: Any) -> bool:
        """Whether the agent's mask does not have an action now.

        Raises:
            EpigymError: when there is no such action, or the mask does not have it and `env` takes that for an error.
        """
        names = self.action_names[self._require_agent(agent)]
        if not is_action(action, self.action_spaces[agent]):
            raise EpigymError(f"an action of {agent!r} is a whole number from 0 to {len(names) - 1}, got {action!r}")
        if self.action_mask(agent)[action]:  # that in the information is the caller's
            return False
        if self.central.invalid_action == "error":
            raise EpigymError(
                f"agent {agent!r} does not believe that {names[action]!r} is applicable: "
                f"{self._obstacles(agent, int(action))}; choose an action that its info['action_mask'] marks, or "
                "make the environment with invalid_action='noop'"
            )
        return True

    def fails(self, agent: str, action: Any) -> bool:
        """Apply an action of an agent unless the goal holds; whether it is not applicable, which changes nothing.

        Raises:
            TaskError: when designated worlds disagree about an agent's observability type.
        """
        central = self.central
        if action == WAIT or central.is_goal():
            return False
        chosen = int(self._own[agent][int(action) - 1])
        if not central.space.applicable([central.state])[0, chosen]:
            return True
        central.state = central.space.successor(central.state, chosen)
        return False

    def _obstacles(self, agent: str, action: int) -> str:
        """Why one of its actions is not applicable in the agent's perspective."""
        seen = self.perspective(agent)
        if seen is None:
            return "it considers no world possible"
        return self.central.space.obstacles(seen, int(self._own[agent][action - 1]))

    def _tell(self, terminated: bool, truncated: bool) -> None:
        """Set terminations, truncations and infos of all agents after a turn."""
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {agent: self.info(agent, *self._outcomes[agent]) for agent in self.agents}

    def info(self, agent: str, invalid: bool, failed: bool) -> Info:
        """The information of an agent: whether its last action was outside its mask, or in it but not applicable."""
        return {
            "action_mask": self.action_mask(agent),
            "action_names": self.action_names[agent],
            "invalid_action": invalid,
            "failed": failed,
        }

    def _make_observation(self, state: int | None) -> Any:
        observation: Any = self.central.graph(state)
        for layer in self._layers:
            observation = layer.observation(observation)
        return observation

    def _require_agent(self, agent: str) -> str:
        if agent not in self._own:
            raise EpigymError(unknown("agent", str(agent), self.possible_agents))
        return agent

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the ids of perspectives, which start anew as those of all e-states."""
        return self.__dict__ | {"_perspectives": {}}


def _observation_wrappers(env: gymnasium.Env[Any, Any]) -> list[gymnasium.ObservationWrapper[Any, Any, Any]]:
    """The wrappers of an environment that change single observations, the innermost first."""
    found = []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.ObservationWrapper):
            found.append(env)
        env = env.env
    return found[::-1]


def _find_actors(task: Task, actors: Mapping[str, str]) -> dict[str, str | None]:
    """By action the agent that takes it: the one that `actors` names, or else the domain; None for all agents.

    Raises:
        EpigymError: when there is no action or agent of a name.
    """
    names = [action.name for action in task.actions]
    for action, agent in actors.items():
        if action not in names:
            raise EpigymError(f"actors: {unknown('action', str(action), names)}")
        if agent not in task.agents:
            raise EpigymError(f"actors[{action!r}]: {unknown('agent', str(agent), task.agents)}")
    told = task.structure.actors if task.structure else ()
    return {**dict(zip(names, told or (None,) * len(names), strict=True)), **actors}
