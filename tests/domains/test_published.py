"""Every published problem is an instance of a domain, up to names: the same start, goal and actions, searched alike."""

import csv
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

from domains import DOMAINS, find
from domains.instances import CompetitionProblem, load_competition
from domains.suites import SUITES
from epigym.features.types import FeatureTypes
from epigym.language import parse_mastar
from tests.helpers.benchmark_files import BENCHMARKS, ROOT, mastar_files, table
from tests.helpers.domain_problems import read
from tests.helpers.epddl_files import Case, competition_cases
from tests.helpers.equivalence import assert_same_task

# In mA*: the folder of the published files and the start of their names, for each domain.
FOLDERS = {
    "Assemble": ("assembly_line", "Assemble_"),
    "CC": ("collaboration_communication", "CC_"),
    "CoinBox": ("coin_in_the_box", "Coin_in_the_Box__"),
    "Gossip": ("epistemic_gossip", "gossip_"),
    "Grapevine": ("grapevine", "Grapevine_"),
    "SC": ("selective_communication", "SC_"),
    "SCRich": ("selective_communication_enriched", "SC_R_"),
}
# Where the published files name things differently from file to file.
RENAMED = {"epistemic_gossip", "assembly_line"}
# The competition's problems whose files list one relation twice; `test_details.py` compares them with their instances.
ODD = ("sc-03-04", "sc-04-05")
PROBLEMS = [problem for problem in load_competition() if problem.file not in ODD]
CASES = {case.name: case for case in competition_cases()}
MOST_WORLDS = 100_000
"""Worlds of the successors after which a comparison is cut."""
FIRST = list({(problem.tier, problem.family): problem for problem in reversed(PROBLEMS)}.values())

pytestmark = pytest.mark.reference


def instance_name(path: Path) -> str:
    """The name of a published problem in mA*."""
    domain, start = FOLDERS[path.parts[-3]]
    return f"{domain}/{path.stem.removeprefix(start).lower().replace('__', '_')}"


def find_case(problem: CompetitionProblem) -> Case:
    """The file of a problem of the competition, or of a smaller one."""
    folder = "" if problem.split == "test" else "generated/"
    return CASES[f"{folder}{problem.tier}/{problem.family}/problems/{problem.file}.epddl"]


def assert_published(path: Path, *, most_expanded: int, most_worlds: int = MOST_WORLDS) -> None:
    """Check that an instance is the task of its file in mA*."""
    name = instance_name(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slip in some published files, reported as such
        theirs = parse_mastar(path.read_text(encoding="utf-8"), file=path.name)
    ours = read(name)
    if find(name)[0].name not in RENAMED:
        assert (ours.fluents, ours.agents) == (theirs.fluents, theirs.agents)
        assert [action.name for action in ours.actions] == [action.name for action in theirs.actions]
    assert_same_task(ours, theirs, most_expanded=most_expanded, most_worlds=most_worlds, same_actions=False)


def assert_of_competition(problem: CompetitionProblem, *, most_expanded: int, most_worlds: int = MOST_WORLDS) -> None:
    """Check that an instance is the task of its file in EPDDL."""
    theirs = find_case(problem).ground().task
    assert_same_task(read(problem.name), theirs, most_expanded=most_expanded, most_worlds=most_worlds)


@pytest.mark.slow
def test_instances_are_the_published_tasks() -> None:
    for path in mastar_files():
        assert_published(path, most_expanded=200)


@pytest.mark.slow
def test_instances_are_the_tasks_of_the_competition() -> None:
    for problem in PROBLEMS:
        assert_of_competition(problem, most_expanded=10)


def test_first_instance_of_each_family_is_the_published_task() -> None:
    for path in {path.parent: path for path in mastar_files()}.values():
        assert_published(path, most_expanded=100)
    for problem in FIRST:
        assert_of_competition(problem, most_expanded=5)


def test_predicates_and_actions_are_the_published_ones() -> None:
    """Up to names, so that what was learned on problems that a domain writes is used on published files."""
    for problem in FIRST:
        theirs = find_case(problem).ground().task
        assert FeatureTypes(theirs).schema == FeatureTypes(read(problem.name)).schema, problem


def test_published_files_and_instances_correspond_with_their_splits() -> None:
    files = {(path.parent.name, instance_name(path)) for path in mastar_files()}
    assert len(files) == len(mastar_files()) == 105
    ours = [DOMAINS[name] for name, _ in FOLDERS.values()]
    splits = (("Training", "train"), ("Test", "test"))
    assert files == {(name, f"{one.name}/{text}") for one in ours for name, own in splits for text in getattr(one, own)}


def test_the_table_lists_the_files_of_the_competition_with_their_splits() -> None:
    with (BENCHMARKS / "ipc2026" / "generated" / "split.csv").open(encoding="utf-8", newline="") as file:
        labels = {(row["tier"], row["family"], row["problem"]): row["label"] for row in csv.DictReader(file)}
    problems = load_competition()
    for problem in problems:
        assert labels.get((problem.tier, problem.family, problem.file), "test") == problem.split
    assert {find_case(problem).name for problem in problems} == CASES.keys()


def test_measuring_names_the_sources_of_the_public_files() -> None:
    with (BENCHMARKS / "sources.csv").open(encoding="utf-8", newline="") as file:
        sources = Counter((row["repository"], row["commit"]) for row in csv.DictReader(file))
    page = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| [^|]+ \| (\d+) \| `([\w/-]+)` `(\w{40})` \|", page, flags=re.MULTILINE)
    assert {(repository, commit): int(number) for number, repository, commit in shown} == sources


@pytest.mark.parametrize(("suite", "source"), [("standard", "batch1"), ("transfer", "batch2")])
def test_suites_hold_what_was_published(suite: str, source: str) -> None:
    rows = [row for row in table("published") if row["source"] == source]
    names = {instance_name(Path(row["domain"]) / "x" / row["instance"]) + f":{row['mode']}" for row in rows}
    ours = {f"{name}:Training" for name in SUITES[suite].train} | {f"{name}:Test" for name in SUITES[suite].test}
    # The second was published without Assembly Line and Epistemic Gossip, which "all other domains" takes in.
    extra = ("assembly_line/", "epistemic_gossip/") if suite == "transfer" else ()
    assert {name for name in ours if not name.startswith(extra)} == names
