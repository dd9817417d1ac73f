"""Parsers of grammars, made once: to make one takes longer than to read most problems."""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import lark

from epigym.io.files import replacing
from epigym.io.sealed import digest


def parser(grammar: Path, **options: Any) -> lark.Lark:
    """The LALR parser of a grammar file, in which all terminals are known everywhere.

    It is kept in the user's cache folder, if that can be written, and read from there by the next process.

    Args:
        grammar: the file, in Lark's notation.
        **options: of `lark.Lark`.
    """
    kept = _place(grammar, options)
    with suppress(OSError, EOFError, pickle.UnpicklingError), kept.open("rb") as file:
        return lark.Lark.load(file)
    made = lark.Lark.open(str(grammar), parser="lalr", lexer="basic", **options)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as temporary, temporary.open("wb") as file:
            made.save(file)
    return made


def _place(grammar: Path, options: dict[str, Any]) -> Path:
    """Where the parser is kept, under a name that changes with all that it depends on."""
    name = digest([grammar.read_bytes(), options, lark.__version__, sys.version])[:16]
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder, "epigym", f"{grammar.stem}-{name}.pickle")
