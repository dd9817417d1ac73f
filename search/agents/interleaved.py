"""`interleaved`: several searches of one state space take turns by counted work; the first answer wins.

They share the e-states, their successors and their relaxations, so nothing is computed twice. Turns depend on counts,
never on time: equal inputs give equal results on every machine.

Source: Helmert, Röger, Karpas, "Fast Downward Stone Soup" (ICAPS 2011 workshop) for several configurations in one
planner; here they take turns in one process, as open lists do in `search.agents.alternation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from epigym.config.registry import check
from epigym.config.values import AtLeast
from epigym.errors import TaskError, UsageError
from epigym.space.space import StateSpace
from search.agents import heuristic_for, label_of, make_agent, to_settings
from search.agents.agent import Agent, Steps
from search.agents.result import SearchStatus, join_label
from search.agents.run import SearchRun
from search.heuristics.heuristic import Heuristic, HeuristicMaker

_DELAY = 5.0  # work per action: uninformed components begin that much earlier, as they need no relaxation
_COMPONENT = "a component of agent 'interleaved'"
_SYMMETRIES = 200.0  # work per action after which symmetries are computed, which takes a fraction of it
_TURN = 50.0  # work of a turn, besides successors and relaxations


@dataclass(frozen=True)
class Interleaved(Agent):
    """Gives its next turn to the component whose work, its next turn included, is smallest for its share.

    A turn expands one e-state, of blind components up to a sixteenth of those that they have expanded. Its work is
    counted, see `_Work`; what the state space knows already costs nothing. The cost of a next turn is taken to be
    that of the last one. A component whose heuristic is infinite at the initial e-state takes no part while another
    one does, and one that fails at an action leaves the rest searching. A component that has seen all e-states without
    a goal shows that there is no plan. Once the search has lasted a while it uses the symmetries of the task.

    An e-state counts as expanded, and a successor as generated, for each component; as distinct for all together.

    Attributes:
        components: each with its `share`, a positive number, its `agent` and, where that is informed, its `heuristic`:
            names, or mappings of name and settings.
    """

    name = "interleaved"

    components: Sequence[Mapping[str, Any]]

    def __post_init__(self) -> None:
        """Refuse what are no components."""
        if not self.components:
            raise UsageError(f"agent {self.name!r} needs components")
        _ = self._recipes

    @cached_property
    def _recipes(self) -> list[_Recipe]:
        return [_recipe(**check(_COMPONENT, _recipe, component)) for component in self.components]

    def start(self, run: SearchRun, heuristic: Heuristic | None) -> Steps:
        """Start the search."""
        work = _Work(run.space)
        components = [_Component(recipe, run, work) for recipe in self._recipes]
        searching, failures = list(components), list[TaskError]()
        try:
            while searching:
                if not run.space.symmetry and work.measure() > _SYMMETRIES * len(run.space.task.actions):
                    run.space.use_symmetries()
                component = min(searching, key=_Component.when)
                yield
                try:
                    end = component.take_turn(run.budget.expansions_left(run.expanded))
                except TaskError as error:
                    failures.append(error)
                    searching.remove(component)
                    continue
                run.expanded = sum(each.run.expanded for each in components)
                run.generated = sum(each.run.generated for each in components)
                run.distinct = max(each.run.distinct for each in components)  # at least
                run.report()
                if end is not None:
                    run.adopt(component.run)
                    run.message = f"decided by {component.label}"
                    return end
                if component.is_uninformative and len(searching) > 1:
                    searching.remove(component)
            raise failures[0]
        finally:
            run.distinct = SearchRun.union(component.run for component in components)


class _Work:
    """What a search of a space costs, counted; about in microseconds."""

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._worlds = int(space.world_counts([space.initial])[0])

    def measure(self) -> float:
        """Of successors and relaxations until now."""
        successors, worlds = self._space.generated
        return 0.5 * successors + 0.1 * worlds + self._space.relaxed[0] * self.relaxation

    @property
    def relaxation(self) -> float:
        """Of a relaxation."""
        return 1 + 0.0012 * self._space.relaxed[1] + 0.012 * self._worlds

    @property
    def value(self) -> float:
        """Of a heuristic's value besides its relaxation."""
        return 5 + 0.02 * self._worlds


class _Component:
    """One of the searches, with its recipe; run and work are those of all components."""

    def __init__(self, recipe: _Recipe, run: SearchRun, work: _Work) -> None:
        self.label = recipe.label
        self.run = SearchRun(run.space, run.budget)
        self.is_uninformative = False
        self._recipe, self._all = recipe, work
        self._steps: Steps | None = None
        self._actions = len(run.space.task.actions)
        self._work, self._next = 0.0, 0.0

    def when(self) -> float:
        """The lower the sooner is its next turn."""
        if self._recipe.heuristic is None:
            return (self._work + self._next) / self._recipe.share
        if self._steps is None:  # whatever it relaxes first
            values = 1 if self._recipe.agent.defers_evaluation else self._actions
            self._next = values * (self._all.value + self._all.relaxation)
        return _DELAY * self._actions + (self._work + self._next) / self._recipe.share

    def take_turn(self, most: int) -> SearchStatus | None:
        """Expand at most so many e-states; how the search ended, None as long as it did not."""
        before, expanded, distinct = self._all.measure(), self.run.expanded, self.run.distinct
        try:
            if self._steps is None:
                self._steps = self._start()
                next(self._steps)
            self._steps.send(min(1 + self.run.expanded // 16, most))
        except StopIteration as end:
            return SearchStatus(end.value)
        self._next = _TURN + self._all.measure() - before
        if self._recipe.heuristic is not None:
            is_deferred = self._recipe.agent.defers_evaluation
            values = self.run.expanded - expanded if is_deferred else self.run.distinct - distinct
            self._next += values * self._all.value
        self._work += self._next
        return None

    def _start(self) -> Steps:
        make = self._recipe.heuristic
        heuristic = None if make is None else make(self.run.space)
        self._recipe.agent.check(heuristic)
        self.is_uninformative = heuristic is not None and heuristic.is_uninformative
        return self._recipe.agent.start(self.run, heuristic)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What a component searches with; its heuristic is made when its first turn comes."""

    label: str
    share: float
    agent: Agent
    heuristic: HeuristicMaker | None


def _recipe(
    agent: str | Mapping[str, Any],
    heuristic: str | Mapping[str, Any] | None = None,
    share: Annotated[float, AtLeast(0)] = 1.0,
) -> _Recipe:
    """One of the components, checked."""
    choice = None if heuristic is None else to_settings(heuristic)
    made, name = make_agent(**to_settings(agent)), label_of(to_settings(agent))
    if share == 0:
        raise UsageError("share=0: expected a positive number")
    if isinstance(made, Interleaved):
        raise UsageError(f"{_COMPONENT}: none is interleaved itself")
    if choice is not None and not made.is_informed:
        raise UsageError(f"agent {name!r} takes no heuristic: leave it out")
    make = heuristic_for(made, name, choice) if made.is_informed else None
    return _Recipe(join_label(name, None if choice is None else label_of(choice)), share, made, make)
