"""The public EPDDL problems with their domains and libraries."""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from epigym.errors import ProblemWarning
from epigym.language.epddl import ground_epddl
from epigym.language.specification import GroundSpecification
from tests.helpers.benchmark_files import BENCHMARKS

TOOLKIT = BENCHMARKS / "epddl"
COMPETITION = BENCHMARKS / "ipc2026"


@dataclass(frozen=True)
class Case:
    """A problem file with what it needs.

    Attributes:
        name: `Domain/problem` for the toolkit's problems, the path below the folder for the competition's.
    """

    name: str
    problem: Path
    domain: Path
    libraries: tuple[Path, ...]

    def ground(self, *, plank_compat: bool = False) -> GroundSpecification:
        """The ground specification, without the warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            return ground_epddl(self.problem, self.domain, self.libraries, plank_compat=plank_compat)


def toolkit_cases() -> list[Case]:
    """The 19 problems that come with the toolkit."""
    cases = []
    for problem in sorted((TOOLKIT / "domains").glob("*/instances/**/*.epddl")):
        folder = problem.relative_to(TOOLKIT / "domains").parts[0]
        (domain,) = (TOOLKIT / "domains" / folder).glob("*.epddl")
        named = re.search(r":action-type-libraries (\w+)", domain.read_text(encoding="utf-8"))
        libraries = (TOOLKIT / "libraries" / f"{named[1]}.epddl",) if named else ()
        cases.append(Case(f"{folder}/{problem.stem}", problem, domain, libraries))
    return cases


def competition_cases() -> list[Case]:
    """The 100 problems of the competition and the 58 generated ones."""
    cases = []
    for problem in sorted(COMPETITION.glob("**/problems/*.epddl")):
        domain = problem.parent.parent.relative_to(COMPETITION)
        tier, name = domain.parts[-2:]
        home = COMPETITION / tier
        label = problem.relative_to(COMPETITION).as_posix()
        cases.append(Case(label, problem, home / name / "domain.epddl", (home / "act_lib.epddl",)))
    return cases
