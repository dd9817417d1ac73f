"""Writes tasks in mA*, if the language can express them, and checks the text by reading it back."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence

from epigym.errors import EpigymError, LimitError, ParseError, ProblemWarning, TaskError
from epigym.language import Semantics
from epigym.language.mastar import parse_mastar
from epigym.language.mastar.event_models import Description
from epigym.language.mastar.recogniser import Recogniser, has_actually
from epigym.language.mastar.theory import build_theory
from epigym.reference.semantics import canonical, contract
from epigym.task.formula import TRUE, Formula, and_, fluent, literal, not_, or_
from epigym.task.task import Action, Task

_REMEDY = "format=compact writes it as JSON"
_WORD = r"(?:[^\W\d]\w*|\d+)"
_NAME = re.compile(rf"(?![BEC]\(){_WORD}(?:\({_WORD}(?:,{_WORD})*\))?")
_READINGS: tuple[Semantics, ...] = ("default", "update_model")  # `efp` adds no expressiveness
_WIDTH = 120


def write_mastar(task: Task) -> tuple[str, Semantics]:
    """Write a task as a text in mA*. Returns the text and the reading of mA* under which it means the task.

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
    descriptions, semantics = _describe_actions(task.actions, recogniser)
    text = _format_task(task, descriptions, semantics)
    _check(task, text, semantics, recogniser)
    return text, semantics


def _list_names(actions: Iterable[Action]) -> tuple[str, ...]:
    return tuple(action.name for action in actions)


def _describe_actions(actions: Sequence[Action], recogniser: Recogniser) -> tuple[list[Description], Semantics]:
    """Describe the actions in words of mA*, under one reading for all."""
    refused: list[dict[str, str]] = []
    for semantics in _READINGS:
        found: list[Description] = []
        reasons: dict[str, str] = {}
        for action in actions:
            try:
                found.append(recogniser.describe(action, semantics))
            except TaskError as error:
                reasons[action.name] = str(error)
        if not reasons:
            return found, semantics
        refused.append(reasons)
    both = [name for name in refused[0] if name in refused[1]]
    if both:
        raise TaskError(f"mA* cannot express action {both[0]!r}: {refused[0][both[0]]}: {_REMEDY}")
    one, other = (next(iter(reasons)) for reasons in refused)
    raise TaskError(
        f"mA* can express action {one!r} with semantics=update_model only, and action {other!r} only without: {_REMEDY}"
    )


def _format_task(task: Task, descriptions: Iterable[Description], semantics: Semantics) -> str:
    name = task.fluents[0]
    lines = [] if semantics == "default" else [f"% To be read with semantics={semantics}."]
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


def _format_statements(description: Description, name: str) -> Iterator[str]:
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


def _check(task: Task, text: str, semantics: Semantics, recogniser: Recogniser) -> None:
    """Check that the text, read back, means the task."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            again = parse_mastar(text, semantics=semantics)
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
