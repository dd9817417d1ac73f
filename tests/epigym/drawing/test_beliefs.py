"""Where agents stand to each fluent, and where they believe that others stand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.drawing.beliefs import Standing, View, view
from epigym.drawing.steps import walk
from epigym.problem import domain_problem, load_problem
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.formula import believes, fluent, literal
from epigym.task.task import EState
from tests.helpers.strategies import AGENTS, FLUENTS, estates


def look_through(found: View, *agents: int) -> View:
    for agent in agents:
        inner = found.nested[agent]
        assert inner is not None
        found = inner
    return found


def test_around_the_box() -> None:
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
