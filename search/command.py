"""Command lines: a Hydra app whose exit code says how it ended."""

from __future__ import annotations

import enum
import functools
import logging
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from epigym.errors import EpigymError
from search.agents.result import SearchStatus

logger = logging.getLogger(__name__)


class ExitCode(enum.IntEnum):
    """Exit codes of the commands of this room; from 64 on those of `sysexits.h`."""

    SUCCESS = 0
    INVALID_PLAN = 1
    UNSOLVABLE = 11
    LIMIT = 12
    USAGE = 64
    BAD_INPUT = 65
    FAILURE = 70

    @classmethod
    def of(cls, status: SearchStatus) -> ExitCode:
        """The exit code that reports a search status."""
        if status.is_limit:
            return cls.LIMIT
        codes = {SearchStatus.SOLVED: cls.SUCCESS, SearchStatus.UNSOLVABLE: cls.UNSOLVABLE}
        return codes.get(status, cls.FAILURE)


def plain(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain containers; a value that is missing raises an error that names it."""
    return cast(dict[str, Any], OmegaConf.to_container(config, resolve=True, throw_on_missing=True))


def run(task: Callable[[DictConfig], ExitCode], config_name: str) -> NoReturn:
    """Run `task` as a Hydra app with `conf/<config_name>.yaml` and exit with the code that it returns.

    Wrong input (an `EpigymError`) is one logged line and exit code 65, a wrong configuration exit code 64.
    In a multirun no code is set and errors are left to Hydra, which runs the other jobs first.
    """
    code: ExitCode | None = None  # until the task is called

    @functools.wraps(task)
    def job(config: DictConfig) -> None:
        nonlocal code
        if HydraConfig.get().mode is RunMode.MULTIRUN:
            task(config)
            return
        code = ExitCode.FAILURE
        try:
            code = task(config)
        except EpigymError as error:
            logger.error("%s", error)
            code = ExitCode.BAD_INPUT
        except OmegaConfBaseException as error:
            logger.error("%s", error)
            code = ExitCode.USAGE

    try:
        hydra.main(version_base="1.3", config_path="../conf", config_name=config_name)(job)()
    except SystemExit as stop:  # how Hydra reports a wrong configuration and any other exception
        sys.exit((code or ExitCode.USAGE) if stop.code == 1 else stop.code)
    sys.exit(code or ExitCode.SUCCESS)
