"""Write a trained network as an ONNX file for other programs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from epigym.cli.runner import run
from epigym.cli.settings import Settings
from epigym.config.values import require_writable
from epigym.errors import UsageError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Export(Settings):
    """The settings, see `conf/export.yaml`."""

    model: Path = field(metadata={"exists": True})
    path: Path | None = field(metadata={"written": "file"})

    def __post_init__(self) -> None:
        """Check the ending of the file."""
        if self.path is not None and self.path.suffix != ".onnx":
            raise UsageError(f"path={self.path}: the name of an ONNX file ends in .onnx")


def export(settings: Export) -> None:
    """Write the file and compare its outputs with those of the network.

    Raises:
        EpigymError: when the model is wrong or no network, the outputs differ, or a package is missing.
    """
    from learn.models.gine.model import NetworkModel
    from learn.models.opening import locate_model, open_model

    model = open_model(settings.model)
    if not isinstance(model, NetworkModel):
        raise UsageError(f"model={settings.model} is a linear model, expected a network")
    from learn.models.gine.export import export_onnx

    path = settings.path or locate_model(settings.model).with_suffix(".onnx")
    require_writable(path, "path")
    difference = export_onnx(model, path)
    logger.info("%s: outputs differ by at most %.2g from those of the network", path, difference)


main = partial(run, export, Export, "learn.export")


if __name__ == "__main__":
    main()
