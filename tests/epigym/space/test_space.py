"""`StateSpace`: ids, batches, threads, and every width of model that the core has code for."""

import os
import random
from dataclasses import replace
from itertools import product

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import epigym._core
from epigym.encoding.encoder import Encoder
from epigym.errors import LimitError, TaskError, UsageError
from epigym.reference import semantics as reference
from epigym.space.rows import refine
from epigym.space.space import StateSpace, Transitions, hold_each
from epigym.task import packing
from epigym.task.formula import TRUE, actually, fluent, not_
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.marks import slow_but
from tests.helpers.strategies import AGENTS, FLUENTS, estates, random_estate, random_formula, tasks, telling_task
from tests.helpers.tasks import coin


def explore(space: StateSpace, limit: int = 60) -> np.ndarray:
    """The ids of up to about `limit` e-states, breadth first; large ones are not expanded."""
    frontier = np.array([space.initial], np.int32)
    while len(frontier) and len(space) < limit:
        t = space.expand(frontier[space.world_counts(frontier) <= 256])
        frontier = t.target[t.is_new]
    return np.arange(len(space), dtype=np.int32)


@given(tasks(), st.integers(2, 4))
def test_threads_change_nothing(task: Task, threads: int) -> None:
    alone, shared = StateSpace(task), StateSpace(task)
    frontier = np.array([0], np.int32)
    for _ in range(4):
        expected, got = outcome(alone, frontier, 1), outcome(shared, frontier, threads)
        if isinstance(expected, str):
            assert got == expected
            break
        for left, right in zip(expected, got, strict=True):
            np.testing.assert_array_equal(left, right)
        frontier = expected.target[expected.is_new]
    assert len(alone) == len(shared)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells which processors a process may use")
def test_all_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5})
    assert StateSpace(coin(), threads="auto").threads == 3
    with pytest.raises(UsageError, match=r"^threads=0: expected at least 1, or auto$"):
        StateSpace(coin(), threads=0)


@pytest.mark.parametrize("worlds", [60, 66, 513])
def test_threads_that_share_one_e_state_change_nothing(worlds: int) -> None:
    task = telling_task(random.Random(1))
    initial = random_estate(random.Random(worlds), worlds, task.fluents, task.agents, "introspective")
    task = replace(task, initial=replace(initial, designated=initial.designated[:1]))
    alone, shared = StateSpace(task), StateSpace(task, threads=2)
    state = 0
    while state < min(3, len(alone)):
        for left, right in zip(alone.expand([state]), shared.expand([state]), strict=True):
            np.testing.assert_array_equal(left, right)
        state += 1
    assert len(alone) == len(shared) > 1


def outcome(space: StateSpace, ids: np.ndarray, threads: int) -> Transitions | str:
    """The transitions, or the message of the error."""
    try:
        return space.expand(ids, threads=threads)
    except TaskError as error:
        return str(error)


def two_switches() -> Task:
    """Two switches that can be turned on in any order; the goal is both."""

    def switch(name: str) -> Action:
        return Action(
            f"turn_{name}",
            not_(fluent(name)),
            (Event("on", TRUE, (Effect(name, True),)),),
            (0,),
            {"full": (frozenset({0}),)},
            (((TRUE, "full"),),),
        )

    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    return Task("switches", ("p", "q"), ("a",), (switch("p"), switch("q")), initial, (fluent("p"), fluent("q")))


def test_expansions_of_two_switches() -> None:
    space = StateSpace(two_switches())
    first = space.expand([0])
    assert first.source.tolist() == [0, 0]
    assert first.action.tolist() == [0, 1]
    assert first.target.tolist() == [1, 2]
    assert first.is_new.tolist() == [True, True]
    second = space.expand([1, 2])
    assert second.target.tolist() == [3, 3], "both orders meet in one e-state"
    assert second.is_new.tolist() == [True, False]
    assert space.is_goal(range(4)).tolist() == [False, False, False, True]
    assert space.query(space.task.goal)([1, 2, 3]).tolist() == [[True, False], [False, True], [True, True]]
    assert space.applicable([1, 0]).tolist() == [[False, True], [True, True]]
    assert len(space.expand([3]).target) == 0
    assert len(space) == 4


def test_an_expansion_is_cut_at_the_goal_and_completed_later() -> None:
    space = StateSpace(two_switches())
    space.expand([0])
    cut = space.expand([1, 2], stop_at_goal=True)
    assert cut.source.tolist() == [1]
    assert cut.target.tolist() == [3]
    assert space.expand([1, 2], stop_at_goal=True).is_new.tolist() == [False]
    assert space.expand([1, 2]).target.tolist() == [3, 3]


def test_expanding_again_is_answered_from_memory() -> None:
    space = StateSpace(two_switches())
    space.expand([0])
    before = space.expand([0, 1, 2])
    bytes_held = space.nbytes
    again = space.expand([2, 0])
    assert again.source.tolist() == [2, 0, 0]
    assert again.target.tolist() == [*before.target[before.source == 2], *before.target[before.source == 0]]
    assert not again.is_new.any()
    assert space.nbytes == bytes_held


@given(tasks(), st.booleans(), st.booleans())
def test_successors_are_those_of_the_expansion(task: Task, symmetry: bool, consistent_beliefs: bool) -> None:
    try:
        space = StateSpace(task, symmetry=symmetry, consistent_beliefs=consistent_beliefs)
        before = StateSpace(task, consistent_beliefs=consistent_beliefs)
        space.expand([0])
        t = before.expand([0])
    except TaskError:
        return
    before = StateSpace(task, consistent_beliefs=consistent_beliefs)  # where nothing is expanded
    allowed = before.allowed([0])
    assert np.flatnonzero(allowed).tolist() == t.action.tolist()
    assert [before.successor(0, action) for action in t.action] == t.target.tolist()
    assert np.array_equal(space.allowed([0]), allowed)
    models = [space.model(space.successor(0, action)).state for action in t.action]
    assert [before.intern(model) for model in models] == t.target.tolist()
    for action in np.flatnonzero(~allowed[0]).tolist():
        for known in (space, before):
            with pytest.raises(TaskError, match=r"not applicable|believes everything"):
                known.successor(0, action)


@given(tasks())
def test_successors_of_many_are_those_of_the_reference_one_by_one(task: Task) -> None:
    space = StateSpace(task)
    try:
        states = explore(space, 20)
    except TaskError:
        return
    sources, actions = np.nonzero(space.applicable(states))
    fresh = StateSpace(task)  # numbers the successors of the first e-state in the order in which they are met
    try:
        found = space.successors(sources, actions)
        first = fresh.successors(np.zeros(len(actions[sources == 0]), np.int32), actions[sources == 0])
    except TaskError:
        return
    assert found.dtype == np.int32
    for source, action, target in zip(sources.tolist(), actions.tolist(), found.tolist(), strict=True):
        after = reference.update(task, space.model(source).state, task.actions[action])
        assert space.intern(after) == target
    met = list(dict.fromkeys([0, *first.tolist()]))
    assert met == list(range(len(fresh)))


def test_updates_of_large_e_states_leave_no_memory_behind() -> None:
    """Worlds with an even number see those with an odd one and the reverse; waiting reaches all of them."""
    names = tuple(f"f{k}" for k in range(12))
    worlds = range(1 << len(names))
    valuations = tuple(frozenset(name for k, name in enumerate(names) if w >> k & 1) for w in worlds)
    halves = frozenset(worlds[1::2]), frozenset(worlds[::2])
    wait = Action("wait", TRUE, (Event("e"),), (0,), {"full": (frozenset({0}),)}, (((TRUE, "full"),),))
    initial = EState(valuations, (tuple(halves[w % 2] for w in worlds),), (0,))
    space = StateSpace(Task("halves", names, ("a",), (wait,), initial, ()))
    updates = np.zeros(500, np.int32)
    assert not space.successors(updates, updates).any()
    before = psutil.Process().memory_info().rss
    assert not space.successors(updates, updates).any()
    assert psutil.Process().memory_info().rss < before + 8 * len(worlds) * len(updates) // 2


def test_of_successors_of_many_the_first_that_fails_is_named() -> None:
    space = StateSpace(two_switches())
    [on] = space.successors([0], [0])
    assert space.successors([], []).tolist() == []
    for states, actions in (([0, on, 0], [1, 0, 9]), ([0, on, 9], [1, 0, 1])):
        with pytest.raises(TaskError, match=rf"^action 'turn_p' is not applicable in e-state {on}: "):
            space.successors(states, actions)
    with pytest.raises(IndexError, match="action 9 does not exist"):
        space.successors([0, on], [9, 0])
    with pytest.raises(IndexError, match="state 9 does not exist"):
        space.successors([9, on], [0, 0])
    with pytest.raises(ValueError, match="one action for each e-state is needed"):
        space.successors([0, 0], [0])


def test_successors_that_fail_are_not_counted() -> None:
    """The designated worlds differ in p, on which the type of a depends."""
    identity = (frozenset({0}),)
    conditions = ((fluent("p"), "full"), (TRUE, "part"))
    look = Action("look", TRUE, (Event("e"),), (0,), {"full": identity, "part": identity}, (conditions,))
    initial = EState((frozenset(), frozenset({"p"})), ((frozenset({0, 1}),) * 2,), (0, 1))
    space = StateSpace(Task("two", ("p",), ("a",), (look,), initial, ()))
    with pytest.raises(TaskError, match="disagree"):
        space.successor(0, 0)
    assert space.generated == (0, 0)


@given(tasks(), st.data())
def test_each_e_state_is_asked_for_its_own_formulas(task: Task, data: st.DataObject) -> None:
    space = StateSpace(task)
    try:
        states = explore(space, 20)
    except TaskError:
        return
    rng = random.Random(data.draw(st.integers(0, 99)))
    goals = [[random_formula(rng, 2, task.fluents, task.agents) for _ in range(size)] for size in (1, 0, 2)]
    of = [rng.randrange(len(goals)) for _ in states]
    found = hold_each([space.bind(goal) for goal in goals], of, states)
    expected = [space.query(goals[number])([state]).all() for number, state in zip(of, states, strict=True)]
    assert found.dtype == np.bool_
    assert found.tolist() == expected


def test_e_states_are_asked_for_formulas_that_there_are() -> None:
    space, other = StateSpace(two_switches()), StateSpace(two_switches())
    own, foreign = space.bind([fluent("p")]), other.bind([fluent("p")])
    assert hold_each([], [], []).tolist() == []
    for queries, of, ids in (([own], [1], [0]), ([], [0], [0]), ([own], [0, 0], [0]), ([own, foreign], [0, 0], [0, 0])):
        with pytest.raises(ValueError, match="one query for each e-state is needed, all of one space"):
            hold_each(queries, of, ids)
    with pytest.raises(IndexError, match="state 9 does not exist"):
        hold_each([own], [0], [9])


@given(st.lists(estates(max_designated=3), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_refined_colours_tell_worlds_apart_by_what_they_receive(states: list[EState], rng: random.Random) -> None:
    space = StateSpace(Task("test", FLUENTS, AGENTS, (), states[0], (TRUE,)))
    ids = np.array([space.intern(state) for state in states], dtype=np.int32)
    colours = np.array([rng.randrange(3) for _ in range(space.world_counts(ids).sum())])
    refined = refine(Encoder(space).rows(ids), colours)

    expected, start = [], 0
    for number in ids:
        model = space.model(int(number)).state
        own = colours[start : start + len(model.valuations)].tolist()
        inbox: list[list[tuple[int, ...]]] = [[] for _ in own]
        for agent, rows in enumerate(model.successors):
            for row in set(rows):
                messages = sorted(own[w] * len(AGENTS) + agent for w in range(len(own)) if rows[w] == row)
                for world in row:
                    inbox[world].append(tuple(messages))
        expected += [(own[w], w in model.designated, sorted(inbox[w])) for w in range(len(own))]
        start += len(own)

    def part(flat: np.ndarray, ptr: np.ndarray, row: int) -> list[int]:
        return flat[ptr[row] : ptr[row + 1]].tolist()

    multisets = [tuple(sorted(part(refined.sent, refined.sent_ptr, m))) for m in range(len(refined.sent_ptr) - 1)]
    received = [part(refined.received, refined.received_ptr, colour) for colour in range(len(refined.own))]
    described = [
        (own, colour in refined.designated, sorted(multisets[m] for m in received[colour]))
        for colour, own in enumerate(refined.own.tolist())
    ]
    assert [described[colour] for colour in refined.colours] == expected
    assert len({repr(one) for one in described}) == len(described) == len({repr(one) for one in expected})


def test_refinement_wants_one_colour_for_every_world() -> None:
    space = StateSpace(two_switches())
    rows = Encoder(space).rows([0])
    with pytest.raises(ValueError, match="one colour for every world"):
        refine(rows, np.zeros(len(rows.label) + 1, dtype=np.int64))


def test_too_many_events_are_refused() -> None:
    assert epigym._core.MAX_EVENTS == packing.MAX_EVENTS
    events = tuple(Event(f"e{k}") for k in range(65))
    identity = tuple(frozenset({k}) for k in range(65))
    action = Action("big", TRUE, events, (0,), {"x": identity}, (((TRUE, "x"),),))
    task = Task("t", (), ("a",), (action,), EState((frozenset(),), ((frozenset({0}),),), (0,)), (TRUE,))
    with pytest.raises(LimitError, match="'big' has 65 events, at most 64"):
        StateSpace(task)


def test_sixty_four_events_are_enough() -> None:
    """Event k sets fluent k; all are designated and told apart, so the e-state gets 64 designated worlds."""
    names = tuple(f"p{k}" for k in range(64))
    events = tuple(Event(f"e{k}", TRUE, (Effect(name, True),)) for k, name in enumerate(names))
    identity = tuple(frozenset({k}) for k in range(64))
    action = Action("fork", TRUE, events, tuple(range(64)), {"x": identity}, (((TRUE, "x"),),))
    goal = actually(not_(fluent("p0")))
    task = Task("t", names, ("a",), (action,), EState((frozenset(),), ((frozenset({0}),),), (0,)), (goal,))
    space = StateSpace(task)
    state = space.successor(0, 0)
    assert space.model(state).designated == tuple(range(64))
    assert not space.is_goal([state])[0]


@pytest.mark.parametrize(
    ("rows", "shift"), slow_but(product([256, 257, 65536, 65537], [0, 1]), (256, 1), (257, 0), (65537, 1))
)
def test_relations_of_any_number_of_rows_are_kept(rows: int, shift: int) -> None:
    """The worlds are told apart by their valuations; world w sees those of class w + shift (an equivalence for 0)."""
    names = tuple(f"f{k}" for k in range(17))
    count = max(rows, 600)
    valuations = tuple(frozenset(name for k, name in enumerate(names) if w >> k & 1) for w in range(count))
    classes = [frozenset(range(first, count, rows)) for first in range(rows)]
    successors = tuple(classes[(w + shift) % rows] for w in range(count))
    estate = EState(valuations, (successors,), tuple(range(count)))
    space = StateSpace(Task("rows", names, ("a",), (), estate, ()))

    def seen(state: EState) -> dict[frozenset[str], set[frozenset[str]]]:
        worlds = zip(state.valuations, state.successors[0], strict=True)
        return {valuation: {state.valuations[v] for v in row} for valuation, row in worlds}

    assert seen(space.model(space.initial).state) == seen(estate)
