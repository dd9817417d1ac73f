"""Texts that define colours: the colour is the hash of the text, and a text may mention other colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from epigym.space.signature import word

_NOTHING = frozenset[int]()


class Description(NamedTuple):
    """The meaning of a colour.

    Attributes:
        text: where other colours are named by their first digits.
        mentions: these colours.
    """

    text: str
    mentions: frozenset[int] = _NOTHING

    def __str__(self) -> str:
        """The text."""
        return self.text

    @property
    def colour(self) -> int:
        """The hash of the text."""
        return word(self.text)

    @property
    def reference(self) -> Description:
        """A mention of the colour."""
        return refer_to(self.colour)


def refer_to(colour: int) -> Description:
    """A mention of a colour: its first digits."""
    return Description(short(colour), frozenset([colour]))


def short(colour: int) -> str:
    """The digits that stand for a colour in texts."""
    return f"{colour:016x}"[:8]


def describe(kind: str, *parts: object) -> Description:
    """Describe something as `kind(part; part)`."""
    return Description(f"{kind}({'; '.join(map(str, parts))})", _find_mentions(parts))


def join_texts(*parts: object, by: str = "") -> Description:
    """Join texts to one that mentions all colours that they mention."""
    return Description(by.join(map(str, parts)), _find_mentions(parts))


def list_texts(items: Iterable[object]) -> Description:
    """The different ones of some texts, sorted, in braces."""
    parts = list(items)
    return Description("{" + ", ".join(sorted({*map(str, parts)})) + "}", _find_mentions(parts))


def _find_mentions(parts: Iterable[object]) -> frozenset[int]:
    mentions = [part.mentions for part in parts if type(part) is Description and part.mentions]
    return mentions[0].union(*mentions[1:]) if mentions else _NOTHING
