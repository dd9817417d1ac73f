"""Decompose the value of an e-state under a trained model.

For a linear model, prints a line for each feature: its contribution, the objects that it counts in this e-state, and
its meaning in any task. For a network, prints the base heuristic, the correction, and the nodes of the graph with the
largest influence on the correction; this needs PyTorch.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings
from epigym.config.packages import extras
from epigym.config.values import Natural

_SHOWN = 5  # most names of a feature
_KIND = re.compile(r"(?:round \d+ of |any )?(\w+)")  # how the description of a feature or type begins
_DIGITS = re.compile(r"\b[0-9a-f]{8}\b")  # of a colour

if TYPE_CHECKING:
    from epigym.features.description import Description
    from epigym.features.types import FeatureTypes
    from epigym.space.space import StateSpace
    from learn.models.gine.model import NetworkModel
    from learn.models.linear.explaining import Explanation
    from learn.models.linear.model import LinearModel


@dataclass(frozen=True, kw_only=True)
class Explain(TaskSettings):
    """The settings, see `conf/explain.yaml`."""

    model: str | None
    after: list[str]
    top: Natural


def explain(settings: Explain) -> None:
    """Print the value, its parts, and the most important features or nodes.

    Raises:
        EpigymError: when the problem, an action or the model is wrong, or PyTorch is needed and missing.
    """
    from rich.console import Console

    from epigym.features.types import FeatureTypes
    from epigym.space.space import StateSpace
    from learn.models.gine.model import NetworkModel
    from learn.models.linear.model import LinearModel
    from learn.models.opening import open_for

    space = StateSpace(settings.load(), consistent_beliefs=settings.consistent_beliefs)
    state = _apply_actions(space, settings.after)
    types = FeatureTypes(space.task)
    model = open_for(settings.model, space.task, types)
    lines: Iterable[str] = ()
    if isinstance(model, LinearModel):
        name, lines = str(model.representation), _format_linear(space, model, state, types, settings.top)
    elif isinstance(model, NetworkModel):
        name, lines = "network", _format_network(space, model, state, types, settings.top)
    where = f"after {', '.join(settings.after)}" if settings.after else "at the start"
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    for line in (f"{space.task.name} {where}, by {model.path} ({name})", "", *lines):
        console.print(line)


def _format_linear(space: StateSpace, model: LinearModel, state: int, types: FeatureTypes, top: int) -> Iterator[str]:
    from learn.models.linear.explaining import explain_linear

    found = explain_linear(space, model, state, types)
    yield from (*_format_parts(found, model.representation.base), "", *_format_features(found, top))


@extras()
def _format_network(space: StateSpace, model: NetworkModel, state: int, types: FeatureTypes, top: int) -> list[str]:
    from learn.models.gine.explaining import explain_network

    found = explain_network(space, model, state, types)
    lines = [
        f"{found.value:12.4f}  value, the sum of",
        f"{found.base:12.4f}  base heuristic: {model.base}",
        f"{found.correction:12.4f}  correction",
    ]
    shown = [f"{value:12.4f}  {name}" for name, value in found.nodes[:top] if value]
    return [*lines, "", f"{'influence':>12}  node", *shown] if shown else lines


def _apply_actions(space: StateSpace, plan: Sequence[str]) -> int:
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


def _format_parts(found: Explanation, base: str) -> Iterator[str]:
    """Format the score and its parts."""
    yield f"{found.score:12.4f}  score, the sum of"
    yield f"{found.features:12.4f}  features: {len(found.parts)}, of which the model knows {found.known}"
    if base != "none":
        yield f"{found.relaxation:12.4f}  relaxation: {base} {found.base:g}, weight {found.base_weight:.4f}"
    yield f"{found.constant:12.4f}  constant"


def _format_features(found: Explanation, top: int) -> Iterator[str]:
    """Format the features with the largest contributions, then the features that their texts mention."""
    from epigym.features.texts import find_mentioned

    shown = [part for part in found.parts[:top] if part.contribution]
    if not shown:
        return
    texts = {part.colour: found.definitions[part.colour] for part in shown}
    mentioned = find_mentioned(texts.values(), found.definitions)
    labels = _label(find_mentioned(found.definitions.values(), found.definitions))
    yield f"{'contribution':>12} {'weight':>10} {'value':>8} {'seen':>8}  feature"
    for part in shown:
        numbers = f"{part.contribution:12.4f} {part.weight:10.4f} {part.value:8.4g} {part.seen:8}"
        label = f"{labels[part.colour]} = " if part.colour in mentioned else ""
        text = _insert_labels(texts[part.colour], labels)
        yield f"{numbers}  {_format_names(found.names[part.colour])} = {label}{text}"
    others = {colour: text for colour, text in mentioned.items() if colour not in texts}
    if others:
        yield from ("", "mentioned there:")
        yield from sorted(f"  {labels[colour]} = {_insert_labels(text, labels)}" for colour, text in others.items())


def _label(descriptions: Mapping[int, Description]) -> dict[int, str]:
    """A kind and a number for each colour that is described, such as `agent 1`, in place of its digits."""
    numbers = defaultdict[str, Iterator[int]](lambda: count(1))
    kinds = {colour: _KIND.match(text.text) for colour, text in sorted(descriptions.items())}
    return {colour: f"{kind[1]} {next(numbers[kind[1]])}" for colour, kind in kinds.items() if kind}


def _insert_labels(text: Description, labels: Mapping[int, str]) -> str:
    """A text with labels in place of the digits of the colours that it mentions."""
    from epigym.features.description import short

    digits = {short(colour): labels[colour] for colour in text.mentions & labels.keys()}
    named = _DIGITS.sub(lambda found: digits.get(found[0], found[0]), text.text)
    return re.sub(r"\b(\w+) (?=\1 \d)", "", named)  # of `belief belief 1`


def _format_names(names: Sequence[str]) -> str:
    """Format the first objects that a feature counts."""
    more = f"; {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"[{'; '.join(names[:_SHOWN])}{more}]"


main = partial(run, explain, Explain, "learn.explain")


if __name__ == "__main__":
    main()
