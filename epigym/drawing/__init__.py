"""The picture of a Kripke model, laid out by Graphviz.

A box is a world and lists the fluents true there; fluents true at all worlds are listed once, in the caption.
Designated worlds have a double border and a tinted ground. A line in an agent's colour joins worlds that the
agent cannot tell apart, an arrow leads to a world that the agent considers possible, and a dot inside a box
says that the agent considers that world itself possible. After an action, worlds where other facts hold than at the
world before, or where an agent considers other worlds possible, are framed and called changed; they tell first which
facts changed.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections import deque
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epigym.config.packages import extras
from epigym.drawing.fonts import without_font_warnings
from epigym.drawing.lines import Line, draw_lines
from epigym.drawing.steps import Change
from epigym.errors import UsageError
from epigym.io.files import replacing
from epigym.space.kripke_model import KripkeModel

# Okabe and Ito's colours, safe for colour-blind readers, without the yellow that fades on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C3E")
INK, FAINT, TINT, FRESH = "#222222", "#686868", "#FFF3CC", "#B0005A"
UNCHANGED = Change()
FULL_LABELS = 40  # worlds up to which every box lists its fluents; beyond, boxes shrink to numbers
MAX_WORLDS = 120  # worlds drawn at most: those nearest to the designated ones
MAX_STRANDS = 4  # agents up to which a shared line shows all their colours; beyond, it is dark and labelled
BOX_WIDTH, BOX_LINES, CAPTION_WIDTH, CAPTION_LINES = 24, 8, 84, 4  # characters and lines of text
LEGEND_COLUMNS = 8
TEXT, DPI = 11, 96  # points of all text


def render_svg(model: KripkeModel, change: Change = UNCHANGED, *, captioned: bool = True) -> str:
    """The picture as SVG text, with marks on the changes by an action."""
    return _render(format_dot(model, change, captioned=captioned), "svg").decode()


def render_png(model: KripkeModel) -> bytes:
    """The picture as the bytes of a PNG file."""
    return _render(format_dot(model), "png")


@extras()
def render_rgb(model: KripkeModel, *, width: int = 960, height: int = 720) -> NDArray[np.uint8]:
    """The picture on a white canvas of fixed size, which it fills in one direction, centred.

    Args:
        model: what to draw.
        width: of the canvas, in pixels.
        height: of the canvas, in pixels.

    Returns:
        uint8[height, width, 3].
    """
    from matplotlib.image import imread

    image = imread(io.BytesIO(_render(format_dot(model, size=((width - 4) / DPI, (height - 4) / DPI)), "png")))
    picture = np.rint(image[:height, :width, :3] * 255).astype(np.uint8)
    canvas = np.full((height, width, 3), 255, np.uint8)
    top, left = (height - picture.shape[0]) // 2, (width - picture.shape[1]) // 2
    canvas[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return canvas


def write_picture(model: KripkeModel, path: Path) -> None:
    """Write the picture to `path`; the suffix says how: `.svg`, `.png` or `.dot`.

    Raises:
        UsageError: for any other suffix.
    """
    pictures = {
        ".svg": lambda: render_svg(model).encode(),
        ".png": lambda: render_png(model),
        ".dot": lambda: format_dot(model).encode(),
    }
    if path.suffix not in pictures:
        raise UsageError(
            f"cannot draw an e-state to {path}: the name must end in {', '.join(pictures)}; a page of a plan in .html"
        )
    picture = pictures[path.suffix]()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(picture)


def format_dot(
    model: KripkeModel,
    change: Change = UNCHANGED,
    *,
    size: tuple[float, float] | None = None,
    captioned: bool = True,
) -> str:
    """The picture as the Graphviz text that `render_svg` and `render_png` draw.

    Args:
        model: the Kripke model.
        change: the changes to mark.
        size: the width and height in inches of a frame that the picture fills, or None for its own size.
        captioned: whether a caption says below it what colours mean and what holds at all worlds.
    """
    worlds = _nearest(model)
    everywhere = frozenset[str].intersection(*model.state.valuations)
    full = len(worlds) <= FULL_LABELS
    drawing = draw_lines(model, worlds)
    # Graphviz routes curves around boxes, but slowly, and it draws lines of one pair of worlds over each other.
    pairs = {frozenset((line.tail, line.head)) for line in drawing.lines}
    curves = full and len(pairs) == len(drawing.lines)
    caption = _caption(model, worlds, everywhere, drawing.thinned, change) if captioned else '""'
    limit = f'size="{size[0]:.3f},{size[1]:.3f}!"' if size else ""
    font = f'fontname="DejaVu Sans,Verdana,sans-serif" fontcolor="{INK}"'
    return "\n".join(
        [
            "digraph {",
            f'  graph [layout=neato start=1 normalize=0 overlap=scalexy sep="+14" outputorder=edgesfirst'
            f" splines={'true' if curves else 'line'} {limit} dpi={DPI} pad=0.25 {font} fontsize={TEXT} labelloc=b"
            f" label={caption}]",
            f'  node [shape=box style="rounded,filled" {font} fontsize={TEXT} color="{FAINT}" fillcolor=white'
            ' margin="0.08,0.05" height=0.3 width=0.4]',
            f'  edge [{font} fontsize={TEXT} color="{INK}" penwidth=1.6 arrowsize=0.7]',
            *(_world(model, world, everywhere, full, change) for world in worlds),
            *(_line(model, line) for line in drawing.lines),
            "}\n",
        ]
    )


def _nearest(model: KripkeModel) -> list[int]:
    """The worlds to draw, ascending: breadth first from the designated ones."""
    found = dict.fromkeys(model.designated)
    queue = deque(found)
    while queue:
        world = queue.popleft()
        fresh = [target for rows in model.state.successors for target in sorted(rows[world]) if target not in found]
        found.update(dict.fromkeys(fresh))
        queue.extend(dict.fromkeys(fresh))
    found.update(dict.fromkeys(model.worlds))
    return sorted(list(found)[:MAX_WORLDS])


def _world(model: KripkeModel, world: int, everywhere: frozenset[str], full: bool, change: Change) -> str:
    changed = world in change.worlds
    rows = [_font(str(world), FAINT) + (_font(" changed", FRESH) if changed else "")]
    if full:
        rows += _facts(model, world, everywhere, change)
        dots = [_dot(agent) for agent in range(len(model.agents)) if world in model.state.successors[agent][world]]
        rows += ["".join(dots)] if dots else []
    cells = "".join(f"<tr><td>{row}</td></tr>" for row in rows)
    label = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="1">{cells}</table>'
    mark = f' peripheries=2 fillcolor="{TINT}" color="{INK}"' if world in model.designated else ""
    frame = f' color="{FRESH}" penwidth=2' if changed else ""
    return f"  {world} [label=<{label}>{mark}{frame}]"


def _facts(model: KripkeModel, world: int, everywhere: frozenset[str], change: Change) -> list[str]:
    """The fluents in the box of a world, changed ones first."""
    true = model.state.valuations[world]
    changed = [name for name in model.fluents if name in change.facts.get(world, ())]
    signed = _wrap([f"{'+' if name in true else '−'} {name}" for name in changed], BOX_WIDTH, BOX_LINES)
    names = [name for name in model.true_fluents(world) if name not in everywhere.union(changed)]
    rest = "<br/>".join(map(escape, _wrap(names, BOX_WIDTH, BOX_LINES)))
    return [_font(line, FRESH) for line in signed] + ([rest] if names else [] if changed else [_font("∅", FAINT)])


def _line(model: KripkeModel, line: Line) -> str:
    strands = len(line.agents) <= MAX_STRANDS
    colour = ":".join(map(colour_of, line.agents)) if strands else INK
    label = "" if strands and len(model.agents) <= len(PALETTE) else f" label=<{_on_line(_who(model, line.agents))}>"
    # Graphviz keeps lines of one pair of worlds apart when all of them are stated in the same order.
    direction = "none" if line.both else "forward" if line.tail < line.head else "back"
    return f'  {min(line.tail, line.head)} -> {max(line.tail, line.head)} [dir={direction} color="{colour}"{label}]'


def _on_line(text: str) -> str:
    """A label that the line below it does not cross out."""
    cell = f"<tr><td>{_font(text, INK)}</td></tr>"
    return f'<table border="0" cellborder="0" cellpadding="0" bgcolor="white">{cell}</table>'


def _who(model: KripkeModel, agents: Sequence[int]) -> str:
    """The names of `agents`, in the shortest way."""
    others = [agent for agent in range(len(model.agents)) if agent not in agents]
    if not others:
        return "all"
    if len(others) < len(agents):
        return "all but " + ", ".join(model.agents[agent] for agent in others)
    return ", ".join(model.agents[agent] for agent in agents)


def _caption(
    model: KripkeModel, worlds: Sequence[int], everywhere: frozenset[str], thinned: bool, change: Change
) -> str:
    rows = _legend(model.agents)
    names = _wrap([name for name in model.fluents if name in everywhere], CAPTION_WIDTH, CAPTION_LINES)
    if names:
        first, *rest = map(escape, names)
        rows += [_font("true everywhere: ", FAINT) + first, *rest]
    marks = ["changed: in facts or in what agents consider possible"] if change.worlds else []
    marks += ["+ now true, − now false"] if change.facts else []
    rows += [_font(mark, FRESH) for mark in marks]
    total = "1 world" if len(model.worlds) == 1 else f"{len(model.worlds)} worlds"
    notes = [total if len(worlds) == len(model.worlds) else f"the {len(worlds)} of {total} nearest to the designated"]
    notes += ["lines that follow by transitivity are left out"] if thinned else []
    rows.append(_font("; ".join(notes), FAINT))
    cells = "".join(f"<tr><td>{row}</td></tr>" for row in rows)
    return f'<<table border="0" cellborder="0" cellspacing="0" cellpadding="2">{cells}</table>>'


def _legend(agents: Sequence[str]) -> list[str]:
    """The agents with their colours, in rows of about equal length."""
    entries = [f"{_dot(agent)} {escape(name)}" for agent, name in enumerate(agents)]
    count = math.ceil(len(entries) / LEGEND_COLUMNS)
    columns = math.ceil(len(entries) / count)
    return [" &#160; ".join(entries[start : start + columns]) for start in range(0, len(entries), columns)]


def _wrap(names: Iterable[str], width: int, lines: int) -> list[str]:
    """Names, joined by commas and wrapped; those that do not fit are counted."""
    wrapped = textwrap.wrap(", ".join(names), width, break_long_words=False, break_on_hyphens=False)
    if len(wrapped) <= lines:
        return wrapped
    more = " ".join(wrapped[lines:]).count(", ") + 1
    return [*wrapped[:lines], f"… {more} more"]


def colour_of(agent: int) -> str:
    """The colour of an agent's lines and dots."""
    return PALETTE[agent % len(PALETTE)]


def _dot(agent: int) -> str:
    return _font("●", colour_of(agent))


def _font(text: str, colour: str) -> str:
    return f'<font color="{colour}">{escape(text)}</font>'


@extras()
def _render(source: str, kind: str) -> bytes:
    import pygraphviz

    with pygraphviz.AGraph(string=source) as graph, without_font_warnings():
        picture: bytes = graph.draw(format=kind, prog="neato")
    return picture
