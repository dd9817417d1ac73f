"""Make labelled data sets, and print and draw their statistics."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from epigym.config.values import AtLeast, Count
from epigym.io.checksummed import write_checksummed
from epigym.io.files import slug, write_rows
from learn.data.explorers import ExplorerSettings
from learn.training.options import ENCODING

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Rollouts(ProblemSettings):
    """The settings, see `conf/rollouts.yaml`."""

    domain: list[str]
    problem: list[str]
    distribution: list[str]
    split: Literal["train", "validation", "test"]
    instances: Count
    sample_seed: Annotated[int, AtLeast(0)]
    explorer: ExplorerSettings
    encoding: dict[str, Any] = field(metadata=ENCODING)
    outputs: Path = field(metadata={"written": "folder"})
    format: Literal["samples", "minari"]
    episodes: Count

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """The number of episodes where none are written."""
        return {} if values["format"] == "minari" else {"episodes": "there are none: add format=minari"}


def make_rollouts(settings: Rollouts) -> None:
    """Make the data sets.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong.
    """
    from epigym.problem import load_problem
    from learn.data.distribution import COLUMNS, sample_problems
    from learn.data.problems import list_problems

    drawn = [
        problem
        for domain in settings.distribution
        for problem in islice(sample_problems(domain, settings.split, settings.sample_seed), settings.instances)
    ]
    tasks = [problem.task for problem in drawn]
    if settings.domain or settings.problem or not drawn:
        problems = list_problems("train", settings.domain, settings.problem)
        tasks += [load_problem(problem, settings.reading) for problem in problems]

    from rich.console import Console

    from learn.data.collecting import collect, summarize
    from learn.training.report.pictures import draw_rollout

    if drawn:
        write_rows(settings.run_dir / "problems.csv", COLUMNS, (problem.row() for problem in drawn))
    sets = collect(tasks, settings.explorer, settings.encoding, settings.outputs)
    for data in sets:
        name = slug(data.metadata["task"].replace("/", "_"))
        draw_rollout(data.metadata["counts"], data.metadata["task"], settings.run_dir / f"{name}.png")
        write_checksummed(settings.run_dir / f"{name}.json", dict(data.metadata))
        logger.info("%s: %s", data.metadata["task"], data.folder)
    if settings.format == "minari":
        from learn.reinforcement.episodes import write_minari

        root = settings.outputs / "minari"
        for task, data in zip(tasks, sets, strict=True):
            name = write_minari(task, data.samples, settings.encoding, root, settings.episodes, settings.sample_seed)
            logger.info("MINARI_DATASETS_PATH=%s has the data set %s", root, name)
    Console().print(summarize(sets))


main = partial(run, make_rollouts, Rollouts, "learn.rollouts")


if __name__ == "__main__":
    main()
