"""Figures that benchmarks print, past what captures their output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest

T = TypeVar("T")


def show(config: pytest.Config, figures: object) -> None:
    """Print figures."""
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(figures)


def printed(config: pytest.Config, collected: T) -> Iterator[T]:
    """What a fixture hands out to collect figures in; printed once a module of benchmarks has ended."""
    yield collected
    show(config, collected)
