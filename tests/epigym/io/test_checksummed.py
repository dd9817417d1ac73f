"""What is damaged shows when it is read, and nothing else is said of it than that."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epigym.errors import DamagedError, MissingError
from epigym.io.checksummed import append_checksum, digest, read_checksummed, read_checksummed_bytes, write_checksummed

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)
RECORD = {"finished": "2026-01-01", "metrics": {"val/mae": 0.53, "r2": -1e-7}, "domains": ["gossip", "π"]}

everywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def said(path: Path) -> dict[str, Any] | None:
    """What is read of a file; None when it is named as damaged, in one line with the remedy."""
    try:
        return read_checksummed(path, "make it again")
    except DamagedError as error:
        message = str(error)
    assert re.fullmatch(rf"{re.escape(str(path))}[^\n]+: make it again", message)
    return None


def test_digests_depend_on_values_not_on_the_order_of_keys() -> None:
    assert digest({"b": [1, b"\xff"], "a": None}) == digest({"a": None, "b": (1, b"\xff")})
    assert len({digest(value) for value in (1, "1", [1], b"1", {"1": 1}, None, True)}) == 7
    with pytest.raises(TypeError):
        digest({1, 2})


@everywhere
@given(st.dictionaries(TEXTS.filter(lambda name: name != "sha256"), VALUES))
def test_what_was_written_is_read_whatever_its_layout(tmp_path: Path, value: dict[str, Any]) -> None:
    path = tmp_path / "value.json"
    write_checksummed(path, value)
    assert said(path) == value
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items())), indent=7))
    assert said(path) == value


@everywhere
@given(st.data())
def test_no_damage_is_read_as_something_else(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "record.json"
    write_checksummed(path, RECORD)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        assert said(path) in (None, RECORD)
    else:
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 4))])
        assert said(path) is None


@pytest.mark.parametrize("text", ["", "{", "null", "{}", "[]", "7", "[" * 10**5, "1" * 10**4, '{"a": 1, "a": 1}'])
def test_what_is_no_checksummed_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    assert said(tmp_path / "other.json") is None


def test_a_file_that_is_not_there_is_not_damaged(tmp_path: Path) -> None:
    for read in (read_checksummed, read_checksummed_bytes):
        with pytest.raises(MissingError, match=r"gone: "):
            read(tmp_path / "gone", "make it again")
        with pytest.raises(DamagedError, match=r": Is a directory: make it again$"):
            read(tmp_path, "make it again")


@everywhere
@given(st.binary(), st.data())
def test_bytes_are_whole_or_refused(tmp_path: Path, content: bytes, data: st.DataObject) -> None:
    path = tmp_path / "content"
    path.write_bytes(append_checksum(content))
    assert read_checksummed_bytes(path, "make it again") == append_checksum(content)
    damaged = bytearray(append_checksum(content))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    for other in (damaged, append_checksum(content)[:-1], append_checksum(content) + b"0", content[:63]):
        path.write_bytes(other)
        with pytest.raises(DamagedError, match=r"damaged or cut off.*: make it again$"):
            read_checksummed_bytes(path, "make it again")
