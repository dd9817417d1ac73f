"""A task that contradicts itself is refused where it is made."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import StateSpace, TaskError
from epigym.task.formula import TRUE, Formula, fluent
from epigym.task.packing import FormulaPacker, pack_task, unpack_formulas
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies

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


ONE, ROWS = (frozenset[str](),), ((frozenset({0}),),)


@pytest.mark.parametrize("world", [0.0, 0.5, "0", None, np.float64(0)])
def test_a_world_that_is_no_whole_number_is_named(world: Any) -> None:
    message = re.escape(f"world {world!r} is not a whole number: expected one from 0 to 0")
    with pytest.raises(TaskError, match=f"^{message}$"):
        EState(ONE, ((frozenset({world}),),), (0,))
    with pytest.raises(TaskError, match=f"^{message}$"):
        EState(ONE, ROWS, (world,))


def test_worlds_and_successors() -> None:
    state = EState(ONE, ((frozenset({np.int64(0)}),),), (np.int32(0),))  # type: ignore[arg-type]
    assert StateSpace(replace(task(), initial=state)).model(0).designated == (0,)
    twice: Any = [0, 0]  # a caller without type checks
    assert pack_task(task(row=twice)) == pack_task(task())
    space = StateSpace(task((0, 1)))
    assert space.expand([space.initial]).target.tolist() == [1]
    assert len(space.model(1).designated) == 2


SETS, RELATIONS = "a set of fluents for each world", "for each agent a set of worlds for each world"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((None, ROWS, (0,)), f"valuations: found None, expected {SETS}"),
        ((("p",), ROWS, (0,)), f"valuations: found 'p', expected {SETS}"),
        (((["p"],), ROWS, (0,)), f"valuations: found ['p'], expected {SETS}"),
        ((ONE, None, (0,)), f"successors: found None, expected {RELATIONS}"),
        ((ONE, "a", (0,)), f"successors: found 'a', expected {RELATIONS}"),
        ((ONE, (frozenset({0}),), (0,)), f"successors: found 0, expected {RELATIONS}"),
        ((ONE, ((None,),), (0,)), f"successors: found None, expected {RELATIONS}"),
        ((ONE, ROWS, 1), "designated: found 1, expected the designated worlds"),
    ],
)
def test_parts_of_an_e_state_of_another_type_are_named(parts: Any, message: str) -> None:
    with pytest.raises(TaskError, match=f"^{re.escape(message)}$"):
        EState(*parts)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        *(("fluents", value, found) for value, found in (("p", "'p'"), (None, "None"), ((1,), "1"))),
        *(("agents", value, found) for value, found in (("a", "'a'"), (None, "None"), ((1,), "1"))),
        *(("actions", value, found) for value, found in ((None, "None"), (("act",), "'act'"))),
        *(
            ("goal", value, found)
            for value, found in ((fluent("p"), "<p>"), ("p", "'p'"), (("p",), "'p'"), ([[]], "[]"))
        ),
        ("initial", None, "None"),
        ("structure", 3, "3"),
    ],
)
def test_parts_of_a_task_of_another_type_are_named(name: str, value: Any, found: str) -> None:
    with pytest.raises(TaskError, match=rf"^{name}: found {re.escape(found)}, expected [^\n]+$"):
        replace(task(), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("name", 3, "the name of an action: found 3, expected a text"),
        ("applicability", "p", "action 'act': applicability: found 'p', expected a formula"),
        ("events", ("set",), "action 'act': events: found 'set', expected a tuple of events"),
        ("events", (replace(SET, precondition=None), IDLE), "action 'act': the precondition of event 'set'"),
        ("designated", (0.0,), "action 'act': designated: found 0.0, expected whole numbers, those of events"),
        ("designated", 1, "action 'act': designated: found 1, expected whole numbers, those of events"),
        ("relations", None, "action 'act': relations: found None, expected a mapping"),
        ("relations", {"full": (0, 1)}, "action 'act': the relation of type 'full': found 0, expected a set of events"),
        ("relations", {"full": (frozenset({0.0}),) * 2}, "action 'act': the relation of type 'full': found 0.0"),
        ("observability", None, "action 'act': observability: found None, expected for each agent its conditions"),
        ("observability", ((TRUE,),), "action 'act': how agent 'a' observes it is <true>, expected a pair"),
        ("observability", (((TRUE, []),),), "action 'act': how agent 'a' observes it is (<true>, []), expected a pair"),
    ],
)
def test_parts_of_an_action_of_another_type_are_named(name: str, value: Any, message: str) -> None:
    [action] = task().actions
    with pytest.raises(TaskError, match=f"^{re.escape(message)}"):
        replace(task(), actions=(replace(action, **{name: value}),))


@pytest.mark.parametrize("effects", [None, SET.effects[0], ("p",), (replace(SET.effects[0], condition=None),)])
def test_effects_of_another_type_are_named(effects: Any) -> None:
    with pytest.raises(TaskError, match=r"^the (effects|condition of an effect) of event 'set': found [^\n]+$"):
        replace(SET, effects=effects)


AGENTS = ("b", "c", "a")  # the order of declaration is not that of the names in a group


@given(st.lists(strategies.formulas(3, agents=AGENTS), max_size=4))
def test_packed_formulas(formulas: list[Formula]) -> None:
    pack = FormulaPacker(strategies.FLUENTS, AGENTS)
    numbers = [pack(formula) for formula in formulas]
    unpacked = unpack_formulas(strategies.FLUENTS, AGENTS, pack.lists())
    assert all(unpacked[number] is formula for number, formula in zip(numbers, formulas, strict=True))
