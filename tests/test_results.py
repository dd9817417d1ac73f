"""The tables of docs/results.md and docs/neural.md are those that their commands make of the raw results."""

import re
from collections import Counter, defaultdict
from statistics import median
from typing import Any

import pytest
import yaml

from domains import DOMAINS
from epigym.io.files import read_rows
from search.reports.outcomes import read_outcomes
from search.reports.paired import compare_pairs
from search.reports.published import read_published
from search.reports.tables import make_scores, make_totals
from tests.benchmarks.networks import GROUPS, GUIDANCE, describe, read
from tests.helpers.benchmark_files import ROOT
from tests.test_documents import Command, commands

DOCUMENT = "docs/results.md"
PAGE = (ROOT / DOCUMENT).read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
NEURAL = (ROOT / "docs/neural.md").read_text(encoding="utf-8")
RESULTS = ROOT / "docs/results"
REPORTS = [text for text in commands(DOCUMENT) if "search.report docs/results/" in text]
PAPER = [text for text in REPORTS if "docs/results/table_" in text]


def list_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def read_report(command: str) -> tuple[list[str], dict[str, Any]]:
    """The tables that a command reports on, and its settings."""
    words = Command.of(command).arguments
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    return [word for word in words if "=" not in word], {name: yaml.safe_load(text) for name, text in settings.items()}


def test_there_are_reports() -> None:
    assert len(REPORTS) > 1 + len(PAPER)
    assert len(PAPER) == 5


@pytest.mark.parametrize("command", [text for text in REPORTS if text not in PAPER])
def test_scores_and_pairs_are_as_reported(command: str) -> None:
    files, settings = read_report(command)
    outcomes = read_outcomes([str(ROOT / file) for file in files])
    for table in (make_scores(outcomes), compare_pairs(outcomes, settings["pairs"])):
        _header, _rule, *rows = list_rows(table.markdown())
        assert set(rows) <= set(list_rows(PAGE))


def test_plans_of_the_competition_that_rely_on_inconsistent_beliefs_are_counted() -> None:
    """Results and README say how many there are, and how many problems have a plan or none without them."""
    columns = ("configuration", "consistent_beliefs", "status", "inconsistent_agents")
    rows = read_rows(RESULTS / "competition.csv.gz", columns)
    counts = {}
    for name in ("default", "default_unlearned", "default_consistent", "default_unlearned_consistent"):
        found = [row for row in rows if row["configuration"] == name]
        assert (len(found), {row["consistent_beliefs"] == "true" for row in found}) == (100, {"consistent" in name})
        counts[name] = Counter(row["status"] for row in found)
    unsound = [row["configuration"] for row in rows if row["inconsistent_agents"]]
    assert not any("consistent" in name for name in unsound)
    solved, proved = ({name: count[status] for name, count in counts.items()} for status in ("solved", "unsolvable"))
    relying = f"{unsound.count('default')} rely on inconsistent beliefs"
    assert f"Of the {solved['default']} plans of the default, {relying}" in PAGE
    consistent = f"it solves {solved['default_consistent']} and proves {proved['default_consistent']} unsolvable"
    assert f"With consistent beliefs, {consistent}" in PAGE
    for kind, more in (("", " proved unsolvable"), ("_consistent", "")):
        learned, unlearned = f"default{kind}", f"default_unlearned{kind}"
        cells = (f"{solved[learned]}, and {proved[learned]}{more}", f"{solved[unlearned]}, and {proved[unlearned]}")
        assert f"| {' | '.join(cells)} |" in README


def count_solved(table: str) -> Counter[str]:
    """The number of problems that each configuration of a table solves."""
    rows = read_rows(RESULTS / f"{table}.csv.gz", ("configuration", "status"))
    return Counter(row["configuration"] for row in rows if row["status"] == "solved")


def test_searches_with_and_without_learning_are_in_the_readme() -> None:
    default, comparison = count_solved("default"), count_solved("comparison")
    assert f"| {default['default']} | {default['unlearned']} |" in README
    learned, unlearned, uninformed = (comparison[name] for name in ("default", "default_unlearned", "bfs"))
    assert f"| {learned} | {unlearned} | breadth-first search: {uninformed} |" in README
    _domains, kinds, _pairs = describe(read(RESULTS / "networks.csv.gz"), GUIDANCE.split(","))
    means = {row[0]: row[2] for row in kinds.rows}
    cells = f"networks: {means['network']}, means of five seeds | `h_add`: {means['h_add']}, `h_ff`: {means['h_ff']}"
    assert f"| {cells} | linear models: {means['linear']} |" in README


@pytest.mark.parametrize("command", PAPER)
def test_tables_of_the_paper_are_as_reported(command: str) -> None:
    (file,), settings = read_report(command)
    outcomes = read_outcomes([str(ROOT / file)], read_published(settings.get("published", [])))
    number = file.removeprefix("docs/results/table_").removesuffix(".csv.gz")
    totals = make_totals(outcomes, settings["measures"])
    table = PAGE.partition(f"\n**Table {number}: ")[2].partition(command)[0]
    for row in totals.rows:
        configuration, coverage, _interval, expanded = map(str, row)
        (shown,) = (line for line in list_rows(table) if line.startswith(f"| {configuration} |"))
        assert shown.endswith(f"| {coverage} | {expanded} |")


def test_errors_of_regressors_are_as_reported() -> None:
    errors = ("MAE", "goal count MAE")
    of_training = read_rows(RESULTS / "regressors.csv.gz", ("trained on", "encoding", *errors))
    held_out = {
        row["trained on"]: [float(row[name]) for name in errors] for row in of_training if row["encoding"] == "hash"
    }
    columns = ("MAE", "goal count MAE", "rank", "goal count rank")
    of_problems = read_rows(RESULTS / "regressors_unseen.csv.gz", ("problem", *columns))
    domains = sorted({row["problem"].partition("/")[0] for row in of_problems})
    assert len(domains) > 4
    for domain in domains:
        rows = [row for row in of_problems if row["problem"].startswith(f"{domain}/")]
        medians = [median(float(row[name]) for row in rows if row[name]) for name in columns]
        values = [f"{value:.3f}" for value in held_out[domain]] + [f"{value:.2f}" for value in medians]
        assert f"| {domain} | {' | '.join(values)} |" in list_rows(PAGE)


def test_tables_of_networks_are_as_printed() -> None:
    for table in describe(read(RESULTS / "networks.csv.gz"), GUIDANCE.split(",")):
        _header, _rule, *rows = list_rows(table.markdown())
        assert set(rows) <= set(list_rows(NEURAL))


def test_tables_of_choices_and_of_the_paper_s_regressor_are_those_of_the_searches() -> None:
    """Of choices with both seeds; heuristics have none and count twice."""
    found = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
    for row in read(RESULTS / "choices.csv.gz"):
        choice = row["guidance"].removesuffix("/42").removesuffix("/1")
        result = int(row["solved"]), int(row["expanded"])
        found[choice, row["domain"]] += [result] * (2 if choice in ("h_ff", "h_add") else 1)
    sums = {pair: tuple(map(sum, zip(*results, strict=True))) for pair, results in found.items()}
    domains = sorted({domain for _, domain in sums})
    for choice in {choice for choice, _ in sums} - {"paper"}:
        names = f"–/–/{choice} alone/–" if choice in ("h_ff", "h_add") else choice
        columns = [re.sub("h_ff|h_add", r"`\g<0>`", name) for name in names.split("/")]
        columns += ["{}, {:,}".format(*sums[choice, one]) if (choice, one) in sums else "–" for one in domains]
        assert f"| {' | '.join(columns)} |" in NEURAL
    for domain in (domain for choice, domain in sums if choice == "paper"):
        end = "| {} | {:,} |".format(*sums["paper", domain])
        assert any(line.startswith(f"| {domain} |") and line.endswith(end) for line in list_rows(NEURAL))


def test_each_domain_belongs_to_at_most_one_group_of_domains_left_out() -> None:
    listed = [domain for group in GROUPS for domain in group]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(DOMAINS)
