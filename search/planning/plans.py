"""Plan files: a JSON array of action names. What is not verified is never under the name that was asked for."""

from __future__ import annotations

import os
from pathlib import Path


def unverified(file: str | os.PathLike[str]) -> Path:
    """Where a plan is kept until it has been re-executed: beside its file."""
    return Path(f"{os.fspath(file)}.unverified")
