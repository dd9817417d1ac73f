"""Parsers are cached for later processes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import lark
import pytest

import domains
from epigym.errors import ParseError
from epigym.language import grammars, parse_epddl, parse_mastar
from epigym.task.task import Task


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder for this test, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    grammars.load_parser.cache_clear()
    yield tmp_path / "cache" / "epigym"
    grammars.load_parser.cache_clear()


@pytest.mark.parametrize(("parse", "name"), [(parse_mastar, "coin_in_the_box"), (parse_epddl, "gossip")])
def test_a_cached_parser_accepts_and_refuses_the_same(
    parse: Callable[[str], Task], name: str, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = domains.write(name)
    wrong = [text[:cut] + "]" for cut in range(0, len(text), len(text) // 7)]

    def found() -> list[object]:
        grammars.load_parser.cache_clear()
        return [parse(text), *(error_of(one) for one in wrong)]

    def error_of(one: str) -> str:
        with pytest.raises(ParseError) as error:
            parse(one)
        return str(error.value)

    first = found()
    [file] = cache_folder.iterdir()
    file.write_bytes(file.read_bytes()[:-9])  # as after the death of a writing process
    assert found() == first
    with monkeypatch.context() as patches:
        patches.setattr(lark.Lark, "save", None)  # the parser comes from the cache
        assert found() == first
    file.unlink()
    cache_folder.rmdir()
    cache_folder.touch()  # a file where the folder would be
    assert found() == first
