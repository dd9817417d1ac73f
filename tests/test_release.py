"""What the project says about itself agrees: its version, its changelog, and how to cite it."""

from __future__ import annotations

import re
import tomllib

import yaml

import epigym
from tests.helpers.benchmark_files import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
CITATION = yaml.safe_load(text("CITATION.cff"))


def test_there_is_one_version() -> None:
    newest = re.findall(r"^## \[(.+?)\] - (?:unreleased|\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"), flags=re.MULTILINE)[0]
    assert epigym.__version__ == PROJECT["version"] == newest == CITATION["version"]


def test_the_citation_is_of_this_software() -> None:
    assert (CITATION["title"], CITATION["license"]) == (PROJECT["name"], PROJECT["license"])
    [author] = CITATION["authors"]
    assert author["name"] in text("LICENSE")


def test_the_readme_names_the_paper_that_the_citation_refers_to() -> None:
    [paper] = CITATION["references"]
    readme = " ".join(text("README.md").split())
    assert paper["title"] in readme
    assert all(f"{author['given-names'][0]}. {author['family-names']}" in readme for author in paper["authors"])
