"""Command lines: a Hydra app with one clear line for wrong input."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from epigym.errors import EpigymError

logger = logging.getLogger(__name__)

BAD_INPUT = 65
"""Exit code for wrong input, as in `sysexits.h`."""


def run(task: Callable[[DictConfig], Any], config_name: str) -> None:
    """Run `task` as a Hydra app with `conf/<config_name>.yaml`.

    Wrong input (an `EpigymError`) is one logged line and exit code 65. In a multirun no code is set, and errors are
    left to Hydra, which runs the other jobs first.
    """
    failed = False

    @functools.wraps(task)
    def job(config: DictConfig) -> Any:
        nonlocal failed
        if HydraConfig.get().mode is RunMode.MULTIRUN:
            return task(config)
        try:
            return task(config)
        except EpigymError as error:
            logger.error("%s", error)
            failed = True

    hydra.main(version_base="1.3", config_path="pkg://conf", config_name=config_name)(job)()
    if failed:
        sys.exit(BAD_INPUT)
