"""The core's index finds the applicable actions among many whose conditions are conjunctions of literals."""

from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, and_, believes, literal, or_
from epigym.task.task import Action, EState, Event, Task

FLUENTS = ("p", "q", "r", "s")
LITERALS = st.builds(literal, st.sampled_from(FLUENTS), st.booleans())
OTHERS = st.builds(lambda a, b: or_(a, believes("i", b)), LITERALS, LITERALS)
CONJUNCTIONS: st.SearchStrategy[Formula] = st.recursive(
    LITERALS | OTHERS | st.just(TRUE),
    lambda parts: st.lists(parts, max_size=3).map(lambda some: and_(*some)),
    max_leaves=5,
)
VALUATIONS = st.sets(st.sampled_from(FLUENTS)).map(frozenset)


@st.composite
def actions(draw: st.DrawFn, name: str) -> Action:
    events = tuple(Event(f"e{k}", draw(CONJUNCTIONS)) for k in range(draw(st.integers(1, 3))))
    designated = tuple(sorted(draw(st.sets(st.integers(0, len(events) - 1), min_size=1))))
    identity = tuple(frozenset((event,)) for event in range(len(events)))
    return Action(name, draw(CONJUNCTIONS), events, designated, {"full": identity}, (((TRUE, "full"),),))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    valuations = tuple(draw(st.lists(VALUATIONS, min_size=1, max_size=4)))
    worlds = range(len(valuations))
    designated = tuple(sorted(draw(st.sets(st.sampled_from(worlds), min_size=1))))
    estate = EState(valuations, (tuple(frozenset(worlds) for _ in worlds),), designated)
    count = draw(st.integers(1, 12))
    return Task("t", FLUENTS, ("i",), tuple(draw(actions(f"a{k}")) for k in range(count)), estate, ())


@settings(max_examples=400)
@given(tasks())
def test_applicable_actions(task: Task) -> None:
    space = StateSpace(task)
    expected = reference.applicable_actions(task, task.initial)
    assert tuple(space.applicable([space.initial])[0]) == expected
    assert space.expand([space.initial]).action.tolist() == [k for k, holds in enumerate(expected) if holds]


def test_actions_without_conditions_are_found_among_others() -> None:
    conditions = [and_(literal("p", True), literal("q", False)), TRUE, literal("p", True), TRUE, literal("p", False)]
    identity = {"full": (frozenset((0,)),)}
    task = Task(
        "t", FLUENTS, ("i",),
        tuple(
            Action(f"a{k}", TRUE, (Event("e", condition),), (0,), identity, (((TRUE, "full"),),))
            for k, condition in enumerate(conditions)
        ),
        EState((frozenset(("p", "q")),), ((frozenset((0,)),),), (0,)), (),
    )  # fmt: skip
    assert StateSpace(task).applicable([0])[0].tolist() == [False, True, True, True, False]
