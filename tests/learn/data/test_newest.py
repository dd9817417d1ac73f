"""What is kept in memory: the newest, within a bound."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from learn.data.explorers import Newest

STEPS = st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 12)), max_size=30)


@given(STEPS)
def test_the_newest_that_fit_are_kept(steps: list[tuple[str, int | None]]) -> None:
    """Against a list in which whatever was put in or asked for last comes last."""
    newest, expected = Newest[int](10), list[tuple[str, int]]()
    for key, size in steps:
        found = dict(expected).get(key)
        if size is None:
            assert newest.get(key) == found
        else:
            newest.put(key, size, size)
            found = size
        expected = [entry for entry in expected if entry[0] != key]
        if found is not None and found <= 10:
            expected.append((key, found))
        while sum(entry[1] for entry in expected) > 10:
            del expected[0]
    assert {key: newest.get(key) for key in "abcde"} == {key: dict(expected).get(key) for key in "abcde"}


def test_nothing_is_kept_when_the_interpreter_ends() -> None:
    """Else the core says that it leaks: its objects would outlive it."""
    program = """
from atexit import register
from learn.data.explorers import Newest
register(lambda: print(newest.get("a")))  # called after what is registered later
newest = Newest(1)
newest.put("a", "there", 1)
print(newest.get("a"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["there", "None"]
