"""Parsers are kept from one process to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import lark
import pytest

import domains
from epigym.errors import ParseError
from epigym.language import grammars, parse_epddl, parse_mastar
from epigym.language.epddl import parser as epddl
from epigym.language.mastar import syntax as mastar
from epigym.task.task import Task

GRAMMAR = 'start: WORD+\nWORD: /[a-z]+/\n%ignore " "\n'

READERS = [(mastar._parser, parse_mastar, "coin_in_the_box"), (epddl._parser, parse_epddl, "gossip")]


@pytest.fixture
def grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A grammar file, and a cache folder of one's own that is not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "words.lark").write_text(GRAMMAR)
    yield tmp_path / "words.lark"
    for make, *_ in READERS:
        make.cache_clear()


def kept(grammar: Path) -> list[Path]:
    return sorted((grammar.parent / "cache").rglob("*.*"))


def read(grammar: Path, start: str = "start") -> list[str]:
    return [str(word) for word in grammars.parser(grammar, start=start).parse("two words").children]


def nobody_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a parser is built that was kept")

    monkeypatch.setattr(lark.Lark, "open", refuse)


def test_it_is_built_once(grammar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(grammar) == ["two", "words"]
    assert len(kept(grammar)) == 1
    nobody_builds(monkeypatch)
    assert read(grammar) == ["two", "words"]


def test_another_grammar_or_other_options_are_another_parser(grammar: Path) -> None:
    read(grammar)
    grammar.write_text(GRAMMAR.replace("WORD+", "WORD WORD"))
    read(grammar)
    grammar.write_text(GRAMMAR.replace("start", "text"))
    assert read(grammar, start="text") == ["two", "words"]
    assert len(kept(grammar)) == 3


@pytest.mark.parametrize("content", [b"", b"not a parser"])
def test_a_file_that_is_broken_is_made_anew(grammar: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    read(grammar)
    [file] = kept(grammar)
    file.write_bytes(content)
    assert read(grammar) == ["two", "words"]
    nobody_builds(monkeypatch)
    assert read(grammar) == ["two", "words"]


def test_without_a_place_it_works_all_the_same(grammar: Path) -> None:
    (grammar.parent / "cache").touch()  # a file where the folder would be
    assert read(grammar) == ["two", "words"]


@pytest.mark.parametrize(("make", "parse", "name"), READERS)
def test_a_parser_that_was_kept_reads_and_refuses_the_same(
    make: Callable[[], lark.Lark],
    parse: Callable[[str], Task],
    name: str,
    grammar: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = domains.text(name)
    wrong = [text[:cut] + "]" for cut in range(0, len(text), len(text) // 7)]

    def found() -> list[object]:
        make.cache_clear()  # type: ignore[attr-defined]
        return [parse(text), *(error_of(one) for one in wrong)]

    def error_of(one: str) -> str:
        with pytest.raises(ParseError) as error:
            parse(one)
        return str(error.value)

    first = found()
    nobody_builds(monkeypatch)
    assert found() == first
