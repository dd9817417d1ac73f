"""What the project says about itself agrees: its version, its changelog, how to cite it, and what it needs."""

import re
import tomllib

import yaml
from packaging.requirements import Requirement

import epigym
from tests.helpers.benchmark_files import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


SETTINGS = tomllib.loads(text("pyproject.toml"))
PROJECT = SETTINGS["project"]
OPTIONAL = PROJECT["optional-dependencies"].values()
REQUIRED = [
    *SETTINGS["build-system"]["requires"],
    *PROJECT["dependencies"],
    *(one for names in OPTIONAL for one in names),
]
TESTED = dict(line.split("==") for line in text("constraints.txt").lower().replace("_", "-").splitlines()[1:])
CITATION = yaml.safe_load(text("CITATION.cff"))


def test_version_and_citation() -> None:
    newest = re.findall(r"^## \[(.+?)\] - (?:unreleased|\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"), flags=re.MULTILINE)[0]
    assert epigym.__version__ == PROJECT["version"] == newest == CITATION["version"]
    assert (CITATION["title"], CITATION["license"]) == (PROJECT["name"], PROJECT["license"])
    [author] = CITATION["authors"]
    assert author["name"] in text("LICENSE")
    [paper] = CITATION["references"]
    readme = " ".join(text("README.md").split())
    assert paper["title"] in readme
    assert all(f"{author['given-names'][0]}. {author['family-names']}" in readme for author in paper["authors"])


def test_requirements_are_an_oldest_version_that_the_tested_one_exceeds() -> None:
    """`.ci/oldest` installs the oldest versions, and `make` the tested ones."""
    others = [one for one in REQUIRED if not one.startswith(f"{PROJECT['name']}[")]
    assert len(others) > 40
    assert [one for one in others if not re.fullmatch(r"[\w-]+(\[\w+\])?>=[\d.]+(,<\d+)?", one)] == []
    needed = list(map(Requirement, others))
    assert [str(one) for one in needed if one.name not in TESTED or TESTED[one.name] not in one.specifier] == []


def test_wheels_are_built_for_the_oldest_python_and_once_for_all_from_the_stable_abi_on() -> None:
    tools = SETTINGS["tool"]
    first = tools["scikit-build"]["wheel"]["py-api"]
    oldest = PROJECT["requires-python"].removeprefix(">=").replace(".", "")
    assert tools["cibuildwheel"]["build"][:2] == [f"cp{oldest}-*", f"{first}-*"]
    assert "nanobind_add_module(_core STABLE_ABI " in text("CMakeLists.txt")


def test_a_release_has_the_wheels_of_two_systems_and_the_sources() -> None:
    workflow = yaml.load(text(".github/workflows/release.yml"), yaml.BaseLoader)
    jobs = workflow["jobs"]
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    assert [name.partition("-")[0] for name in jobs["wheels"]["strategy"]["matrix"]["os"]] == ["ubuntu", "macos"]
    assert set(jobs["release"]["needs"]) == set(jobs) - {"release"} == {"wheels", "sdist"}
    writers = [name for name, job in jobs.items() if job.get("permissions")]
    assert (workflow["permissions"], writers) == ({"contents": "read"}, ["release"])


def test_hooks_before_a_commit_are_the_checks_of_make_test() -> None:
    [repository] = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    entries = [hook["entry"] for hook in repository["hooks"]]
    checks = re.findall(r"^\t\$\(BIN\)/((?:ruff|mypy).*)$", text("Makefile"), flags=re.MULTILINE)
    assert len(checks) == 3
    # The hook formats where `make test` only compares.
    assert entries == [f".venv/bin/{check.removesuffix(' --check')}" for check in checks]


def test_hosted_checks_run_with_the_oldest_python() -> None:
    workflow = yaml.load(text(".github/workflows/ci.yml"), yaml.BaseLoader)
    assert workflow["on"] == ["push", "pull_request"]
    [job] = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    [python] = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert PROJECT["requires-python"] == f">={python}"
