"""Finding the regressor for a problem."""

from __future__ import annotations

import json
import os
from pathlib import Path

from epigym.errors import CheckpointError

RUN_FILE = "run.json"
"""Written into the folder of a run when it is finished."""


def newest(domain: str, outputs: str | os.PathLike[str] = "outputs") -> Path:
    """The checkpoint of the newest finished run that was trained on `domain`.

    Args:
        domain: name of a domain.
        outputs: where runs are kept.

    Raises:
        CheckpointError: when there is none.
    """
    found: list[tuple[str, Path]] = []
    for record in Path(outputs, "train").rglob(RUN_FILE):
        run = json.loads(record.read_text())
        checkpoint = record.parent / run["checkpoint"]
        if domain in run["domains"] and checkpoint.is_file():
            found.append((run["finished"], checkpoint))
    if not found:
        raise CheckpointError(
            f"no finished run under {Path(outputs, 'train')} was trained on {domain!r}: "
            f"run `python -m learn.train domain={domain}` first, or name a checkpoint"
        )
    return max(found)[1]


def chosen(path: str | None, problem: str, suffix: str) -> str:
    """The file of the regressor for a problem.

    Args:
        path: the file, in which `{domain}` stands for the problem's domain; None takes the newest run's.
        problem: name of the problem; its domain is the part before the slash.
        suffix: of the file beside the newest run's checkpoint: `.ckpt` or `.onnx`.

    Raises:
        CheckpointError: when there is no run to take.
    """
    domain = problem.partition("/")[0]
    return path.replace("{domain}", domain) if path else os.fspath(newest(domain).with_suffix(suffix))
