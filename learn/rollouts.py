"""Make labelled data sets: `python -m learn.rollouts problem=coin_in_the_box/pl_6 explorer=exhaustive`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.table import Table

from epigym.files import write_text
from epigym.language import Semantics
from epigym.problem import load_problem
from learn.command import run
from learn.dataset import DataSet, cached
from learn.explorers import ExplorerSettings
from learn.plots import draw_rollout
from learn.problems import listed, training_problems
from learn.progress import visits

logger = logging.getLogger(__name__)


def collect(
    problems: Sequence[str],
    semantics: Semantics,
    explorer: Mapping[str, Any],
    encoding: Mapping[str, Any],
    outputs: Path,
) -> list[DataSet]:
    """The data sets of some problems, from the cache where they are.

    Args:
        problems: files, or instances as `family/instance`.
        semantics: the reading of mA*.
        explorer: keyword arguments of `ExplorerSettings`.
        encoding: keyword arguments of `epigym.encoding.encoder`.
        outputs: the cache is the folder `rollouts` there.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong.
    """
    settings = ExplorerSettings(**explorer)
    sets = []
    for problem in problems:
        task = load_problem(problem, semantics)
        with visits(f"exploring {problem}", settings.max_visited) as on_visit:
            sets.append(cached(task, settings, encoding, outputs / "rollouts", on_visit))
    return sets


def summary(sets: Sequence[DataSet]) -> Table:
    """What the data sets hold, one line each."""
    table = Table(box=None, padding=(0, 1, 0, 0), title="rollouts; + means that there are more e-states")
    for name in ("problem", "visited", "samples", "goals", "steps", "depth", "worlds", "sec"):
        is_text = name == "problem"
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    for data in sets:
        counts, seconds = data.metadata["counts"], data.metadata["seconds"]
        table.add_row(
            data.metadata["task"],
            f"{counts['visited']:,}{'' if counts['complete'] else '+'}",
            f"{counts['kept']:,}",
            f"{counts['goals'] / counts['kept']:.0%}",
            f"0–{len(counts['distances']) - 1}",
            f"{len(counts['depths']) - 1}",
            f"{counts['worlds'] / counts['kept']:.1f}",
            f"{sum(seconds.values()):.1f}",
        )
    return table


def rollouts(config: DictConfig) -> list[DataSet]:
    """Make the data sets that `conf/rollouts.yaml` describes; print and draw their statistics.

    Args:
        config: the composed configuration.

    Raises:
        EpigymError: when a problem, a setting or a stored data set is wrong.
    """
    values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    problems = training_problems(listed(values["domain"]), listed(values["problem"]))
    sets = collect(problems, values["semantics"], values["explorer"], values["encoding"], Path(values["outputs"]))
    run_dir = Path(values["run_dir"])
    run_dir.mkdir(parents=True, exist_ok=True)
    for data in sets:
        name = data.metadata["task"].replace("/", "_")
        draw_rollout(data.metadata["counts"], data.metadata["task"], run_dir / f"{name}.png")
        write_text(run_dir / f"{name}.json", json.dumps(dict(data.metadata), indent=2) + "\n")
        logger.info("%s: %s", data.metadata["task"], data.folder)
    Console().print(summary(sets))
    return sets


if __name__ == "__main__":
    run(rollouts, "rollouts")
