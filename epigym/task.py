"""The ground epistemic planning task: what every front end produces and everything else consumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from epigym.errors import TaskError
from epigym.formula import MAX_LEVELS, TRUE, Formula, Op, too_deep
from epigym.structure import Structure


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
        """Check that every world that is mentioned exists and that one is designated."""
        count = len(self.valuations)
        if not self.designated or list(self.designated) != sorted(set(self.designated)):
            raise TaskError(f"designated worlds must be ascending and at least one, got {self.designated}")
        targets: Iterable[frozenset[int]] = {id(row): row for rows in self.successors for row in rows}.values()
        for world in chain(self.designated, *targets):
            if not 0 <= world < count:
                raise TaskError(f"world {world} does not exist: the e-state has {count} worlds")
        for rows in self.successors:
            if len(rows) != count:
                raise TaskError(f"an agent has successors for {len(rows)} of {count} worlds")


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
        """Keep every effect once."""
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
        object.__setattr__(self, "goal", tuple(dict.fromkeys(self.goal)))
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
        count = len(action.events)
        if not action.designated or list(action.designated) != sorted(set(action.designated)):
            raise TaskError(f"{where}: designated events must be ascending and at least one, got {action.designated}")
        if not all(0 <= event < count for event in action.designated):
            raise TaskError(f"{where}: designated events {action.designated} of {count} events")
        for kind, rows in action.relations.items():
            if len(rows) != count or not all(0 <= event < count for row in rows for event in row):
                raise TaskError(f"{where}: the relation of type {kind!r} does not fit its {count} events")
        for event in action.events:
            for effect in event.effects:
                if effect.fluent not in fluents:
                    raise TaskError(f"{where}: undeclared fluent {effect.fluent!r} in an effect")
        if len(action.observability) != len(self.agents):
            raise TaskError(f"{where}: observability of {len(action.observability)} agents, not {len(self.agents)}")
        for agent, conditions in zip(self.agents, action.observability, strict=True):
            if not conditions or conditions[-1][0] is not TRUE:
                raise TaskError(f"{where}: the last observability condition of agent {agent!r} must be true")
            for _, kind in conditions:
                if kind not in action.relations:
                    raise TaskError(f"{where}: agent {agent!r} has the unknown observability type {kind!r}")
