"""`KripkeModel`: reading, questioning and exporting an e-state."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import EState, KripkeModel, StateSpace, TaskError, load_problem
from epigym.reference import semantics as reference
from epigym.task.formula import Formula, believes
from tests.helpers.strategies import AGENTS, FLUENTS, estates, formulas

# At the designated world 1 agent a knows p and b does not; c takes itself to be in world 0 alone.
MODEL = KripkeModel(
    ("q", "p"),
    ("a", "b", "c"),
    EState(
        valuations=(frozenset(), frozenset({"p", "q"})),
        successors=(
            (frozenset({0}), frozenset({1})),
            (frozenset({0, 1}), frozenset({0, 1})),
            (frozenset({0}), frozenset({0})),
        ),
        designated=(1,),
    ),
)


def test_worlds_and_relations() -> None:
    assert list(MODEL.worlds) == [0, 1]
    assert MODEL.designated == (1,)
    assert MODEL.true_fluents(1) == ("q", "p")
    assert MODEL.successors("b", 0) == (0, 1)
    assert MODEL.successors("c", 1) == (0,)
    assert repr(MODEL) == "<KripkeModel of 2 worlds, 3 agents, 2 fluents, designated [1]>"


def test_what_it_prints() -> None:
    assert str(MODEL).splitlines() == [
        repr(MODEL),
        "  0: {}; a → {0}, b → {0, 1}, c → {0}",
        "* 1: {q, p}; a → {1}, b → {0, 1}, c → {0}",
    ]
    everything = frozenset(range(1000))
    text = str(KripkeModel((), ("a",), EState((frozenset(),) * 1000, ((everything,) * 1000,), (0,))))
    assert len(text.splitlines()) == 42
    assert text.splitlines()[1].endswith("38, 39, …}")
    assert text.endswith("… 960 more worlds")


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("p, q", True),
        ("B(a, p)", True),
        ("B(b, p) | B(b, -p)", False),
        ("B(c, -p)", True),
        ("B(b, (B(a, p) | B(a, -p)))", True),
        ("C([a,b], p)", False),
        ("-E([a,b], p)", True),
    ],
)
def test_formulas_are_evaluated_at_the_designated_worlds(formula: str, truth: bool) -> None:
    assert MODEL.holds(formula) is truth


@given(estates(), formulas())
def test_truth_is_that_of_the_reference(estate: EState, formula: Formula) -> None:
    assert KripkeModel(FLUENTS, AGENTS, estate).holds(formula) == reference.holds(estate, AGENTS, formula)


@given(estates(), st.sampled_from(AGENTS), formulas(with_actually=False))
def test_an_agent_believes_what_holds_in_its_perspective(estate: EState, agent: str, formula: Formula) -> None:
    model = KripkeModel(FLUENTS, AGENTS, estate)
    try:
        seen = model.perspective(agent).holds(formula)
    except TaskError:
        seen = True
    assert model.holds(believes(agent, formula)) == seen


def test_perspectives() -> None:
    seen = MODEL.perspective("b")
    assert seen.designated == (0, 1)
    assert (seen.state.valuations, seen.state.successors) == (MODEL.state.valuations, MODEL.state.successors)
    assert seen.perspective("c").designated == MODEL.perspective("c").designated == (0,)
    assert MODEL.perspective("a") == MODEL
    nowhere = EState((frozenset(), frozenset()), ((frozenset({0}), frozenset()),), (1,))
    with pytest.raises(TaskError, match="agent 'a' considers no world possible: it believes everything"):
        KripkeModel(("p",), ("a",), nowhere).perspective("a")
    somewhere = replace(nowhere, designated=(0, 1))
    assert KripkeModel(("p",), ("a",), somewhere).perspective("a").designated == (0,)


def test_equality_and_refusals() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    model = space.model(0)
    assert model == space.model(0)
    assert {model: 1}[pickle.loads(pickle.dumps(model))] == 1
    assert model != space.model(space.expand([0]).target[0])
    with pytest.raises(TaskError, match="3 relations for 2 agents"):
        KripkeModel(("p", "q"), ("a", "b"), MODEL.state)
    with pytest.raises(TaskError, match=r"undeclared fluents in the e-state: \['q'\]"):
        KripkeModel(("p",), ("a", "b", "c"), MODEL.state)


def test_the_networkx_graph_has_every_world_and_arrow() -> None:
    graph = MODEL.to_networkx()
    assert dict(graph.nodes(data=True)) == {
        0: {"fluents": (), "designated": False},
        1: {"fluents": ("q", "p"), "designated": True},
    }
    arrows = {(world, target, data["agent"]) for world, target, data in graph.edges(data=True)}
    assert arrows == {(w, v, agent) for agent in MODEL.agents for w in MODEL.worlds for v in MODEL.successors(agent, w)}
    assert graph.number_of_edges() == 8
