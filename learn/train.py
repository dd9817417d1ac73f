"""Train what guides a search: a regressor on labelled e-states, or a linear model of e-states or actions.

Everything goes into the folder of the run. Of a regressor: checkpoints, metrics, pictures, the settings, and run.json
at the end. Of a linear model (model=linear of e-states, model=actions of actions), which learns from the distributions
of domains (domain=all: of all together): model.json, which heuristic=learned reads, and candidates.csv, from which it
was chosen.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from epigym.command import ProblemSettings, run
from epigym.errors import UsageError
from epigym.names import unknown
from learn.data.explorers import ExplorerSettings
from learn.training.options import ActionOptions, LinearOptions, ModelOptions, Training, given

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
    """Train, and show how well the result does.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong, or training ends before it is validated.
    """
    if isinstance(settings.model, ModelOptions):
        _regressor(settings)
    else:
        _linear(settings, settings.model)


def _linear(settings: Train, options: LinearOptions | ActionOptions) -> None:
    """Draw, exhaust, fit candidates, choose one by search, and write it."""
    from domains import DOMAINS

    if settings.problem or not settings.domain:
        wanted = "give domain=<domain, list or all>, and no problem="
        raise UsageError(f"model={options.kind} learns from distributions: {wanted}")
    domains = list(DOMAINS) if settings.domain == ["all"] else settings.domain
    for name in domains:
        if name not in DOMAINS:
            raise UsageError(unknown("domain", name, [*DOMAINS, "all"]))

    from rich.console import Console

    from learn.model.linear import write_model
    from learn.training.actions import train_actions
    from learn.training.linear import train_linear
    from learn.training.tables import write_table

    chosen = (
        train_linear(domains, options, settings.seed)
        if isinstance(options, LinearOptions)
        else train_actions(domains, options, settings.seed)
    )
    rows = [candidate.row() for candidate in chosen.candidates]
    title = f"greedy search on {chosen.validation} validation problems, at most {options.nodes} nodes each"
    Console().print(write_table(rows, settings.run_dir / "candidates", title))
    write_model(chosen.model, settings.run_dir / "model.json")
    if options.folder is not None:
        write_model(chosen.model, Path(options.folder, f"{chosen.model.domain}.json"))
    logger.info("%s: %s", chosen.model.representation, settings.run_dir / "model.json")


def _regressor(settings: Train) -> None:
    """Make the data sets, train, and show how well the regressor predicts."""
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
