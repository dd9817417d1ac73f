"""A problem text with its name, for errors and warnings with a position."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from lark import Token, Tree

from epigym.errors import ParseError, ProblemWarning


class Located(Protocol):
    """An object with a position: a word of the text, or an error of the parser. Lines and columns count from 1."""

    @property
    def line(self) -> int | None:
        """The line."""

    @property
    def column(self) -> int | None:
        """The column."""


Place: TypeAlias = Located | Tree[Token]
Remedy: TypeAlias = tuple[str, str]
"""The pattern of a foreign notation, and the advice how to write it."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A problem text with its name.

    Attributes:
        file: its name in messages, such as `<string>` for text that was passed directly.
        text: the whole text.
    """

    file: str
    text: str

    def error(self, message: str, place: Place | None = None) -> ParseError:
        """Create an error at `place`, or at the end of the text."""
        lines = self.text.rstrip().split("\n")
        line, column = (len(lines), len(lines[-1].rstrip()) + 1) if place is None else position(place)
        shown = lines[line - 1].rstrip().replace("\t", " ") if line <= len(lines) else ""
        return ParseError(message, file=self.file, line=line, column=column, source=shown)

    def find_remedy(self, offset: int, remedies: Iterable[Remedy]) -> str:
        """The advice for a foreign notation at an offset of the text, or just before it; empty if there is none."""
        for pattern, advice in remedies:
            for found in re.finditer(pattern, self.text):
                if found.start() <= offset and not self.text[found.end() : offset].strip():
                    return advice
        return ""

    def warn(self, message: str, place: Place, category: type[ProblemWarning] = ProblemWarning) -> None:
        """Warn about text that is allowed but probably a mistake."""
        line, column = position(place)
        warnings.warn(f"{self.file}:{line}:{column}: {message}", category, stacklevel=2)


def position(place: Place) -> tuple[int, int]:
    """The line and the column of a place."""
    at = place.meta if isinstance(place, Tree) else place
    return at.line or 1, at.column or 1
