"""Find and freeze the `summit` suite: growing problems from where the first of seven searches gives out.

They go on to beyond where the last search does; as many problems of the same sizes that nobody has searched are the
suite `control`.
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
class Summit(Settings):
    """The settings, see `conf/summit.yaml`."""

    domain: list[str]
    out: Path = field(metadata={"written": "file"})
    time_limit: float = field(metadata={"minimum": 0})
    memory_limit: str = field(metadata={"check": "search.agents.limits:memory_bytes"})
    parallel: int = field(metadata={"minimum": 1})


def summit(settings: Summit) -> None:
    """Climb until no search follows, and draw the control.

    Raises:
        UsageError: when there is no such domain, or the table was measured within other limits.
        KeyboardInterrupt: when it was interrupted; the message says what is kept.
    """
    from search.agents.limits import Limits
    from search.evaluation.summit import climb
    from search.evaluation.summit_sizes import LINES

    for name in settings.domain:
        if name not in LINES:
            raise UsageError(unknown("domain", name, LINES))
    limits = Limits(time_limit=settings.time_limit, memory_limit=settings.memory_limit)
    try:
        for name in settings.domain or LINES:
            climb(name, settings.out, limits, parallel=settings.parallel)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"the rungs measured until now are in {settings.out}: start the command again to go on"
        ) from None


main = partial(run, summit, Summit, "search.summit")


if __name__ == "__main__":
    main()
