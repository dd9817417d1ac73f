"""Say what the score that a linear model gives to an e-state is made of.

A line for each feature: what it adds, what it counts in this e-state by the names of the task, and what it means in any
task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from epigym.cli.runner import run
from epigym.cli.settings import ReadingSettings

_SHOWN = 5  # names beside a feature

if TYPE_CHECKING:
    from epigym.space.space import StateSpace
    from learn.models.linear.explaining import Explanation


@dataclass(frozen=True, kw_only=True)
class Explain(ReadingSettings):
    """The settings, see `conf/explain.yaml`."""

    problem: str
    checkpoint: str | None
    after: list[str]
    top: int = field(metadata={"minimum": 0})


def explain(settings: Explain) -> None:
    """Print the score, what it is the sum of, and the features that matter most with what they are.

    Raises:
        EpigymError: when the problem, an action or the model is wrong.
    """
    from rich.console import Console

    from epigym.errors import UsageError
    from epigym.features.types import FeatureTypes
    from epigym.problem import load_problem
    from epigym.space.space import StateSpace
    from learn.models.linear.explaining import explain
    from learn.models.linear.model import LinearModel
    from learn.models.shipped import find_model

    space = StateSpace(load_problem(settings.problem, settings.reading), forbid_collapse=settings.forbid_collapse)
    state = _after(space, settings.after)
    types = FeatureTypes(space.task)
    file, model = find_model(settings.checkpoint, space.task.domain, types.schema)
    if not isinstance(model, LinearModel):
        raise UsageError(f"{file} is a network: expected a linear model")
    found = explain(space, model, state, types)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    where = f"after {', '.join(settings.after)}" if settings.after else "at the start"
    console.print(f"{space.task.name} {where}, by {file} ({model.representation})\n")
    for line in (*_sum(found, model.representation.base), "", *_features(found, settings.top)):
        console.print(line)


def _after(space: StateSpace, plan: Sequence[str]) -> int:
    """The e-state after these actions.

    Raises:
        UsageError: when there is no such action, or it cannot be applied.
    """
    from epigym.drawing.steps import walk
    from epigym.errors import UsageError

    try:
        return walk(space, plan)[-1]
    except UsageError as error:
        raise UsageError(f"after, {error}") from None


def _sum(found: Explanation, base: str) -> Iterator[str]:
    """The score and its parts."""
    yield f"{found.score:12.4f}  score, the sum of"
    yield f"{found.features:12.4f}  features: {len(found.parts)}, of which the model knows {found.known}"
    if base != "none":
        yield f"{found.relaxation:12.4f}  relaxation: {base} {found.base:g}, weight {found.base_weight:.4f}"
    yield f"{found.constant:12.4f}  constant"


def _features(found: Explanation, top: int) -> Iterator[str]:
    """Those that add or subtract most, then what their texts mention."""
    from epigym.features.texts import mentioned
    from epigym.features.types import short

    shown = [part for part in found.parts[:top] if part.contribution]
    if not shown:
        return
    yield f"{'contribution':>12} {'weight':>10} {'value':>8} {'seen':>8}  feature"
    for part in shown:
        numbers = f"{part.contribution:12.4f} {part.weight:10.4f} {part.value:8.4g} {part.seen:8}"
        here = _named(found.names[part.colour])
        yield f"{numbers}  {short(part.colour)}  {here} = {found.definitions[part.colour]}"
    lines = [found.definitions[part.colour] for part in shown]
    others = mentioned(lines, found.definitions).keys() - {part.colour for part in shown}
    if others:
        yield from ("", "mentioned there:")
        yield from (f"  {short(colour)}  {text}" for colour, text in found.definitions.items() if colour in others)


def _named(names: Sequence[str]) -> str:
    """What a feature counts, as many of it as are shown."""
    more = f"; {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"[{'; '.join(names[:_SHOWN])}{more}]"


main = partial(run, explain, Explain, "learn.explain")


if __name__ == "__main__":
    main()
