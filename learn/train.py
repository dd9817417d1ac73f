"""Train what guides a search: a regressor on labelled e-states, linear models, or a network over typed graphs.

Everything goes into the folder of the run. Of a regressor: checkpoints, metrics, pictures, the settings, and run.json
at the end. It learns from published problems, or with data=distribution from problems drawn from the distributions of
domains (domain=all: of all together), as all others do. Of a linear model (model=linear of e-states, model=actions of
actions): model.json, which heuristic=learned reads, and candidates.csv, from which it was chosen. Of model=relational:
checkpoints/best.ckpt, which heuristic=gnn reads when it is named, and the curve of the training.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from epigym.errors import UsageError
from epigym.names import unknown
from learn.data.explorers import ExplorerSettings
from learn.training.options import (
    ActionOptions,
    DistributionOptions,
    LinearOptions,
    ModelOptions,
    RelationalOptions,
    Training,
    given,
)

if TYPE_CHECKING:
    from epigym.task.task import Task
    from learn.data.dataset import DataSet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(ProblemSettings, Training):
    """The settings, see `conf/train.yaml`."""

    domain: list[str]
    without: list[str]
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
    elif isinstance(settings.model, RelationalOptions):
        _relational(settings, settings.model)
    else:
        _linear(settings, settings.model)


def _linear(settings: Train, options: LinearOptions | ActionOptions) -> None:
    """Draw, exhaust, fit candidates, choose one by search, and write it."""
    domains = _always_drawn(settings, options.kind)
    if settings.ckpt_path is not None:
        raise UsageError(f"model={options.kind} takes minutes and starts anew: leave ckpt_path= out")
    if settings.resume:
        logger.info("model=%s takes minutes and starts anew", options.kind)

    from rich.console import Console

    from learn.models.linear.model import write_model
    from learn.training.actions import train_actions
    from learn.training.linear.trials import train_linear
    from learn.training.report.tables import write_table

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


def _always_drawn(settings: Train, kind: str) -> list[str]:
    """The domains from which a kind of model that knows no published problems draws."""
    choice = f"model={kind}"
    if isinstance(settings.data, DistributionOptions):
        raise UsageError(f"{choice} always draws its problems: leave data= out")
    return _distributions(settings, choice)


def _distributions(settings: Train, choice: str) -> list[str]:
    """The domains from which a choice draws."""
    from domains import DOMAINS
    from epigym.problem import Reading

    if settings.problem or not settings.domain:
        raise UsageError(f"{choice} learns from distributions: give domain=<domain, list or all>, and no problem=")
    domains = list(DOMAINS) if settings.domain == ["all"] else settings.domain
    for name in (*domains, *settings.without):
        if name not in DOMAINS:
            raise UsageError(unknown("domain", name, [*DOMAINS, "all"]))
    domains = [name for name in domains if name not in settings.without]
    if not domains:
        raise UsageError("without: it names every domain that is learned from")
    if settings.reading != Reading():
        raise UsageError(f"{choice} draws problems that are read in one way: leave out what says how to read a file")
    return domains


def _relational(settings: Train, options: RelationalOptions) -> None:
    """Draw, exhaust, train, and keep what searches best."""
    domains = _always_drawn(settings, options.kind)

    from rich.console import Console

    from learn.training.relational import train_relational
    from learn.training.report.tables import write_table

    rows = train_relational(settings, options, domains)
    title = (
        f"greedy search on {len(domains) * options.validation} validation problems, at most {options.nodes} nodes each"
    )
    if rows:
        Console().print(write_table(rows, settings.run_dir / "curve", title))
        logger.info("checkpoint, curve and picture: %s", settings.run_dir)


def _regressor(settings: Train) -> None:
    """Make the data sets, train, and show how well the regressor predicts."""
    if isinstance(settings.data, DistributionOptions):
        domains, problems, tasks = _drawn(settings, settings.data)
    else:
        domains, problems, tasks = _published(settings)

    from rich.console import Console

    from learn.data.collecting import collect, summary
    from learn.training.fitting import metrics_table, train

    def data_sets() -> list[DataSet]:
        sets = collect(tasks(), settings.explorer, given(settings.encoding), settings.outputs)
        Console().print(summary(sets))
        return sets

    metrics = train(settings, data_sets, domains, problems, settings.semantics)
    if metrics:
        Console().print(metrics_table(metrics))
        logger.info("checkpoint, metrics and pictures: %s", settings.run_dir)


def _published(settings: Train) -> tuple[list[str], list[str], Callable[[], list[Task]]]:
    """Domains, names and tasks of published problems."""
    from epigym.problem import load_problem
    from learn.data.problems import named

    if settings.without:
        raise UsageError("without leaves out what is drawn: give it with data=distribution")
    problems = named("train", settings.domain, settings.problem)
    tasks = [load_problem(problem, settings.reading) for problem in problems]
    return list(dict.fromkeys(task.domain for task in tasks if task.domain)), problems, lambda: tasks


def _drawn(settings: Train, options: DistributionOptions) -> tuple[list[str], list[str], Callable[[], list[Task]]]:
    """Domains and tasks of problems that are drawn when they are asked for; they have no names to load them by."""
    from learn.training.drawing import drawn

    domains = _distributions(settings, "data=distribution")
    return domains, [], lambda: drawn(domains, "train", options.draws, settings.seed, options.goals)


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
