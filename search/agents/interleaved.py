"""`interleaved`: several searches of one state space take turns by counted work; the first result decides.

They share e-states, successors and relaxations, so nothing is computed twice. Turns depend on counts, never on time:
equal inputs give equal results on every machine.

Source: Helmert, Röger, Karpas, "Fast Downward Stone Soup" (ICAPS 2011 workshop) for several configurations in one
planner; here they take turns in one process, as open lists do in `search.agents.alternation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from epigym.config.registry import check
from epigym.config.values import Above, AtLeast
from epigym.errors import TaskError, UsageError
from epigym.space.space import StateSpace
from search.agents import choose_heuristic_for, get_label, make_agent, to_settings
from search.agents.agent import Agent, Steps, read_end, require_heuristic, start_search
from search.agents.result import SearchStatus, join_label
from search.agents.run import SearchRun
from search.heuristics.heuristic import HeuristicMaker

_DELAY = 5.0  # work per action by which uninformed components begin earlier, as they need no relaxation
_COMPONENT = "a component of agent 'interleaved'"
_OPENING = 100.0  # work per action by which components with `after` join later, as models take longer to open for more
_SYMMETRIES = 200.0  # work per action after which symmetries are computed, which takes a fraction of it
TURN = 50.0
"""The work of a turn without successors and relaxations; see `Work`."""


@dataclass(frozen=True)
class Interleaved(Agent):
    """Gives the next turn to the component whose work, with that turn, is smallest in proportion to its share.

    A turn expands one e-state; a turn of an uninformed component up to a sixteenth of the e-states that it has
    expanded. Work is counted, see `Work`; successors that the state space has computed cost nothing. The next turn is
    estimated to cost as much as the last one. A component with a heuristic that is infinite at the initial e-state is
    dropped while another one remains, as is one that fails at an action. A component that has expanded all e-states
    without a goal proves that there is no plan. A long search starts to use the symmetries of the task.

    Expanded e-states and generated successors are counted for each component, distinct e-states for all together.

    Attributes:
        components: each with its `share`, a positive number, its `agent` and, for an informed agent, its `heuristic`:
            names, or mappings of name and settings. One with `after` joins when all have done so much work and 100 for
            each action. One that equals an earlier one in agent and heuristic is left out.
        default_heuristic: the same, of components whose agents need a heuristic and that name none.
    """

    name = "interleaved"

    components: Sequence[Mapping[str, Any]]
    default_heuristic: str | Mapping[str, Any] | None

    def __post_init__(self) -> None:
        """Refuse invalid components."""
        if not self.components:
            raise UsageError(f"agent {self.name!r} needs components")
        _ = self._recipes

    @cached_property
    def _recipes(self) -> list[_Recipe]:
        made = [
            _make_recipe(self.default_heuristic, **check(_COMPONENT, _make_recipe, component, given=1))
            for component in self.components
        ]
        return [one for number, one in enumerate(made) if one.choices not in [other.choices for other in made[:number]]]

    @property
    def component_choices(self) -> list[Mapping[str, Any]]:
        """The agents and heuristics of the components."""
        return [choice for recipe in self._recipes for choice in recipe.choices]

    def search(self, run: SearchRun) -> Steps:
        """Search with the components in turns.

        Raises:
            ModelError: before the search, when a model that a component names cannot be read.
        """
        for recipe in self._recipes:
            if recipe.choices[1].get("model") is not None:
                from search.heuristics.learned import require_models  # imported with the class of the heuristic

                require_models(recipe.choices[1], run.space.task.domain)
        work = Work(run.space)
        components = [_Component(recipe, run, work) for recipe in self._recipes]
        searching, failures = [each for each in components if not each.after], list[TaskError]()
        waiting = [each for each in components if each.after]
        try:
            while searching or waiting:
                _let_join(waiting, searching, sum(each.spent for each in components))
                if not run.space.symmetry and work.measure() > _SYMMETRIES * len(run.space.task.actions):
                    run.space.use_symmetries()
                component = min(searching, key=_Component.estimate)
                yield
                try:
                    end = component.take_turn(run.budget.expansions_left(run.expanded))
                except TaskError as error:
                    failures.append(error)
                    searching.remove(component)
                    continue
                run.expanded = sum(each.run.expanded for each in components)
                run.generated = sum(each.run.generated for each in components)
                run.distinct = max(each.run.distinct for each in components)  # a lower bound
                run.report()
                if end is not None:
                    run.adopt(component.run)
                    run.message = f"decided by {component.label}"
                    return end
                if component.is_uninformative and len(searching) > 1:
                    searching.remove(component)
            raise failures[0]
        finally:
            run.distinct = SearchRun.count_distinct(component.run for component in components)


def _let_join(waiting: list[_Component], searching: list[_Component], spent: float) -> None:
    """Move the components that join after so much work from `waiting` to `searching`; one at once, if none searches."""
    for component in list(waiting):
        if component.after <= spent or not searching:
            component.join(min(map(_Component.estimate, searching), default=0.0))
            waiting.remove(component)
            searching.append(component)


class Work:
    """Counts the work of searching a space, in about microseconds."""

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._worlds = int(space.world_counts([space.initial])[0])

    def measure(self) -> float:
        """The work of all successors and relaxations until now."""
        successors, worlds = self._space.generated
        return 0.5 * successors + 0.1 * worlds + self._space.relaxed[0] * self.relaxation

    @property
    def relaxation(self) -> float:
        """The work of one relaxation."""
        return 1 + 0.0012 * self._space.relaxed[1] + 0.012 * self._worlds

    @property
    def value(self) -> float:
        """The work of one heuristic value without its relaxation."""
        return 5 + 0.02 * self._worlds


class _Component:
    """One of the searches; `run` and `work` are those of all components."""

    def __init__(self, recipe: _Recipe, run: SearchRun, work: Work) -> None:
        self.label = recipe.label
        self.is_uninformative = False
        self.spent, self._next = 0.0, 0.0
        self._recipe, self._work = recipe, work
        self._steps: Steps | None = None
        self._actions = len(run.space.task.actions)
        self.after = recipe.after + _OPENING * self._actions if recipe.after else 0.0
        self._ahead = 0.0 if recipe.heuristic is None else _DELAY * self._actions
        self.run = SearchRun(run.space, run.budget)

    def estimate(self) -> float:
        """The work for its share after its next turn; the component with the lowest estimate has the next turn."""
        if self._steps is None and self._recipe.heuristic is not None:  # an estimate of the first values
            values = 1 if self._recipe.agent.defers_evaluation else self._actions
            self._next = values * (self._work.value + self._work.relaxation)
        return self._ahead + (self.spent + self._next) / self._recipe.share

    def join(self, least: float) -> None:
        """Take part from now on, while the least estimate of the others is `least`."""
        self._ahead = max(self._ahead, least)

    def take_turn(self, most: int) -> SearchStatus | None:
        """Expand at most so many e-states; returns the status of the search, or None while it goes on."""
        before, expanded, distinct = self._work.measure(), self.run.expanded, self.run.distinct
        try:
            if self._steps is None:
                self._steps = self._start()
                next(self._steps)
            self._steps.send(min(1 + self.run.expanded // 16, most))
        except StopIteration as end:
            return read_end(self._recipe.agent, self.run, end.value)
        self._next = TURN + self._work.measure() - before
        if self._recipe.heuristic is not None:
            is_deferred = self._recipe.agent.defers_evaluation
            values = self.run.expanded - expanded if is_deferred else self.run.distinct - distinct
            self._next += values * self._work.value
        self.spent += self._next
        return None

    def _start(self) -> Steps:
        make = self._recipe.heuristic
        heuristic = None if make is None else make(self.run.space)
        require_heuristic(self._recipe.agent, heuristic)
        self.is_uninformative = heuristic is not None and heuristic.is_uninformative
        self.run = SearchRun(self.run.space, self.run.budget, heuristic)
        return start_search(self._recipe.agent, self.run)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """The settings of a component; its heuristic is made at its first turn."""

    label: str
    choices: list[Mapping[str, Any]]
    share: float
    after: float
    agent: Agent
    heuristic: HeuristicMaker | None


def _make_recipe(
    default_heuristic: str | Mapping[str, Any] | None,
    /,
    agent: str | Mapping[str, Any],
    heuristic: str | Mapping[str, Any] | None = None,
    share: Annotated[float, Above(0)] = 1.0,
    after: Annotated[float, AtLeast(0)] = 0.0,
) -> _Recipe:
    """Check the settings of a component."""
    made, name = make_agent(**to_settings(agent)), get_label(to_settings(agent))
    if heuristic is None and made.is_informed:
        heuristic = default_heuristic
    choice = None if heuristic is None else to_settings(heuristic)
    if isinstance(made, Interleaved):
        raise UsageError(f"{_COMPONENT}: none is interleaved itself")
    if choice is not None and not made.is_informed:
        raise UsageError(f"agent {name!r} takes no heuristic: leave it out")
    make = choose_heuristic_for(made, name, choice) if made.is_informed else None
    label = join_label(name, None if choice is None else get_label(choice))
    return _Recipe(label, [to_settings(agent), choice or {}], share, after, made, make)
