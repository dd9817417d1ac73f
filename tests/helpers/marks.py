"""Parameters of tests of which only some cases are fast."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Mark all cases slow but those that are named; a case of several values is a tuple."""
    cases = list(values)
    if absent := [case for case in fast if case not in cases]:
        raise ValueError(f"not among the cases: {absent}")
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if case in fast else pytest.mark.slow)
        for case in cases
    ]
