"""Front ends: problem texts to ground planning tasks."""

from __future__ import annotations

from pathlib import Path

from epigym.errors import EpigymError
from epigym.language.mastar import parse_formula, parse_mastar
from epigym.language.mastar_actions import SEMANTICS, Semantics
from epigym.task import Task

__all__ = ["SEMANTICS", "Semantics", "load", "parse_formula", "parse_mastar"]


def load(path: str | Path, semantics: Semantics = "default") -> Task:
    """Read the problem file `path`, in the language that its extension names: `.txt` is mA*.

    Args:
        path: the problem file.
        semantics: the reading of mA*, see `parse_mastar`.

    Raises:
        ParseError: naming the place that is wrong.
        EpigymError: when the file cannot be read, or no front end reads files of that kind.
    """
    path = Path(path)
    if path.suffix != ".txt":
        raise EpigymError(f"{path}: cannot tell the language from the extension {path.suffix!r}: expected .txt (mA*)")
    return parse_mastar(read(path), file=str(path), semantics=semantics)


def read(path: Path) -> str:
    """The text of a problem file. Raises EpigymError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise EpigymError(f"{path}: byte {error.start} is not UTF-8 text") from None
    except OSError as error:
        raise EpigymError(f"{path}: {error.strerror or error}") from None
