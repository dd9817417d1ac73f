"""What the files of linear models and of networks have in common: JSON with a checksum and a version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epigym.errors import CheckpointError, DamagedError
from epigym.io.checksummed import read_checksummed
from epigym.io.files import AnyPath


def read_model_file(path: AnyPath, version: int) -> dict[str, Any]:
    """The values of a file by name.

    Raises:
        CheckpointError: when it is damaged, or of another version.
        KeyError: when it has no version.
        MissingError: when there is none.
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
