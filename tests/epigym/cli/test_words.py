"""Command lines in one grammar: the problem without its name, lists with and without brackets, names with commas."""

from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from domains.words import read_names, read_parameters
from epigym.cli.convert import Convert
from epigym.cli.settings import Settings
from epigym.cli.show import Show
from epigym.cli.words import hydra_words, write_override
from epigym.errors import UsageError
from learn.sample import Sample
from search.evaluate import Evaluate
from search.report import Report
from search.solve import Solve
from search.validate import Validate


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
    settings: dict[str, Any] = {"problem": "a (1).txt", "plan": ["go(a,1)", "wait"], "debug": True, "top": 3}
    assert read([write_override(name, value) for name, value in settings.items()], Validate) == settings
    words = ["agents=3", "learn=abc", "home=true", "goals=B(a, p),'q'", "places=[1,[2]]", "instance=3_3_1", "none=null"]
    assert read_parameters(words) == {
        "agents": 3, "learn": "abc", "home": True, "goals": ["B(a, p)", "q"], "places": [1, [2]], "instance": "3_3_1",
        "none": None,
    }  # fmt: skip


@pytest.mark.parametrize(("settings", "words"), [(Solve, ["a", "b.txt"]), (Sample, ["grapevine"]), (Show, ["a", "3"])])
def test_a_word_without_a_meaning_is_refused(settings: type[Settings], words: list[str]) -> None:
    with pytest.raises(UsageError, match=f"name=value, got '{words[-1]}'"):
        hydra_words(words, settings, is_sweep=False)


@given(st.lists(st.text(st.characters(exclude_characters="\\\n$", exclude_categories=["C"]), min_size=1), min_size=2))
def test_any_names_can_be_listed(wanted: list[str]) -> None:
    quoted = ",".join("'{}'".format(name.replace("'", "\\'")) for name in wanted)
    assert read_names(quoted) == read_names(f"[{quoted}]") == wanted
    assert read([f"plan={quoted}"], Validate) == {"plan": wanted}
