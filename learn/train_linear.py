"""Train linear models over relational features on the pairs of a data set, and select one by search.

Writes the selected model and trials.csv, the table of all fitted models, into the folder of the run. The heuristic
`learned` reads the model.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from epigym.config.values import Natural
from epigym.errors import UsageError
from learn.data.sources import SourceOptions
from learn.models.files import MODEL_FILE
from learn.training.linear.options import LinearOptions

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TrainLinear(SourceOptions, LinearOptions, ProblemSettings):
    """The settings, see `conf/train_linear.yaml`."""

    seed: Natural


def train(settings: TrainLinear) -> None:
    """Train linear models, print all trials, and write the selected model.

    Raises:
        EpigymError: when a problem or a setting is wrong, or there is nothing to learn from.
    """
    source, file = settings.source, settings.run_dir / MODEL_FILE
    if file.exists():
        raise UsageError(f"run_dir={settings.run_dir}: there is a training: name another")

    from rich.console import Console

    from epigym.io.tables import Table
    from learn.training.linear.training import list_choices, train_linear

    list_choices(settings)
    chosen = train_linear(source.open(settings.outputs), settings, settings.seed)
    rows = [trial.row() for trial in chosen.trials]
    title = f"greedy search on {chosen.validation} validation problems, at most {settings.nodes} expansions each"
    Console().print(Table.of(title, rows).write(settings.run_dir / "trials", "csv", "markdown"))
    chosen.model.write(file)
    name, card = chosen.model.representation, chosen.model.card
    logger.info("kept is %s, %s, l2 %g, aggregation %d: %s", name, card["loss"], card["l2"], card["aggregation"], file)


main = partial(run, train, TrainLinear, "learn.train_linear")


if __name__ == "__main__":
    main()
