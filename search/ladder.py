"""Measure blind search on the `scaling` suite, a ladder of growing problems per domain, or draw it anew.

The table goes to `out`; that of the suite itself stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from epigym.cli.runner import run
from epigym.cli.settings import Settings
from epigym.errors import UsageError
from epigym.names import unknown


@dataclass(frozen=True, kw_only=True)
class Ladder(Settings):
    """The settings, see `conf/ladder.yaml`."""

    domain: list[str]
    draw: bool
    out: Path = field(metadata={"written": "file"})
    time_limit: float = field(metadata={"minimum": 0})
    memory_limit: str = field(metadata={"check": "search.agents.limits:memory_bytes"})
    parallel: int = field(metadata={"minimum": 1})


def ladder(settings: Ladder) -> None:
    """Measure the rungs.

    Raises:
        UsageError: when there is no such domain.
        KeyboardInterrupt: when it was interrupted; the message says what is kept.
    """
    from search.evaluation.ladder import climb
    from search.evaluation.ladder_sizes import SIZES

    for name in settings.domain:
        if name not in SIZES:
            raise UsageError(unknown("domain", name, SIZES))
    try:
        climb(
            settings.domain or list(SIZES),
            settings.out,
            fresh=settings.draw,
            time_limit=settings.time_limit,
            memory_limit=settings.memory_limit,
            parallel=settings.parallel,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the rungs measured until now are in {settings.out}") from None


main = partial(run, ladder, Ladder, "search.ladder")


if __name__ == "__main__":
    main()
