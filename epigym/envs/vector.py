"""`EpistemicVectorEnv`: many environments of one task over one state space, a few batched calls for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from epigym.config.values import Count, convert
from epigym.encoding.encoder import graph_instance
from epigym.envs.domain_env import DomainEnv
from epigym.envs.env import OPTIONS, EpistemicEnv, Info, ProblemEnv, check_options
from epigym.envs.goals import Goals
from epigym.envs.graph_space import GraphBatchSpace, GraphSpace
from epigym.errors import EpigymError
from epigym.names import unknown
from epigym.space.rows import GraphBatch
from epigym.space.search_problem import SearchProblem
from epigym.task.formula import TRUE, considers_possible

Flags = NDArray[np.bool_]
Step = tuple[GraphBatch, NDArray[np.float64], Flags, Flags, Info]


class EpistemicVectorEnv(VectorEnv[GraphBatch, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` environments of one task, which share one `StateSpace`; each of them does what `EpistemicEnv` does.

    Made by `gymnasium.make_vec("epi/Grapevine-v0", num_envs=64)`, with the arguments of the single environment.

    ## Observation Space
    All graphs in one `epigym.space.rows.GraphBatch`, nothing padded: `nodes` uint8[N, 64], with
    `encoding="relational"` int64[N, 4], `edge_index` int64[2, E], `edge_label` int64[E], and `node_ptr`, `edge_ptr`
    int64[num_envs + 1], where the nodes and edges of each environment start.
    `epigym.encoding.encoder.graph_instance(batch, i)` is what environment `i` observes by itself, and
    `epigym.PaddedVectorObservation` makes arrays of fixed size.

    ## Action Space
    `MultiDiscrete`: an action for each environment. They are the same actions in all of them, named by the attribute
    `action_names`, so that masks are a rectangle.

    ## Starting State and Seeds
    As in the single environment; `reset(seed=s)` seeds environment `i` with `s + i`, a list seeds each, and sampled
    goals are those of single environments with these seeds. The reset options `state` and `goal` hold for
    all environments that are reset: those of `reset_mask`, bool[num_envs], or all.

    ## Episode End
    After `max_episode_steps` steps episodes are truncated. `autoreset_mode` says when the next one starts:

    - `NextStep` (default): at the next step, which ignores its action, with reward 0.
    - `SameStep`: at once; `infos["final_obs"]` holds the last observations of episodes that ended, a
      `GraphInstance` each, and `infos["final_info"]` their information.
    - `Disabled`: at `reset` with the option `reset_mask`; a step before that is an error.

    ## Information
    After `reset` and every `step`, in the form of `gymnasium.vector.SyncVectorEnv`. Each array has a companion with an
    underscore before its name, bool[num_envs], which marks the environments with such information:

    - `action_mask`: int8[num_envs, n].
    - `inconsistent_agents`: object[num_envs], a tuple of names each.
    - `is_goal`, `invalid_action`: bool[num_envs].
    - `action_names`: object[num_envs], a tuple of names each; where an episode begins.

    Args:
        single: one environment of the task, which becomes part of this one.
        num_envs: how many there are.
        max_episode_steps: after how many steps an episode is truncated; None: never.
        autoreset_mode: when an episode follows one that ended, a `gymnasium.vector.AutoresetMode` or its value.

    Raises:
        EpigymError: when an argument is none of its values, or an actual world is sampled in the single environment.
    """

    metadata = {**EpistemicEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        single: EpistemicEnv,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Put all environments at the initial e-state."""
        if single.nature != "none":
            raise EpigymError(
                f"nature={single.nature!r} is for single environments: "
                "gymnasium.make_vec makes several with vectorization_mode='sync'"
            )
        self.num_envs = convert(num_envs, Count, "num_envs")
        self.max_episode_steps = convert(max_episode_steps, Count | None, "max_episode_steps")
        self.metadata = {**self.metadata, "autoreset_mode": _mode(autoreset_mode)}
        self.single = single
        self.task, self.space, self.action_names = single.task, single.space, single.action_names
        self.render_mode = single.render_mode
        self.single_observation_space = GraphSpace(single.encoder.largest, single.encoder.labels)
        self.single_action_space = single.action_space
        self.observation_space = GraphBatchSpace(self.num_envs, self.single_observation_space)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.states = np.full(self.num_envs, self.space.initial, np.int32)
        self.goals = Goals(single.encoder, [self.task.goal] * self.num_envs)
        self._agents_think = self.space.query(considers_possible(agent, TRUE) for agent in self.task.agents)
        self._generators = [np_random()[0] for _ in range(self.num_envs)]
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._invalid = np.zeros(self.num_envs, np.bool_)
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._every = np.arange(self.num_envs)
        self._is_reset = False

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When an episode follows one that ended."""
        mode: AutoresetMode = self.metadata["autoreset_mode"]
        return mode

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[GraphBatch, Info]:
        """Start an episode in all environments, or in those of the option `reset_mask`; see the class.

        Raises:
            EpigymError: when an option does not exist or does not fit the task, or there is not a seed for each.
        """
        check_options(options or {}, (*OPTIONS, "reset_mask"))
        asked = dict(options or {})
        members = self._members(asked.pop("reset_mask", None))
        for index, one in zip(self._every.tolist(), self._seeds(seed), strict=True):
            if one is not None and index in members:
                self._generators[index] = np_random(one)[0]
        self._start(members, asked)
        self._ended[members] = self._invalid[members] = False
        self._is_reset = True
        self._look()
        self._print()
        beginning = np.zeros(self.num_envs, np.bool_)
        beginning[members] = True
        return self.goals.graphs(self.states), self._infos() | self._names(beginning)

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Apply an action in every environment.

        Args:
            actions: int[num_envs].

        Returns:
            Observations, rewards float64[num_envs], terminations and truncations bool[num_envs], and infos.

        Raises:
            ResetNeeded: before the first `reset`.
            EpigymError: when there is no such action, when it is not allowed and `invalid_action` is `error`, or when
                an episode has ended and `autoreset_mode` is `Disabled`.
            TaskError: when designated worlds disagree about an agent's observability type.
        """
        actions = self._check_actions(actions)
        starting = self._ended
        self._invalid = (self._mask[self._every, actions] == 0) & ~starting
        if self.single.invalid_action == "error" and self._invalid.any():
            self._refuse(actions)
        moving = np.flatnonzero(~(self._invalid | self._is_goal | starting))
        self.states[moving] = self.space.successors(self.states[moving], actions[moving])
        self._elapsed += 1
        if starting.any():
            self._start(np.flatnonzero(starting), {})
        self._look()
        terminated = self._is_goal & ~starting
        truncated = self._elapsed >= (self.max_episode_steps or np.inf)
        rewards = np.where(starting, 0.0, -1.0)
        ended = terminated | truncated
        final: Info = {}
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._ended = ended
        elif ended.any():
            final, starting = self._final(ended), ended
            self._start(np.flatnonzero(ended), {})
            self._invalid = self._invalid & ~ended
            self._look()
        self._print()
        infos = self._infos() | self._names(starting) | final
        return self.goals.graphs(self.states), rewards, terminated, truncated, infos

    def search_problem(self, index: int) -> SearchProblem:
        """From the current e-state of an environment to its current goal.

        Raises:
            IndexError: when there is no such environment.
        """
        return SearchProblem(self.space, int(self.states[index]), self.goals[index].goal)

    def render(self) -> tuple[Any, ...] | None:
        """The Kripke model of every environment as `render_mode` says; None without one."""
        if self.render_mode is None:
            return None
        frames = []
        for state in self.states.tolist():
            self.single.state = state
            frames.append(self.single.render())
        return tuple(frames)

    def _print(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _start(self, members: NDArray[np.int64], options: Mapping[str, Any]) -> None:
        """Let an episode begin in some environments."""
        indices = members.tolist()
        starts = [self.single.start(options, self._generators[index]) for index in indices]
        self.goals.change(indices, [goal for goal, _ in starts])
        self.states[members] = [state for _, state in starts]
        self._elapsed[members] = 0

    def _look(self) -> None:
        """Compute masks, goals and inconsistent beliefs of the current e-states."""
        self._mask = self.space.allowed(self.states).view(np.int8)
        self._is_goal = self.goals.holds(self.states)
        self._inconsistent_agents = ~self._agents_think(self.states)

    def _infos(self, known: Flags | None = None) -> Info:
        """The information on environments: those that are known, or all."""
        infos = {
            "action_mask": self._mask.copy(),
            "inconsistent_agents": self._list_inconsistent_agents(),
            "is_goal": self._is_goal.copy(),
            "invalid_action": self._invalid.copy(),
        }
        known = np.ones(self.num_envs, np.bool_) if known is None else known
        return infos | {f"_{name}": known for name in infos}

    def _list_inconsistent_agents(self) -> NDArray[np.object_]:
        """The names of the agents with inconsistent beliefs in each environment."""
        names = np.empty(self.num_envs, np.object_)
        names.fill(())
        for index in np.flatnonzero(self._inconsistent_agents.any(axis=1)).tolist():
            names[index] = tuple(compress(self.task.agents, self._inconsistent_agents[index]))
        return names

    def _names(self, beginning: Flags) -> Info:
        """The names of the actions where an episode begins."""
        if not beginning.any():
            return {}
        names = np.full(self.num_envs, None, np.object_)
        for index in np.flatnonzero(beginning).tolist():
            names[index] = self.action_names
        return {"action_names": names, "_action_names": beginning}

    def _final(self, ended: Flags) -> Info:
        """How episodes ended, in the same step in which others begin."""
        observations = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(ended).tolist():
            graphs = self.goals[index].encoder.graphs(self.states[index : index + 1])
            observations[index] = graph_instance(graphs)
        infos = {"final_obs": observations, "final_info": self._infos(ended)}
        return infos | {f"_{name}": ended for name in infos}

    def _members(self, mask: Any) -> NDArray[np.int64]:
        """The environments of a `reset_mask`."""
        if mask is None:
            return self._every
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise EpigymError(f"the reset option 'reset_mask' is an array bool[{self.num_envs}], got {mask!r}")
        if not mask.any():
            raise EpigymError("the reset option 'reset_mask' marks no environment: mark one, or leave it out for all")
        return np.flatnonzero(mask)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """A seed for each environment, None for none."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + index for index in range(self.num_envs)]
        if not isinstance(seed, Sequence | np.ndarray):
            raise EpigymError(f"a seed is a whole number, or a list with one for each environment, got {seed!r}")
        if len(seed) != self.num_envs:
            raise EpigymError(f"there are {len(seed)} seeds for {self.num_envs} environments: give one for each")
        return seed

    def _check_actions(self, given: Any) -> NDArray[np.int64]:
        """The actions, where they are some."""
        if not self._is_reset:
            raise ResetNeeded("call reset before the first step")
        actions: NDArray[np.int64] = np.asarray(given)
        count = len(self.action_names)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise EpigymError(
                f"actions are whole numbers, one for each of {self.num_envs} environments, "
                f"got {actions.dtype}{list(actions.shape)}"
            )
        if actions.min() < 0 or actions.max() >= count:
            wrong = actions[(actions < 0) | (actions >= count)][0]
            raise EpigymError(f"an action is a whole number from 0 to {count - 1}, got {wrong}")
        if self._ended.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            raise EpigymError(
                f"the episode of environment {self._ended.argmax()} has ended: start the next ones with "
                "reset(options={'reset_mask': terminations | truncations}), or choose another autoreset_mode"
            )
        return actions

    def _refuse(self, actions: NDArray[np.int64]) -> None:
        index = int(self._invalid.argmax())
        reason = self.single.refusal(int(self.states[index]), int(actions[index]))
        raise EpigymError(f"environment {index}: {reason}")


def make_vector(
    kind: type[EpistemicEnv],
    num_envs: int = 1,
    max_episode_steps: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    **arguments: Any,
) -> EpistemicVectorEnv:
    """The vector environment of a kind of environment; `arguments` and errors as that kind."""
    return EpistemicVectorEnv(kind(**arguments), num_envs, max_episode_steps, autoreset_mode)


domain_envs, problem_envs = partial(make_vector, DomainEnv), partial(make_vector, ProblemEnv)


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise EpigymError(unknown("autoreset_mode", str(mode), (one.value for one in AutoresetMode))) from None
