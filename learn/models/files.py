"""JSON files of models with a checksum and a version, shared by linear models and networks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epigym.errors import CheckpointError, DamagedError
from epigym.io.checksummed import read_checksummed
from epigym.io.files import AnyPath


def read_model_file(path: AnyPath, version: int) -> dict[str, Any]:
    """Read the values of a file by name.

    Raises:
        CheckpointError: when it is damaged, or its version differs.
        KeyError: when it has no version.
        MissingError: when there is no such file.
    """
    try:
        data = read_checksummed(path, "train it again, or get it again from where it was made")
    except DamagedError as error:
        raise CheckpointError(str(error)) from None
    if data["format_version"] != version:
        raise CheckpointError(f"{path}: format {data['format_version']}, expected {version}: train it again")
    return data


def as_schema(colours: Iterable[str]) -> frozenset[int]:
    """The colours of predicates and action schemas, from hexadecimal digits."""
    return frozenset(int(colour, 16) for colour in colours)
