"""What benchmarks share: figures that are printed past what captures the output, and a single core."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def lines(pytestconfig: pytest.Config) -> Iterator[list[str]]:
    """Collects lines; they are printed once the module has ended."""
    collected = [""]
    yield collected
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n".join(collected))


@pytest.fixture(scope="module")
def one_core() -> Iterator[None]:
    """Keeps this process on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)
