"""Suites: the problems they name, and the files they find."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from domains import DOMAINS
from epigym.errors import MissingError, UsageError
from epigym.language import Reading
from search.evaluate import Evaluate
from search.evaluation.suites import Problem, list_problems, problems_of
from tests.helpers.benchmark_files import SHARED
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import Files, write_problem


def compose_suite(name: str, *overrides: str) -> dict[str, Any]:
    """The suite as the command line chooses it."""
    return compose(Evaluate, "evaluate", f"suite={name}", *overrides).suite


@pytest.mark.parametrize("domain", [name for name in DOMAINS if DOMAINS[name].test])
def test_what_is_left_out_is_not_trained_on(domain: str) -> None:
    chosen = compose_suite("without", f"suite.domain={domain}")
    tested = [problem.name for problem in problems_of(chosen, None, Reading())]
    assert tested == [f"{domain}/{name}" for name in DOMAINS[domain].test]
    trained = problems_of({**chosen, "split": "train"}, None, Reading())
    assert {problem.domain for problem in trained} == {name for name in DOMAINS if DOMAINS[name].train} - {domain}
    assert len(trained) == sum(len(other.train) for name, other in DOMAINS.items() if name != domain)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A problem, its domain and its library, and a second problem beside it."""
    files = write_problem(tmp_path)
    shutil.copy(files.problem, tmp_path / "coin-2.epddl")
    return files


def make_epddl_suite(folder: Path, **changes: Any) -> dict[str, Any]:
    """A suite of two domains whose problems are in `folder`."""
    coin = {"problems": "coin-*.epddl", "domain_file": "coin.epddl", "libraries": ["kinds.epddl"]} | changes
    return {"name": "coins", "folder": str(folder), "plank_compat": False, "domains": {"easy/coin": coin, "b": coin}}


def test_suites_of_the_domains_can_be_cut() -> None:
    everything = problems_of(compose_suite("standard"), None, Reading("efp"))
    small = problems_of(compose_suite("standard"), 2, Reading("efp"))
    assert (len(everything), len(small)) == (66, 12)
    assert set(small) <= set(everything)
    assert Problem("assembly_line/b2_pl_5", "assembly_line", "assembly_line/b2_pl_5", Reading("efp")) in everything
    assert len(problems_of(compose_suite("standard", "suite.split=all"), None, Reading())) == 95
    chosen = problems_of(compose_suite("standard"), 2, Reading("efp"), ["grapevine", "assembly_line"])
    assert [problem.domain for problem in chosen] == ["grapevine"] * 2 + ["assembly_line"] * 2
    assert set(chosen) <= set(small)


def test_wrong_suites_of_the_domains_are_explained() -> None:
    for name, split, domains, message in (
        ("standart", "test", [], "'standart': did you mean 'standard'"),
        ("standard", "tests", [], r"suite\.split 'tests': did you mean 'test'"),
        ("standard", "test", ["grapevines"], "'grapevines': did you mean 'grapevine'"),
    ):
        with pytest.raises(UsageError, match=message):
            problems_of({"name": name, "split": split}, None, Reading(), domains)


def test_names_of_problems(files: Files, tmp_path: Path) -> None:
    found = problems_of(make_epddl_suite(tmp_path), None, Reading())
    assert [problem.name for problem in found] == ["easy/coin/coin-1", "easy/coin/coin-2", "b/coin-1", "b/coin-2"]
    reading = Reading(domain_file=str(files.domain), libraries=(str(files.library),), plank_compat=False)
    assert found[0] == Problem("easy/coin/coin-1", "easy/coin", str(files.problem), reading)
    some = problems_of(make_epddl_suite(tmp_path), 1, Reading())
    assert [problem.name for problem in some] == ["easy/coin/coin-1", "b/coin-1"]
    file = tmp_path / "grapevine" / "one.txt"
    found = list_problems([str(file), "grapevine/3_pl_2"], Reading())
    assert [(one.name, one.domain) for one in found] == [(str(file), "grapevine"), ("grapevine/3_pl_2", "grapevine")]


def test_the_digest_of_a_problem_is_that_of_its_contents(files: Files, tmp_path: Path) -> None:
    first, second, *_ = problems_of(make_epddl_suite(tmp_path), None, Reading())
    spec, instance, other = list_problems([str(files.spec), "grapevine/3_pl_2", "grapevine/3_pl_3"], Reading())
    assert first.digest() == second.digest()  # one is a copy of the other
    assert instance.digest() != other.digest()
    for file in (files.problem, files.domain, files.library):
        before = first.digest(), spec.digest()
        file.write_text(file.read_text() + " ")
        after = first.digest(), spec.digest()
        assert not set(before) & set(after)
    assert instance.digest() == instance.digest()
    for gone in ("gone.txt", "grapevine/gone", "gone"):
        with pytest.raises(MissingError, match=f"no such problem file as '{gone}', and "):
            list_problems([gone], Reading())[0].digest()
    files.library.unlink()
    with pytest.raises(MissingError, match=r"kinds\.epddl: No such file"):
        first.digest()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"folder": "gone"}, "gone does not exist; set suite.folder to where its files are"),
        ({"problems": "x*.epddl"}, "holds no x*.epddl; set suite.folder"),
        ({"domain_file": "x.epddl"}, "x.epddl, which easy/coin needs"),
        ({"libraries": ["y.epddl"]}, "y.epddl, which easy/coin needs"),
    ],
)
def test_missing_files_are_one_clear_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    suite = make_epddl_suite(tmp_path / changes.pop("folder", "."), **changes)
    with pytest.raises(MissingError, match=f"^suite coins: .*{re.escape(message)}") as caught:
        problems_of(suite, None, Reading())
    assert "\n" not in str(caught.value)


def test_problems_of_the_competition_have_the_names_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(tmp_path / "missing"))
    contents = {}
    for name, count in (("ipc", 100), ("ipc_training", 58)):
        found = problems_of(compose_suite(name), None, Reading())
        assert (len(found), len({problem.domain for problem in found})) == (count, 11)
        assert all(problem.name.startswith(f"{problem.domain}/") for problem in found)
        contents[name] = {problem.digest() for problem in found}
        assert len(contents[name]) == count
    assert not contents["ipc"] & contents["ipc_training"]
    basic, intermediate = (
        problems_of(compose_suite("ipc"), 1, Reading(), [f"{tier}/gossip"]) for tier in ("1-basic", "2-intermediate")
    )
    name = "1-basic/gossip"
    assert basic == [Problem(f"{name}/gos-03-all", name, "gossip/gos_03_all", Reading())]
    name = "2-intermediate/gossip"
    assert intermediate == [Problem(f"{name}/gos-03-all", name, "gossip/gos_03_all_private", Reading())]


def test_files_are_of_no_known_domain(files: Files, tmp_path: Path) -> None:
    assert problems_of(make_epddl_suite(tmp_path), 1, Reading())[0].instance_domain is None
    [found] = problems_of(compose_suite("ipc"), 1, Reading(), ["1-basic/blocks-world"])
    assert found.instance_domain == "blocks_world"  # for which models are chosen
    assert list_problems(["grapevine/3_pl_2"], Reading())[0].instance_domain == "grapevine"


@pytest.mark.reference
def test_a_suite_finds_the_public_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    found = problems_of(compose_suite("epddl"), None, Reading())
    assert (len(found), len({problem.domain for problem in found})) == (19, 10)
    for problem in found:
        reading = problem.reading
        assert problem.domain in problem.source
        assert (len(reading.libraries) == 0) == ("Consecutive-Numbers" in problem.domain)
        assert all(Path(path).is_file() for path in (problem.source, str(reading.domain_file), *reading.libraries))
