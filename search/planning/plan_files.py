"""Plan files: a JSON array of action names. What is not verified is never under the name that was asked for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from epigym.errors import EpigymError, UsageError
from epigym.io.files import is_file, read_plan


def make_unverified_path(file: str | os.PathLike[str]) -> Path:
    """Where a plan is kept until it has been re-executed: beside its file."""
    return Path(f"{os.fspath(file)}.unverified")


def check_plan_file(file: str | os.PathLike[str]) -> None:
    """Refuse a plan file where another file is, such as one that the search reads, or where its `unverified` is one.

    Raises:
        UsageError: when there is something that is not a plan.
    """
    for path in (Path(file), make_unverified_path(file)):
        if not path.exists():
            continue
        with suppress(EpigymError):
            if is_file(path):
                read_plan(path)
                continue
        remedy = "name another file, or remove it"
        raise UsageError(f"{path} exists and is not a plan, which is a JSON array of action names: {remedy}")


def remove_plans(file: str | os.PathLike[str]) -> None:
    """Remove what an earlier search left in a plan file and in its `unverified`; errors as `check_plan_file`."""
    check_plan_file(file)
    for path in (Path(file), make_unverified_path(file)):
        path.unlink(missing_ok=True)
