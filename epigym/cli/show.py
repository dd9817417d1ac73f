"""Draw an e-state of a problem or the steps of a plan, and sum the problem up.

The e-state is the initial one, or that after some actions; the page of a plan has all on the way.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import domains
from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings, read_actions
from epigym.config.values import require_writable
from epigym.errors import UsageError

if TYPE_CHECKING:
    from epigym.space.space import StateSpace


@dataclass(frozen=True, kw_only=True)
class Show(TaskSettings):
    """The settings, see `conf/show.yaml`."""

    out: Path | None = field(metadata={"written": "file"})
    after: list[str] | None
    plan: list[str] | str | None
    scene: bool


def show(settings: Show) -> None:
    """Draw, print the summary and where the drawing is.

    Raises:
        EpigymError: when the problem or an action is wrong.
    """
    from epigym.drawing import FULL_LABELS, write_picture
    from epigym.drawing.page import write_page
    from epigym.drawing.steps import walk
    from epigym.space.space import StateSpace

    if settings.scene:
        scene = _scene(settings.problem)
        after = [*scene.plan] if settings.after is None and settings.plan is None else settings.after
        settings = replace(settings, parameters={**scene.parameters, **settings.parameters}, after=after)
    if settings.after and settings.plan is not None:
        raise UsageError("after and plan both name actions: give one of them")
    task = settings.load()
    if settings.plan is None:
        source, plan = "after", settings.after or []
    else:
        source, plan = read_actions(task, settings.plan)
    space = StateSpace(task, consistent_beliefs=settings.consistent_beliefs)
    try:
        state = walk(space, plan)[-1]
    except UsageError as error:
        raise UsageError(f"{source}, {error}") from None
    out = settings.out or Path(f"{Path(settings.problem).stem}.png")
    require_writable(out, "out")
    if out.suffix == ".html":
        write_page(space, plan, out)
    else:
        model = space.model(state)
        write_picture(model, out)
        if len(model.worlds) > FULL_LABELS:
            page = f"out={out.with_suffix('.html')} says what agents believe there"
            warnings.warn(f"{out}: {len(model.worlds)} worlds are too many to read in a picture: {page}", stacklevel=1)
    print(_summary(space, state))
    print(f"drawn to {out}")


def _scene(name: str) -> domains.Scene:
    try:
        domain, instance = domains.find(name)
    except domains.DomainError as error:
        raise UsageError(str(error)) from None
    if instance:
        raise UsageError(f"{name} is an instance: scene=true draws the scene of a domain, here {domain.name}")
    return domain.scene


def _summary(space: StateSpace, state: int) -> str:
    task, model = space.task, space.model(state)
    names = [action.name for action in task.actions]
    truths = space.query(task.goal)([state])[0]
    goal = [f"{'reached' if done else 'open':<8}{part}" for part, done in zip(task.goal, truths, strict=True)]
    rows = {
        "problem": task.name,
        "agents": _list_names(task.agents),
        "fluents": _list_names(task.fluents),
        "actions": _list_names(names),
        "applicable": _list_names([names[action] for action in space.applicable([state])[0].nonzero()[0]]),
        "worlds": f"{len(model.worlds)}, of which {len(model.designated)} designated",
        "goal": ("\n" + " " * 12).join(goal),
    }
    return "\n".join(f"{title:<12}{text}" for title, text in rows.items())


def _list_names(names: Sequence[str], shown: int = 8) -> str:
    more = ", …" if len(names) > shown else ""
    return f"{len(names)}: {', '.join(names[:shown])}{more}" if names else "none"


main = partial(run, show, Show, "epigym.cli.show")
