"""Two tasks that are the same up to names."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Task

Names: TypeAlias = Mapping[str, Hashable]


def assert_same_task(
    ours: Task, theirs: Task, *, most_expanded: int, seconds: float, same_actions: bool = True
) -> None:
    """Check that names apart, which correspond in their order, both tasks are one and are searched alike.

    Args:
        ours: a task.
        theirs: another one.
        most_expanded: e-states that breadth-first search expands in both.
        seconds: after which it is cut earlier.
        same_actions: whether actions also have the same events; else they do the same in the e-states that are met.
    """
    assert [len(task.fluents) for task in (ours, theirs)] == [len(ours.fluents)] * 2
    assert [len(task.agents) for task in (ours, theirs)] == [len(ours.agents)] * 2
    assert [len(task.actions) for task in (ours, theirs)] == [len(ours.actions)] * 2
    first, second = _numbers(ours), _numbers(theirs)
    assert {_meaning(goal, first) for goal in ours.goal} == {_meaning(goal, second) for goal in theirs.goal}
    for mine, other in zip(ours.actions, theirs.actions, strict=True) if same_actions else ():
        assert _action(mine, first) == _action(other, second), f"{mine.name} is not {other.name}"
    spaces = StateSpace(ours), StateSpace(theirs)
    assert _estate(spaces[0].model(0).state, first) == _estate(spaces[1].model(0).state, second)
    transitions = _expanded(spaces[0], most_expanded, seconds)
    assert np.array_equal(transitions, _expanded(spaces[1], int(transitions[0].max(initial=-1)) + 1, np.inf))
    assert len(spaces[0]) == len(spaces[1])
    for ids in np.array_split(np.arange(len(spaces[0]), dtype=np.int32), 1 + len(spaces[0]) // 1024):
        assert np.array_equal(spaces[0].is_goal(ids), spaces[1].is_goal(ids))
        assert np.array_equal(spaces[0].world_counts(ids), spaces[1].world_counts(ids))


def _numbers(task: Task) -> Names:
    return {name: index for names in (task.fluents, task.agents) for index, name in enumerate(names)}


def _meaning(formula: Formula, numbers: Names) -> Hashable:
    """The formula with numbers for names, and no order where there is none to a reader."""
    parts = [_meaning(child, numbers) for child in formula.children]
    ordered = frozenset(parts) if formula.op in (Op.AND, Op.OR) else tuple(parts)
    return (
        formula.op,
        numbers[formula.name] if formula.name else "",
        frozenset(map(numbers.get, formula.agents)),
        ordered,
    )


def _action(action: Action, numbers: Names) -> Hashable:
    """What an action does: events by number, and for each agent the relations instead of names of types."""
    events = [
        (
            _meaning(event.precondition, numbers),
            {(numbers[effect.fluent], effect.value, _meaning(effect.condition, numbers)) for effect in event.effects},
        )
        for event in action.events
    ]
    observability = [
        [(_meaning(condition, numbers), action.relations[kind]) for condition, kind in chain]
        for chain in action.observability
    ]
    return repr((_meaning(action.applicability, numbers), action.designated)), _frozen(events), _frozen(observability)


def _frozen(value: object) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return frozenset(map(_frozen, value)) if isinstance(value, set) else value  # type: ignore[return-value]


def _estate(state: EState, numbers: Names) -> Hashable:
    valuations = [frozenset(map(numbers.get, valuation)) for valuation in state.valuations]
    return tuple(valuations), state.successors, state.designated


def _expanded(space: StateSpace, most: int, seconds: float) -> NDArray[np.int32]:
    """int32[3, m]: source, action and target of the transitions of breadth-first search, however it is cut."""
    parts = [np.zeros((3, 0), dtype=np.int32)]
    end, start = 0, time.monotonic()
    while end < min(most, len(space)) and time.monotonic() - start < seconds:
        ids = np.arange(end, min(end + 16, most, len(space)), dtype=np.int32)
        found = space.expand(ids)
        parts.append(np.stack([found.source, found.action, found.target]))
        end = int(ids[-1]) + 1
    return np.concatenate(parts, axis=1)
