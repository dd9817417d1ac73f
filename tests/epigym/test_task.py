"""A task that contradicts itself is refused where it is made."""

from __future__ import annotations

from typing import Any

import pytest

from epigym.errors import TaskError
from epigym.formula import TRUE, fluent
from epigym.packing import pack_task
from epigym.space import StateSpace
from epigym.task import Action, Effect, EState, Event, Task

INITIAL = EState((frozenset(),), ((frozenset({0}),),), (0,))
SET, IDLE = Event("set", TRUE, (Effect("p", True),)), Event("idle")


def task(designated: tuple[int, ...] = (0,), row: frozenset[int] = frozenset({0})) -> Task:
    """One action of two events, which its agent tells apart."""
    rows = {"full": (row, frozenset({1}))}
    act = Action("act", TRUE, (SET, IDLE), designated, rows, (((TRUE, "full"),),))
    return Task("t", ("p",), ("a",), (act,), INITIAL, (fluent("p"),))


def test_tasks_and_spaces_are_one_line() -> None:
    space = StateSpace(task())
    assert repr(space.task) == "<Task t: 1 fluents, 1 agents, 1 actions, 1 worlds>"
    assert repr(space) == f"<StateSpace of 1 e-states of {space.task!r}>"
    space.expand([space.initial])
    assert repr(space).startswith("<StateSpace of 2 e-states")


@pytest.mark.parametrize("designated", [(), (0, 0), (1, 0), (2,)])
def test_designated_events_are_ascending_distinct_and_exist(designated: tuple[int, ...]) -> None:
    with pytest.raises(TaskError, match="action 'act': designated events"):
        task(designated)


def test_successors_listed_twice_are_packed_once() -> None:
    twice: Any = [0, 0]  # a caller without type checks
    assert pack_task(task(row=twice)) == pack_task(task())


def test_every_designated_event_may_happen() -> None:
    space = StateSpace(task((0, 1)))
    assert space.expand([space.initial]).target.tolist() == [1]
    assert len(space.model(1).designated) == 2
