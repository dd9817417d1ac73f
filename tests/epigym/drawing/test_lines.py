"""Which lines a picture shows: merged, folded and, where there are too many, thinned without loss."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from epigym.drawing.lines import LINES_PER_WORLD, Line, draw_lines
from epigym.space.kripke_model import KripkeModel
from epigym.task.task import EState
from tests.helpers.strategies import AGENTS, FLUENTS, estates

Arrows = set[tuple[int, int, int]]


def arrows(model: KripkeModel) -> Arrows:
    """All (agent, world, successor) but the loops."""
    rows = model.state.successors
    return {(i, w, v) for i in range(len(rows)) for w in model.worlds for v in rows[i][w] if v != w}


def expand_lines(lines: tuple[Line, ...]) -> Arrows:
    """The arrows that the lines stand for."""
    forward = {(agent, line.tail, line.head) for line in lines for agent in line.agents}
    back = {(agent, line.head, line.tail) for line in lines for agent in line.agents if line.both}
    return forward | back


def close_transitively(pairs: Arrows) -> Arrows:
    """The arrows and all that follow by transitivity, without loops."""
    while True:
        steps = {(i, w, u) for (i, w, v), (j, v2, u) in product(pairs, pairs) if i == j and v == v2 and w != u}
        if steps <= pairs:
            return pairs
        pairs = pairs | steps


def cube(facts: int, agents: int) -> KripkeModel:
    """All valuations of some facts; nobody knows any."""
    worlds = frozenset(range(2**facts))
    names = tuple(f"p{k}" for k in range(facts))
    return KripkeModel(
        names,
        tuple(f"agent{i}" for i in range(agents)),
        EState(
            tuple(frozenset(name for k, name in enumerate(names) if w >> k & 1) for w in sorted(worlds)),
            tuple(tuple(worlds for _ in worlds) for _ in range(agents)),
            (0,),
        ),
    )


def test_agents_who_go_the_same_way_share_a_line() -> None:
    both, right, left = frozenset({0, 1}), frozenset({1}), frozenset({0})
    model = KripkeModel(
        ("p",),
        ("a", "b", "c", "d"),
        EState((frozenset(), frozenset({"p"})), ((both, both), (right, right), (both, both), (left, left)), (0,)),
    )
    assert draw_lines(model, [0, 1]).lines == (
        Line(0, 1, (1,), both=False),
        Line(0, 1, (0, 2), both=True),
        Line(1, 0, (3,), both=False),
    )


@given(estates())
def test_few_lines_are_all_drawn(estate: EState) -> None:
    model = KripkeModel(FLUENTS, AGENTS, estate)
    drawing = draw_lines(model, list(model.worlds))
    if not drawing.thinned:
        assert expand_lines(drawing.lines) == arrows(model)
    assert all(line.tail != line.head for line in drawing.lines)


def test_pictures_are_thinned_too_when_agents_no_longer_share_lines() -> None:
    everything, one, four = frozenset(range(5)), frozenset({0}), frozenset(range(1, 5))
    model = KripkeModel(
        ("p",), ("a", "b"), EState((frozenset(),) * 5, ((everything,) * 5, (one, four, four, everything, four)), (0,))
    )
    drawing = draw_lines(model, list(model.worlds))
    assert expand_lines(drawing.lines) < arrows(model)
    assert drawing.thinned


def test_small_pictures_are_complete() -> None:
    for facts in (1, 2):
        model = cube(facts, agents=3)
        drawing = draw_lines(model, list(model.worlds))
        assert not drawing.thinned
        assert expand_lines(drawing.lines) == arrows(model)


def test_three_facts_that_nobody_knows_make_a_cube() -> None:
    drawing = draw_lines(cube(3, agents=2), list(range(8)))
    edges = {(w, w | 1 << k) for w in range(8) for k in range(3) if not w >> k & 1}
    assert {(line.tail, line.head) for line in drawing.lines} == edges
    assert all(line.both and line.agents == (0, 1) for line in drawing.lines)
    assert drawing.thinned


def test_what_is_too_much_for_a_cube_becomes_a_tree() -> None:
    drawing = draw_lines(cube(6, agents=1), list(range(64)))
    assert len(drawing.lines) == 63
    assert drawing.thinned


@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=9),
    st.lists(st.integers(0, 2), min_size=9, max_size=9),
    st.integers(0, 3),
)
def test_thinned_lines_still_say_everything(cells: list[int], ranks: list[int], seed: int) -> None:
    worlds = range(len(cells))
    groups = {cell: frozenset(w for w in worlds if cells[w] == cell) for cell in cells}
    knows = tuple(groups[cells[w]] for w in worlds)  # an equivalence
    believes = tuple(frozenset(w for w in worlds if w % 4 == seed % 2) for _ in worlds)  # one cluster of beliefs
    descends = tuple(frozenset(v for v in worlds if ranks[v] <= ranks[w]) for w in worlds)  # a preorder
    valuations = tuple(frozenset(name for k, name in enumerate("pqr") if (w * 5 + seed) >> k & 1) for w in worlds)
    estate = EState(valuations, (knows, believes, descends), (0,))
    model = KripkeModel(("p", "q", "r"), ("a", "b", "c"), estate)
    drawing = draw_lines(model, list(worlds))
    complete = arrows(model)
    assert expand_lines(drawing.lines) <= complete
    assert close_transitively(expand_lines(drawing.lines)) == complete
    assert drawing.thinned == (expand_lines(drawing.lines) != complete)


def test_relations_that_are_not_transitive_are_never_thinned() -> None:
    worlds = range(8)
    steps = tuple(frozenset({(w + k) % 8 for k in (1, 2, 3)}) for w in worlds)
    model = KripkeModel(("p",), ("a",), EState((frozenset(),) * 8, (steps,), (0,)))
    drawing = draw_lines(model, list(worlds))
    assert len(drawing.lines) > LINES_PER_WORLD * len(worlds)
    assert expand_lines(drawing.lines) == arrows(model)
    assert not drawing.thinned
