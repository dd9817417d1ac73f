"""The grammar of command lines: `name=value`, where a value may be a list, written `[a,b]` or `a,b`.

A comma inside brackets of any kind or inside quotes belongs to an element: `go(ann,2),wait` is a list of two names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

from domains.checks import DomainError

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_TOKEN = re.compile(_QUOTED + "|.", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}


def split(text: str) -> list[str]:
    """The elements between the commas of a text, as they are written; none in an empty text."""
    found, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if token == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += token
    return [element.strip() for element in found] if text.strip() else []


def is_list(element: str) -> bool:
    """Whether an element is a list in brackets."""
    return element.startswith("[") and element.endswith("]")


def read_names(text: str) -> list[str]:
    """The names in a list, which stands in brackets or not, without the quotes around them."""
    elements = split(text)
    if elements and is_list(elements[0]):
        elements = split(elements[0][1:-1])
    is_quoted = re.compile(_QUOTED, re.DOTALL).fullmatch
    return [re.sub(r"\\(.)", r"\1", one[1:-1]) if is_quoted(one) else one for one in elements]


def read_parameters(words: Iterable[str]) -> dict[str, Any]:
    """Parameters from words of a command line, such as `agents=3`, `learn=abc` or `positions=3,4`.

    Raises:
        DomainError: when a word is not of the form `name=value`.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise DomainError(f"a parameter is given as name=value, got {word!r}")
        elements = split(value)
        found[name] = [*map(_read_value, elements)] if len(elements) > 1 else _read_value(value)
    return found


def write_value(value: Any) -> str:
    """A value as `read_parameters` reads it back; tuples come back as lists."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(write_value, value))}]"
    if isinstance(value, str):
        return value if split(value) == [value] and _read_value(value) == value else repr(value)
    return next((word for word, one in _WORDS.items() if one is value), str(value))


def _read_value(element: str) -> Any:
    """A list, a number, a quoted text, true, false or null; anything else is a text."""
    if is_list(element):
        return [*map(_read_value, split(element[1:-1]))]
    if element.lower() in _WORDS:
        return _WORDS[element.lower()]
    try:
        found = ast.literal_eval(element)
    except (SyntaxError, ValueError):
        return element
    is_name = isinstance(found, int) and "_" in element  # such as 3_3_1, which names an instance
    return element if is_name else found
