"""Train a heuristic: a graph network that corrects a base heuristic.

It learns from a data set: data.folder, or the one that the settings describe, made or found in outputs/rollouts. Its
problems are sampled from domains (domain=all: from all domains), or are their published problems (data=published),
or files (problem=). Encoding, objective, base and data are independent choices. The run writes checkpoints, metrics,
pictures, the settings, model.safetensors and finally run.json into its folder, and prints a command that searches with
the network. The heuristic `learned` reads model.safetensors.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from epigym.cli.words import write_override
from epigym.language.reading import READING
from epigym.task.task import Task
from learn.training.options import Training

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(Training, ProblemSettings):
    """The settings, see `conf/train.yaml`."""


def train(settings: Train) -> None:
    """Train a network, and print its validation and a command that searches with it.

    Raises:
        EpigymError: when a problem or a setting is wrong, or training ends before the first validation.
    """
    source = settings.source

    from rich.console import Console

    from learn.training.example import find_solved, write_samples
    from learn.training.fitting import make_metrics_table, train_best
    from learn.training.problems import TrainingProblems

    problems = TrainingProblems(settings, source)
    metrics = train_best(settings, problems)
    if not metrics:
        return
    Console().print(make_metrics_table(metrics))
    run_dir = settings.run_dir
    logger.info("model, metrics and pictures: %s", run_dir)
    trials: Iterable[tuple[str, Task]]
    if settings.problem:
        trials = zip(source.names, source.tasks, strict=True)
    elif problems.data.domains:
        trials = write_samples(problems.data.domains[0], settings.seed, run_dir)
    else:
        trials = ((task.name, task) for task in problems.data.held_out)
    consistent_beliefs = problems.data.consistent_beliefs
    problem = find_solved(run_dir, trials, consistent_beliefs=consistent_beliefs)
    if problem is not None:
        print(_search_command(settings, problem, consistent_beliefs=consistent_beliefs))


def _search_command(settings: Training, problem: str, *, consistent_beliefs: bool) -> str:
    """The command that searches a problem with the trained network."""
    chosen = {"problem": problem, "agent": "hfs", "heuristic": "learned", "heuristic.model": settings.run_dir}
    reading = READING if settings.problem else ()
    given = {name: getattr(settings, name) for name in reading} | {"consistent_beliefs": consistent_beliefs}
    chosen |= {name: value for name, value in given.items() if value not in ("default", None, [], False)}
    return shlex.join(["python", "-m", "search.solve", *map(write_override, chosen, chosen.values())])


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
