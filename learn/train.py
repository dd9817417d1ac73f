"""Train a heuristic: a graph network that predicts the distance to the goal, or corrects a base heuristic.

It learns from a data set: data.folder, or the one that the settings describe, made or found in outputs/rollouts. Its
problems are published problems of domain=, sampled ones (data=sampled; domain=all: from all domains), or files
(problem=). encoding=hash, map and bitmask choose the paper's method, encoding=relational ours; every part can be
overridden. The run writes model.safetensors, checkpoints, metrics, pictures, the settings and finally run.json into its
folder, prints a command that searches with the network, and ends with a verdict: it compares the network with
baselines on new problems, used neither for training nor for choosing. The heuristic `learned` reads model.safetensors.
"""

from __future__ import annotations

import logging
import math
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from epigym.cli.words import write_override
from epigym.config.sweeps import is_sampled
from learn.training.options import Training

if TYPE_CHECKING:
    from learn.training.fitting import Finished

_NO_VERDICT = (
    "none: there are no other problems: these belong to no domain, too few are held out, or none fits the encoding; "
    "learn.assess tests on given ones"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Train(Training, ProblemSettings):
    """The settings, see `conf/train.yaml`."""


def train(settings: Train) -> float | None:
    """Train a network; print its validation, a command that searches with it, and the verdict.

    Returns:
        Its validation score; the lower, the better. Infinity if it diverged and the settings are sampled, so that the
        sampling goes on. None in all but the main process of a distributed training.

    Raises:
        EpigymError: when a problem or a setting is wrong, or no step was taken.
        KeyboardInterrupt: when the training is interrupted.
    """
    source = settings.source

    from rich.console import Console

    from learn.training.fitting import fit_network
    from learn.training.module import DivergedError
    from learn.training.report.report import list_files, make_metrics_table

    is_trial = bool(settings.trainer.get("fast_dev_run"))
    with TemporaryDirectory() if is_trial else nullcontext("") as folder:
        if is_trial:
            validation = replace(settings.validation, verdict=0)
            settings = replace(settings, run_dir=Path(folder) / "trial", validation=validation)
        try:
            finished = fit_network(settings, source)
        except DivergedError as error:
            if not is_sampled():
                raise
            logger.error("%s", error)
            return math.inf
    if finished is None:
        return None
    if is_trial:
        print("trainer.fast_dev_run: training and validation work; nothing is kept")
        return finished.metrics["val/score"]
    Console().print(make_metrics_table(finished.metrics))
    logger.info("model, metrics and pictures: %s", settings.run_dir)
    if (search := finished.search) is not None:
        print(shlex.join(["python", "-m", "search.solve", *map(write_override, search, search.values())]))
    for line in (*_describe(settings, finished), *list_files(settings.run_dir)):
        print(line)
    return finished.metrics["val/score"]


def _describe(settings: Train, finished: Finished) -> Iterator[str]:
    """The lines of the verdict and of what to do next."""
    from hydra.core.hydra_config import HydraConfig

    from learn.training.report.next_step import suggest_step

    verdict = finished.verdict
    if verdict is None:
        text = "none was asked for" if settings.validation.verdict == 0 else _NO_VERDICT
        yield textwrap.fill(f"verdict: {text}", 80, subsequent_indent="  ")
        return
    yield from (*verdict.describe(), *_describe_expert(finished.metrics))
    given = HydraConfig.get().overrides.task if HydraConfig.initialized() else ()
    if (step := suggest_step(settings, verdict, given)) is not None:
        yield ""
        yield textwrap.fill(f"next: {step.reason}, {step.duration}; see docs/neural.md", 80, subsequent_indent="  ")
        yield shlex.join(["python", "-m", "learn.train", *step.overrides])


def _describe_expert(metrics: Mapping[str, float]) -> Iterator[str]:
    """The plans and corrections from which the kept network learned; nothing without an expert or a step."""
    if "train/plans" in metrics and metrics["step"] > 0:
        plans, corrections = (metrics[f"train/{name}"] for name in ("plans", "corrections"))
        yield ""
        yield f"  it learned from {plans:.0f} plans of the expert and its corrections on {corrections:.0f} problems"


main = partial(run, train, Train, "learn.train")


if __name__ == "__main__":
    main()
