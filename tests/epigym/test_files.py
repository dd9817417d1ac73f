from __future__ import annotations

from pathlib import Path

import pytest

from epigym.files import replacing, write_text


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
