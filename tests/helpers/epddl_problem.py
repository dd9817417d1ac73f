"""A small EPDDL problem in files, for the tests of what reads problem files."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.benchmark_files import ROOT

_FOLDER = ROOT / "docs" / "epddl"  # the example of a tutorial
LIBRARY, DOMAIN, PROBLEM = (
    (_FOLDER / name).read_text(encoding="utf-8") for name in ("kinds.epddl", "coin.epddl", "coin-1.epddl")
)
PLANS = (["lift_Ann", "look_Ann"], ["lift_Bob", "look_Ann"])


@dataclass(frozen=True)
class Files:
    """Where the problem lies; `spec` names the other files relative to itself."""

    domain: Path
    library: Path
    problem: Path
    spec: Path


def write_problem(folder: Path, problem: str = PROBLEM) -> Files:
    """Write the files into `folder`."""
    files = Files(*(folder / name for name in ("coin.epddl", "kinds.epddl", "coin-1.epddl", "coin-1.json")))
    files.domain.write_text(DOMAIN)
    files.library.write_text(LIBRARY)
    files.problem.write_text(problem)
    files.spec.write_text(
        json.dumps({"domain": "coin.epddl", "problem": "coin-1.epddl", "action-type-libraries": ["kinds.epddl"]})
    )
    return files
