"""Plan files: a JSON array of action names. What is not verified is never under the name that was asked for."""

from __future__ import annotations

import os
from pathlib import Path

from epigym.errors import EpigymError
from epigym.files import read_json


def unverified(file: str | os.PathLike[str]) -> Path:
    """Where a plan is kept until it has been re-executed: beside its file."""
    return Path(f"{os.fspath(file)}.unverified")


def read_plan(file: str | os.PathLike[str]) -> list[str]:
    """The action names in a plan file.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it is not a JSON array of names.
    """
    plan = read_json(file)
    if not isinstance(plan, list) or not all(isinstance(action, str) for action in plan):
        raise EpigymError(f"{file}: a plan is a JSON array of action names")
    return plan
