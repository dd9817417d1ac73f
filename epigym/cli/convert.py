"""Write a problem in any language as a ground task in JSON, or in mA*, which every command reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings
from epigym.errors import TaskError
from epigym.language import check_format, save


@dataclass(frozen=True, kw_only=True)
class Convert(TaskSettings):
    """The settings, see `conf/convert.yaml`."""

    out: Path = field(metadata={"written": "file"})
    format: str | None

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """The settings that matter to plans only."""
        return {"consistent_beliefs": "a file does not tell it: give it where the task is searched"}


def convert(settings: Convert) -> None:
    """Write the file, and say where it is and how it is to be read.

    Raises:
        EpigymError: when the problem is wrong, or the format unknown or unable to say it.
    """
    form = check_format(settings.out, settings.format)
    try:
        needed = save(settings.load(), settings.out, form).describe()
    except TaskError as error:
        if form != "mastar" or Path(settings.problem).suffix != ".json":
            raise
        remedy = f"if {settings.problem} was made of a problem in mA*, make it with format=compact, which keeps that"
        raise TaskError(f"{error}; {remedy}") from None
    how = f", to be read with {needed}, as its first line says" if needed else ""
    print(f"written to {settings.out}{how}")


main = partial(run, convert, Convert, "epigym.cli.convert")
