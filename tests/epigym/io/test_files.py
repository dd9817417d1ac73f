"""Files appear complete or not at all, and what is wrong with one is said."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from epigym.errors import EpigymError, MissingError
from epigym.io.files import check_writable, is_file, read, read_json, replacing, write_json, write_text
from epigym.language import load
from epigym.problem import load_problem


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.csv"
    write_text(path, "a\r\nπ\n")
    assert path.read_bytes() == "a\r\nπ\n".encode()
    with replacing(path) as temporary:
        temporary.write_text("later")
        assert path.read_bytes() == "a\r\nπ\n".encode()
    assert path.read_text() == "later"
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]


def test_after_an_error_the_old_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def interrupted() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_usual_permissions(tmp_path: Path) -> None:
    write_text(tmp_path / "ours", "")
    (tmp_path / "theirs").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


def test_a_new_folder_appears_as_a_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "set") as temporary:
        temporary.mkdir()
        (temporary / "part").write_text("1")
        assert not (tmp_path / "set").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert (tmp_path / "set" / "part").read_text() == "1"


def test_a_folder_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with replacing(tmp_path / "set") as temporary:
            temporary.mkdir()
            (temporary / "part").write_text("1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_named_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    def full() -> None:
        with replacing(tmp_path / "table.csv"):
            raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path / "folder", "")
    assert caught.value.filename == str(tmp_path / "folder")
    with pytest.raises(OSError, match="No space left on device") as caught:
        full()
    assert caught.value.filename == str(tmp_path / "table.csv")


def test_the_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "copy"):
        (tmp_path / "original").read_text()
    assert caught.value.filename == str(tmp_path / "original")


def test_json_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_json(tmp_path / "π.json", {"π": [1, None, 0.5]})
    assert read_json(tmp_path / "π.json") == {"π": [1, None, 0.5]}
    assert read(tmp_path / "π.json") == '{\n  "π": [\n    1,\n    null,\n    0.5\n  ]\n}\n'


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (None, MissingError, "file: No such file or directory"),
        (b"ab\xff", EpigymError, "file: byte 2 is not UTF-8 text"),
        (b"{\n1", EpigymError, "file:2:1: not JSON"),
        (b"[" * 100_000, EpigymError, "file: nested too deeply"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', EpigymError, "file: an object has the key 'b' twice: keep one"),
    ],
)
def test_what_is_wrong_with_a_file(
    tmp_path: Path, content: bytes | None, kind: type[EpigymError], message: str
) -> None:
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    with pytest.raises(EpigymError, match=message) as caught:
        read_json(tmp_path / "file")
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


NO_NAMES = ["a\0b", "a\ud800b", "x" * 300, "x/" * 5000, "a\n", "a\u2028b"]


@pytest.mark.parametrize(
    "name", NO_NAMES, ids=["NUL", "surrogate", "long name", "long path", "line break", "line separator"]
)
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    for ask in (read, read_json, is_file, load_problem):
        with pytest.raises(EpigymError, match=r"no file can have this name|File name too long|a line break") as caught:
            ask(tmp_path / name if ask is not load_problem else f"{tmp_path}/{name}")  # type: ignore[operator]
        assert "\n" not in str(caught.value)
        str(caught.value).encode()
    for write in (check_writable, lambda path: write_text(path, "")):
        with pytest.raises(OSError, match=r"no file can have this name|File name too long|a line break"):
            write(tmp_path / name)
    (tmp_path / "spec.json").write_text(json.dumps({"domain": name, "problem": name, "action-type-libraries": []}))
    with pytest.raises(EpigymError, match=r"no file can have this name|File name too long|a line break|surrogate pair"):
        load(tmp_path / "spec.json")
