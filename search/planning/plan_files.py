"""Plan files: JSON arrays of action names. A plan stays in a separate file until the reference has validated it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from epigym.errors import EpigymError, UsageError
from epigym.io.files import is_file, read_plan


def make_unverified_path(file: str | os.PathLike[str]) -> Path:
    """The path of the file for a plan that is not validated yet: the plan file with `.unverified` appended."""
    return Path(f"{os.fspath(file)}.unverified")


def check_plan_file(file: str | os.PathLike[str]) -> None:
    """Refuse to replace a file that is no plan, such as one that the search reads.

    Raises:
        UsageError: when the plan file, or that for the unverified plan, exists and is no plan.
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
    """Remove the plans of an earlier search, also the unverified one; errors as `check_plan_file`."""
    check_plan_file(file)
    for path in (Path(file), make_unverified_path(file)):
        path.unlink(missing_ok=True)
