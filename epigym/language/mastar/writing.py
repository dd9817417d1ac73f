"""Writes tasks in mA*, if the language can express them, and checks the text by reading it back."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product, starmap

from epigym.errors import EpigymError, LimitError, ParseError, ProblemWarning, TaskError
from epigym.language.mastar import parse_mastar
from epigym.language.mastar.event_models import ActionDescription, is_ambiguous
from epigym.language.mastar.recogniser import Recogniser, has_actually
from epigym.language.mastar.theory import build_theory
from epigym.language.reading import Determines, Reading, Semantics
from epigym.reference.semantics import canonical, contract
from epigym.task.formula import TRUE, Formula, and_, fluent, literal, not_, or_
from epigym.task.task import Action, Task

_REMEDY = "format=compact writes it as JSON"
_WORD = r"(?:[^\W\d]\w*|\d+)"
_NAME = re.compile(rf"(?![BEC]\(){_WORD}(?:\({_WORD}(?:,{_WORD})*\))?")
_SEMANTICS: tuple[Semantics, ...] = ("default", "update_model")
_DETERMINES: tuple[Determines, ...] = ("formula", "literals")
_READINGS = (
    *starmap(Reading, product(_SEMANTICS, _DETERMINES)),
    Reading("efp", "literals"),  # where only announcements tell whether a conjunction holds
)
_WIDTH = 120


def write_mastar(task: Task) -> tuple[str, Reading]:
    """Write a task as a text in mA*. Returns the text and the reading under which it means the task.

    Raises:
        TaskError: if mA* cannot express the task, with the action or part, and the reason.
        LimitError: if the text of the initial e-state would be too long.
    """
    for kind, names in (("fluent", task.fluents), ("agent", task.agents), ("action", _list_names(task.actions))):
        for name in names:
            if not _NAME.fullmatch(name):
                raise TaskError(f"mA* cannot express the {kind} name {name!r}: rename it, or {_REMEDY}")
    if not task.fluents:
        raise TaskError(f"mA* cannot express a task without fluents: {_REMEDY}")
    recogniser = Recogniser(task.agents, task.fluents[0])
    descriptions, reading = _describe_actions(task.actions, recogniser)
    text = _format_task(task, descriptions, reading)
    _check(task, text, reading, recogniser)
    return text, reading


def _list_names(actions: Iterable[Action]) -> tuple[str, ...]:
    return tuple(action.name for action in actions)


def _describe_actions(actions: Sequence[Action], recogniser: Recogniser) -> tuple[list[ActionDescription], Reading]:
    """Describe the actions in words of mA*, under one reading for all."""
    refused: list[dict[str, str]] = []
    for reading in _READINGS:
        found: list[ActionDescription] = []
        reasons: dict[str, str] = {}
        for action in actions:
            try:
                found.append(recogniser.describe(action, reading))
            except TaskError as error:
                reasons[action.name] = str(error)
        if not reasons:
            is_needed = any(is_ambiguous(description.verb, description.effects) for description in found)
            return found, reading if is_needed else replace(reading, determines=None)
        refused.append(reasons)
    raise TaskError(_explain_refusal(refused))


def _explain_refusal(refused: Sequence[Mapping[str, str]]) -> str:
    """Name an action that no reading can express, or two that need different readings.

    Args:
        refused: for each of `_READINGS` the reason of each action that it cannot express, by name.
    """
    names = dict.fromkeys(name for reasons in refused for name in reasons)
    for name in names:
        if all(name in reasons for reasons in refused):
            return f"mA* cannot express action {name!r}: {refused[0][name]}: {_REMEDY}"
    for setting in ("semantics", "determines"):
        values = [getattr(reading, setting) for reading in _READINGS]
        accepting = [
            [value for value, reasons in zip(values, refused, strict=True) if name not in reasons] for name in names
        ]
        for (one, first), (other, second) in combinations(zip(names, accepting, strict=True), 2):
            if not set(first) & set(second):
                return (
                    f"mA* can express action {one!r} with {setting}={first[0]} only, and action {other!r} only with "
                    f"{setting}={second[0]}: {_REMEDY}"
                )
    return f"mA* can express actions {', '.join(map(repr, names))} with different readings only: {_REMEDY}"


def _format_task(task: Task, descriptions: Iterable[ActionDescription], reading: Reading) -> str:
    name = task.fluents[0]
    lines = [line] if (line := reading.state()) else []
    for kind, names in (("fluent", task.fluents), ("action", _list_names(task.actions)), ("agent", task.agents)):
        if names:
            listed = f"{kind} {', '.join(names)};"
            lines += textwrap.wrap(listed, _WIDTH, break_long_words=False, break_on_hyphens=False)
    for description in descriptions:
        lines += ["", *_format_statements(description, name)]
    try:
        initially = build_theory(contract(task.initial), task.fluents, task.agents)
    except (TaskError, LimitError) as error:
        raise type(error)(f"mA* cannot express the initial e-state: {error}: {_REMEDY}") from None
    lines += ["", *(f"initially {part};" for part in initially)]
    goal = _goal(task)
    if has_actually(goal):
        raise TaskError(f"mA* cannot express the goal: it has no counterpart of {goal}: {_REMEDY}")
    return "\n".join([*lines, "", f"goal {goal.without_constants(name)};", ""])


def _format_statements(description: ActionDescription, name: str) -> Iterator[str]:
    """The statements about an action; `name` is a fluent that expresses constants."""

    def under(condition: Formula) -> str:
        return "" if condition is TRUE else f" if {condition.without_constants(name)}"

    action = description.name
    if description.executable is not TRUE:
        yield f"executable {action}{under(description.executable)};"
    for effect in description.effects:
        yield f"{action} {description.verb} {literal(effect.fluent, effect.value)}{under(effect.condition)};"
    for verb, conditions in (("observes", description.observers), ("aware_of", description.aware)):
        for agent, condition in conditions.items():
            yield f"{agent} {verb} {action}{under(condition)};"


def _goal(task: Task) -> Formula:
    """The goal; a tautology if it is empty, as mA* requires one."""
    goal, first = and_(*task.goal), fluent(task.fluents[0])
    return or_(first, not_(first)) if goal is TRUE else goal


def _check(task: Task, text: str, reading: Reading, recogniser: Recogniser) -> None:
    """Check that the text, read back, means the task."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            again = parse_mastar(text, reading)
    except ParseError as error:
        line = text.splitlines()[error.line - 1]
        raise TaskError(f"mA* cannot express the task: in {line!r} {error.message}: {_REMEDY}") from None
    for action, other in zip(task.actions, again.actions, strict=True):
        if not recogniser.matches(action, other):
            raise EpigymError(f"action {action.name!r} changes when it is read back: {_REMEDY}")
    if canonical(task.initial, task.fluents) != canonical(again.initial, task.fluents):
        raise EpigymError(f"the initial e-state changes when it is read back: {_REMEDY}")
    if recogniser.parts(_goal(task)) != recogniser.parts(and_(*again.goal)):
        raise EpigymError(f"the goal changes when it is read back: {_REMEDY}")
