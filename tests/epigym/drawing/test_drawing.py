"""The picture of a Kripke model: its Graphviz text, SVG, PNG and pixels."""

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pygraphviz
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym import EpigymError, EState, KripkeModel, drawing
from epigym.drawing.fonts import without_font_warnings
from epigym.drawing.lines import LINES_PER_WORLD, Line, draw_lines
from epigym.drawing.steps import Change
from tests.helpers.strategies import AGENTS, FLUENTS, estates

EMPTY: frozenset[str] = frozenset()
EMPTY_ROW: frozenset[int] = frozenset()

# a cannot tell 0 and 1 apart, b takes both for 2, where nobody else goes; c believes everything.
MODEL = KripkeModel(
    ("tail", "at(a,1)", "shut"),
    ("a", "b", "c"),
    EState(
        valuations=(frozenset({"tail", "shut", "at(a,1)"}), frozenset({"shut", "at(a,1)"}), frozenset({"shut"})),
        successors=(
            (frozenset({0, 1}), frozenset({0, 1}), frozenset({2})),
            (frozenset({2}), frozenset({2}), frozenset({2})),
            (frozenset(), frozenset(), frozenset()),
        ),
        designated=(0,),
    ),
)


class Picture(NamedTuple):
    """The Graphviz text of a model, taken apart."""

    caption: str
    boxes: dict[int, dict[str, str]]
    lines: list[tuple[int, int, dict[str, str]]]  # pygraphviz cannot tell parallel lines apart


def parse_dot(model: KripkeModel, change: Change = drawing.UNCHANGED) -> Picture:
    source = drawing.format_dot(model, change)
    lines = re.finditer(
        r'^ +(\d+) -> (\d+) \[dir=(?P<dir>\w+) color="(?P<color>.*?)"( label=<(?P<label>.*)>)?\]$', source, re.M
    )
    with pygraphviz.AGraph(string=source) as graph:
        return Picture(
            text(graph.graph_attr["label"]),
            {int(node): dict(node.attr.items()) for node in graph.nodes()},
            [(int(line[1]), int(line[2]), line.groupdict()) for line in lines],
        )


def text(label: str) -> str:
    """The words of a label, without its markup."""
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", label)).strip()


def clique(worlds: int, agents: int = 1, fluents: int = 0) -> KripkeModel:
    """Worlds that nobody can tell apart, all fluents true everywhere."""
    everywhere = frozenset(range(worlds))
    names = tuple(f"fluent_number_{k}" for k in range(fluents))
    return KripkeModel(
        names,
        tuple(f"agent{i}" for i in range(agents)),
        EState((frozenset(names),) * worlds, ((everywhere,) * worlds,) * agents, (worlds - 1,)),
    )


def test_a_box_per_world_lists_its_fluents_and_the_caption_those_of_all_worlds() -> None:
    picture = parse_dot(MODEL)
    labels = {world: text(box["label"]) for world, box in picture.boxes.items()}
    assert labels == {0: "0 tail, at(a,1) ●", 1: "1 at(a,1) ●", 2: "2 ∅ ● ●"}
    assert picture.caption == "● a &#160; ● b &#160; ● c true everywhere: shut 3 worlds"


def test_what_an_action_changed_is_marked_by_words_and_colour() -> None:
    picture = parse_dot(MODEL, Change(frozenset({0, 1}), {0: frozenset({"tail", "at(a,1)"})}))
    labels = {world: text(box["label"]) for world, box in picture.boxes.items()}
    assert labels == {0: "0 changed + tail, + at(a,1) ●", 1: "1 changed at(a,1) ●", 2: "2 ∅ ● ●"}
    assert [world for world, box in picture.boxes.items() if box.get("color") == drawing.FRESH] == [0, 1]
    assert "changed: in facts or in what agents consider possible + now true, − now false" in picture.caption
    plain = parse_dot(MODEL)
    assert "now" not in plain.caption
    lost = parse_dot(MODEL, Change(frozenset({2}), {2: frozenset({"tail"})}))
    assert text(lost.boxes[2]["label"]) == "2 changed − tail ● ●"


def test_lines_and_their_labels() -> None:
    lines = {(tail, head, line["dir"], line["color"]) for tail, head, line in parse_dot(MODEL).lines}
    blue, orange = drawing.PALETTE[:2]
    assert lines == {(0, 1, "none", blue), (0, 2, "forward", orange), (1, 2, "forward", orange)}
    rows = (frozenset({1}), frozenset({1}))
    model = KripkeModel(("p",), ("a", "b"), EState((EMPTY, EMPTY), (rows, (frozenset({0}),) * 2), (1,)))
    blue, orange = drawing.PALETTE[:2]
    lines = {(tail, head, line["dir"], line["color"]) for tail, head, line in parse_dot(model).lines}
    assert lines == {(0, 1, "back", orange), (0, 1, "forward", blue)}
    ((_, _, few),) = parse_dot(clique(2, agents=3)).lines
    assert few["color"] == ":".join(drawing.PALETTE[:3])
    assert not few.get("label")
    ((_, _, many),) = parse_dot(clique(2, agents=12)).lines
    assert (many["color"], text(many["label"])) == (drawing.INK, "all")
    both, own = frozenset({0, 1}), (frozenset({0}), frozenset({1}))
    rows = tuple((both, both) if agent < 9 else own for agent in range(11))
    model = KripkeModel((), tuple("abcdefghijk"), EState((EMPTY, EMPTY), rows, (0,)))
    ((_, _, line),) = parse_dot(model).lines
    assert text(line["label"]) == "all but j, k"
    caption = parse_dot(clique(2, agents=23)).caption
    assert all(f"● agent{i}" in caption for i in range(23))


def test_large_models_are_cut() -> None:
    names = tuple(f"at(agent,{k})" for k in range(60))
    model = KripkeModel(names, ("a",), EState((frozenset(names), EMPTY), ((EMPTY_ROW, EMPTY_ROW),), (0,)))
    label = text(parse_dot(model).boxes[0]["label"])
    shown, more = re.findall(r"at\(agent,\d+\)", label), re.search(r"… (\d+) more", label)
    assert len(shown) + int(more[1]) == 60
    medium, large = clique(drawing.FULL_LABELS + 1), clique(drawing.MAX_WORLDS + 30)
    assert all(text(box["label"]) == str(world) for world, box in parse_dot(medium).boxes.items())
    picture = parse_dot(large)
    assert len(picture.boxes) == drawing.MAX_WORLDS
    assert large.designated[0] in picture.boxes
    assert "the 120 of 150 worlds nearest to the designated" in picture.caption
    assert "lines that follow by transitivity are left out" in drawing.format_dot(clique(8))
    assert "transitivity" not in drawing.format_dot(clique(4))


@pytest.mark.parametrize("worlds", [1, 5, 60])
def test_pixels_fill_a_canvas_of_fixed_size(worlds: int) -> None:
    pixels = drawing.render_rgb(clique(worlds), width=320, height=240)
    assert (pixels.shape, pixels.dtype) == ((240, 320, 3), np.uint8)
    inked = np.argwhere((pixels != 255).any(axis=2))
    assert len(inked) > 100
    assert (np.abs(inked.min(axis=0) + inked.max(axis=0) - [239, 319]) < [60, 60]).all()  # centred
    assert (np.ptp(inked, axis=0) / [240, 320]).max() > 0.65  # it fills the canvas


def test_files_are_written_as_their_names_say(tmp_path: Path) -> None:
    for suffix, content in ((".svg", drawing.render_svg(MODEL).encode()), (".dot", drawing.format_dot(MODEL).encode())):
        drawing.write_picture(MODEL, tmp_path / f"model{suffix}")
        assert (tmp_path / f"model{suffix}").read_bytes() == content
    assert MODEL._repr_svg_() == drawing.render_svg(MODEL)
    drawing.write_picture(MODEL, tmp_path / "new" / "model.png")
    assert (tmp_path / "new" / "model.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(EpigymError, match=r"must end in \.svg, \.png, \.dot"):
        drawing.write_picture(MODEL, tmp_path / "model.jpg")


def test_font_warnings_alone_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    def say() -> None:
        os.write(2, b'Fontconfig warning: "50.conf", line 6: unknown element\nError: out of paper\n')

    with without_font_warnings():
        say()
    assert capfd.readouterr().err == "Error: out of paper\n"
    with pytest.raises(ZeroDivisionError), without_font_warnings():
        raise ZeroDivisionError
    say()
    assert capfd.readouterr().err.startswith("Fontconfig warning")


def test_drawing_needs_no_standard_error() -> None:
    code = "from epigym import load_problem, StateSpace; StateSpace(load_problem('gossip')).model(0)._repr_svg_()"
    code = f"import os; os.close(2); {code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""


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


def test_which_lines_are_thinned() -> None:
    everything, one, four = frozenset(range(5)), frozenset({0}), frozenset(range(1, 5))
    model = KripkeModel(
        ("p",), ("a", "b"), EState((frozenset(),) * 5, ((everything,) * 5, (one, four, four, everything, four)), (0,))
    )
    drawing = draw_lines(model, list(model.worlds))
    assert expand_lines(drawing.lines) < arrows(model)
    assert drawing.thinned
    worlds = range(8)
    steps = tuple(frozenset({(w + k) % 8 for k in (1, 2, 3)}) for w in worlds)
    model = KripkeModel(("p",), ("a",), EState((frozenset(),) * 8, (steps,), (0,)))
    drawing = draw_lines(model, list(worlds))
    assert len(drawing.lines) > LINES_PER_WORLD * len(worlds)
    assert expand_lines(drawing.lines) == arrows(model)
    assert not drawing.thinned


def test_small_pictures() -> None:
    for facts in (1, 2):
        model = cube(facts, agents=3)
        drawing = draw_lines(model, list(model.worlds))
        assert not drawing.thinned
        assert expand_lines(drawing.lines) == arrows(model)
    drawing = draw_lines(cube(3, agents=2), list(range(8)))
    edges = {(w, w | 1 << k) for w in range(8) for k in range(3) if not w >> k & 1}
    assert {(line.tail, line.head) for line in drawing.lines} == edges
    assert all(line.both and line.agents == (0, 1) for line in drawing.lines)
    assert drawing.thinned
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
