"""The ground epistemic planning task: what every front end produces and everything else consumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain
from numbers import Integral
from reprlib import repr as shortened
from types import NoneType
from typing import Any

from epigym.errors import TaskError
from epigym.task.formula import MAX_LEVELS, TRUE, Formula, Op, too_deep
from epigym.task.structure import Structure

# The numbers and collections of NumPy and of callers; the first of each is the usual one, and fast.
_WHOLE = (int, Integral)
_SET = (frozenset, Set)
_SEVERAL = (tuple, frozenset, Iterable)


@dataclass(frozen=True, slots=True)
class EState:
    """An e-state: a Kripke model with designated worlds. Worlds are numbered from 0.

    Attributes:
        valuations: for each world the names of the fluents true there.
        successors: for each agent, in the task's order, and each world the worlds that the agent
            considers possible there. Worlds with equal successors should share one frozenset object:
            that keeps models with tens of thousands of worlds small.
        designated: the designated worlds, ascending; one in most tasks.
    """

    valuations: tuple[frozenset[str], ...]
    successors: tuple[tuple[frozenset[int], ...], ...]
    designated: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that every world that is mentioned exists and that one is designated.

        Raises:
            TaskError: naming the part that is wrong.
        """
        _require_all(self.valuations, _SET, "valuations", "a set of fluents for each world")
        _require_all(self.successors, _SEVERAL, "successors", "for each agent a set of worlds for each world")
        rows = dict(zip(map(id, chain(*self.successors)), chain(*self.successors), strict=True)).values()
        _require_all(rows, _SEVERAL, "successors", "for each agent a set of worlds for each world")
        _require(self.designated, _SEVERAL, "designated", "the designated worlds")
        count = len(self.valuations)
        if strange := _find_other(chain(self.designated, *rows), _WHOLE):
            raise TaskError(
                f"world {_format_value(strange[0])} is not a whole number: expected one from 0 to {count - 1}"
            )
        if missing := frozenset(self.designated).union(*rows).difference(range(count)):
            raise TaskError(f"world {min(missing)} does not exist: the e-state has {count} worlds")
        if not self.designated or list(self.designated) != sorted(set(self.designated)):
            raise TaskError(f"designated worlds must be ascending and at least one, got {self.designated}")
        for relation in self.successors:
            if len(relation) != count:
                raise TaskError(f"an agent has successors for {len(relation)} of {count} worlds")


@dataclass(frozen=True, slots=True)
class Effect:
    """`fluent` becomes `value` where `condition` held in the old model."""

    fluent: str
    value: bool
    condition: Formula = TRUE


@dataclass(frozen=True, slots=True)
class Event:
    """One event of an event model; a fluent that is both added and deleted is added, an effect listed twice is one."""

    name: str
    precondition: Formula = TRUE
    effects: tuple[Effect, ...] = ()

    def __post_init__(self) -> None:
        """Keep every effect once.

        Raises:
            TaskError: when an effect is none.
        """
        _require_all(self.effects, Effect, f"the effects of event {self.name!r}", "a tuple of effects")
        for effect in self.effects:
            _require(effect.condition, Formula, f"the condition of an effect of event {self.name!r}", "a formula")
        object.__setattr__(self, "effects", tuple(dict.fromkeys(self.effects)))


@dataclass(frozen=True, slots=True)
class Action:
    """A ground action: an applicability formula and an event model with observability conditions.

    Attributes:
        name: unique in the task.
        applicability: checked at the designated worlds.
        events: the events, numbered from 0.
        designated: the designated events, ascending.
        relations: for each observability type and each event the events that an agent of that type
            considers possible when the event happens.
        observability: for each agent, in the task's order, its (condition, type) pairs; the first
            condition that holds at the designated worlds decides, and the last condition is `TRUE`.
    """

    name: str
    applicability: Formula
    events: tuple[Event, ...]
    designated: tuple[int, ...]
    relations: Mapping[str, tuple[frozenset[int], ...]]
    observability: tuple[tuple[tuple[Formula, str], ...], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A ground epistemic planning task.

    Attributes:
        name: for people; programs read `domain` and `instance`.
        fluents: names, in declared order.
        agents: names, in declared order.
        actions: in declaration order, which is the order of action ids.
        initial: the initial e-state.
        goal: the subgoals; an e-state is a goal iff all of them hold. One that is listed twice is one.
        domain: the domain that the problem belongs to; empty when it is not known.
        instance: the name of the problem in its domain.
        structure: schemas, arguments and types behind the names, where they are known; no part of the identity.
    """

    name: str
    fluents: tuple[str, ...]
    agents: tuple[str, ...]
    actions: tuple[Action, ...]
    initial: EState
    goal: tuple[Formula, ...]
    domain: str = ""
    instance: str = ""
    structure: Structure | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check that names are declared once and everything mentioned exists; keep every subgoal once.

        Raises:
            TaskError: naming the part that is wrong.
            NestingError: when a formula has more than `MAX_LEVELS` levels.
        """
        _require_all(self.fluents, str, "fluents", "a tuple of names")
        _require_all(self.agents, str, "agents", "a tuple of names")
        _require_all(self.actions, Action, "actions", "a tuple of actions")
        _require(self.initial, EState, "initial", "an e-state")
        _require(self.structure, (Structure, NoneType), "structure", "a Structure or None")
        _require(self.goal, _SEVERAL, "goal", "a tuple of formulas")
        goal = tuple(self.goal)
        _require_all(goal, Formula, "goal", "a tuple of formulas")
        object.__setattr__(self, "goal", tuple(dict.fromkeys(goal)))
        for kind, names in (
            ("fluent", self.fluents),
            ("agent", self.agents),
            ("action", tuple(action.name for action in self.actions)),
        ):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise TaskError(f"{kind} {twice!r} is declared twice")
        if not self.agents:
            raise TaskError("a task needs at least one agent")
        if len(self.initial.successors) != len(self.agents):
            raise TaskError(f"the initial e-state has {len(self.initial.successors)} relations for {self.agents}")
        fluents = frozenset(self.fluents)
        for valuation in self.initial.valuations:
            if not valuation <= fluents:
                raise TaskError(f"undeclared fluents in the initial e-state: {sorted(valuation - fluents)}")
        for action in self.actions:
            self._check_action(action, fluents)
        self._check_names(fluents)
        if self.structure is not None:
            self._check_structure(self.structure)

    def __repr__(self) -> str:
        """The name and the sizes, on one line."""
        return (
            f"<Task {self.name}: {len(self.fluents)} fluents, {len(self.agents)} agents, {len(self.actions)} actions, "
            f"{len(self.initial.valuations)} worlds>"
        )

    def formulas(self) -> dict[Formula, None]:
        """Every formula of the task (not their subformulas), in a fixed order, as the keys of a dict."""
        found: dict[Formula, None] = {}
        for action in self.actions:
            found[action.applicability] = None
            for event in action.events:
                found[event.precondition] = None
                found.update((effect.condition, None) for effect in event.effects)
            for conditions in action.observability:
                found.update((condition, None) for condition, _ in conditions)
        found.update(dict.fromkeys(self.goal))
        return found

    def _check_names(self, fluents: frozenset[str]) -> None:
        agents = frozenset(self.agents)
        seen: set[Formula] = set()
        for root in self.formulas():
            if root.levels > MAX_LEVELS:
                raise too_deep()
            stack = [root]
            while stack:
                node = stack.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node.op is Op.FLUENT and node.name not in fluents:
                    raise TaskError(f"undeclared fluent {node.name!r} in a formula")
                if not agents.issuperset(node.agents):
                    raise TaskError(f"undeclared agents in a formula: {sorted(set(node.agents) - agents)}")
                stack.extend(node.children)

    def _check_structure(self, structure: Structure) -> None:
        for kind, lifted, names in (
            ("fluents", structure.fluents, self.fluents),
            ("actions", structure.actions, self.actions),
            ("actors", structure.actors or self.actions, self.actions),
        ):
            if len(lifted) != len(names):
                raise TaskError(f"the structure tells of {len(lifted)} {kind}, the task has {len(names)}")
        for actor in structure.actors:
            if actor is not None and actor not in self.agents:
                raise TaskError(f"the structure names an actor {actor!r} who is no agent of the task")

    def _check_action(self, action: Action, fluents: frozenset[str]) -> None:
        where = f"action {action.name!r}"
        _require(action.name, str, "the name of an action", "a text")
        _require(action.applicability, Formula, f"{where}: applicability", "a formula")
        _require_all(action.events, Event, f"{where}: events", "a tuple of events")
        _require_all(action.designated, _WHOLE, f"{where}: designated", "whole numbers, those of events")
        _require(action.relations, Mapping, f"{where}: relations", "a mapping from types to relations")
        _require_all(action.observability, _SEVERAL, f"{where}: observability", "for each agent its conditions")
        count = len(action.events)
        if not action.designated or list(action.designated) != sorted(set(action.designated)):
            raise TaskError(f"{where}: designated events must be ascending and at least one, got {action.designated}")
        if not all(0 <= event < count for event in action.designated):
            raise TaskError(f"{where}: designated events {action.designated} of {count} events")
        for kind, rows in action.relations.items():
            relation = f"{where}: the relation of type {kind!r}"
            _require_all(rows, _SEVERAL, relation, "a set of events for each event")
            _require_all(chain(*rows), _WHOLE, relation, "whole numbers, those of events")
            if len(rows) != count or not all(0 <= event < count for row in rows for event in row):
                raise TaskError(f"{where}: the relation of type {kind!r} does not fit its {count} events")
        for event in action.events:
            _require(event.precondition, Formula, f"{where}: the precondition of event {event.name!r}", "a formula")
            for effect in event.effects:
                if effect.fluent not in fluents:
                    raise TaskError(f"{where}: undeclared fluent {effect.fluent!r} in an effect")
        if len(action.observability) != len(self.agents):
            raise TaskError(f"{where}: observability of {len(action.observability)} agents, not {len(self.agents)}")
        for agent, conditions in zip(self.agents, action.observability, strict=True):
            for pair in conditions:
                if not _is_condition(pair):
                    expected = "a pair of a formula and a type"
                    raise TaskError(
                        f"{where}: how agent {agent!r} observes it is {_format_value(pair)}, expected {expected}"
                    )
            if not conditions or conditions[-1][0] is not TRUE:
                raise TaskError(f"{where}: the last observability condition of agent {agent!r} must be true")
            for _, kind in conditions:
                if kind not in action.relations:
                    raise TaskError(f"{where}: agent {agent!r} has the unknown observability type {kind!r}")


def _require_all(values: Any, kind: type | tuple[type, ...], place: str, expected: str) -> None:
    """Require a collection of values of a kind; the TaskError names the place and the expected kind."""
    _require(values, _SEVERAL, place, expected)
    if strange := _find_other(values, kind):
        raise TaskError(f"{place}: found {_format_value(strange[0])}, expected {expected}")


def _find_other(values: Iterable[Any], kind: type | tuple[type, ...]) -> list[Any]:
    """The first of many values that is not of a kind, or none; a text is no collection."""
    values = tuple(values)
    others = {
        one for one in set(map(type, values)) if not issubclass(one, kind) or (kind is not str and issubclass(one, str))
    }
    return next(([value] for value in values if type(value) in others), [])


def _require(value: Any, kind: type | tuple[type, ...], place: str, expected: str) -> None:
    """See that a value is of a kind; a text is no collection."""
    if not isinstance(value, kind) or (kind is not str and isinstance(value, str)):
        raise TaskError(f"{place}: found {_format_value(value)}, expected {expected}")


def _is_condition(value: Any) -> bool:
    """Whether a value is a pair of a formula and an observability type."""
    is_pair = isinstance(value, tuple | list) and len(value) == 2
    return is_pair and isinstance(value[0], Formula) and isinstance(value[1], str)


def _format_value(value: Any) -> str:
    return " ".join(shortened(value).split())
