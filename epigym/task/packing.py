"""Tasks, models and formulas as the core takes them: names become numbers, and each structure is a tuple with names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import reduce
from operator import itemgetter, or_
from typing import Any, NamedTuple

from epigym.errors import LimitError, TaskError
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Event, Task

MAX_EVENTS = 64  # the core keeps the events of an action in one machine word


class PackedFormulas(NamedTuple):
    """Formulas by number, children before parents: operators, fluents, and ragged lists of children and agents."""

    op: list[int]
    fluent: list[int]
    child_first: list[int]
    child: list[int]
    agent_first: list[int]
    agent: list[int]


class PackedModel(NamedTuple):
    """An e-state: the worlds of each fluent, the row of each agent and world, and the successors of the rows."""

    worlds: int
    valuation: list[list[int]]
    row_of: list[int]
    row_first: list[int]
    successor_first: list[int]
    successor: list[int]
    designated: list[int]


class PackedEffect(NamedTuple):
    """An effect of an event: the value of a fluent where a formula holds."""

    fluent: int
    value: bool
    condition: int


class PackedEvent(NamedTuple):
    """An event; its effects by fluent."""

    precondition: int
    effects: tuple[PackedEffect, ...]


class PackedEventModel(NamedTuple):
    """Some events, and as a bit mask those of them that are designated."""

    events: tuple[int, ...]
    designated: int


class PackedAction(NamedTuple):
    """An action; for each agent the number of its conditions with their observability types."""

    applicability: int
    event_model: int
    observability: tuple[int, ...]


class Numbering:
    """Numbers things in the order in which they are first met.

    Attributes:
        values: the objects that the numbers stand for.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._number: dict[Hashable, int] = {}

    def __call__(self, key: Hashable, value: Any = None) -> int:
        """The number of `key`; `value` (the key itself by default) is kept when the key is new."""
        number = self._number.setdefault(key, len(self.values))
        if number == len(self.values):
            self.values.append(key if value is None else value)
        return number


class FormulaPacker:
    """Numbers formulas over fixed fluents and agents, children before parents."""

    def __init__(self, fluents: Sequence[str], agents: Sequence[str]) -> None:
        self._fluents = {name: number for number, name in enumerate(fluents)}
        self._agents = {name: number for number, name in enumerate(agents)}
        self._number: dict[Formula, int] = {}
        self._ops: list[int] = []
        self._fluent: list[int] = []
        self._child_first, self._child = [0], list[int]()
        self._agent_first, self._agent = [0], list[int]()

    def __call__(self, formula: Formula) -> int:
        """The number of `formula`.

        Raises:
            TaskError: when it names an unknown fluent or agent.
        """
        if formula not in self._number:
            for node in formula.subformulas():
                if node not in self._number:
                    self._add(node)
        return self._number[formula]

    def lists(self) -> PackedFormulas:
        """All formulas numbered so far."""
        return PackedFormulas(self._ops, self._fluent, self._child_first, self._child, self._agent_first, self._agent)

    def _add(self, node: Formula) -> None:
        try:
            self._fluent.append(self._fluents[node.name] if node.op is Op.FLUENT else 0)
            self._agent.extend(self._agents[name] for name in node.agents)
        except KeyError as error:
            raise TaskError(f"the formula {node} names {error}, which the model does not have") from None
        self._ops.append(int(node.op))
        self._child.extend(self._number[child] for child in node.children)
        self._child_first.append(len(self._child))
        self._agent_first.append(len(self._agent))
        self._number[node] = len(self._number)


def pack_formulas(task: Task, formulas: Iterable[Formula]) -> tuple[PackedFormulas, list[int]]:
    """Formulas over a task's fluents and agents as lists, and the number of each of them.

    Raises:
        TaskError: when one names an unknown fluent or agent.
    """
    number = FormulaPacker(task.fluents, task.agents)
    roots = [number(formula) for formula in formulas]
    return number.lists(), roots


def unpack_formulas(fluents: Sequence[str], agents: Sequence[str], lists: PackedFormulas) -> list[Formula]:
    """The formulas with the numbers 0, 1, ... of a `FormulaPacker`."""
    formulas: list[Formula] = []
    for number, op in enumerate(map(Op, lists.op)):
        name = fluents[lists.fluent[number]] if op is Op.FLUENT else ""
        group = lists.agent[lists.agent_first[number] : lists.agent_first[number + 1]]
        children = lists.child[lists.child_first[number] : lists.child_first[number + 1]]
        formulas.append(
            Formula(op, name, tuple(agents[one] for one in group), tuple(formulas[one] for one in children))
        )
    return formulas


def pack_model(fluents: Sequence[str], state: EState) -> PackedModel:
    """An e-state as lists; worlds with the same successors share a row."""
    true_at: dict[str, list[int]] = {name: [] for name in fluents}
    for world, valuation in enumerate(state.valuations):
        for name in valuation:
            true_at[name].append(world)
    row_of: list[int] = []
    row_first, successor_first, successors = [0], [0], list[int]()
    for rows in state.successors:
        names = list(map(id, rows))
        distinct = dict(zip(names, rows, strict=True))
        number = dict(zip(distinct, range(len(distinct)), strict=True))
        row_of.extend(map(number.__getitem__, names))
        for row in distinct.values():
            successors.extend(sorted(row))
            successor_first.append(len(successors))
        row_first.append(len(successor_first) - 1)
    worlds, truths, designated = len(state.valuations), list(true_at.values()), list(state.designated)
    return PackedModel(worlds, truths, row_of, row_first, successor_first, successors, designated)


def unpack_model(fluents: Sequence[str], model: PackedModel) -> EState:
    """The e-state that `pack_model` describes."""
    worlds, true_at, row_of, row_first, successor_first, successors, designated = model
    valuations: list[list[str]] = [[] for _ in range(worlds)]
    for name, where in zip(fluents, true_at, strict=True):
        for world in where:
            valuations[world].append(name)
    relations = []
    for agent in range(len(row_first) - 1):
        rows = [
            frozenset(successors[successor_first[row] : successor_first[row + 1]])
            for row in range(row_first[agent], row_first[agent + 1])
        ]
        relations.append(tuple(rows[row] for row in row_of[agent * worlds : (agent + 1) * worlds]))
    return EState(tuple(map(frozenset, valuations)), tuple(relations), tuple(designated))


def pack_task(task: Task) -> dict[str, Any]:
    """The keyword arguments of `epigym._core.Space` for a task.

    Raises:
        LimitError: when an action has more than `MAX_EVENTS` events.
    """
    return _TaskPacker(task).arguments()


class _TaskPacker:
    """Numbers the parts of the actions, so that equal parts are stored and evaluated once."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._formula = FormulaPacker(task.fluents, task.agents)
        self._fluent = {name: number for number, name in enumerate(task.fluents)}
        self._event = Numbering()
        self._event_model = Numbering()
        self._relation = Numbering()
        self._known_relations: dict[tuple[str, tuple[frozenset[int], ...]], int] = {}
        self._observability = Numbering()

    def arguments(self) -> dict[str, Any]:
        task = self._task
        actions = [self._action(action) for action in task.actions]
        goal = [self._formula(subgoal) for subgoal in task.goal]
        return {
            "fluents": len(task.fluents),
            "agents": len(task.agents),
            "formulas": self._formula.lists(),
            "events": self._event.values,
            "event_models": self._event_model.values,
            "relations": self._relation.values,
            "observability": self._observability.values,
            "actions": actions,
            "goal": goal,
            "initial": pack_model(task.fluents, task.initial),
        }

    def _action(self, action: Action) -> PackedAction:
        if len(action.events) > MAX_EVENTS:
            raise LimitError(
                f"action {action.name!r} has {len(action.events)} events, at most {MAX_EVENTS} are supported: "
                "split the action"
            )
        events = tuple(self._pack_event(event) for event in action.events)
        relations = {kind: self._pack_relation(kind, rows) for kind, rows in action.relations.items()}
        return PackedAction(
            self._formula(action.applicability),
            self._event_model(PackedEventModel(events, _mask(action.designated))),
            tuple(self._conditions(conditions, relations) for conditions in action.observability),
        )

    def _pack_event(self, event: Event) -> int:
        effects = [
            PackedEffect(self._fluent[effect.fluent], effect.value, self._formula(effect.condition))
            for effect in event.effects
        ]
        effects.sort(key=itemgetter(0, 1))  # effects on one fluent stay in their order
        return self._event(PackedEvent(self._formula(event.precondition), tuple(effects)))

    def _pack_relation(self, kind: str, rows: tuple[frozenset[int], ...]) -> int:
        known = kind, tuple(map(frozenset, rows))
        if known not in self._known_relations:
            self._known_relations[known] = self._new_relation(*known)
        return self._known_relations[known]

    def _new_relation(self, kind: str, rows: tuple[frozenset[int], ...]) -> int:
        """Events with equal successors form a group (sources, targets); the type's name keeps types apart."""
        groups: dict[int, int] = {}
        for event, targets in enumerate(rows):
            mask = _mask(targets)
            groups[mask] = groups.get(mask, 0) | 1 << event
        pairs = [(sources, targets) for targets, sources in groups.items()]
        return self._relation((kind, tuple(pairs)), pairs)

    def _conditions(self, conditions: tuple[tuple[Formula, str], ...], relations: dict[str, int]) -> int:
        return self._observability(tuple((self._formula(condition), relations[kind]) for condition, kind in conditions))


def _mask(members: Iterable[int]) -> int:
    return reduce(or_, (1 << member for member in members), 0)
