"""What is damaged shows when it is read, and nothing else is said of it than that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epigym.errors import DamagedError, MissingError
from epigym.io.sealed import read_bytes, read_sealed, seal, write_sealed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8")).filter(lambda name: name != "sha256"), VALUES)
RECORD = {"finished": "2026-01-01", "metrics": {"val/mae": 0.53, "r2": -1e-7}, "domains": ["gossip", "π"]}

everywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@everywhere
@given(OBJECTS)
def test_what_was_written_is_read(tmp_path: Path, value: dict[str, Any]) -> None:
    write_sealed(tmp_path / "value.json", value)
    assert read_sealed(tmp_path / "value.json", "make it again") == value


def test_the_layout_does_not_count_but_the_values_do(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_sealed(path, {"size": (1, 2), 7: float("nan")})
    value = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(value.items())), indent=7))
    assert read_sealed(path, "make it again")["size"] == [1, 2]
    path.write_text(json.dumps(value | {"size": [1, 3]}))
    expected = f"{path}: damaged or edited, its content does not fit its sha256: make it again"
    with pytest.raises(DamagedError) as error:
        read_sealed(path, "make it again")
    assert str(error.value) == expected


def said(path: Path) -> dict[str, Any] | None:
    """What is read of a file; None when it is named as damaged, in one line with the remedy."""
    try:
        return read_sealed(path, "make it again")
    except DamagedError as error:
        message = str(error)
    assert re.fullmatch(rf"{re.escape(str(path))}[^\n]+: make it again", message)
    return None


@everywhere
@given(st.data())
def test_no_damage_is_read_as_something_else(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "record.json"
    write_sealed(path, RECORD)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        assert said(path) in (None, RECORD)
    else:
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 4))])
        assert said(path) is None


@pytest.mark.parametrize("text", ["", "{", "null", "{}", "[]", "7", "[" * 10**5, "1" * 10**4, '{"a": 1, "a": 1}'])
def test_what_is_no_sealed_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    assert said(tmp_path / "other.json") is None


def test_a_file_that_is_not_there_is_not_damaged(tmp_path: Path) -> None:
    for read in (read_sealed, read_bytes):
        with pytest.raises(MissingError, match=r"gone: "):
            read(tmp_path / "gone", "make it again")
        with pytest.raises(DamagedError, match=r": Is a directory: make it again$"):
            read(tmp_path, "make it again")


@everywhere
@given(st.binary(), st.data())
def test_bytes_are_whole_or_refused(tmp_path: Path, content: bytes, data: st.DataObject) -> None:
    path = tmp_path / "content"
    path.write_bytes(seal(content))
    assert read_bytes(path, "make it again") == seal(content)
    damaged = bytearray(seal(content))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    for other in (damaged, seal(content)[:-1], seal(content) + b"0", content[:63]):
        path.write_bytes(other)
        with pytest.raises(DamagedError, match=r"damaged or cut off.*: make it again$"):
            read_bytes(path, "make it again")
