"""Plans as planners and validators of the planning community write them: `(lift ann b1)` in lines of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from epigym.errors import EpigymError
from epigym.io.files import AnyPath, read, read_plan

_STEP = re.compile(r"(?:\d+(?:\.\d+)?\s*:)?\s*(.*?)\s*(?:\[[\d.]+\])?")  # time stamp, action, duration


def read_steps(path: AnyPath) -> list[str]:
    """The actions in a plan file: a JSON array of names, or a text with an action in each line.

    In a text `;` starts a comment, a time stamp such as `0.001:` and a duration such as `[1.0]` are left out, and the
    action may be in parentheses.

    Raises:
        EpigymError: as `read_plan`, or when a text has no action or is a problem.
    """
    text = read(path)
    if text.lstrip()[:1] in ("[", "{", ""):
        return read_plan(path, text)
    lines = (re.sub(r";.*", "", line).strip() for line in text.splitlines())
    steps = [match[1] for line in lines if line and (match := _STEP.fullmatch(line))]
    if not steps or re.match(r"\(\s*define\b", steps[0], re.IGNORECASE):
        raise EpigymError(f"{path} is no plan: expected a JSON array of action names, or a line such as (lift ann)")
    return steps


def find_actions(steps: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names of the actions that the steps of a plan mean.

    A step that is no name means the action whose name has the same words, such as `lift_Ann_b1` for `(lift ann b1)`;
    where there is none it stays as it is.

    Raises:
        EpigymError: when a step has the words of several actions.
    """
    known, alike = {*names}, dict[str, list[str]]()
    for name in names if not known.issuperset(steps) else ():
        alike.setdefault(_words(name), []).append(name)
    found = []
    for step in steps:
        meant = [step] if step in known else alike.get(_words(step), [step])
        if len(meant) > 1:
            raise EpigymError(f"action {step!r} may be {' or '.join(map(repr, meant))}: give its name")
        found += meant
    return found


def _words(name: str) -> str:
    """A name in lower case with single underscores between its words."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")
