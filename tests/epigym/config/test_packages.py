"""Imports that take seconds."""

import gc
from collections.abc import Iterator

import pytest

from epigym.config import packages
from epigym.config.packages import count_import_seconds, slow_imports


@pytest.fixture
def collects() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.usefixtures("collects")
@pytest.mark.parametrize("is_enabled", [True, False])
def test_slow_imports_are_counted_and_collect_no_garbage(is_enabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 14.0, 20.0, 22.0])
    monkeypatch.setattr(packages, "perf_counter", lambda: next(times))
    before = count_import_seconds()
    gc.enable() if is_enabled else gc.disable()
    with slow_imports():
        assert not gc.isenabled()
    assert (count_import_seconds() - before, gc.isenabled()) == (4.0, is_enabled)
    with pytest.raises(ModuleNotFoundError), slow_imports():
        raise ModuleNotFoundError
    assert (count_import_seconds() - before, gc.isenabled()) == (6.0, is_enabled)
