"""Finished training runs, and the search for the network of a problem."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from epigym.errors import EpigymError, MissingCheckpointError
from epigym.io.checksummed import read_checksummed
from epigym.io.files import is_file

R = TypeVar("R")

RUN_FILE = "run.json"
"""The record of a run, written into its folder when it is finished."""
CHECKPOINTS = "checkpoints"
"""The subfolder of a run with `best.ckpt` and `last.ckpt`."""
LAST = "last"
MODEL_FILE = "model.json"
"""The model file of a run: a linear model, or a network that needs no PyTorch."""

logger = logging.getLogger(__name__)


class FinishedRun(NamedTuple):
    """A finished training run.

    Attributes:
        finished: time of its end as ISO 8601, by which runs are ordered.
        checkpoint: path of its best network.
        domains: training domains.
        is_good: whether it was validated by search, or has a smaller error on the validation samples than the median
            training distance.
    """

    finished: str
    checkpoint: Path
    domains: tuple[str, ...]
    is_good: bool


def list_finished_runs(outputs: str | os.PathLike[str] = "outputs") -> list[FinishedRun]:
    """List the finished runs with existing checkpoints, newest last; damaged records are skipped with a warning.

    Args:
        outputs: parent folder of the runs' folder `train`.
    """

    def run(folder: Path, record: Mapping[str, Any]) -> FinishedRun:
        checkpoint, is_good = folder / record["checkpoint"], bool(record["is_good"])
        return FinishedRun(str(record["finished"]), checkpoint, tuple(record["domains"]), is_good)

    return sorted(one for one in read_records(Path(outputs, "train"), run) if one.checkpoint.is_file())


def read_records(folder: Path, make: Callable[[Path, Mapping[str, Any]], R]) -> list[R]:
    """Read the records of all finished runs below a folder; damaged ones are skipped with a warning.

    Args:
        folder: folder of the runs.
        make: makes the result from the folder of a run and its record.
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
    """Find the checkpoint of the newest good run on a domain, see `FinishedRun`.

    Args:
        domain: name of the domain.
        outputs: parent folder of the runs' folder `train`.

    Raises:
        MissingCheckpointError: when there is no such run.
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
    """Find the file of the network for a task.

    Args:
        path: the file, in which `{domain}` stands for the task's domain; None for the newest good run on the domain.
        domain: name of the task's domain.

    Raises:
        MissingCheckpointError: when there is no such file or run.
    """
    if path is None:
        return os.fspath(find_newest_checkpoint(domain))
    file = path.replace("{domain}", domain)
    if not is_file(file):
        raise MissingCheckpointError(f"there is no checkpoint {file}: train one with `python -m learn.train domain=…`")
    return file


def require_checkpoint(checkpoint: str | None, domain: str | None) -> None:
    """Check that `find_checkpoint` finds a file for a task of a domain; None if the domain is not known yet.

    Raises:
        MissingError: when there is no such file.
    """
    if domain is not None or (checkpoint is not None and "{domain}" not in checkpoint):
        find_checkpoint(checkpoint, domain or "")
    elif checkpoint is None and not list_good_checkpoints(None):
        find_newest_checkpoint("")  # raises the error: there is none for any domain


def list_good_checkpoints(domain: str | None) -> list[Path]:
    """The checkpoint of the newest good run on a domain; for None those of all good runs, newest last."""
    good = [run for run in list_finished_runs() if run.is_good]
    if domain is None:
        return [run.checkpoint for run in good]
    return [run.checkpoint for run in good if domain in run.domains][-1:]


@functools.cache  # warns once
def _warn(reason: str) -> None:
    logger.warning("skipped the damaged record of a run: %s", reason)
