"""The page to step through a plan: one HTML file that needs nothing else, no network either."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from epigym.drawing import FULL_LABELS, UNCHANGED, colour_of, render_svg
from epigym.drawing.beliefs import view
from epigym.drawing.lines import draw_lines
from epigym.drawing.steps import Change, change, take_step, walk, witnesses
from epigym.io.files import as_unicode, write_text
from epigym.space.branching import Outcome, outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.formula import split_goal
from epigym.task.task import Action, Task

MAX_FLUENTS, MAX_AGENTS = 12, 6
"""Up to so many of both, views are nested twice, else once."""
SMALLEST, LARGEST, HIGHEST = 0.75, 1.3, 640
"""Least and most pixels per unit of a picture, whose text is 14.7 units high, and most pixels of a picture's height."""


def write_page(space: StateSpace, plan: Sequence[str], path: Path) -> None:
    """Write the page of `plan` to `path`, with errors as `render_page`."""
    write_text(path, render_page(space, plan))


def render_page(space: StateSpace, plan: Sequence[str]) -> str:
    """The HTML page that steps through the e-states of `plan`.

    E-states of more than 40 worlds are described by agent in place of a picture.

    Args:
        space: of the problem.
        plan: steps from the initial e-state on, see `epigym.drawing.steps`; they need not reach the goal.

    Raises:
        UsageError: naming the first step whose action or outcome is unknown or cannot be applied, and why.
    """
    states = walk(space, plan)
    return render_steps(space.task, [encode_start(space), *map(partial(encode_step, space), states, plan, states[1:])])


def render_policy_page(space: StateSpace, act: Callable[[KripkeModel], str]) -> str:
    """The HTML page that steps through the branches of a policy, which are chosen on it.

    Args:
        space: of the problem.
        act: the policy, a valid one: the name of the action to take in an e-state that is no goal.
    """
    actions = {action.name: (number, action) for number, action in enumerate(space.task.actions)}
    steps, ends, after = [encode_start(space)], [space.initial], dict[int, list[int]]()
    for end in ends:
        if end not in after and not space.is_goal([end])[0]:
            number, action = actions[act(space.model(end))]
            found = outcomes_of(space, end, number)
            after[end] = list(range(len(steps), len(steps) + len(found)))
            for outcome, target in found:
                steps.append(_encode_outcome(space, end, target, action, outcome if len(found) > 1 else None))
                ends.append(target)
    return render_steps(
        space.task, [step | {"next": after.get(end, [])} for step, end in zip(steps, ends, strict=True)]
    )


def render_steps(
    task: Task, steps: Sequence[Mapping[str, Any]], *, style: str = "", panel: str = "", more: str = ""
) -> str:
    """The HTML page of steps.

    Args:
        task: the problem.
        steps: `encode_start`, and an `encode_step` for each action. After a step the next one follows, or the first of
            the numbers in its `next`, if it has that; the others can be chosen.
        style: more rules of CSS.
        panel: more sections, as HTML, between the e-state and the goal.
        more: what stands at the end of the page, as HTML; scripts find the `data` there, and the event `shown` tells
            them that another step is.
    """
    content = {
        "agents": task.agents,
        "colours": [colour_of(agent) for agent in range(len(task.agents))],
        "fluents": task.fluents,
        "goal": [str(part) for part in split_goal(task.goal)],
        "steps": steps,
    }
    # In a script element only `<` could end the text early.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = files("epigym.drawing").joinpath("page.html").read_text(encoding="utf-8")
    title = escape(as_unicode(task.name))
    heading = re.sub(r"[/_]", r"\g<0><wbr>", title)
    return Template(template).substitute(title=title, heading=heading, data=data, style=style, panel=panel, more=more)


def encode_start(space: StateSpace) -> dict[str, Any]:
    """The initial e-state as the page has it, in values that JSON knows."""
    model = space.model(space.initial)
    return {"action": None, "witnesses": []} | encode_model(model) | _encode_goal(space, space.initial)


def encode_step(space: StateSpace, before: int, step: str, after: int) -> dict[str, Any]:
    """What happened when `step` led from `before` to `after`, and the e-state afterwards, as the page has it."""
    action, outcome, _ = take_step(space, before, step)
    return _encode_outcome(space, before, after, action, outcome)


def _encode_outcome(
    space: StateSpace, before: int, after: int, action: Action, outcome: Outcome | None
) -> dict[str, Any]:
    """The same for an action and one of its outcomes, or all of them."""
    old = space.model(before)
    changed = change(space.task, old, action, outcome)
    step = action.name if outcome is None else f"{action.name}: {outcome}"
    seen = {"action": step, "witnesses": witnesses(space.task, old.state, action, outcome)}
    return seen | encode_model(space.model(after), changed) | _encode_goal(space, after)


def encode_model(model: KripkeModel, changed: Change = UNCHANGED) -> dict[str, Any]:
    """A model as the page has it: numbers of worlds, the picture and what its caption says, the views of agents."""
    is_small = len(model.fluents) <= MAX_FLUENTS and len(model.agents) <= MAX_AGENTS
    everywhere = frozenset[str].intersection(*model.state.valuations)
    is_drawn = len(model.worlds) <= FULL_LABELS
    return {
        "worlds": len(model.worlds),
        "changed": len(changed.worlds),
        "everywhere": [name for name in model.fluents if name in everywhere],
        "thinned": is_drawn and draw_lines(model, model.worlds).thinned,
        "picture": _draw_picture(model, changed) if is_drawn else None,
        "view": asdict(view(model, depth=2 if is_small else 1)),
    }


def _encode_goal(space: StateSpace, state: int) -> dict[str, list[bool]]:
    """Which parts of the goal hold."""
    return {"reached": space.query(split_goal(space.task.goal))([state])[0].tolist()}


def _draw_picture(model: KripkeModel, changed: Change) -> str:
    """The picture as an SVG element whose worlds can be focused and tell their whole valuations."""
    text = render_svg(model, changed, captioned=False)
    text = re.sub(r"<!--.*?-->\n| xmlns:xlink=\"[^\"]*\"", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"width=\"(\d+)pt\" height=\"(\d+)pt\"", _limit_width, text, count=1)
    text = re.sub(r"(class=\"(?:graph|edge)\".*)\n<title>.*</title>", r"\1", text)
    return re.sub(r"class=\"node\">\n<title>(\d+)</title>", lambda found: _open_world(model, int(found[1])), text)


def _open_world(model: KripkeModel, world: int) -> str:
    """The rest of the start of a world's element, and its title."""
    kinds = "node designated" if world in model.designated else "node"
    return f'class="{kinds}" tabindex="0" role="img"><title>{escape(_describe_valuation(model, world))}</title>'


def _limit_width(found: re.Match[str]) -> str:
    """A width that fills its place, within the limits: text of 11 pixels is not shrunk further."""
    width, height = map(int, found.groups())
    least, most = SMALLEST * width, min(LARGEST, HIGHEST / height) * width
    return f'style="width:100%;min-width:{least:.0f}px;max-width:{max(least, most):.0f}px"'


def _describe_valuation(model: KripkeModel, world: int) -> str:
    true = model.true_fluents(world)
    false = [name for name in model.fluents if name not in true]
    mark = ", designated" if world in model.designated else ""
    return f"world {world}{mark}: {', '.join([*true, *(f'not {name}' for name in false)])}"
