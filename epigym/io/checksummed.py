"""Digests, and files that carry one of their own content, so that damage shows when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from epigym.errors import DamagedError, EpigymError, MissingError
from epigym.io.files import AnyPath, as_unicode, read_json, write_json

_CHECKSUM = "sha256"
DIGITS = hashlib.sha256().digest_size * 2
"""Length of what `append_checksum` adds."""


def digest(value: Any) -> str:
    """The SHA-256 of plain values, containers and bytes, independent of the order of keys, as 64 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=bytes.hex)
    return hashlib.sha256(text.encode()).hexdigest()


def write_checksummed(path: AnyPath, value: Mapping[str, Any]) -> None:
    """Write plain values by name as JSON, as `epigym.io.files.write_json` does, with their checksum in front."""
    plain = json.loads(as_unicode(json.dumps(value, ensure_ascii=False)))
    write_json(path, {_CHECKSUM: digest(plain), **plain})


def read_checksummed(path: AnyPath, remedy: str) -> dict[str, Any]:
    """The values of a file of `write_checksummed`, however it is laid out, without their checksum.

    Args:
        path: the file.
        remedy: what to do about a damaged one, for the message.

    Raises:
        MissingError: when there is no such file.
        DamagedError: when it cannot be read, has no checksum, or its content does not fit the checksum.
    """
    try:
        value = read_json(path)
    except MissingError:
        raise
    except EpigymError as error:
        raise DamagedError(f"{error}: {remedy}") from None
    if not isinstance(value, dict) or value.pop(_CHECKSUM, None) != digest(value):
        raise DamagedError(f"{path}: damaged or edited, its content does not fit its {_CHECKSUM}: {remedy}")
    return value


def append_checksum(content: bytes) -> bytes:
    """Bytes with their checksum behind them, as 64 hexadecimal digits."""
    return content + hashlib.sha256(content).hexdigest().encode()


def read_checksummed_bytes(path: AnyPath, remedy: str) -> bytes:
    """The whole content of a file of `append_checksum`; arguments and errors as `read_checksummed`."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise MissingError(f"{path}: there is no such file: {remedy}") from None
    except OSError as error:
        raise DamagedError(f"{path}: {error.strerror or error}: {remedy}") from None
    if append_checksum(data[:-DIGITS]) != data:
        raise DamagedError(f"{path}: damaged or cut off, its content does not fit its {_CHECKSUM}: {remedy}")
    return data
