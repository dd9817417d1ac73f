"""Files as text or JSON, with errors that say what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from epigym.errors import EpigymError


def read(path: Path) -> str:
    """The text of a file. Raises EpigymError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise EpigymError(f"{path}: byte {error.start} is not UTF-8 text") from None
    except OSError as error:
        raise EpigymError(f"{path}: {error.strerror or error}") from None


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises EpigymError when it cannot be read or is not JSON."""
    try:
        return json.loads(read(path))
    except json.JSONDecodeError as error:
        raise EpigymError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise EpigymError(f"{path}: nested too deeply") from None
