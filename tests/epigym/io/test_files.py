"""Files appear complete or not at all, and what is wrong with one is said."""

import errno
import gzip
import json
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from epigym.errors import EpigymError, MissingError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.io.files import (
    as_unicode,
    check_writable,
    is_file,
    read,
    read_json,
    read_rows,
    replacing,
    slug,
    write_json,
    write_rows,
    write_text,
)
from epigym.language import load
from epigym.problem import load_problem


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.csv"
    write_text(path, "a\r\nπ\n")
    (tmp_path / "theirs").touch()
    assert path.stat().st_mode == (tmp_path / "theirs").stat().st_mode
    with replacing(path) as temporary:
        temporary.write_text("later")
        assert path.read_bytes() == "a\r\nπ\n".encode()
    assert path.read_text() == "later"
    assert list(path.parent.iterdir()) == [path]


def test_a_name_that_is_not_utf_8_is_written_with_a_question_mark(tmp_path: Path) -> None:
    name = os.fsdecode(b"b\xe4d \xc3\xbc")
    assert as_unicode(name) == "b?d ü"
    write_text(tmp_path / "text", name)
    assert (tmp_path / "text").read_bytes() == "b?d ü".encode()
    write_json(tmp_path / "plan.json", {name: [name]})
    assert read_json(tmp_path / "plan.json") == {"b?d ü": ["b?d ü"]}
    write_rows(tmp_path / "table.csv", ["name"], [{"name": name}])
    assert read_rows(tmp_path / "table.csv", ["name"]) == [{"name": "b?d ü"}]
    write_checksummed(tmp_path / "run.json", {"file": name})
    assert read_checksummed(tmp_path / "run.json", "remedy") == {"file": "b?d ü"}


def test_a_new_folder_appears_as_a_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "set") as temporary:
        temporary.mkdir()
        (temporary / "part").write_text("1")
        assert not (tmp_path / "set").exists()
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["set", "set/part"]


def test_after_an_error_there_is_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "table.csv"
    old.write_text("old")

    def interrupted(name: str, is_folder: bool) -> None:
        with replacing(tmp_path / name) as temporary:
            if is_folder:
                temporary.mkdir()
            (temporary / "part" if is_folder else temporary).write_text("half")
            raise KeyboardInterrupt

    for name, is_folder in (("table.csv", False), ("set", True)):
        with pytest.raises(KeyboardInterrupt):
            interrupted(name, is_folder)

    def fill(path: Path, text: str, **_: object) -> None:
        path.write_bytes(text.encode()[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    with pytest.raises(OSError, match="No space left"):
        write_text(old, "later")
    assert (old.read_text(), list(tmp_path.iterdir())) == ("old", [old])


def test_what_cannot_be_written_is_named_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    def full() -> None:
        with replacing(tmp_path / "table.csv"):
            raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "folder" / "file").mkdir(parents=True)
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path / "folder", "")
    assert caught.value.filename == str(tmp_path / "folder")
    with pytest.raises(OSError, match="No space left on device") as full_disk:
        full()
    assert full_disk.value.filename == str(tmp_path / "table.csv")
    with pytest.raises(FileNotFoundError) as other, replacing(tmp_path / "copy"):
        (tmp_path / "original").read_text()
    assert other.value.filename == str(tmp_path / "original")


def test_json_and_names(tmp_path: Path) -> None:
    write_json(tmp_path / "π.json", {"π": [1, None, 0.5]})
    assert read_json(tmp_path / "π.json") == {"π": [1, None, 0.5]}
    assert read(tmp_path / "π.json") == '{\n  "π": [\n    1,\n    null,\n    0.5\n  ]\n}\n'
    assert slug("hfs/goal_count") == "hfs+goal_count"
    assert slug("../a|<b c>\n\\ü") == "..+a__b_c____"
    assert len(slug("x" * 300)) == 200


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        (b"ab\xff", "byte 2 is not UTF-8 text"),
        (b"{\n1", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 10_000, "more than 4300 digits"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' twice: keep one"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    with pytest.raises(EpigymError, match=message) as caught:
        read_json(tmp_path / "file")
    assert isinstance(caught.value, MissingError) == (content is None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b'{"a": 1}', mtime=0), None),
        (b'{"a": 1}', "Not a gzipped file"),
        (gzip.compress(b"{}", mtime=0)[:-9], "not compressed by gzip"),
        (gzip.compress(b"\xff", mtime=0), "byte 0 is not UTF-8 text"),
    ],
)
def test_files_may_be_compressed(tmp_path: Path, content: bytes, message: str | None) -> None:
    file = tmp_path / "file.json.gz"
    file.write_bytes(content)
    with pytest.raises(EpigymError, match=message) if message else nullcontext():
        assert read_json(file) == {"a": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [("a,c\n1,2", "lacks the column 'b'"), ("a,b\n1", "row 1 "), ("a,b\n1,2\n1,2,3", "row 2 "), ("a,b\n1,\0" * 2, "")],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(EpigymError, match=rf"file: .*{message}"):
        read_rows(tmp_path / "file", ("a", "b"))


NO_NAMES = ["a\0b", "a\ud800b", "x" * 300, "x/" * 5000, "a\n", "a\u2028b", ""]


@pytest.mark.parametrize("name", NO_NAMES, ids=[ascii(name)[:9] for name in NO_NAMES])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    path = name and f"{tmp_path}/{name}"
    said = r"no file can have this name|File name too long|a line break|is empty|surrogate pair"
    (tmp_path / "spec.json").write_text(json.dumps({"domain": name, "problem": name, "action-type-libraries": []}))
    for ask in (read, read_json, is_file, load_problem, lambda _: load(tmp_path / "spec.json")):
        with pytest.raises(EpigymError) as caught:
            ask(path)
        assert "\n" not in str(caught.value)
        str(caught.value).encode()
    for write in (check_writable, lambda path: write_text(path, "")):
        with pytest.raises(OSError, match=said):
            write(path)


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for write in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(OSError, match="a device, pipe or socket would be replaced"):
            write(pipe)
    assert pipe.is_fifo()
    assert [one.name for one in tmp_path.iterdir()] == ["pipe.json"]
