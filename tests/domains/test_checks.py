"""What is said about parameters out of range and names that do not exist."""

from collections.abc import Callable
from typing import Any

import pytest

import domains
from domains import DomainError, read_parameters
from domains.checks import (
    check_at_least,
    check_between,
    check_flag,
    check_formulas,
    check_limit,
    check_one_each,
    check_one_of,
    check_subset,
    power,
)
from domains.names import did_you_mean, unknown

LETTERS = ("a", "b", "c")


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_between("agents", 1, 2, 8), "agents must be a whole number from 2 to 8, got 1"),
        (lambda: check_between("agents", "3", 2, 8), "agents must be a whole number from 2 to 8, got '3'"),
        (lambda: check_between("agents", True, 0, 8), "agents must be a whole number from 0 to 8, got True"),
        (lambda: check_at_least("agents", 1, 2), "agents must be a whole number, at least 2, got 1"),
        (lambda: check_at_least("agents", True, 0), "agents must be a whole number, at least 0, got True"),
        (
            lambda: check_limit("worlds", 9, 8, boxes=2, rooms=3),
            "more than 8 worlds with boxes=2, rooms=3: lower boxes or rooms",
        ),
        (lambda: check_flag("home", 1), "home must be True or False, got 1"),
        (lambda: check_one_of("tier", "sngle", ["single"]), "unknown tier 'sngle': did you mean 'single'?"),
        (lambda: check_one_of("tier", None, ["single"]), "unknown tier None: expected one of 'single'"),
        (lambda: check_subset("keys", 1, LETTERS), "keys must be a list of names out of a, b, c, got 1"),
        (lambda: check_subset("keys", "d", LETTERS), "unknown name in keys 'd': expected one of 'a', 'b', 'c'"),
        (lambda: check_subset("keys", ["a", "a"], LETTERS), "keys names something twice: a, a"),
        (lambda: check_subset("keys", "", LETTERS, at_least=1), "keys needs at least 1 of a, b, c, got 0"),
        (lambda: check_one_each("at", [1], [1, 2], "ab"), "at must list one of 1, 2 for each of a, b, got [1]"),
        (
            lambda: check_one_each("at", [[1], 2], range(1, 40), "ab"),
            "at must list one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … for each of a, b, got [[1], 2]",
        ),
        (lambda: check_one_each("at", 2, [1, 2], "ab"), "at must list one of 1, 2 for each of a, b, got 2"),
        (
            lambda: check_one_each("at", [1, True], [1, 2], "ab"),
            "at must list one of 1, 2 for each of a, b, got [1, True]",
        ),
        (
            lambda: check_one_each("at", [1.0, 2], [1, 2], "ab"),
            "at must list one of 1, 2 for each of a, b, got [1.0, 2]",
        ),
        (lambda: check_formulas("goals", ""), "goals must be one formula or a list of them, got ''"),
        (lambda: check_formulas("goals", [""]), "goals must be one formula or a list of them, got ['']"),
        (lambda: check_formulas("goals", {}), "goals must be one formula or a list of them, got {}"),
        (lambda: domains.write("grapevin"), "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (lambda: domains.write("grapevine", agnts=3), "unknown parameter of grapevine 'agnts': did you mean 'agents'?"),
        (
            lambda: domains.write("grapevine/3_pl2"),
            "unknown instance of grapevine '3_pl2': did you mean '3_pl_2' or '5_pl_2' or '4_pl_2'?",
        ),
        (lambda: domains.find(3), "a problem is named domain or domain/instance, got 3"),  # type: ignore[arg-type]
        (lambda: read_parameters(["agents"]), "a parameter is given as name=value, got 'agents'"),
    ],
)
def test_a_wrong_value_is_one_line(check: Callable[[], Any], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        check()
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


def test_right_values_are_returned_in_order() -> None:
    assert check_at_least("agents", 10**9, 2) == 10**9
    check_limit("worlds", 8, 8, boxes=2)
    assert (power(3, 4), power(1, 10**9)) == (81, 1)
    assert 2**31 < power(2, 10**9) < 2**64
    assert check_subset("keys", "ca", LETTERS) == ("a", "c")
    assert check_one_each("at", (2, 1), [1, 2], "ab") == {"a": 2, "b": 1}
    assert check_formulas("goals", "p") == ("p",)
    assert read_parameters(["a=3", "b=abc", "c=3_3_1", "d=['x']"]) == {"a": 3, "b": "abc", "c": "3_3_1", "d": ["x"]}


@pytest.mark.parametrize(
    ("name", "names", "message"),
    [
        ("gossip", ["grapevine", "epistemic_gossip"], "unknown agent 'gossip': did you mean 'epistemic_gossip'?"),
        ("pl_1", ["pl_2", "pl_3"], "unknown agent 'pl_1': did you mean 'pl_3' or 'pl_2'?"),
        ("x", {"b", "a"}, "unknown agent 'x': expected one of 'a', 'b'"),
        ("x", [], "unknown agent 'x': there is none"),
    ],
)
def test_an_unknown_name_is_answered_with_the_closest_or_all(name: str, names: list[str], message: str) -> None:
    assert unknown("agent", name, names) == message


def test_long_lists_and_names_are_cut_and_nothing_close_is_no_hint() -> None:
    assert unknown("agent", "x" * 101, "a") == f"unknown agent '{'x' * 100}…': expected one of 'a'"
    assert unknown("agent", "x" * 100, "a") == f"unknown agent '{'x' * 100}': expected one of 'a'"
    assert unknown("agent", "x", map(str, range(10, 30))).endswith("'20', '21', …")
    assert did_you_mean("x", ["abc"]) == ""
