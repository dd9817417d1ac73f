"""The summary of skipped reference tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_terminal_summary


def test_modules_that_are_skipped_at_import_are_no_reference_tests() -> None:
    module = pytest.CollectReport("tests/test_a.py", "skipped", None, None)
    test = pytest.TestReport("tests/test_b.py::test_b", ("", 0, ""), {"reference": 1}, "skipped", None, "setup")
    lines: list[str] = []
    reporter: Any = SimpleNamespace(stats={"skipped": [module, test]}, write_line=lines.append)
    pytest_terminal_summary(reporter)
    assert [line.partition(":")[0] for line in lines] == ["1 reference tests skipped"]
