"""Make a data set: explore problems, label e-states with distances, and choose pairs of them.

The data set is in outputs/rollouts/<key>, where `learn.train` finds it by its settings; it works for every encoding.
Prints its sizes and its folder; rollouts.png is in the folder of the run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from learn.data.sources import SourceOptions

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Rollouts(SourceOptions, ProblemSettings):
    """The settings, see `conf/rollouts.yaml`."""


def make_rollouts(settings: Rollouts) -> None:
    """Make the data set, or find it.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong, or there is nothing to learn from.
    """
    source = settings.source

    from rich.console import Console

    from learn.data.sources import summarize
    from learn.training.report.pictures import draw_rollouts

    data = source.open(settings.outputs)
    draw_rollouts([row.counts for row in data.rows], settings.run_dir / "rollouts.png")
    Console().print(summarize(data.rows))
    logger.info("%s", data.folder)


main = partial(run, make_rollouts, Rollouts, "learn.rollouts")


if __name__ == "__main__":
    main()
