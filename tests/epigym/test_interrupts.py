"""When Python counts as one of our commands: only then are Ctrl-C and the collection of garbage changed."""

import pytest

from epigym.interrupts import is_command


@pytest.mark.parametrize(
    "arguments", [["-m", "search.solve"], ["-O", "-m", "learn.train"], ["/usr/bin/epigym-plan", "problem"]]
)
def test_a_command(arguments: list[str]) -> None:
    assert is_command(arguments)


@pytest.mark.parametrize("arguments", [["search"], ["scripts/learn"], ["-m", "pytest", "search"], ["-c", "pass"], []])
def test_no_command(arguments: list[str]) -> None:
    assert not is_command(arguments)
