"""The steps of a plan: where it leads, what each action changed and who saw it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import KripkeModel, StateSpace
from epigym.drawing.beliefs import Standing, View, view
from epigym.drawing.steps import Change, Notice, change, notice, take_step, walk, witnesses
from epigym.errors import UsageError
from epigym.problem import domain_problem, load_problem
from epigym.space.branching import outcomes_of
from epigym.task.formula import TRUE, believes, fluent, literal
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.sensing import looking
from tests.helpers.strategies import AGENTS, FLUENTS, WATCHING, estates, tasks

SAW, NOTICED, MISSED = Notice

ASKED = (("ask_c2",), ("ask_c2", "ask_c3: knows"), ("ask_c2", "ask_c3: wonders"))
COIN = ("open_a", "peek_a", "distract_b_a", "peek_b")


@pytest.fixture(scope="module")
def coin() -> StateSpace:
    """Both a and b look at the box."""
    return StateSpace(domain_problem("coin_in_the_box", looking="ab"))


def list_notices(space: StateSpace, plan: tuple[str, ...]) -> list[tuple[Notice, ...]]:
    actions = {action.name: action for action in space.task.actions}
    states = walk(space, plan)
    return [
        witnesses(space.task, space.model(one).state, actions[name]) for one, name in zip(states, plan, strict=False)
    ]


def changes(space: StateSpace, plan: tuple[str, ...]) -> list[Change]:
    states = zip(walk(space, plan), plan, strict=False)
    return [change(space.task, space.model(state), *take_step(space, state, text)[:2]) for state, text in states]


def facts_of(found: Change) -> list[str]:
    return sorted(frozenset().union(*found.facts.values()))


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
            r"^step 1: action 'peek_a' .*: B\(a, opened\); opened",
        ),
    ],
)
def test_a_walk_that_cannot_go_on_names_the_step(coin: StateSpace, plan: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        walk(coin, plan)


def test_around_the_box(coin: StateSpace) -> None:
    assert list_notices(coin, COIN) == [
        (SAW, SAW, MISSED),  # c does not look
        (SAW, NOTICED, MISSED),  # b sees that a peeks, not what
        (SAW, SAW, MISSED),
        (MISSED, SAW, MISSED),  # a was distracted
    ]
    found = changes(coin, COIN)
    assert [facts_of(one) for one in found] == [["opened"], [], ["looking_a"], []]
    # The two worlds of c, who still believes the box closed, stay; peeking alone adds one that only b knows of.
    assert [len(one.worlds) for one in found] == [2, 2, 2, 1]


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


def test_an_answer_changes_no_fact() -> None:
    """Though muddy_c1 differed at the designated worlds before, and no longer does."""
    space = StateSpace(load_problem("active_muddy_child/amc_03_02_clean"))
    asked, *answers = (changes(space, plan)[-1] for plan in ASKED)
    assert (asked.facts, *(one.facts for one in answers)) == ({}, {}, {})
    # Each answer parts worlds that remain from worlds that go; those without such a neighbour have not changed.
    assert [len(one.worlds) for one in (asked, *answers)] == [2, 2, 2]


def test_of_many_worlds_those_have_changed_that_lost_a_neighbour() -> None:
    space = StateSpace(load_problem("active_muddy_child/amc_09_09_muddy"))
    [first] = changes(space, ("ask_c1",))  # the world where only c1 is muddy goes, which others take for a neighbour
    assert (len(first.worlds), first.facts) == (8, {})


def test_a_world_that_comes_from_several_has_all_their_changes() -> None:
    valuations = (frozenset({"p", "q"}), frozenset({"q", "r"}), frozenset({"p"}))
    own = tuple(frozenset({world}) for world in range(3))
    model = KripkeModel(FLUENTS, ("a",), EState(valuations, (own,), (0, 1, 2)))
    effects = (Effect("p", True), Effect("r", False))
    act = Action("act", TRUE, (Event("e", TRUE, effects),), (0,), {"k": (frozenset({0}),)}, (((TRUE, "k"),),))
    task = Task("", FLUENTS, ("a",), (act,), model.state, ())
    space = StateSpace(task)
    after = space.model(space.successor(space.initial, 0))
    both, one = (after.state.valuations.index(frozenset(names)) for names in ({"p", "q"}, {"p"}))
    assert change(task, model, act) == Change(frozenset({both}), {both: frozenset({"p", "r"})})
    assert one not in change(task, model, act).worlds


@given(estates())
def test_an_action_without_effects_that_all_see_changes_nothing(estate: EState) -> None:
    nothing = Action("act", TRUE, (Event("e"),), (0,), {"k": (frozenset({0}),)}, (((TRUE, "k"),),) * len(AGENTS))
    task = Task("", FLUENTS, AGENTS, (nothing,), estate, ())
    assert change(task, KripkeModel(FLUENTS, AGENTS, estate), nothing) == Change()


@given(tasks())
def test_a_world_that_has_not_changed_has_its_neighbours(task: Task) -> None:
    events = [tuple(replace(event, effects=()) for event in action.events) for action in task.actions]
    actions = tuple(replace(one, events=found) for one, found in zip(task.actions, events, strict=True))
    space = StateSpace(replace(task, actions=actions))
    before = space.model(space.initial)
    for number, action in enumerate(actions):
        for outcome, target in outcomes_of(space, space.initial, number):
            found, after = change(space.task, before, action, outcome), space.model(target)
            assert found.facts == {}
            for world in set(after.worlds) - found.worlds:
                assert any(is_like(before, old, after, world) for old in before.worlds)


def is_like(before: KripkeModel, old: int, after: KripkeModel, new: int) -> bool:
    """Whether the same facts hold at two worlds and, for each agent, at those that it considers possible there."""

    def facts(model: KripkeModel, world: int) -> object:
        rows = [rows[world] for rows in model.state.successors]
        return model.state.valuations[world], [{model.state.valuations[one] for one in row} for row in rows]

    return facts(before, old) == facts(after, new)


def test_a_step_is_an_action_before_it_is_an_outcome() -> None:
    """Of several actions whose names begin it, it is an outcome of the one that has such an outcome."""
    [look] = looking().actions
    known = replace(look, events=tuple(replace(event, name=f"b: {event.name}") for event in look.events))
    idle = replace(look, designated=(0,), events=(Event("nothing"),) * 3)
    others = (replace(idle, name="look: no"), replace(known, name="look: b"), replace(idle, name="look: yes"))
    space = StateSpace(replace(looking(), actions=(*others, known)))
    assert walk(space, ["look: yes"]) == [space.initial] * 2
    (_, yes), (_, no) = outcomes_of(space, space.initial, 3)
    assert [walk(space, [f"look: b: {name}"])[1] for name in ("yes", "no")] == [yes, no]
    (_, inner), _ = outcomes_of(space, space.initial, 1)
    assert walk(space, ["look: b: b: yes"])[1] == inner


def test_outcomes_of_a_step() -> None:
    space = StateSpace(looking((fluent("q"), "sees")))
    found = outcomes_of(space, space.initial, 0)
    texts = [f"look: {outcome}" for outcome, _ in found]
    assert texts == ["look: yes (b sees)", "look: yes (b misses)", "look: no"]
    assert [walk(space, [text]) for text in texts] == [[space.initial, target] for _, target in found]
    with pytest.raises(UsageError, match=r"^step 1: action 'look': .* disagree"):
        walk(space, ["look"])
    task = looking((fluent("q"), "sees"))
    space = StateSpace(task)
    seen = [
        witnesses(task, space.model(space.initial).state, task.actions[0], outcome)
        for outcome, _ in outcomes_of(space, space.initial, 0)
    ]
    assert seen == [(SAW, SAW), (SAW, MISSED), (SAW, MISSED)]
    space = StateSpace(looking())
    with pytest.raises(UsageError, match=r"^step 1: .*'look' 'maybe': expected one of 'no', 'yes'$"):
        walk(space, ["look: maybe"])
    with pytest.raises(UsageError, match=r"^step 2: unknown action 'loko: no': expected one of 'look'"):
        walk(space, ["look: no", "loko: no"])
    closed = StateSpace(replace(looking(), actions=(replace(looking().actions[0], applicability=fluent("p")),)))
    with pytest.raises(UsageError, match=r"^step 1: action 'look' .*: p$"):
        walk(closed, ["look: yes"])


def look_through(found: View, *agents: int) -> View:
    for agent in agents:
        inner = found.nested[agent]
        assert inner is not None
        found = inner
    return found


def test_beliefs_around_the_box() -> None:
    space = StateSpace(domain_problem("coin_in_the_box", looking="ab"))
    fluents = space.task.fluents
    tail, opened, looking_a = (fluents.index(name) for name in ("tail", "opened", "looking_a"))
    *_, last = walk(space, ("open_a", "peek_a", "distract_b_a", "peek_b"))
    found = view(space.model(last), depth=2)
    assert (found.worlds, found.truth) == (1, "11001010")
    # a is right about the coin, but takes b for one who has not looked; c believes that nothing has happened.
    assert [found.standings[name] for name in (tail, opened, looking_a)] == ["rku", "rkw", "rkw"]
    a, b, c = (look_through(found, agent) for agent in range(3))
    assert (a.worlds, b.worlds, c.worlds) == (1, 1, 2)
    assert (a.truth[tail], b.truth[tail], c.truth[tail]) == ("1", "1", "v")
    assert (a.truth[opened], c.truth[opened]) == ("1", "0")
    assert (a.standings[tail], b.standings[tail], c.standings[tail]) == ("kuu", "rku", "uuu")
    assert look_through(found, 0, 1).truth[tail] == "v"  # a believes that b cannot tell
    assert look_through(found, 1, 0).truth[tail] == "1"  # b believes that a believes that it is tails


# At world 0 agent a takes itself to be in 1, b in either, c nowhere; they differ in q alone.
APART = KripkeModel(
    ("p", "q"),
    ("a", "b", "c"),
    EState(
        valuations=(frozenset({"p", "q"}), frozenset({"p"})),
        successors=((frozenset({1}), frozenset({1})), (frozenset({0, 1}),) * 2, (frozenset(), frozenset({1}))),
        designated=(0,),
    ),
)


def test_every_standing() -> None:
    found = view(APART, depth=1)
    assert (found.truth, found.standings) == ("11", ("rke", "wue"))
    assert found.nested[2] is None
    assert look_through(found, 0) == View(1, "10", ("kkk", "kuk"), ())
    # Where b is, as far as it can tell, it depends whether a is right.
    assert look_through(found, 1) == View(2, "1v", ("vkv", "vuv"), ())
    assert view(APART, depth=0).nested == ()


@given(estates(), st.sampled_from(AGENTS), st.sampled_from(FLUENTS))
def test_standings_are_what_formulas_say(estate: EState, agent: str, name: str) -> None:
    letters = set()
    for world in estate.designated:
        model = KripkeModel(FLUENTS, AGENTS, replace(estate, designated=(world,)))
        true, false = (model.holds(believes(agent, literal(name, value))) for value in (True, False))
        if true == false:
            letters.add(Standing.EVERYTHING if true else Standing.UNSURE)
        elif true != model.holds(fluent(name)):
            letters.add(Standing.WRONG)
        else:
            letters.add(Standing.KNOWS if world in model.successors(agent, world) else Standing.RIGHT)
    found = view(KripkeModel(FLUENTS, AGENTS, estate), depth=0)
    letter = found.standings[FLUENTS.index(name)][AGENTS.index(agent)]
    assert letter == (letters.pop() if len(letters) == 1 else Standing.VARIES)


@pytest.mark.parametrize("agent", range(3))
def test_a_nested_view_is_that_of_the_perspective(agent: int) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    model = space.model(walk(space, ("open_a", "peek_a"))[-1])
    assert look_through(view(model, depth=2), agent) == view(model.perspective(model.agents[agent]), depth=1)
