"""What docs/architecture.md names is there."""

from __future__ import annotations

import re

from tests.helpers.benchmark_files import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_files_that_it_names_exist() -> None:
    names = [name for name in re.findall(r"`(\w+/[\w/.<>]*)`", TEXT) if name != "domain/instance"]
    assert len(names) > 20
    # A file that is yet to be written stands in a folder that is there.
    places = [name.partition("<")[0] for name in names]
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_it_can_be_read_at_a_sitting() -> None:
    assert len(TEXT.splitlines()) <= 120
