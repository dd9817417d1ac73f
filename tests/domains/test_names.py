"""What is said about a name that does not exist."""

from __future__ import annotations

import pytest

from domains.names import did_you_mean, unknown


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("bsf", ["dfs", "bfs", "hfs"], "unknown agent 'bsf': did you mean 'bfs'?"),
        ("gossip", ["grapevine", "epistemic_gossip"], "unknown agent 'gossip': did you mean 'epistemic_gossip'?"),
        ("pl_1", ["pl_2", "pl_3"], "unknown agent 'pl_1': did you mean 'pl_3' or 'pl_2'?"),
        ("x", {"b", "a"}, "unknown agent 'x': expected one of 'a', 'b'"),
        (None, ["a"], "unknown agent None: expected one of 'a'"),
        ("x", [], "unknown agent 'x': there is none"),
    ],
)
def test_one_line_with_the_closest_names_or_all(name: object, known: list[str], message: str) -> None:
    assert unknown("agent", name, known) == message


def test_long_lists_are_cut() -> None:
    assert unknown("agent", "x", map(str, range(10, 30))).endswith("'20', '21', …")


def test_a_hint_is_empty_when_nothing_is_close() -> None:
    assert did_you_mean("x", ["abc"]) == ""
