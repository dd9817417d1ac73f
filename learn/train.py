"""Train what guides a search: a regressor on labelled e-states, linear models, or a network over typed graphs.

Everything goes into the folder of the run. Of a regressor: checkpoints, metrics, pictures, the settings, and run.json
at the end; the last line is a command that searches with it. It learns from problems sampled from the distributions of
domains (domain=all: of all together), as all others do, from their published problems (data=published), or from
problem=. Of model=linear: model.json, which heuristic=learned reads, and candidates.csv, from which it was chosen. Of
model=relational: checkpoints/best.ckpt, which heuristic=gnn reads when it is named, and the curve of the training.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings, write_override
from epigym.errors import UsageError
from epigym.names import unknown
from learn.data.explorers import ExplorerSettings
from learn.models.runs import CHECKPOINTS, LINEAR_FILE
from learn.training.options import (
    DistributionOptions,
    LinearOptions,
    ModelOptions,
    RelationalOptions,
    Training,
)

if TYPE_CHECKING:
    from epigym.task.task import Task
    from learn.data.dataset import DataSet

REGRESSOR = "gine"
USED_BY = {
    **dict.fromkeys(("encoding", "explorer", "data", "problem", "outputs"), (REGRESSOR,)),
    **dict.fromkeys(("semantics", "domain_file", "libraries", "plank_compat", "forbid_collapse"), (REGRESSOR,)),
    **dict.fromkeys(("trainer", "patience", "callbacks", "loggers", "ckpt_path", "resume"), (REGRESSOR, "relational")),
}
"""The models that use a setting, where these are not all of them."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(ProblemSettings, Training):
    """The settings, see `conf/train.yaml`."""

    domain: list[str]
    without: list[str]
    problem: list[str]
    recipe_for: str | None
    explorer: ExplorerSettings
    outputs: Path = field(metadata={"written": "folder"})

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """What the model does not use, what does not fit the problems it learns from, and a recipe for another model.

        Args:
            values: as composed, not checked yet.
        """
        kind = dict(values["model"]).get("kind", REGRESSOR)
        unused = {
            name: f"model={kind} does not use it, only model={' and model='.join(kinds)}: leave it out"
            for name, kinds in USED_BY.items()
            if kind not in kinds
        }
        if values["recipe_for"] not in (None, kind):
            unused["recipe"] = f"it is for model={values['recipe_for']}, not for model={kind}"
        if kind == REGRESSOR and values["problem"]:
            reason = "problem= names all that is learned from: leave one of them out"
            unused |= dict.fromkeys(("domain", "without", "data=distribution", "data.draws", "data.goals"), reason)
        elif kind == REGRESSOR and "draws" in values["data"]:
            reason = "problems are sampled, not read: give it with data=published or problem="
            unused |= dict.fromkeys(("semantics", "domain_file", "libraries", "plank_compat"), reason)
        elif kind == REGRESSOR:
            unused["without"] = "it leaves out sampled problems only: give it with data=distribution"
        return unused


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


def _linear(settings: Train, options: LinearOptions) -> None:
    """Draw, exhaust, fit candidates, choose one by search, and write it."""
    domains = _distributions(settings)

    from rich.console import Console

    from learn.models.linear.model import write_model
    from learn.training.linear.trials import train_linear
    from learn.training.report.tables import write_table

    chosen = train_linear(domains, options, settings.seed)
    rows = [candidate.row() for candidate in chosen.candidates]
    title = f"greedy search on {chosen.validation} validation problems, at most {options.nodes} nodes each"
    Console().print(write_table(rows, settings.run_dir / "candidates", title))
    write_model(chosen.model, settings.run_dir / LINEAR_FILE)
    if options.folder is not None:
        write_model(chosen.model, Path(options.folder, f"{chosen.model.domain}.json"))
    logger.info("%s: %s", chosen.model.representation, settings.run_dir / LINEAR_FILE)


def _distributions(settings: Train) -> list[str]:
    """The domains whose problems are sampled."""
    from domains import DOMAINS

    domains = list(DOMAINS) if settings.domain == ["all"] else settings.domain
    for name in (*domains, *settings.without):
        if name not in DOMAINS:
            raise UsageError(unknown("domain", name, [*DOMAINS, "all"]))
    domains = [name for name in domains if name not in settings.without]
    if not domains:
        raise UsageError("no domain is left to learn from: give domain=<domain, list or all>, and leave fewer out")
    return domains


def _relational(settings: Train, options: RelationalOptions) -> None:
    """Draw, exhaust, train, and keep what searches best."""
    domains = _distributions(settings)

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
    """Make the data sets, train, show how well the regressor predicts, and how to search with it."""
    if settings.problem:
        settings = replace(settings, data=settings.data.of_batches())
    if isinstance(settings.data, DistributionOptions):
        domains, problems, tasks = _drawn(settings, settings.data)
    else:
        domains, problems, tasks = _published(settings)

    from rich.console import Console

    from learn.data.collecting import collect, summary
    from learn.training.fitting import metrics_table, train
    from learn.training.trial import find_solved, sampled

    def data_sets() -> list[DataSet]:
        sets = collect(tasks(), settings.explorer, settings.encoding, settings.outputs)
        Console().print(summary(sets))
        return sets

    metrics = train(settings, data_sets, domains, problems, settings.semantics)
    if not metrics:
        return
    Console().print(metrics_table(metrics))
    run_dir = settings.run_dir
    logger.info("checkpoint, metrics and pictures: %s", run_dir)
    checkpoint = run_dir / CHECKPOINTS / "best.ckpt"
    named = zip(problems, tasks(), strict=True) if settings.problem else sampled(domains[0], settings.seed, run_dir)
    problem = find_solved(checkpoint, named, forbid_collapse=settings.forbid_collapse)
    if problem is not None:
        print(_search_command(settings, problem, checkpoint))


def _search_command(settings: Train, problem: str, checkpoint: Path) -> str:
    """The command line that searches a problem with a regressor."""
    chosen = {"problem": problem, "agent": "hfs", "heuristic": "gnn", "heuristic.checkpoint": checkpoint}
    reading = ("semantics", "domain_file", "libraries", "plank_compat") if settings.problem else ()
    given = {name: getattr(settings, name) for name in (*reading, "forbid_collapse")}
    chosen |= {name: value for name, value in given.items() if value not in ("default", None, [], False)}
    return shlex.join(["python", "-m", "search.solve", *map(write_override, chosen, chosen.values())])


def _published(settings: Train) -> tuple[list[str], list[str], Callable[[], list[Task]]]:
    """Domains, names and tasks of the problems named, or else of the published ones."""
    from epigym.problem import load_problem
    from learn.data.problems import named

    problems = settings.problem or named("train", settings.domain, [])
    tasks = [load_problem(problem, settings.reading) for problem in problems]
    return list(dict.fromkeys(task.domain for task in tasks if task.domain)), problems, lambda: tasks


def _drawn(settings: Train, options: DistributionOptions) -> tuple[list[str], list[str], Callable[[], list[Task]]]:
    """Domains and tasks of problems that are drawn when they are asked for; they have no names to load them by."""
    from learn.training.drawing import drawn

    domains = _distributions(settings)
    return domains, [], lambda: drawn(domains, "train", options.draws, settings.seed, options.goals)


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
