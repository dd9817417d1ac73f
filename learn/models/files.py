"""Files of models: tensors and plain values in the format of safetensors, with a version and a checksum.

Reading runs nothing and imports nothing that a file names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from epigym.errors import MissingModelError, ModelError
from epigym.io.files import AnyPath, as_unicode, is_file, replacing

MODEL_FILE: Final = "model.safetensors"
"""The model in the folder of a run."""
VERSION: Final = 1
"""Version of the file, of the graphs and of the features."""
REMEDY: Final = "train it again, or get it again from where it was made"

_TEXTS = ("kind", "domain", "base")  # values that are stored as they are, the others as JSON
_START = b'{"__metadata__":{"sha256":"'  # of the header, which follows the length of the header, 8 bytes
_LONGEST = 1 << 26  # bytes of a header
_DIGEST = slice(8 + len(_START), 8 + len(_START) + 64)


class Content(NamedTuple):
    """The content of a file.

    Attributes:
        values: plain values by name, `kind` among them.
        tensors: arrays by name.
    """

    values: Mapping[str, Any]
    tensors: Mapping[str, NDArray[Any]]


def write_content(content: Content, path: AnyPath) -> None:
    """Write a file, atomically; equal contents give equal bytes.

    Raises:
        ModelError: when a tensor has entries that are not finite.
    """
    check_finite(content.tensors, path)
    values = {"version": VERSION, **content.values}
    texts = {name: as_unicode(value) if name in _TEXTS else json.dumps(value) for name, value in values.items()}
    data = save({name: np.array(array, order="C") for name, array in sorted(content.tensors.items())})
    header, body = _split(data)
    # The library writes metadata in random order.
    text = json.dumps({"__metadata__": {"sha256": "0" * 64, **texts}, **json.loads(header)}, separators=(",", ":"))
    data = (len(text) + -len(text) % 8).to_bytes(8, "little") + text.encode() + b" " * (-len(text) % 8) + body
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data[: _DIGEST.start] + _compute_digest(data) + data[_DIGEST.stop :])


def read_content(path: AnyPath) -> Content:
    """Read and check a file.

    Raises:
        MissingModelError: when there is no such file.
        ModelError: when it is damaged, no file of a model, of another version, or has entries that are not finite.
    """
    data = _read_bytes(path, with_tensors=True)
    if data[_DIGEST] != _compute_digest(data):
        raise ModelError(f"{path}: damaged or cut off, its content does not fit its sha256: {REMEDY}")
    values = _parse_values(data, path)
    try:
        tensors = load(data)
    except Exception as error:  # a file may hold anything
        raise ModelError(f"{path}: no tensors of a model ({type(error).__name__}): {REMEDY}") from None
    check_finite(tensors, path)
    return Content(values, tensors)


def read_values(path: AnyPath) -> Mapping[str, Any]:
    """Read only the values, without the checksum; errors as `read_content`."""
    return _parse_values(_read_bytes(path, with_tensors=False), path)


def check_finite(tensors: Mapping[str, NDArray[Any]], path: AnyPath) -> None:
    """Check that all entries are finite numbers.

    Raises:
        ModelError: naming the tensor.
    """
    for name, array in tensors.items():
        if not np.isfinite(array).all():
            remedy = "train again with a lower learning rate"
            raise ModelError(f"{path}: {name} has entries that are no finite numbers: {remedy}")


def get_column(tensors: Mapping[str, NDArray[Any]], name: str, kind: str) -> NDArray[Any]:
    """A tensor with one dimension.

    Raises:
        KeyError: when there is none of that name.
        ValueError: when it has another type or shape.
    """
    column = tensors[name]
    if column.dtype != kind or column.ndim != 1:
        raise ValueError(f"{name} is {column.dtype}{list(column.shape)}, expected {kind}[n]")
    return column


def _read_bytes(path: AnyPath, *, with_tensors: bool) -> bytes:
    if not is_file(path):
        raise MissingModelError(f"there is no model {path}: train one with `python -m learn.train domain=…`")
    try:
        with Path(path).open("rb") as file:
            start = file.read(_DIGEST.start)
            length = int.from_bytes(start[:8], "little")
            rest = file.read(-1 if with_tensors else min(length, _LONGEST)) if start[8:] == _START else b""
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}: {REMEDY}") from None
    if not rest:
        raise ModelError(f"{path} is no model of learn.train: give the folder of a run or its model.safetensors")
    return start + rest


def _compute_digest(data: bytes) -> bytes:
    return sha256(data[: _DIGEST.start] + data[_DIGEST.stop :]).hexdigest().encode()


def _split(data: bytes) -> tuple[bytes, bytes]:
    """The header, and the bytes of the tensors."""
    end = 8 + int.from_bytes(data[:8], "little")
    return data[8:end], data[end:]


def _parse_values(data: bytes, path: AnyPath) -> Mapping[str, Any]:
    try:
        texts = json.loads(_split(data)[0])["__metadata__"]
        del texts["sha256"]
        values = {name: text if name in _TEXTS else json.loads(text) for name, text in texts.items()}
        version, _ = values.pop("version"), values["kind"]
    except Exception as error:  # a file may hold anything
        raise ModelError(f"{path} is no model of learn.train ({type(error).__name__}): {REMEDY}") from None
    if version != VERSION:
        raise ModelError(f"{path}: format {version}, expected {VERSION}: train it again")
    return values
