"""Finding the network for a problem."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from epigym.errors import EpigymError, MissingCheckpointError
from epigym.io.checksummed import read_checksummed

R = TypeVar("R")

RUN_FILE = "run.json"
"""Written into the folder of a run when it is finished."""
CHECKPOINTS = "checkpoints"
"""Folder of `best.ckpt` and `last.ckpt` in the folder of a run."""
LAST = "last"
MODEL_FILE = "model.json"
"""What a training writes into the folder of its run: a linear model, or a network that needs no PyTorch."""

logger = logging.getLogger(__name__)


class FinishedRun(NamedTuple):
    """A finished training run.

    Attributes:
        finished: when, as ISO 8601; runs are ordered by it.
        checkpoint: of its best network.
        domains: that it was trained on.
        is_good: whether it was validated by search, or its error on the validation samples is below that of their
            training's median distance.
    """

    finished: str
    checkpoint: Path
    domains: tuple[str, ...]
    is_good: bool


def list_finished_runs(outputs: str | os.PathLike[str] = "outputs") -> list[FinishedRun]:
    """The finished runs whose checkpoints are there, the newest last; a damaged record is skipped with a warning.

    Args:
        outputs: where runs are kept.
    """

    def run(folder: Path, record: Mapping[str, Any]) -> FinishedRun:
        checkpoint, is_good = folder / record["checkpoint"], bool(record["is_good"])
        return FinishedRun(str(record["finished"]), checkpoint, tuple(record["domains"]), is_good)

    return sorted(one for one in read_records(Path(outputs, "train"), run) if one.checkpoint.is_file())


def read_records(folder: Path, make: Callable[[Path, Mapping[str, Any]], R]) -> list[R]:
    """What is made of each record of a finished run below a folder; a damaged one is skipped with a warning.

    Args:
        folder: where runs are kept.
        make: called with the folder of a run and its record.
    """
    found = []
    for path in sorted(folder.rglob(RUN_FILE)):
        try:
            found.append(make(path.parent, read_checksummed(path, "train again, or delete it")))
        except EpigymError as error:
            _warn(str(error))
        except (KeyError, TypeError, ValueError) as error:
            _warn(f"{path}: {error!r}")
    return found


def find_newest_checkpoint(domain: str, outputs: str | os.PathLike[str] = "outputs") -> Path:
    """The checkpoint of the newest good run on `domain`, see `FinishedRun`.

    Args:
        domain: name of a domain.
        outputs: where runs are kept.

    Raises:
        MissingCheckpointError: when there is none.
    """
    runs = [run for run in list_finished_runs(outputs) if domain in run.domains]
    good = [run.checkpoint for run in runs if run.is_good]
    if good:
        return good[-1]
    reason = f"no finished run was trained on {domain!r}" if domain else "no finished run fits a problem of no domain"
    if runs:
        reason = f"none of the {len(runs)} finished runs on {domain!r} predicts better than the median distance"
    remedy = f"run `python -m learn.train domain={domain or '…'}`, or name a checkpoint"
    raise MissingCheckpointError(f"{Path(outputs, 'train')}: {reason}: {remedy}")


def find_checkpoint(path: str | None, domain: str) -> str:
    """The file of the network for a task.

    Args:
        path: the file, in which `{domain}` stands for the task's domain; None takes the newest good run's.
        domain: of the task.

    Raises:
        MissingCheckpointError: when there is no such file, or no run to take.
    """
    if path is None:
        return os.fspath(find_newest_checkpoint(domain))
    file = path.replace("{domain}", domain)
    if not Path(file).is_file():
        raise MissingCheckpointError(f"there is no checkpoint {file}: train one with `python -m learn.train domain=…`")
    return file


@functools.cache  # says it once
def _warn(reason: str) -> None:
    logger.warning("skipped the damaged record of a run: %s", reason)
