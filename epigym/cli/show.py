"""Draw an e-state of a problem or the steps of a plan, and sum the problem up.

The e-state is the initial one, or that after some actions; the page of a plan has all on the way, that of a policy
those of all outcomes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

import domains
from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings, read_actions
from epigym.config.values import require_writable
from epigym.errors import EpigymError, UsageError
from epigym.io.files import find_kind, read_json

if TYPE_CHECKING:
    from epigym.space.space import StateSpace
    from epigym.task.task import Task


@dataclass(frozen=True, kw_only=True)
class Show(TaskSettings):
    """The settings, see `conf/show.yaml`."""

    out: Path | None = field(metadata={"written": "file"})
    after: list[str] | None
    plan: list[str] | str | None
    policy: str | None = field(metadata={"exists": True})
    scene: bool


def show(settings: Show) -> None:
    """Draw, print the summary and where the drawing is.

    Raises:
        EpigymError: when the problem or an action is wrong.
    """
    from epigym.drawing import FULL_LABELS, write_picture
    from epigym.drawing.page import write_page
    from epigym.drawing.steps import walk

    if settings.scene:
        scene = _scene(settings.problem)
        after = [*scene.plan] if settings.after is settings.plan is settings.policy is None else settings.after
        settings = replace(settings, parameters={**scene.parameters, **settings.parameters}, after=after)
    given = [name for name in ("after", "plan", "policy") if getattr(settings, name) not in (None, [])]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given[:2])} both name actions: give one of them")
    task = settings.load()
    if (policy := settings.policy or _find_policy(settings.plan)) is not None:
        _show_policy(task, policy, settings)
        return
    if settings.plan is None:
        source, plan = "after", settings.after or []
    else:
        source, plan = read_actions(task, settings.plan)
    space = _make_space(task, settings)
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


def _find_policy(plan: list[str] | str | None) -> str | None:
    """The file of a plan, if its content is a policy."""
    is_json = isinstance(plan, str) and plan.endswith(".json") and Path(plan).is_file()  # a pipe is read once only
    return cast(str, plan) if is_json and find_kind(read_json(cast(str, plan))) == "policy" else None


def _show_policy(task: Task, file: str, settings: Show) -> None:
    """Write the page or the graph of a policy.

    Raises:
        EpigymError: when the file is no policy, or the policy not valid.
    """
    policy = resolve_name("search.policies.policy:Policy").read(task, file)
    out = settings.out or Path(f"{Path(settings.problem).stem}.html")
    if out.suffix not in (".html", ".dot"):
        raise UsageError(f"out={out}: a policy is drawn as a page (.html) or a graph (.dot)")
    require_writable(out, "out")
    validation = policy.validate(settings.consistent_beliefs)
    if not validation.valid:
        raise EpigymError(f"{file}: the policy is not valid: {validation.reason}")
    policy.write(out)
    space = _make_space(task, settings)
    print(_summary(space, space.initial))
    print(f"drawn to {out}")


def _make_space(task: Task, settings: Show) -> StateSpace:
    from epigym.space.space import StateSpace

    return StateSpace(task, consistent_beliefs=settings.consistent_beliefs)


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
