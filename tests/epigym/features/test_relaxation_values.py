"""The relaxation against values worked out by hand."""

from math import inf

import pytest

from epigym.features.relaxation import Relaxation
from epigym.language import parse_mastar
from epigym.space.space import StateSpace
from epigym.task.formula import (
    TRUE,
    Formula,
    actually,
    and_,
    believes,
    common,
    conjuncts,
    everybody,
    fluent,
    implies,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.tasks import COIN, coin, counter, hopeless, trivial

P, Q, R = map(fluent, "pqr")
AGENTS = ("a", "b")


def rows(text: str) -> tuple[frozenset[int], ...]:
    """`01,1,-`: the successors of each world or event, `-` for none."""
    return tuple(frozenset(map(int, row.strip("-"))) for row in text.split(","))


def model(worlds: str, *relations: str, designated: tuple[int, ...] = (0,)) -> EState:
    """Worlds as `p,pq,-`, and a relation for each agent."""
    valuations = tuple(frozenset(world) - {"-"} for world in worlds.split(","))
    return EState(valuations, tuple(map(rows, relations)), designated)


def action(
    name: str, *events: Event, designated: tuple[int, ...] = (0,), if_: Formula = TRUE, **relations: str
) -> Action:
    """An action that agent a observes as `a` and b as `b`; who has no relation of the name observes as `full`."""
    types = {kind: rows(text) for kind, text in relations.items()}
    observability = tuple(((TRUE, agent if agent in types else "full"),) for agent in AGENTS)
    return Action(name, if_, events, designated, types, observability)


def make(name: str, if_: Formula = TRUE) -> Action:
    """Both agents see that the fluent becomes true."""
    return action(f"make_{name}", Event("e", effects=(Effect(name, True),)), if_=if_, full="0")


def task(initial: EState, goal: Formula, *actions: Action) -> Task:
    return Task("t", ("p", "q", "r"), AGENTS, actions, initial, conjuncts(goal))


def h_add(initial: EState, goal: Formula, *actions: Action) -> float:
    return h_add_of(task(initial, goal, *actions))


def h_add_of(problem: Task) -> float:
    return float(Relaxation(StateSpace(problem))([0]).h_add[0])


def plan_of(problem: Task) -> tuple[float, float, set[str], set[str]]:
    """h_add, the actions of the relaxed plan, the preferred ones, and the facts added, at the start."""
    relaxation = Relaxation(StateSpace(problem))
    relaxed = relaxation([0])
    preferred = {problem.actions[index].name for index in relaxed.preferred.tolist()}
    added = {str(relaxation.facts[fact]) for fact in relaxation.find_added_facts(0).tolist()}
    return float(relaxed.h_add[0]), float(relaxed.h_ff[0]), preferred, added


# One world without fluents, and one with p; both agents know it.
NOTHING = model("-", "0", "0")
ONLY_P = model("p", "0", "0")
# p holds and neither agent knows whether: worlds p and -.
UNSURE = model("p,-", "01,01", "01,01")


def test_sensing_and_announcements() -> None:
    # r needs third (1), which needs q: second (1), which needs p: first (1); -p holds.
    assert plan_of(counter()) == (3, 3, {"first"}, {"p", "q", "r"})
    # Then p holds: two steps to r, and undo for -p, which can be done at once.
    space = StateSpace(counter())
    after = Relaxation(space)([space.successor(0, 0)])
    assert after.h_add[0] == 3
    assert after.preferred.tolist() == [1, 3]
    assert plan_of(trivial()) == (0, 0, set(), set())
    # lift: open (1). look, which needs open: B_a tail (2). shout, which needs tail and B_a tail: both goals (3 each).
    assert plan_of(coin()) == (6, 3, {"lift"}, {"open", "B(a, tail)", "B(b, tail)", "B(a, B(b, tail))"})
    assert plan_of(hopeless()) == (inf, inf, set(), set())


@pytest.mark.parametrize(
    ("goal", "cost"),
    [
        ("B(a, B(b, B(a, tail)))", 3),  # shout
        ("C([a,b], tail)", 3),  # shout reaches its designated event only
        ("E([a,b], tail)", 5),  # look 2 and shout 3
        ("B(b, tail | open)", 1),  # b sees that the lid is lifted
        ("B(b, B(a, tail) | B(a, -tail))", 2),  # b sees a look: one of both is added by either event
        ("B(c, tail)", inf),  # nobody tells c
        ("B(a, B(c, tail))", inf),
        ("C([a,b,c], tail)", inf),
        ("B(b, tail) | B(c, tail)", 3),
        ("-B(b, tail)", 0),
        ("-C([a,b], -tail)", 0),
    ],
)
def test_what_the_coin_teaches(goal: str, cost: float) -> None:
    third = COIN.replace("agent a, b;", "agent a, b, c;").replace("[a,b]", "[a,b,c]").split("goal")[0]
    assert h_add_of(parse_mastar(f"{third} goal {goal};")) == cost


def test_alternatives_and_conjunctions() -> None:
    actions = (make("p"), make("q"), make("r", P))
    assert plan_of(task(NOTHING, or_(R, Q), *actions))[:3] == (1, 1, {"make_q"})
    assert plan_of(task(NOTHING, or_(Q, P), *actions))[:3] == (1, 1, {"make_q"})
    # B_a (r | q): B_a r after p is 2, B_a q is 1; the fact itself, which make_q adds, costs 1 too and comes first.
    of_either = believes("a", or_(R, Q))
    assert plan_of(task(NOTHING, of_either, *actions)) == (1, 1, {"make_q"}, {"B(a, (r | q))"})
    # Of two actions that add a fact at the same cost the first.
    again = action("again", Event("e", effects=(Effect("p", True),)), full="0")
    assert plan_of(task(NOTHING, P, make("q"), again, make("p")))[2] == {"again"}
    thrice = action("thrice", Event("e", P, (Effect("r", True, P),)), if_=P, full="0")
    assert h_add(NOTHING, R, make("p"), thrice) == 2
    # E is B_a p and B_b p, 1 each.
    both = and_(everybody(AGENTS, P), believes("a", P))
    assert h_add(NOTHING, everybody(AGENTS, P), make("p")) == 2
    assert h_add(NOTHING, both, make("p")) == 3  # two subgoals: B_a p and B_b p, and B_a p
    assert h_add(NOTHING, or_(Q, both), make("p")) == 2
    assert h_add(NOTHING, believes("a", everybody(AGENTS, P)), make("p")) == 2  # B_a B_a p and B_a B_b p
    assert plan_of(task(NOTHING, and_(or_(P, Q), or_(Q, P)), make("p"), make("q")))[:3] == (2, 2, {"make_p", "make_q"})


def test_what_is_actually_so_decides_what_is_announced() -> None:
    # `p if q` is announced: a learns p where q is actually so, whatever a thinks of q.
    tell = action("tell", Event("yes", implies(actually(Q), P)), full="0")
    make_q = action("make_q", Event("e", effects=(Effect("q", True),)), Event("nothing"), a="1,1", b="1,1", full="0,1")
    assert h_add(UNSURE, believes("a", P), tell, make_q) == 2
    assert h_add(UNSURE, believes("a", P), tell) == inf
    # Announced without `actually`, a has to know of q.
    hint = action("hint", Event("yes", implies(Q, P)), full="0")
    assert h_add(UNSURE, believes("a", P), hint, make_q) == inf


def test_an_agent_ceases_to_believe_what_may_have_changed() -> None:
    # b drops p unseen by a, who thinks that it may happen, if a thinks that q may hold.
    doubt = not_(believes("a", P))
    drop = Event("drop", Q, (Effect("p", False),))
    maybe = action("maybe", Event("nothing"), drop, full="01,1")
    assert h_add(model("pq", "0", "0"), doubt, maybe) == 1
    assert h_add(ONLY_P, doubt, maybe) == inf  # a knows that q is false
    # Where nothing else is possible a believes -p, which is the cheaper way by order.
    surely = action("surely", Event("nothing"), drop, full="1,1")
    assert plan_of(task(model("pq", "0", "0"), doubt, surely))[3] == {"B(a, -p)"}
    assert plan_of(task(model("pq", "0", "0"), doubt, maybe))[3] == {"-B(a, p)"}
    # Doubts are added for subgoals only, not for what an action asks for.
    assert h_add(model("pq", "0", "0"), R, maybe, make("r", doubt)) == inf
    assert h_add(model("pq", "0", "0"), and_(R, doubt), maybe, make("r", doubt)) == 3
    assert h_add(model("pq", "0", "0"), believes("b", doubt), maybe) == 1


def test_types_are_chosen_once_for_each_agent_and_cost_their_conditions() -> None:
    # Whoever is near (p for a, q for b) sees r become true; the first condition of an agent comes first.
    relations = {"near": rows("0,1"), "far": rows("1,1")}
    observability = tuple(((near, "near"), (TRUE, "far")) for near in (P, Q))
    events = (Event("e", effects=(Effect("r", True),)), Event("nothing"))
    make_r = Action("make_r", TRUE, events, (0,), relations, observability)
    approach = make("p"), make("q")
    assert h_add(NOTHING, R, make_r) == 1
    assert h_add(NOTHING, believes("a", R), make_r) == inf
    assert h_add(NOTHING, believes("a", R), make_r, *approach) == 2
    assert h_add(NOTHING, believes("a", believes("b", believes("a", R))), make_r, *approach) == 3
    assert h_add(NOTHING, common(AGENTS, R), make_r, *approach) == 3
    # A type that two conditions give costs the cheaper one; that an earlier condition does not hold costs nothing.
    twice = (((P, "near"), (Q, "far"), (R, "near"), (TRUE, "far")),) * 2
    either = Action("either", TRUE, events, (0,), relations, twice)
    assert h_add(model("qr,-", "01,01", "01,01"), believes("a", R), either) == 1


def test_several_designated_events() -> None:
    sense = action("sense", Event("yes", P), Event("no", not_(P)), designated=(0, 1), a="0,1", b="01,01")
    whether = or_(believes("a", P), believes("a", not_(P)))
    assert h_add(UNSURE, whether, sense) == 1
    # Where p is open, no single event is sure to happen, and neither belief to become true; one of both is.
    either = model("p,-", "01,01", "01,01", designated=(0, 1))
    assert h_add(either, believes("a", P), sense) == inf
    assert plan_of(task(either, whether, sense)) == (1, 1, {"sense"}, {str(whether)})
    assert h_add(either, or_(R, whether), sense) == 1
    # Then somebody can act who needs to know, and both let b believe that a knows.
    assert h_add(either, R, sense, make("r", whether)) == 2
    assert plan_of(task(either, believes("b", whether), sense)) == (1, 1, {"sense"}, {f"B(b, {whether})"})
    # What all events require is required; of the rests it is enough that there is always one.
    in_light = action("sense", Event("yes", and_(R, P)), Event("no", and_(R, not_(P))), designated=(0, 1), full="0,1")
    assert h_add(either, whether, in_light, make("r")) == 2
    # No event is sure, but either makes r true where q holds, or where it holds and the condition of the other does.
    for condition, helpers, cost in ((Q, "q", 2), (TRUE, "q", 2), (P, "q", inf), (P, "qp", 3)):
        yes, no = Event("yes", P, (Effect("r", True, Q),)), Event("no", not_(P), (Effect("r", True, condition),))
        toss = action("toss", yes, no, designated=(0, 1), full="0,1")
        assert h_add(either, R, toss, *map(make, helpers)) == cost
