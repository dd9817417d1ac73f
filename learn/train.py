"""Train a heuristic: a graph network that corrects a base heuristic, or a linear model.

Training problems are sampled from domains (domain=all: from all domains), or are their published problems
(data=published), or files (problem=). Encoding, objective, base and data are independent choices. A network run writes
checkpoints, metrics, pictures, the settings, model.safetensors and finally run.json into the folder of the run, and
prints a command that searches with the network. model=linear writes model.safetensors and trials.csv, the table of all
fitted models. The heuristic `learned` reads model.safetensors.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from epigym.cli.runner import run
from epigym.cli.settings import READING, ProblemSettings
from epigym.cli.words import write_override
from epigym.errors import UsageError
from epigym.names import unknown
from learn.models.files import MODEL_FILE
from learn.training.options import LinearOptions, Training

_OF_NETWORKS = (
    *("recipe", "encoding", "objective", "base", "data", "validation", "explorer", "problem", "trainer", "patience"),
    *("callbacks", "loggers", "ckpt_path", "resume", *READING),
    "consistent_beliefs",
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(ProblemSettings, Training):
    """The settings, see `conf/train.yaml`."""

    domain: list[str]
    without: list[str]
    problem: list[str]

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """Settings that the model or the source of problems does not use, with reasons.

        Args:
            values: the composed settings, not checked yet.
        """
        if dict(values["model"]).get("kind") == "linear":
            reason = "model=linear does not use it, only networks (model=gine or model=paper): leave it out"
            return dict.fromkeys(_OF_NETWORKS, reason)
        unused: dict[str, str] = {}
        is_sampled, is_distance = "instances" in values["data"], values["objective"]["name"] == "distance"
        if values["problem"]:
            reason = "problem= names all that is learned from: leave one of them out"
            unused |= dict.fromkeys(("domain", "without"), reason)
        elif is_sampled:
            reason = "problems are sampled, not read: give it with data=published or problem="
            unused |= dict.fromkeys(READING, reason)
        else:
            unused["without"] = "it leaves out sampled problems only: give it with data=sampled"
        if is_sampled or not is_distance:
            reason = "rollouts are made with data=published and objective=distance only: leave it out"
            unused |= dict.fromkeys(("explorer", "consistent_beliefs", "data.max_class_share"), reason)
        else:
            unused["data.expansions"] = "the explorer decides what is learned from: leave it out"
        return unused


def train(settings: Train) -> None:
    """Train and print the validation of the result.

    Raises:
        EpigymError: when a problem or a setting is wrong, or training ends before the first validation.
    """
    if isinstance(settings.model, LinearOptions):
        _train_linear(settings, settings.model)
    else:
        _train_network(settings)


def _train_linear(settings: Train, options: LinearOptions) -> None:
    """Train linear models, print all trials, and write the selected model."""
    domains = _choose_domains(settings)

    from rich.console import Console

    from epigym.io.tables import Table
    from learn.training.linear.training import train_linear

    chosen = train_linear(domains, options, settings.seed)
    rows = [trial.row() for trial in chosen.trials]
    title = f"greedy search on {chosen.validation} validation problems, at most {options.nodes} nodes each"
    Console().print(Table.of(title, rows).write(settings.run_dir / "trials", "csv", "markdown"))
    chosen.model.write(settings.run_dir / MODEL_FILE)
    logger.info("%s: %s", chosen.model.representation, settings.run_dir / MODEL_FILE)


def _choose_domains(settings: Train) -> list[str]:
    """The training domains.

    Raises:
        UsageError: when a domain does not exist, or none is left.
    """
    from domains import DOMAINS

    domains = list(DOMAINS) if settings.domain == ["all"] else settings.domain
    for name in (*domains, *settings.without):
        if name not in DOMAINS:
            raise UsageError(unknown("domain", name, [*DOMAINS, "all"]))
    domains = [name for name in domains if name not in settings.without]
    if not domains:
        raise UsageError("no domain is left to learn from: give domain=<domain, list or all>, and leave fewer out")
    return domains


def _train_network(settings: Train) -> None:
    """Train a network, print its validation and a command that searches with it."""
    domains = [] if settings.problem else _choose_domains(settings)

    from rich.console import Console

    from learn.training.example import find_solved, write_samples
    from learn.training.fitting import make_metrics_table, train_best
    from learn.training.sources import TrainingProblems

    source = TrainingProblems(settings, domains, settings.problem, settings.reading)
    metrics = train_best(settings, source)
    if not metrics:
        return
    Console().print(make_metrics_table(metrics))
    run_dir = settings.run_dir
    logger.info("model, metrics and pictures: %s", run_dir)
    named = zip(source.names, source.tasks, strict=True)
    trials = named if settings.problem else write_samples(domains[0], settings.seed, run_dir)
    problem = find_solved(run_dir, trials, consistent_beliefs=settings.consistent_beliefs)
    if problem is not None:
        print(_search_command(settings, problem))


def _search_command(settings: Train, problem: str) -> str:
    """The command that searches a problem with the trained network."""
    chosen = {"problem": problem, "agent": "hfs", "heuristic": "learned", "heuristic.model": settings.run_dir}
    reading = READING if settings.problem else ()
    given = {name: getattr(settings, name) for name in (*reading, "consistent_beliefs")}
    chosen |= {name: value for name, value in given.items() if value not in ("default", None, [], False)}
    return shlex.join(["python", "-m", "search.solve", *map(write_override, chosen, chosen.values())])


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
