"""Parameters out of range are told in one clear line, and every legal size gives a text that parses.

Domains in EPDDL have tests of their own for what depends on the language.
"""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import pytest

import domains
from domains import DomainError
from epigym.language import parse_mastar

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("assembly_line", {"agents": 1}, "agents must be a whole number from 2 to 8, got 1"),
    ("assembly_line", {"agents": 9}, "agents must be a whole number from 2 to 8, got 9"),
    ("assembly_line", {"parts": 0}, "parts must be a whole number from 1 to 8, got 0"),
    ("assembly_line", {"agents": 3, "parts": 5}, "agents * parts must be a whole number from 2 to 14, got 15"),
    ("assembly_line", {"depth": 0}, "depth must be a whole number from 1 to 50, got 0"),
    ("assembly_line", {"depth": "comon"}, "unknown depth 'comon': did you mean 'common'?"),
    ("assembly_line", {"clear_start": 1}, "clear_start must be True or False, got 1"),
    ("assembly_line", {"goals": []}, "goals must be one formula or a list of them, got []"),
    ("coin_in_the_box", {"agents": 13}, "agents must be a whole number from 2 to 12, got 13"),
    ("coin_in_the_box", {"agents": "3"}, "agents must be a whole number from 2 to 12, got '3'"),
    ("coin_in_the_box", {"agents": True}, "agents must be a whole number from 2 to 12, got True"),
    ("coin_in_the_box", {"keys": "d"}, "unknown name in keys 'd': expected one of 'a', 'b', 'c'"),
    ("coin_in_the_box", {"keys": 1}, "keys must be a list of names out of a, b, c, got 1"),
    ("coin_in_the_box", {"looking": ["a", "a"]}, "looking names something twice: a, a"),
    ("coin_in_the_box", {"unlocked_for": "x"}, "unknown name in unlocked_for 'x': expected one of 'a', 'b', 'c'"),
    ("coin_in_the_box", {"goal": "comon"}, "unknown goal 'comon': did you mean 'common'?"),
    ("coin_in_the_box", {"goals": [3]}, "goals must be one formula or a list of them, got [3]"),
    ("collaboration_communication", {"agents": 7}, "agents must be a whole number from 2 to 6, got 7"),
    ("collaboration_communication", {"boxes": 0}, "boxes must be a whole number from 1 to 6, got 0"),
    ("collaboration_communication", {"rooms": 1}, "rooms must be a whole number from 2 to 8, got 1"),
    (
        "collaboration_communication",
        {"places": [1, 2]},
        "places must list a room out of 1, 3 for each of 2 boxes, got [1, 2]",
    ),
    (
        "collaboration_communication",
        {"places": [1]},
        "places must list a room out of 1, 3 for each of 2 boxes, got [1]",
    ),
    ("collaboration_communication", {"places": 1}, "places must list a room out of 1, 3 for each of 2 boxes, got 1"),
    ("collaboration_communication", {"checks": "bos"}, "unknown kind of checks 'bos': did you mean 'box'?"),
    (
        "collaboration_communication",
        {"checks": "room", "boxes": 3},
        "checks='room' takes one box for each of 2 rooms, got 3 boxes",
    ),
    ("collaboration_communication", {"tells_by": "x"}, "unknown order of tells_by 'x': expected one of 'box', 'room'"),
    ("collaboration_communication", {"newcomers": 3}, "newcomers must be a whole number from 0 to 2, got 3"),
    (
        "collaboration_communication",
        {"mumbled": ["tell_a_b1_2"]},
        "unknown name in mumbled 'tell_a_b1_2': did you mean 'tell_a_b1_3' or 'tell_a_b1_1' or 'tell_b_b1_3'?",
    ),
    ("collaboration_communication", {"goals": {}}, "goals must be one formula or a list of them, got {}"),
    ("epistemic_gossip", {"agents": 9}, "agents must be a whole number from 2 to 8, got 9"),
    ("epistemic_gossip", {"protocol": "cal"}, "unknown protocol 'cal': did you mean 'call'?"),
    ("epistemic_gossip", {"informed": 4}, "informed must be a whole number from 1 to 3, got 4"),
    ("epistemic_gossip", {"secrets": 0}, "secrets must be a whole number from 1 to 3, got 0"),
    ("epistemic_gossip", {"depth": 21}, "depth must be a whole number from 1 to 20, got 21"),
    ("epistemic_gossip", {"goals": ""}, "goals must be one formula or a list of them, got ''"),
    ("grapevine", {"agents": 1}, "agents must be a whole number from 2 to 8, got 1"),
    ("grapevine", {"rooms": 7}, "rooms must be a whole number from 2 to 6, got 7"),
    ("grapevine", {"noticed": "yes"}, "noticed must be True or False, got 'yes'"),
    ("grapevine", {"ring": 4}, "ring must be a whole number from 2 to 3, got 4"),
    ("grapevine", {"learn": "ad"}, "unknown name in learn 'd': expected one of 'a', 'b', 'c'"),
    ("grapevine", {"miss": [None]}, "unknown name in miss None: expected one of 'a', 'b', 'c'"),
    ("grapevine", {"unsure": 2.5}, "unsure must be a list of names out of a, b, c, got 2.5"),
    ("grapevine", {"home": None}, "home must be True or False, got None"),
    ("grapevine", {"goals": 7}, "goals must be one formula or a list of them, got 7"),
]
CORRIDOR: list[tuple[dict[str, Any], str]] = [
    ({"agents": 26}, "agents must be a whole number from 2 to 25, got 26"),
    ({"rooms": 61}, "rooms must be a whole number from 2 to 60, got 61"),
    ({"end": 5}, "end must be a whole number from 2 to 4, got 5"),
    ({"end": 2, "start": 3}, "start must be a whole number from 1 to 2, got 3"),
    ({"sense": 0}, "sense must be a whole number from 1 to 4, got 0"),
    ({"positions": [1]}, "positions must list the rooms of the 2 agents other than a, got [1]"),
    ({"positions": [1, 9]}, "each of positions must be a whole number from 1 to 4, got 9"),
    ({"hears": ["a"]}, "hears must list the hearers in each of the 4 rooms, got ['a']"),
    ({"hears": ["a", "b", "c", "d"]}, "unknown name in hears 'd': expected one of 'a', 'b', 'c'"),
    ({"miss_right": "d"}, "unknown name in miss_right 'd': expected one of 'a', 'b', 'c'"),
    ({"miss_left": "d"}, "unknown name in miss_left 'd': expected one of 'a', 'b', 'c'"),
    ({"informed": "z"}, "unknown name in informed 'z': expected one of 'a', 'b', 'c'"),
    ({"excluded": "z"}, "unknown name in excluded 'z': expected one of 'a', 'b', 'c'"),
    ({"depth": -1}, "depth must be a whole number from 1 to 20, got -1"),
    ({"goals": ()}, "goals must be one formula or a list of them, got ()"),
]
ENRICHED: list[tuple[dict[str, Any], str]] = [
    ({"useless": 9}, "useless must be a whole number from 1 to 8, got 9"),
    ({"toggles": 0}, "toggles must be True or False, got 0"),
]
WRONG += [("selective_communication", *case) for case in CORRIDOR]
WRONG += [("selective_communication_enriched", *case) for case in CORRIDOR + ENRICHED]

# A grid of sizes for each domain in mA*; those in EPDDL have tests of their own. All combinations are legal.
GRID: dict[str, dict[str, list[Any]]] = {
    "assembly_line": {"agents": [2, 3], "parts": [1, 2], "depth": [1, "common"], "clear_start": [True]},
    "coin_in_the_box": {"agents": [2, 3], "keys": ["ab", ""], "looking": ["", "b"], "goal": ["first", "others"]},
    "collaboration_communication": {
        "agents": [2, 3], "boxes": [1, 2], "rooms": [2, 4], "tells_by": ["room", "box"], "newcomers": [0, 2],
    },
    "epistemic_gossip": {"agents": [2, 4], "protocol": ["tell", "call"], "informed": [1, 2], "depth": [1, 2, 5]},
    "grapevine": {"agents": [3, 4], "rooms": [2, 3], "ring": [2, 3], "learn": ["", "ab"]},
    "selective_communication": {"agents": [2, 5], "rooms": [3, 9], "start": [1, 3], "sense": [1, 2], "depth": [1, 3]},
    "selective_communication_enriched": {
        "agents": [2, 5], "rooms": [3, 9], "useless": [1, 3], "toggles": [False, True],
    },
}  # fmt: skip


@pytest.mark.parametrize(("domain", "parameters", "message"), WRONG)
def test_range_error(domain: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        domains.text(domain, **parameters)
    assert str(caught.value) == message


def test_every_parameter_has_a_range_error() -> None:
    for domain in GRID:
        tried = {name for tried, parameters, _ in WRONG if tried == domain for name in parameters}
        assert tried == set(domains.DOMAINS[domain].defaults)


@pytest.mark.parametrize("domain", domains.DOMAINS)
def test_every_parameter_is_documented(domain: str) -> None:
    for name in domains.DOMAINS[domain].defaults:
        assert f"    {name}: " in domains.DOMAINS[domain].documentation


@pytest.mark.parametrize("domain", GRID)
def test_every_size_of_a_grid_parses(domain: str) -> None:
    grid = GRID[domain]
    for values in product(*grid.values()):
        parameters = dict(zip(grid, values, strict=True))
        task = parse_mastar(domains.text(domain, **parameters))
        assert len(task.agents) == parameters.get("agents", 3)
        assert task.goal
        assert {"goals": None, **parameters}.keys() <= domains.DOMAINS[domain].defaults.keys()


@pytest.mark.parametrize("domain", GRID)
def test_vocabulary_consists_of_formulas_about_the_problem(domain: str) -> None:
    chosen = domains.DOMAINS[domain]
    grid = GRID[domain]
    for values in list(product(*grid.values()))[::5]:
        parameters = dict(zip(grid, values, strict=True))
        vocabulary = chosen.vocabulary(**parameters)
        assert len(set(vocabulary)) == len(vocabulary)
        task = parse_mastar(chosen.text({**parameters, "goals": list(vocabulary)}))
        assert len(task.goal) >= len(vocabulary)


@pytest.mark.parametrize("domain", domains.DOMAINS)
def test_vocabulary_accepts_every_parameter(domain: str) -> None:
    chosen = domains.DOMAINS[domain]
    assert chosen.vocabulary(**chosen.defaults) == chosen.vocabulary()
    assert inspect.signature(chosen.vocabulary).parameters.keys() - {"_"} <= chosen.defaults.keys()


@pytest.mark.parametrize("domain", GRID)
def test_goals_replace_the_goal(domain: str) -> None:
    default = parse_mastar(domains.text(domain))
    other = parse_mastar(domains.text(domain, goals=["B(a, B(b, " + default.fluents[0] + "))"]))
    assert [str(goal) for goal in other.goal] == [f"B(a, B(b, {default.fluents[0]}))"]
    assert other.actions == default.actions
    assert other.initial == default.initial


def test_wrong_names_suggest_right_ones() -> None:
    for name, message in {
        "grapevin": "unknown domain 'grapevin': did you mean 'grapevine'?",
        "grapevine/3_pl2": "unknown instance of grapevine '3_pl2': did you mean '3_pl_2' or '5_pl_2' or '4_pl_2'?",
    }.items():
        with pytest.raises(DomainError) as caught:
            domains.text(name)
        assert str(caught.value) == message
    with pytest.raises(DomainError, match=r"^unknown parameter of grapevine 'agnts': did you mean 'agents'\?$"):
        domains.text("grapevine", agnts=3)
    with pytest.raises(DomainError, match="a problem is named domain or domain/instance, got 3"):
        domains.find(3)  # type: ignore[arg-type]


def test_domain_errors_are_value_errors() -> None:
    assert issubclass(DomainError, ValueError)
