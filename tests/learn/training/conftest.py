"""Trainings take seconds each: the tests of this folder are slow."""

from functools import lru_cache
from pathlib import Path

import pytest

from learn.data import distribution


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def workdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `outputs` has the data sets of all tests, as they are found by their settings."""
    return tmp_path_factory.mktemp("workdir")


@pytest.fixture(autouse=True)
def in_workdir(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workdir)


_EXPLORE = distribution._explore


@lru_cache(maxsize=64)
def _explore_once(domain: str, split: str, parameters: str, _: int) -> tuple[distribution.ExploredTask, list[str]]:
    return _EXPLORE(domain, split, parameters)


@pytest.fixture(autouse=True)
def explored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings that sample the same problems explore them once."""
    monkeypatch.setattr(distribution, "_explore", lambda *arguments: _explore_once(*arguments, distribution.MAX_STATES))
