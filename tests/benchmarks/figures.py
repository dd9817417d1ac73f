"""Figures that are printed once a module of benchmarks has ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest

T = TypeVar("T")


def printed(config: pytest.Config, collected: T) -> Iterator[T]:
    """What a fixture hands out to collect figures in; printed at the end."""
    yield collected
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(collected)
