"""`EpistemicEnv`: a planning task as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, GraphInstance
from numpy.typing import NDArray

from epigym.config.values import convert
from epigym.encoding.encoder import graph_instance, make_encoder, make_encoding
from epigym.envs.graph_space import GraphSpace
from epigym.errors import EpigymError, TaskError, UsageError
from epigym.language import Reading, Semantics, parse_formula
from epigym.language.reading import Determines
from epigym.names import unknown
from epigym.problem import load_problem
from epigym.reference.semantics import outcomes
from epigym.space.branching import Outcome, outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.search_problem import SearchProblem
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, and_, conjuncts, considers_possible
from epigym.task.task import EState, Task

Info = dict[str, Any]
OPTIONS = ("state", "goal")
ARGUMENTS = ("encoding", "invalid_action", "consistent_beliefs", "nature", "render_mode")  # of `EpistemicEnv`


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What `clone_state` remembers; it fits every environment of the same task, in any process.

    Attributes:
        estate: the e-state.
        goal: the subgoals.
        actual: the actual world, numbered as in `model()`; None where there is none.
    """

    estate: EState
    goal: tuple[Formula, ...]
    actual: int | None = None


class EpistemicEnv(gymnasium.Env[GraphInstance, np.int64]):
    """Act on what agents know and believe until a goal formula holds.

    ## Who acts
    One central planner with a full view: it observes the e-state itself and chooses every action of every agent.
    In `epigym.EpistemicAECEnv` the agents act themselves, and each observes its own perspective only.

    ## Description
    The state is an e-state: a Kripke model with designated worlds, contracted to its coarsest bisimulation.
    Every action is a ground action of the task, applied by the product update with its event model: it may
    change facts, let some agents sense or hear something, and leave others unaware. The dynamics is
    deterministic and fully observed; `StateSpace` explores the same states without an environment.

    Where several worlds are designated, the planner does not know which one is actual. By default it acts for all of
    them at once, as linear plans do. With `nature="sampled"` one of them is actual: `reset` samples it uniformly, no
    observation shows it, and `step` leads to the outcome that happens there. That is one of the action's designated
    events that are possible at the actual world, sampled where there are several, with the agents' observability
    types there. The goal is reached when it holds at every designated world that is left.

    ## Action Space
    `Discrete(n)`: action `i` is the `i`-th ground action of the task in declaration order, the same in every
    episode; the attribute `action_names` names them all.

    ## Observation Space
    A `gymnasium.spaces.Graph`: one node per world, and the goal as a second part, see `epigym.encoding.encoder`.

    - `nodes`: uint8[n, 64], the bits of the node identifiers, least significant first.
    - `edges`: int64[m], labels from 1 to 255: to the goal root, to designated worlds, agents, subgoals.
    - `edge_links`: int64[m, 2], source and target of every edge.

    With `encoding="relational"` a typed graph of objects, the goal, fluents, beliefs and worlds without any names, see
    `epigym.encoding.relational.Relational`:

    - `nodes`: int64[n, 4], kind, state and the ids of up to two types, 0 for none.
    - `edges`: int64[m], relations; every edge is there in both directions.

    `epigym.to_pyg` makes PyTorch Geometric data of it, `epigym.PaddedObservation` arrays of fixed size.

    ## Starting State
    The initial e-state and the goal of the task, or those of the reset options: `state` (the id of an e-state
    that this environment has reached, an `EState` or a `KripkeModel`) and `goal` (a formula or its mA* text, or
    a list of these as subgoals).

    ## Rewards
    -1 for every step, so the optimal return is minus the length of a shortest plan.

    ## Episode End
    - Termination: the goal holds. Goal states are absorbing: where the goal holds at reset already, the first
      step changes nothing and terminates.
    - Truncation: after `max_episode_steps` steps, 100 as registered. A state without applicable actions is
      not a special case: its mask is all zero.

    ## Information
    After `reset` and every `step`:

    - `action_mask`: int8[n], 1 where the action is applicable and, with `consistent_beliefs`, leaves all beliefs
      consistent, for `action_space.sample(mask)`.
    - `inconsistent_agents`: names of the agents with inconsistent beliefs, which consider no world possible.
    - `is_goal`: whether the goal holds.
    - `invalid_action`: whether the mask did not have the action just taken.

    With `nature="sampled"` the mask marks the actions that policies may use: designated worlds need not agree on how
    agents observe them. After every `step` there is also

    - `outcome`: an `epigym.space.branching.Outcome` with the name of the event that happened and, where they matter,
      the observability types of agents; None where no action was applied.

    After `reset` also `action_names`: the names of all actions, a tuple, as in the attribute of that name.

    ## Vector Environment
    `gymnasium.make_vec` makes an `epigym.envs.vector.EpistemicVectorEnv`, whose environments share one state space.

    ## References
    G. Briglia, F. Fabiano, S. Mariani, "Scaling Multi-agent Epistemic Planning through GNN-Derived Heuristics";
    C. Baral, G. Gelfond, E. Pontelli, T. C. Son, "An action language for multi-agent domains", Artificial
    Intelligence 302, 2022.

    ## Version History
    - v0: first version.

    Args:
        task: the ground planning task.
        encoding: how e-states become graphs: `hash`, `map` or `bitmask` identify worlds by hashes, numbers or
            valuations, and in `relational` nothing has a name; with settings a mapping, such as
            `{"name": "relational", "type_ids": 4096}`.
        invalid_action: the effect of an action outside the mask: `noop` (the state stays as it is) or `error`.
        consistent_beliefs: whether actions are excluded after which an agent's beliefs are inconsistent; then no
            episode starts at such an e-state either.
        nature: `none` or `sampled`, whether one designated world is actual, see above.
        render_mode: `svg` (text) or `rgb_array` (uint8[720, 960, 3]), a picture of the Kripke model; `ansi`, its facts
            and beliefs in English; `human`, the same printed after `reset` and every `step`; None: nothing.

    Attributes:
        actual: the actual world, numbered as in `model()`, for tests and logs; None with `nature="none"`.

    Raises:
        EpigymError: when an argument is none of its values, or the task has no actions.
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
        LimitError: when the task does not fit the encoding.
    """

    metadata = {"render_modes": ["human", "ansi", "svg", "rgb_array"], "render_fps": 2}  # noqa: RUF012
    _BOUND: ClassVar = ("space", "_consistent", "encoder", "_holds", "_vocabulary_query")
    """Attributes that belong to one process."""

    def __init__(
        self,
        task: Task,
        *,
        encoding: str | Mapping[str, Any] = "hash",
        invalid_action: Literal["noop", "error"] = "noop",
        consistent_beliefs: bool = False,
        nature: Literal["none", "sampled"] = "none",
        render_mode: str | None = None,
    ) -> None:
        """Start at the initial e-state, with the task's goal."""
        _check("nature", nature, ("none", "sampled"))
        _check("invalid_action", invalid_action, ("noop", "error"))
        if not isinstance(task, Task):
            raise EpigymError(f"expected a Task, such as load_problem returns, got {task!r}")
        if render_mode is not None:
            _check("render_mode", render_mode, self.metadata["render_modes"])
        if not task.actions:
            raise EpigymError(f"the task {task.name!r} has no actions, so there is nothing to do in it")
        self.task = task
        self.encoding = make_encoding(encoding)
        self.invalid_action = invalid_action
        self.consistent_beliefs = convert(consistent_beliefs, bool, "consistent_beliefs")
        self.nature = nature
        self.render_mode = render_mode
        self._explore()
        self.state = self.space.initial
        self.actual = self._choose_world(self.state)
        self.action_names = tuple(action.name for action in task.actions)
        self._bind(task.goal)
        self.action_space = Discrete(len(task.actions))
        self.observation_space = GraphSpace(self.encoder.largest, self.encoder.labels)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[GraphInstance, Info]:
        """Start an episode.

        Args:
            seed: seeds the random choices of this and the following episodes.
            options: `state` and `goal`, see the class.

        Raises:
            EpigymError: when an option does not exist or does not fit the task.
        """
        options = options or {}
        check_options(options, OPTIONS)
        super().reset(seed=seed)
        goal, state = self.start(options, self.np_random)
        self._change_goal(goal)
        self.state, self.actual = state, self._choose_world(state)
        info = self.information(is_goal=self.is_goal(), invalid=False)
        if self.render_mode == "human":
            self.render()
        return self.graph(self.state), info | {"action_names": self.action_names}

    def step(self, action: np.int64) -> tuple[GraphInstance, float, bool, bool, Info]:
        """Apply an action; see the class for what happens when it is not allowed.

        Raises:
            EpigymError: when there is no such action, or it is not allowed and `invalid_action` is `error`.
            TaskError: when designated worlds disagree about an agent's observability type.
        """
        if not is_action(action, self.action_space):
            raise EpigymError(f"an action is a whole number from 0 to {len(self.action_names) - 1}, got {action!r}")
        invalid = not self.action_masks()[action]
        if invalid and self.invalid_action == "error":
            raise EpigymError(self.refusal(self.state, int(action)))
        outcome = None
        if not invalid and not self.is_goal():
            if self.nature == "sampled":
                outcome = self._occur(int(action))
            else:
                self.state = self.space.successor(self.state, int(action))
        is_goal = self.is_goal()
        info = self.information(is_goal, invalid)
        if self.nature == "sampled":
            info["outcome"] = outcome
        if self.render_mode == "human":
            self.render()
        return self.graph(self.state), -1.0, is_goal, False, info

    def render(self) -> Any:
        """The Kripke model as `render_mode` says: text, uint8[720, 960, 3], or None, printed with `human`."""
        from epigym import drawing
        from epigym.drawing.english import describe_model

        match self.render_mode:
            case "human":
                print(describe_model(self.model()), end="\n\n")
            case "ansi":
                return describe_model(self.model())
            case "svg":
                return drawing.render_svg(self.model())
            case "rgb_array":
                return drawing.render_rgb(self.model())
        return None

    def model(self) -> KripkeModel:
        """The current e-state as a Kripke model with names."""
        return self.space.model(self.state)

    def is_goal(self) -> bool:
        """Whether the goal holds in the current e-state."""
        return bool(self._holds([self.state]).all())

    def search_problem(self) -> SearchProblem:
        """From the current e-state to the current goal; `reset` may have sampled both."""
        return SearchProblem(self.space, self.state, self.goal)

    def graph(self, state: int | None) -> GraphInstance:
        """The observation of an e-state under the current goal; of the goal alone, without any world, for None."""
        return graph_instance(self.encoder.without_worlds() if state is None else self.encoder.graphs([state]))

    def action_masks(self) -> NDArray[np.bool_]:
        """bool[n]: which actions are allowed; sb3-contrib requires this name."""
        if self.nature == "sampled":
            return np.isin(np.arange(len(self.action_names)), self.space.outcomes([self.state]).action)
        allowed: NDArray[np.bool_] = self.space.allowed([self.state])[0]
        return allowed

    def refusal(self, state: int, action: int) -> str:
        """Why an action is not allowed in an e-state, and the remedy."""
        obstacles = self.space.obstacles(state, action)
        reason = f"is not applicable: {obstacles}" if obstacles else "would make an agent believe everything"
        return (
            f"action {self.action_names[action]!r} {reason}; choose one that info['action_mask'] marks, "
            "or make the environment with invalid_action='noop'"
        )

    def clone_state(self) -> Snapshot:
        """Remember the e-state and the goal, for `restore_state`."""
        return Snapshot(self.model().state, self.goal, self.actual)

    def restore_state(self, snapshot: Snapshot) -> None:
        """Go back to where `clone_state` was called; the count of steps of a `TimeLimit` wrapper goes on.

        With `nature="sampled"` an actual world is sampled where the snapshot has none.

        Raises:
            TaskError: when the snapshot is of another task, its actual world is not designated, or beliefs in it are
                inconsistent and `consistent_beliefs` is set.
        """
        state = self.space.intern(snapshot.estate)
        actual = self._choose_world(state, snapshot.actual)
        self._change_goal(snapshot.goal)
        self.state, self.actual = state, actual

    def start(self, options: Mapping[str, Any], rng: np.random.Generator) -> tuple[tuple[Formula, ...], int]:
        """The subgoals and the e-state with which an episode begins, under the options of `reset`; errors as there."""
        state = self.state_option(options.get("state"))
        return self.goal_option(options.get("goal"), rng, state), state

    def goal_option(self, option: Any, rng: np.random.Generator, state: int) -> tuple[Formula, ...]:
        """The subgoals of the reset option `goal`; where it says so, `rng` samples them for an episode from `state`.

        Raises:
            EpigymError: when it is no goal of the task.
        """
        if option is None:
            return self.task.goal
        parts = [option] if isinstance(option, (str, Formula)) else option
        if not isinstance(parts, (list, tuple)) or not all(isinstance(part, (str, Formula)) for part in parts):
            raise EpigymError(f"the reset option 'goal' is a formula, its mA* text or a list of these, got {option!r}")
        formulas = [
            parse_formula(part, fluents=self.task.fluents, agents=self.task.agents) if isinstance(part, str) else part
            for part in parts
        ]
        return conjuncts(and_(*formulas))

    def state_option(self, option: Any) -> int:
        """The id of the e-state of the reset option `state`.

        Raises:
            EpigymError: when it is no e-state of the task.
        """
        if option is None:
            return self.space.initial
        if isinstance(option, KripkeModel):
            if (option.fluents, option.agents) != (self.task.fluents, self.task.agents):
                raise TaskError("the reset option 'state' is a Kripke model over other fluents or agents than the task")
            option = option.state
        if isinstance(option, EState):
            return self.space.intern(option)
        if isinstance(option, (int, np.integer)) and not isinstance(option, bool) and 0 <= option < len(self.space):
            return int(option)
        raise EpigymError(
            f"the reset option 'state' is an EState, a KripkeModel or the id of an e-state that was met before "
            f"(0 to {len(self.space) - 1}), got {option!r}"
        )

    def information(self, is_goal: bool, invalid: bool) -> Info:
        """The information of the current e-state, see the class.

        Args:
            is_goal: whether the goal holds.
            invalid: whether the mask did not have the last action.
        """
        [consistent] = self._consistent([self.state])
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "inconsistent_agents": tuple(self.task.agents[agent] for agent in np.flatnonzero(~consistent)),
            "is_goal": is_goal,
            "invalid_action": invalid,
        }

    def _choose_world(self, state: int, world: int | None = None) -> int | None:
        """The actual world: the one given, checked, or a designated one that is sampled; None with nature="none"."""
        if self.nature == "none":
            return None
        designated = self.space.model(state).designated
        if world is not None and world not in designated:
            raise TaskError(f"actual={world!r} of the snapshot is not a designated world of its e-state")
        return int(self.np_random.choice(designated)) if world is None else world

    def _occur(self, action: int) -> Outcome:
        """Apply an action at the actual world, and sample its event where several are possible."""
        assert self.actual is not None
        every = outcomes(self.task, self.model().state, self.task.actions[action])
        found = zip(every, outcomes_of(self.space, self.state, action), strict=True)
        possible = [(one, named) for one, named in found if self.actual in one.worlds]
        happened, (outcome, self.state) = possible[self.np_random.integers(len(possible))]
        self.actual = happened.follow(self.actual, self.task.fluents)
        return outcome

    def _change_goal(self, goal: tuple[Formula, ...]) -> None:
        if goal != self.goal:
            self._bind(goal)

    def _explore(self) -> None:
        """Make a space and the queries that do not depend on the goal."""
        self.space = StateSpace(self.task, consistent_beliefs=self.consistent_beliefs)
        self._consistent = self.space.query(considers_possible(agent, TRUE) for agent in self.task.agents)

    def _bind(self, goal: tuple[Formula, ...]) -> None:
        """Bind the encoder and the query of a goal to the space."""
        encoder, holds = make_encoder(self.space, self.encoding, goal), self.space.query(goal)
        self.goal, self.encoder, self._holds = goal, encoder, holds  # nothing, where one does not fit

    def __getstate__(self) -> dict[str, Any]:
        """All attributes but the space and the values bound to it, which `__setstate__` builds again."""
        kept = {name: value for name, value in self.__dict__.items() if name not in self._BOUND}
        return kept | {"state": self.clone_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Explore again from the remembered e-state; ids of e-states start anew."""
        self.__dict__.update(state)
        self._explore()
        self.state = self.space.intern(state["state"].estate)
        self._bind(state["goal"])


def is_action(action: Any, actions: gymnasium.Space[np.int64]) -> bool:
    """Whether an action is in a space, as a number or as an array or tensor without dimensions."""
    number = action.item() if getattr(action, "shape", None) == () else action
    return not isinstance(number, bool) and bool(actions.contains(number))


def check_options(options: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse reset options that do not exist.

    Raises:
        EpigymError: naming the first, or when they are no mapping.
    """
    require_mapping(options)
    for name in options:
        _check("reset option", name, known)


def require_mapping(options: object) -> None:
    """Refuse reset options that are no mapping."""
    if not isinstance(options, Mapping):
        raise EpigymError(f"reset options are a mapping, such as {{'state': 0}}, got {options!r}")


def _check(kind: str, name: object, known: Sequence[str]) -> None:
    if name not in known:
        raise EpigymError(unknown(kind, str(name), known))


class ProblemEnv(EpistemicEnv):
    """The environment of a problem file, or of any instance of a domain; see `EpistemicEnv`.

    Args:
        path: a problem file (mA*, EPDDL or JSON), or `domain/instance` such as `coin_in_the_box/pl_5`.
        semantics: how to read the file, as the other arguments before the options: see `epigym.Reading`.
        determines: see there.
        domain_file: see there.
        libraries: see there.
        plank_compat: see there.
        **options: arguments of `EpistemicEnv`.

    Raises:
        EpigymError: when there is no such problem, or the arguments do not go together.
        ParseError: when the file is wrong.
    """

    def __init__(
        self,
        path: str = "",
        *,
        semantics: Semantics | None = None,
        determines: Determines | None = None,
        domain_file: str | None = None,
        libraries: Iterable[str] = (),
        plank_compat: bool = False,
        **options: Any,
    ) -> None:
        """Read the problem."""
        convert(plank_compat, bool, "plank_compat")
        reading = Reading(semantics, determines, domain_file, libraries, plank_compat)  # type: ignore[arg-type]
        if unknown_ones := options.keys() - set(ARGUMENTS):
            raise UsageError(unknown("argument", sorted(unknown_ones)[0], ARGUMENTS))
        super().__init__(load_problem(path, reading), **options)
