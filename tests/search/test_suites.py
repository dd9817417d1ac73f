"""Suites: the problems they name, and the files they find."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from epigym.errors import EpigymError
from search.evaluation.suites import EpddlFiles, problems_of
from tests.helpers.benchmark_files import SHARED
from tests.helpers.epddl_problem import Files, write_problem


def configured(name: str, *overrides: str) -> dict[str, Any]:
    """The suite as the command line chooses it."""
    with initialize_config_module("conf", version_base=None):
        config = compose("evaluate", overrides=[f"suite={name}", *overrides])
    chosen = OmegaConf.to_container(config.suite, resolve=True)
    assert isinstance(chosen, dict)
    return chosen


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A problem, its domain and its library, and a second problem beside it."""
    files = write_problem(tmp_path)
    shutil.copy(files.problem, tmp_path / "coin-2.epddl")
    return files


def listed(folder: Path, **changes: Any) -> dict[str, Any]:
    """A suite of two domains whose problems are in `folder`."""
    domain = {"problems": "coin-*.epddl", "domain_file": "coin.epddl", "libraries": ["kinds.epddl"]} | changes
    return {
        "name": "coins",
        "folder": str(folder),
        "plank_compat": False,
        "domains": {"easy/coin": domain, "b": domain},
    }


def test_suites_of_the_domains_can_be_cut() -> None:
    everything = problems_of(configured("standard"), None)
    small = problems_of(configured("standard"), 2)
    assert (len(everything), len(small)) == (66, 12)
    assert set(small) <= set(everything)
    assert set(everything.values()) == {None}
    assert len(problems_of(configured("standard", "suite.split=all"), None)) == 95


def test_wrong_suites_of_the_domains_are_explained() -> None:
    with pytest.raises(EpigymError, match="standart"):
        problems_of({"name": "standart", "split": "test"}, None)
    with pytest.raises(EpigymError, match="choose one of train, test, all"):
        problems_of({"name": "standard", "split": "tests"}, None)


def test_epddl_problems_are_named_by_domain_and_file(files: Files, tmp_path: Path) -> None:
    found = problems_of(listed(tmp_path), None)
    assert list(found) == ["easy/coin/coin-1", "easy/coin/coin-2", "b/coin-1", "b/coin-2"]
    assert found["easy/coin/coin-1"] == EpddlFiles(
        str(files.problem), str(files.domain), (str(files.library),), plank_compat=False
    )
    assert list(problems_of(listed(tmp_path), 1)) == ["easy/coin/coin-1", "b/coin-1"]


@pytest.mark.usefixtures("files")
def test_missing_files_are_one_clear_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for suite, message in (
        (listed(gone), f"suite coins: {gone} does not exist; set suite.folder to where its files are"),
        (listed(tmp_path, problems="x*.epddl"), f"suite coins: {tmp_path} holds no x*.epddl; set suite.folder"),
        (
            listed(tmp_path, domain_file="x.epddl"),
            f"suite coins: there is no {tmp_path}/x.epddl, which easy/coin needs",
        ),
        (
            listed(tmp_path, libraries=["y.epddl"]),
            f"suite coins: there is no {tmp_path}/y.epddl, which easy/coin needs",
        ),
    ):
        with pytest.raises(EpigymError, match=re.escape(message)) as caught:
            problems_of(suite, None)
        assert "\n" not in str(caught.value)


@pytest.mark.reference
@pytest.mark.parametrize(("name", "count", "domains"), [("epddl", 19, 10), ("ipc", 100, 11), ("ipc_training", 58, 11)])
def test_suites_find_the_public_problems(name: str, count: int, domains: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    found = problems_of(configured(name), None)
    assert len(found) == count
    assert len({problem.rpartition("/")[0] for problem in found}) == domains
    for problem, files in found.items():
        assert files is not None
        assert problem.rpartition("/")[0] in files.problem
        assert (len(files.libraries) == 0) == ("Consecutive-Numbers" in problem)
        assert all(Path(path).is_file() for path in (files.problem, files.domain_file, *files.libraries))


@pytest.mark.reference
def test_training_problems_are_no_test_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    contents = [
        {Path(files.problem).read_bytes() for files in problems_of(configured(name), None).values() if files}
        for name in ("ipc", "ipc_training")
    ]
    assert not contents[0] & contents[1]
