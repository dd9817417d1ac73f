"""Parsers of grammars. Their tables are cached on disk, as building them takes longer than reading most problems."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from lark import Lark


@cache
def load_parser(grammar: Path, *start: str, positions: bool = False) -> Lark:
    """Load the LALR parser of a grammar file. Its lexer ignores the context: reserved words are never names.

    Its tables are cached in the user's cache folder, if that is writable.

    Args:
        grammar: the file, in Lark's notation.
        *start: its start symbols.
        positions: whether trees have the positions of their first words.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "epigym")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    cache = str(folder / f"{grammar.stem}.pickle")
    return Lark.open(
        str(grammar), parser="lalr", lexer="basic", start=list(start), propagate_positions=positions, cache=cache
    )
