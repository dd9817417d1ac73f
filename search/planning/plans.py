"""Plan files: a JSON array of action names. What is not verified is never under the name that was asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

from epigym.errors import EpigymError, MissingError


def unverified(file: str | os.PathLike[str]) -> Path:
    """Where a plan is kept until it has been re-executed: beside its file."""
    return Path(f"{os.fspath(file)}.unverified")


def read_plan(file: str | os.PathLike[str]) -> list[str]:
    """The action names in a plan file.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it is not a JSON array of names.
    """
    name = os.fspath(file)
    try:
        plan = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingError(f"cannot read the plan {name!r}: {error.strerror}") from None
    except ValueError as error:
        raise EpigymError(f"the plan {name!r} is not JSON: {error}") from None
    if not isinstance(plan, list) or not all(isinstance(action, str) for action in plan):
        raise EpigymError(f"the plan {name!r} must be a JSON array of action names")
    return plan
