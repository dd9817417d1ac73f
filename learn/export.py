"""Write a trained network as an ONNX file, which runs without PyTorch."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from epigym.cli.runner import run
from epigym.cli.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Export(Settings):
    """The settings, see `conf/export.yaml`."""

    checkpoint: Path = field(metadata={"exists": True})
    path: Path | None = field(metadata={"written": "file"})


def export(settings: Export) -> None:
    """Write the file.

    Raises:
        EpigymError: when the checkpoint is wrong, or a package is missing.
    """
    from learn.models.checkpoints import load
    from learn.models.gine.export import export_onnx

    path = settings.path or settings.checkpoint.with_suffix(".onnx")
    export_onnx(load(settings.checkpoint), path)
    logger.info("%s", path)


main = partial(run, export, Export, "learn.export")


if __name__ == "__main__":
    main()
