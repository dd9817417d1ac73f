"""The table of the competition's problems: complete, unique, and of published instances."""

from collections import Counter

from domains.instances import load_competition, load_published
from domains.suites import find_suite
from epigym.io.files import read_rows
from tests.helpers.benchmark_files import ROOT

PROBLEMS = load_competition()


def test_the_table_lists_each_problem_of_the_competition_once() -> None:
    tested = Counter(problem.tier for problem in PROBLEMS if problem.split == "test")
    assert tested == {"1-basic": 39, "2-intermediate": 46, "3-hard": 15}
    assert Counter(problem.split for problem in PROBLEMS) == {"test": 100, "train": 48, "validation": 10}
    assert len({(problem.tier, problem.family) for problem in PROBLEMS}) == 11
    assert len({problem.published_name for problem in PROBLEMS}) == len({problem.name for problem in PROBLEMS}) == 158
    assert sum(count == 2 for count in Counter(problem.file for problem in PROBLEMS).values()) == 8


def test_the_table_lists_all_published_instances_of_its_domains_with_their_splits() -> None:
    published = {
        (domain, instance, split)
        for domain in {problem.domain for problem in PROBLEMS}
        for split, instances in load_published(domain).items()
        for instance in instances
    }
    assert {(problem.domain, problem.instance, problem.split) for problem in PROBLEMS} == published
    for problem in PROBLEMS:
        private = "_private" if (problem.tier, problem.family) == ("2-intermediate", "gossip") else ""
        assert problem.instance == problem.file.replace("-", "_") + private


def test_the_suites_are_the_instances_of_the_table() -> None:
    train, validation, test = (
        tuple(problem.name for problem in PROBLEMS if problem.split == split)
        for split in ("train", "validation", "test")
    )
    suite, smaller = find_suite("ipc"), find_suite("ipc_training")
    assert (suite.train, suite.test) == (train, test)
    assert (smaller.train, smaller.test) == (train, validation)
    for problem in PROBLEMS:
        assert suite.published_names[problem.name] == problem.published_name == smaller.published_names[problem.name]


def test_rows_of_results_have_the_names_of_the_table() -> None:
    rows = read_rows(ROOT / "docs" / "results" / "competition.csv.gz", ("domain", "problem"))
    tested = [problem for problem in PROBLEMS if problem.split == "test"]
    assert {row["problem"]: row["domain"] for row in rows} == {
        problem.published_name: f"{problem.tier}/{problem.family}" for problem in tested
    }
