"""Notations of other languages, and what mA* writes in their place."""

from __future__ import annotations

import re

_KNOWLEDGE = "(?:K|Kw|[Kk]nows?)"
_REMEDIES = (
    (r"<->|<=>|↔|⇔", "for f <-> g write (-f | g), (-g | f)"),
    (r"->|=>|→|⇒", "for f -> g write (-f | g)"),
    (r"//|/\*|#", "comments run from % to the end of the line"),
    (r"&&?|\band\b|∧", "for f and g write f, g"),
    (r"\|\||\bor\b|∨", "for f or g write f | g"),
    (r"[!~¬]|\bnot\b", "for not f write -f"),
    (r"\{", "a group of agents is written [a, b]"),
    (rf"\b{_KNOWLEDGE}\s*\([^()]*", "for knowledge write B(a, f), what agent a believes"),
)


def remedy(line: str, column: int) -> str:
    """What to write in place of a foreign notation; empty when there is none.

    Args:
        line: of the text.
        column: 1-based, where the parser stopped: at the notation, or at what follows it.
    """
    before = column - 1
    for pattern, advice in _REMEDIES:
        for found in re.finditer(pattern, line):
            if found.start() <= before and not line[found.end() : before].strip():
                return advice
    return ""


def knowledge(name: str) -> str:
    """The remedy where a fluent that does not exist is an operator of knowledge; empty when it is not."""
    return _REMEDIES[-1][1] if re.match(rf"{_KNOWLEDGE}\(", name) else ""
