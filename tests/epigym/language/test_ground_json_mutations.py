"""Ground JSON in which one part is something else: it is read, or refused in one line that names the file."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epigym.errors import EpigymError
from epigym.language import ground_json, load, parse_mastar
from tests.helpers.tasks import COIN, coin

JUNK = [None, True, -1, 99, 1.5, "", "x", [], {}, [[]], [0], ["x"], [None], {"x": {}}, {"x": ["x"]}]


def places(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each part of some JSON."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, part in pairs:
        yield (*at, key)
        yield from places(part, (*at, key))


@pytest.mark.parametrize("compact", [False, True], ids=["official", "compact"])
def test_a_part_that_is_something_else(compact: bool) -> None:
    task = parse_mastar(COIN.replace("a observes look;", "a observes look if open;"))
    right = ground_json.to_json(ground_json.bare(task), compact=compact)
    refused: list[tuple[Any, ...]] = []
    for *way, last in places(right):
        for junk in [*JUNK, ...]:
            wrong = copy.deepcopy(right)
            parent = wrong
            for key in way:
                parent = parent[key]
            if junk is ...:
                del parent[last]
            else:
                parent[last] = junk
            try:
                ground_json.checked(wrong, "task.json", plank_compat=compact)
            except EpigymError as error:
                refused.append((str(error), *way, last, junk))
    assert len(refused) > 100
    for message, *place in refused:
        assert message.startswith("task.json: "), place
        assert "\n" not in message, place


@pytest.mark.parametrize("old", ["tail", "a", "w0", "look", "the problem", "the domain"])
@pytest.mark.parametrize("ending", ["\n", "\r", "\x85", "\u2028"])
def test_names_that_do_not_fit_on_a_line(old: str, ending: str) -> None:
    """Those of fluents, agents, worlds, actions, the problem and its domain."""
    task = replace(coin(), instance="the problem", domain="the domain")
    content = json.dumps(ground_json.to_json(ground_json.bare(task)))
    wrong = json.loads(content.replace(json.dumps(old), json.dumps(old + ending)))
    with pytest.raises(EpigymError, match="a name with a line break does not fit into messages") as caught:
        ground_json.checked(wrong, "task.json")
    assert len(str(caught.value).splitlines()) == 1


DIGITS = "9" * 5000


@pytest.mark.parametrize("junk", [DIGITS, f"-{DIGITS}", f'{{"a": {DIGITS}}}'])
def test_a_number_of_too_many_digits(tmp_path: Path, junk: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(junk)
    with pytest.raises(EpigymError, match=r"task.json: .*digits") as caught:
        load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff"])
def test_half_a_character(tmp_path: Path, half: str) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(ground_json.to_json(ground_json.bare(coin()))).replace("tail", f"t{half}"))
    with pytest.raises(EpigymError, match=r"task.json: .*surrogate"):
        load(path)
    path.write_text(path.read_text().replace(half, "\\ud83d\\ude00"))
    assert "t😀" in load(path).fluents
