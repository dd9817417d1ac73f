"""Command lines in one grammar: the problem without its name, lists with and without brackets, names with commas."""

import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from domains.words import read_names, read_parameters
from epigym.__main__ import main
from epigym.cli.convert import Convert
from epigym.cli.settings import Settings
from epigym.cli.show import Show
from epigym.cli.words import hydra_words, write_override
from epigym.errors import EpigymError, UsageError
from learn.sample import Sample
from search.evaluate import Evaluate
from search.report import Report
from search.solve import Solve
from search.validate import Validate
from tests.helpers.epddl_problem import write_problem


def read(words: list[str], settings: type[Settings], *, is_sweep: bool = False) -> dict[str, Any]:
    """What Hydra reads."""
    found = OverridesParser.create().parse_overrides(hydra_words(words, settings, is_sweep=is_sweep))
    return {one.key_or_group: one.value() for one in found}


@pytest.mark.parametrize(
    ("settings", "words", "expected"),
    [
        (Solve, ["agent=bfs", "coin.txt", "time_limit=5"], {"problem": "coin.txt", "agent": "bfs", "time_limit": 5}),
        (Solve, ["problem=1e3", "max_expanded=1_000"], {"problem": "1e3", "max_expanded": 1000}),
        (Solve, ["größe(1).txt"], {"problem": "größe(1).txt"}),
        (Solve, ["problem=a=b.txt", "~heuristic"], {"problem": "a=b.txt", "heuristic": None}),
        (Validate, ["plan=go(ann,2),wait"], {"plan": ["go(ann,2)", "wait"]}),
        (Validate, ["plan=[go(ann,2)]"], {"plan": ["go(ann,2)"]}),
        (Validate, ["plan=plan.json"], {"plan": "plan.json"}),
        (Validate, ["plan='it\\'s',look: yes (b sees)"], {"plan": ["it's", "look: yes (b sees)"]}),
        (Solve, ["problem=C:\\files(1)\\"], {"problem": "C:\\files(1)\\"}),
        (Evaluate, ["a.txt", "b.txt", "agents=bfs,{name:x,weight:2}"],
         {"problems": ["a.txt", "b.txt"], "agents": ["bfs", {"name": "x", "weight": 2}]}),
        (Report, ["outputs/a", "pairs=[[x/y,z],[a,b]]"], {"runs": ["outputs/a"], "pairs": [["x/y", "z"], ["a", "b"]]}),
        (Show, ["gossip", "agents=3", "instance=3_3_1", "after="],
         {"problem": "gossip", "parameters.agents": 3, "instance": "3_3_1", "after": []}),
        (Show, ["gossip", "goals=B(a, p),B(b, p)"], {"problem": "gossip", "parameters.goals": ["B(a, p)", "B(b, p)"]}),
        (Convert, ["gossip", "places=[1, 1, 4]"], {"problem": "gossip", "parameters.places": [1, 1, 4]}),
    ],
)  # fmt: skip
def test_words_are_what_they_say(settings: type[Settings], words: list[str], expected: dict[str, Any]) -> None:
    assert read(words, settings) == expected


def test_settings_are_in_one_grammar() -> None:
    words = hydra_words(["gossip", "agents=3", "instance=3_3_1", "after=go(a,1),wait"], Show, is_sweep=False)
    assert hydra_words(words, Show, is_sweep=False) == words
    words = ["agent=bfs,hfs", "after=[go(a,1),wait],[]", "seed=range(1,4)", "problem=go(1),b.txt"]
    assert hydra_words(words, Show, is_sweep=True) == [
        "+parameters.agent=bfs,hfs", "after=['go(a,1)',wait],[]", "seed=range(1,4)", "problem='go(1)',b.txt"
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"^agent=bfs,hfs: expected one value"):
        hydra_words(["agent=bfs,hfs"], Solve, is_sweep=False)
    words = ["a.txt", "heuristic._target_=mine.H", "heuristic.weight=2", "agent.boost=3", "+heuristic.bias=1"]
    assert hydra_words(words, Solve, is_sweep=False) == [
        "problem=a.txt", "~heuristic", "++heuristic._target_=mine.H", "++heuristic.weight=2", "agent.boost=3",
        "+heuristic.bias=1"
    ]  # fmt: skip
    settings: dict[str, Any] = {"problem": "a (1).txt", "plan": ["go(a,1)", "wait"], "debug": True, "parameters.top": 3}
    assert read([write_override(name, value) for name, value in settings.items()], Validate) == settings
    words = ["agents=3", "learn=abc", "home=true", "goals=B(a, p),'q'", "places=[1,[2]]", "instance=3_3_1", "none=null"]
    assert read_parameters(words) == {
        "agents": 3, "learn": "abc", "home": True, "goals": ["B(a, p)", "q"], "places": [1, [2]], "instance": "3_3_1",
        "none": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "words", "more"),
    [
        (Solve, ["a", "b.txt"], ""),
        (Sample, ["grapevine"], ""),
        (Show, ["a", "3"], ""),
        (Solve, ["problem=a.txt", "b.txt"], " beside problem=a.txt"),
        (Evaluate, ["problems=[a.txt]", "b.txt"], " beside problems=[a.txt]"),
        (Solve, ["problem=coin_in_the_box", "pl_7"],
         " beside problem=coin_in_the_box: did you mean problem=coin_in_the_box/pl_7?"),
        (Convert, ["coin_in_the_box", "pl_7"], ": did you mean problem=coin_in_the_box/pl_7?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_sweep", [False, True])
def test_a_word_without_a_meaning_is_refused(
    settings: type[Settings], words: list[str], more: str, is_sweep: bool
) -> None:
    with pytest.raises(UsageError, match=f"name=value, got '{words[-1]}'{re.escape(more)}$"):
        hydra_words(words, settings, is_sweep=is_sweep)


def test_files_of_an_epddl_problem_are_told_apart_by_what_they_define(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_problem(tmp_path)
    monkeypatch.chdir(tmp_path)
    files = ["coin.epddl", "coin-1.epddl", "kinds.epddl"]
    expected = {"problem": "coin-1.epddl", "domain_file": "coin.epddl", "libraries": ["kinds.epddl"]}
    for words in permutations(files):
        assert read([*words, "agent=bfs"], Solve) == expected | {"agent": "bfs"}
        assert read([*words], Show) == expected
    assert main(["solve", *files, "agent=bfs", "run_dir=solved"]) == 0
    assert json.loads(Path("solved/result.json").read_text())["status"] == "solved"
    Path("other.epddl").write_text(Path("coin.epddl").read_text())
    Path("empty.epddl").write_text("; (define (problem p)\n")
    for words, message in (
        (["coin.epddl", "kinds.epddl"], "none of coin.epddl, kinds.epddl defines a problem"),
        (["coin-1.epddl", "coin.epddl", "other.epddl"], "other.epddl is like coin.epddl: one is enough"),
        (["coin-1.epddl", "empty.epddl"], "empty.epddl defines no problem, domain or library"),
        (["coin-1.epddl", "no.epddl"], "no.epddl"),
    ):
        with pytest.raises(EpigymError, match=message):
            hydra_words(words, Solve, is_sweep=False)


@given(st.lists(st.text(st.characters(exclude_characters="\\\n$", exclude_categories=["C"]), min_size=1), min_size=2))
def test_any_names_can_be_listed(wanted: list[str]) -> None:
    quoted = ",".join("'{}'".format(name.replace("'", "\\'")) for name in wanted)
    assert read_names(quoted) == read_names(f"[{quoted}]") == wanted
    assert read([f"plan={quoted}"], Validate) == {"plan": wanted}
