"""Linear models by name: those that come with epigym, one for each domain and a general one, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from epigym.errors import CheckpointError, MissingError
from learn.models.linear.model import LinearModel, read_model, read_schema

SHIPPED: Final = Path(__file__).with_name("shipped")
"""The folder of the models that come with epigym, `<domain>.json` and `general.json`."""
GENERAL: Final = "general"


def fitting(file: str | None, domain: str, schema: frozenset[int]) -> tuple[str, LinearModel]:
    """The model for a task, and where it was read from.

    Args:
        file: its file, in which `{domain}` stands for the domain; None takes the one that comes with epigym for the
            domain, if the task's predicates and actions are among those that it knows, else the first of the others
            that knows them, as files may call a domain otherwise, and else the general one.
        domain: of the task.
        schema: colours of the task's predicates and action schemas, see `FeatureTypes.schema`.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when it cannot be read.
    """
    if file is not None:
        return _named(file, domain)
    own = (path for path in SHIPPED.glob("*.json") if path.stem != GENERAL)
    for path in sorted(own, key=lambda path: (path.stem != domain, path.stem)):
        if schema <= read_schema(path):
            return str(path), _read(path)
    path = SHIPPED / f"{GENERAL}.json"
    return str(path), _read(path)


def _named(file: str, domain: str) -> tuple[str, LinearModel]:
    file = file.replace("{domain}", domain)
    if file.endswith((".ckpt", ".onnx")):
        raise CheckpointError(f"{file}: a network, no linear model (.json): the heuristic 'gnn' reads it")
    return file, _read(Path(file))


def _read(path: Path) -> LinearModel:
    if not path.is_file():
        raise MissingError(f"there is no model {path}: make one with `python -m learn.train model=linear domain=…`")
    return read_model(path)
