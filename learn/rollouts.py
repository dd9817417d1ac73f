"""Make labelled data sets: `python -m learn.rollouts problem=coin_in_the_box/pl_6 explorer=exhaustive`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from epigym.files import write_text
from learn.command import run
from learn.data.collecting import collect, summary
from learn.data.dataset import DataSet
from learn.data.problems import listed, training_problems
from learn.training.pictures import draw_rollout

logger = logging.getLogger(__name__)


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
