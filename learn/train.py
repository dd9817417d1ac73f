"""Train a regressor on labelled e-states.

Everything goes into the folder of the run: checkpoints, metrics, pictures, the settings, and run.json at the end.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from epigym.command import ProblemSettings, run
from learn.data.explorers import ExplorerSettings
from learn.training.options import Training, given

if TYPE_CHECKING:
    from learn.data.dataset import DataSet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(ProblemSettings, Training):
    """The settings, see `conf/train.yaml`."""

    domain: list[str]
    problem: list[str]
    explorer: ExplorerSettings
    outputs: Path = field(metadata={"written": "folder"})


def train(settings: Train) -> None:
    """Make the data sets, train, and show how well the regressor predicts.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong, or training ends before it is validated.
    """
    from epigym.problem import load_problem
    from learn.data.problems import named

    problems = named("train", settings.domain, settings.problem)
    tasks = [load_problem(problem, settings.reading) for problem in problems]

    from rich.console import Console

    from learn.data.collecting import collect, summary
    from learn.training.fitting import metrics_table, train

    def data_sets() -> list[DataSet]:
        sets = collect(tasks, settings.explorer, given(settings.encoding), settings.outputs)
        Console().print(summary(sets))
        return sets

    domains = list(dict.fromkeys(task.domain for task in tasks if task.domain))
    metrics = train(settings, data_sets, domains, problems, settings.semantics)
    if metrics:
        Console().print(metrics_table(metrics))
        logger.info("checkpoint, metrics and pictures: %s", settings.run_dir)


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
