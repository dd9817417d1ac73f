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
    assert [one for one in others if not re.fullmatch(r"[\w-]+(\[\w+\])?>=[\d.]+", one)] == []
    needed = list(map(Requirement, others))
    assert [str(one) for one in needed if one.name not in TESTED or TESTED[one.name] not in one.specifier] == []


def test_hosted_checks_run_with_the_oldest_python() -> None:
    workflow = yaml.load(text(".github/workflows/ci.yml"), yaml.BaseLoader)
    assert workflow["on"] == ["push", "pull_request"]
    [job] = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    [python] = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert PROJECT["requires-python"] == f">={python}"
