"""The steps of a plan: where it leads, what each action changed and who saw it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given

from epigym.drawing.steps import Change, Notice, change, notice, walk, witnesses
from epigym.errors import UsageError
from epigym.problem import domain_problem
from epigym.space.branching import outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, fluent
from epigym.task.task import Action, EState, Event
from tests.helpers.sensing import looking
from tests.helpers.strategies import AGENTS, FLUENTS, WATCHING, characteristic, estates

SAW, NOTICED, MISSED = Notice

COIN = ("open_a", "peek_a", "distract_b_a", "peek_b")


@pytest.fixture(scope="module")
def coin() -> StateSpace:
    """Both a and b look at the box."""
    return StateSpace(domain_problem("coin_in_the_box", looking="ab"))


def list_notices(space: StateSpace, plan: tuple[str, ...]) -> list[tuple[Notice, ...]]:
    actions = {action.name: action for action in space.task.actions}
    states = walk(space, plan)
    return [
        witnesses(space.task, space.model(state).state, actions[name])
        for state, name in zip(states, plan, strict=False)
    ]


def changes(space: StateSpace, plan: tuple[str, ...]) -> list[Change]:
    models = [space.model(state) for state in walk(space, plan)]
    return [change(before, after) for before, after in pairwise(models)]


def test_a_walk_has_the_e_state_before_each_action_and_the_last(coin: StateSpace) -> None:
    names = [action.name for action in coin.task.actions]
    states = walk(coin, COIN)
    assert walk(coin, ()) == states[:1] == [coin.initial]
    assert states[1:] == [coin.successor(state, names.index(name)) for state, name in zip(states, COIN, strict=False)]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (("open_a", "peek_d"), "^step 2: unknown action 'peek_d': did you mean 'peek_c' or"),
        (
            ("peek_a",),
            r"^step 1: action 'peek_a' is not applicable: its condition does not hold: B\(a, opened\); opened",
        ),
    ],
)
def test_a_walk_that_cannot_go_on_says_at_which_step_and_why(
    coin: StateSpace, plan: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        walk(coin, plan)


def test_who_saw_what_around_the_box(coin: StateSpace) -> None:
    assert list_notices(coin, COIN) == [
        (SAW, SAW, MISSED),  # c does not look
        (SAW, NOTICED, MISSED),  # b sees that a peeks, not what
        (SAW, SAW, MISSED),
        (MISSED, SAW, MISSED),  # a was distracted
    ]


@pytest.mark.parametrize(
    ("kind", "designated", "expected"),
    [
        ("sees", (0, 1), SAW),
        ("notices", (0, 1), NOTICED),
        ("notices", (0, 2), NOTICED),  # whichever it was: the last one only it considers possible
        ("suspects", (0,), NOTICED),
        ("suspects", (0, 1), NOTICED),
        ("misses", (0, 1), MISSED),
        ("misses", (0, 2), MISSED),
        ("misses", (2,), SAW),
    ],
)
def test_what_is_perceived_is_read_off_the_relation(kind: str, designated: tuple[int, ...], expected: Notice) -> None:
    relations = {kind: tuple(map(frozenset, rows)) for kind, rows in WATCHING.items()}
    action = Action("act", TRUE, (Event("yes"), Event("no"), Event("nothing")), designated, relations, ())
    assert notice(action, kind, action.designated) is expected


def test_what_changed_around_the_box(coin: StateSpace) -> None:
    found = changes(coin, COIN)
    assert [sorted(one.facts) for one in found] == [["opened"], [], ["looking_a"], []]
    # The two worlds of c, who still believes the box closed, stay; peeking alone adds one that only b knows of.
    assert [len(one.worlds) for one in found] == [2, 2, 2, 1]


def test_a_fact_has_changed_when_it_has_other_values_at_the_designated_worlds() -> None:
    valuations = (frozenset({"p", "q"}), frozenset({"q", "r"}))
    reflexive = (frozenset({0}), frozenset({1}))
    one = KripkeModel(FLUENTS, ("a",), EState(valuations, (reflexive,), (0,)))
    both = KripkeModel(FLUENTS, ("a",), EState(valuations, (reflexive,), (0, 1)))
    assert change(one, both).facts == {"p", "r"}
    assert change(both, one).facts == {"p", "r"}
    assert change(both, both) == Change()


@given(estates(max_worlds=4), estates(max_worlds=4))
def test_a_world_is_new_when_a_formula_tells_it_from_all_worlds_before(before: EState, after: EState) -> None:
    old, new = (KripkeModel(FLUENTS, AGENTS, estate) for estate in (before, after))
    rounds = len(before.valuations) + len(after.valuations)
    everywhere = EState(before.valuations, before.successors, tuple(old.worlds))
    any_world_before = characteristic(everywhere, FLUENTS, AGENTS, rounds=rounds)
    here = [KripkeModel(FLUENTS, AGENTS, EState(after.valuations, after.successors, (world,))) for world in new.worlds]
    expected = {world for world, model in enumerate(here) if not model.holds(any_world_before)}
    assert change(old, new).worlds == expected


def test_a_step_with_an_outcome_leads_there() -> None:
    space = StateSpace(looking((fluent("q"), "sees")))
    found = outcomes_of(space, space.initial, 0)
    texts = [f"look: {outcome}" for outcome, _ in found]
    assert texts == ["look: yes (b sees)", "look: yes (b misses)", "look: no"]
    assert [walk(space, [text]) for text in texts] == [[space.initial, target] for _, target in found]
    with pytest.raises(UsageError, match=r"^step 1: action 'look': .* disagree"):
        walk(space, ["look"])


def test_an_outcome_tells_who_perceived_it() -> None:
    task = looking((fluent("q"), "sees"))
    space = StateSpace(task)
    seen = [
        witnesses(task, space.model(space.initial).state, task.actions[0], outcome)
        for outcome, _ in outcomes_of(space, space.initial, 0)
    ]
    assert seen == [(SAW, SAW), (SAW, MISSED), (SAW, MISSED)]


def test_an_outcome_that_does_not_exist_is_refused() -> None:
    space = StateSpace(looking())
    with pytest.raises(UsageError, match=r"^step 1: unknown outcome of 'look' 'maybe': expected one of 'no', 'yes'$"):
        walk(space, ["look: maybe"])
    with pytest.raises(UsageError, match=r"^step 2: unknown action 'loko: no': expected one of 'look'"):
        walk(space, ["look: no", "loko: no"])
    closed = StateSpace(replace(looking(), actions=(replace(looking().actions[0], applicability=fluent("p")),)))
    with pytest.raises(UsageError, match=r"^step 1: action 'look' is not applicable: its condition does not hold: p$"):
        walk(closed, ["look: yes"])
