"""EPDDL problems of the toolkit and the competition: sizes, exports, plans, and the core against the reference.

`tests.tools.public_files` compares every random plan of every problem.
"""

import csv
import json
import random
import sys
from math import inf
from typing import Any

import pytest

from epigym.language import ground_json, load
from epigym.reference import semantics as reference
from epigym.task.formula import Formula, and_
from epigym.task.task import Action, Task
from tests.helpers import strategies
from tests.helpers.benchmark_files import BENCHMARKS, table
from tests.helpers.comparison import Comparison, random_plan
from tests.helpers.domain_problems import shortest_plan
from tests.helpers.epddl_files import TOOLKIT, Case, competition_cases, toolkit_cases
from tests.helpers.equivalence import explore, meaning

pytestmark = pytest.mark.reference

TOOLKIT_CASES = toolkit_cases()
CASES = {case.name: case for case in TOOLKIT_CASES + competition_cases()}
EXPORTED = [case for case in TOOLKIT_CASES if (TOOLKIT / "json" / f"{case.name.replace('/', '__')}.json").exists()]


def sizes() -> list[dict[str, str]]:
    path = BENCHMARKS / "reference" / "ipc2026_sizes.tsv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_all_files_are_there() -> None:
    assert (len(TOOLKIT_CASES), len(CASES), len(EXPORTED), len(PUBLISHED)) == (19, 19 + 158, 17, 39)


# Sizes


TOOLKIT_ROWS = [row for row in table("plank_results") if f"{row['domain']}/{row['problem']}" in CASES]


@pytest.mark.parametrize("row", TOOLKIT_ROWS, ids=lambda row: f"{row['domain']}-{row['problem']}")
def test_sizes_of_the_toolkits_problems(row: dict[str, str]) -> None:
    found = CASES[f"{row['domain']}/{row['problem']}"].ground(plank_compat=True)
    assert {
        "agents": len(found.task.agents),
        "ground_atoms": len(found.atoms),
        "of_which_nonfact_fluents": len(found.task.fluents),
        "facts_true": len(found.facts),
        "ground_actions": len(found.task.actions),
        "initial_worlds": len(found.task.initial.valuations),
        "designated_worlds": len(found.task.initial.designated),
    } == {key: int(row[key]) for key in row if key in _COUNTED}


_COUNTED = (
    "agents", "ground_atoms", "of_which_nonfact_fluents", "facts_true", "ground_actions", "initial_worlds",
    "designated_worlds",
)  # fmt: skip


def assert_sizes(row: dict[str, str]) -> None:
    found = CASES[row["problem"]].ground(plank_compat=True)
    if not row["atoms"]:  # the toolkit ran out of time: 13 agents with a secret each
        assert (len(found.atoms), len(found.task.initial.valuations), len(found.task.actions)) == (13, 2**13, 13 * 12)
        return
    counts = (found.task.agents, found.atoms, found.task.initial.valuations, found.task.actions)
    sizes = tuple(int(row[key]) for key in ("agents", "atoms", "worlds", "actions"))
    assert tuple(map(len, counts)) == sizes, row["problem"]


@pytest.mark.slow
def test_sizes_of_the_competitions_problems() -> None:
    for row in sizes():
        assert_sizes(row)


FIRST_OF_DOMAIN = {tuple(case.name.split("/")[-4:-2]): case for case in reversed(competition_cases())}


def test_sizes_of_the_first_problem_of_each_family() -> None:
    rows = [row for row in sizes() if CASES[row["problem"]] in FIRST_OF_DOMAIN.values()]
    assert rows
    for row in rows:
        assert_sizes(row)


def test_facts_forbid_actions_in_one_domain_only() -> None:
    smaller = {
        domain
        for domain, case in FIRST_OF_DOMAIN.items()
        if len(case.ground().task.actions) < len(case.ground(plank_compat=True).task.actions)
    }
    assert smaller == {("2-intermediate", "cloud-scheduling")}


# Official ground tasks


@pytest.mark.parametrize("case", EXPORTED, ids=lambda case: case.name)
def test_our_export_is_the_official_one_as_a_task(case: Case) -> None:
    official, ours = read_export(case), ground_json.to_json(case.ground(plank_compat=True))
    for key in official["planning-task-info"].keys() - {"goal-size"}:  # ours are simplified
        assert ours["planning-task-info"][key] == official["planning-task-info"][key]
    assert set(ours["facts"]) == set(official["facts"])
    assert set(ours["language"]["atoms"]) == set(official["language"]["atoms"])
    assert differences(read(ours, plank_compat=True), read(official, plank_compat=True)) == set()


def test_the_default_reading_departs_where_the_reference_says_so() -> None:
    found = {
        case.name.split("/")[0]: differences(read(ground_json.to_json(case.ground())), read(read_export(case)))
        for case in EXPORTED
    }
    assert {name: parts for name, parts in found.items() if parts} == {
        "Collaboration-through-Communication": {"effects of left", "effects of right"},
        "Selective-Communication": {"effects of left", "effects of right"},
        "Grapevine": {"preconditions of tell"},
    }


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("Grapevine/problem_1", "Grapevine__proper_event_arguments"),
        ("N-Consecutive-Numbers/ncn-1", "N-Consecutive-Numbers__ncn-1_literals_fixed"),  # 9 worlds
    ],
)
def test_ours_are_the_corrected_exports(name: str, variant: str) -> None:
    ours = ground_json.to_json(CASES[name].ground())
    assert differences(read(ours), load(TOOLKIT / "json" / "variants" / f"{variant}.json")) == set()


def read_export(case: Case) -> Any:
    path = TOOLKIT / "json" / f"{case.name.replace('/', '__')}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def read(content: Any, *, plank_compat: bool = False) -> Task:
    return ground_json.from_json(content, plank_compat=plank_compat)


def differences(first: Task, second: Task) -> set[str]:
    """The parts in which two tasks differ, up to names and order of worlds and fluents."""
    assert (first.agents, set(first.fluents)) == (second.agents, set(second.fluents))
    others = {action.name: action for action in second.actions}
    assert {action.name for action in first.actions} == others.keys()
    canonical = [reference.canonical(task.initial, sorted(task.fluents)) for task in (first, second)]
    found = {"initial state"} if canonical[0] != canonical[1] else set()
    if normal(and_(*first.goal)) != normal(and_(*second.goal)):
        found.add("goal")
    for action in first.actions:
        ours, theirs = parts(action, first.agents), parts(others[action.name], second.agents)
        found |= {f"{part} of {action.name.split('_')[0]}" for part in ours if ours[part] != theirs[part]}
    return found


def parts(action: Action, agents: tuple[str, ...]) -> dict[str, object]:
    """The parts of an action by the names of its events, with formulas in normal form."""
    names = [event.name for event in action.events]
    return {
        "designated events": {names[event] for event in action.designated},
        "relations": {
            kind: {name: {names[other] for other in row} for name, row in zip(names, rows, strict=True)}
            for kind, rows in action.relations.items()
        },
        "preconditions": {event.name: normal(event.precondition) for event in action.events},
        "effects": {
            event.name: {name: normal(value) for name, value in ground_json.compute_values(event).items()}
            for event in action.events
        },
        "observability": {
            agent: {kind: normal(condition) for kind, condition in ground_json.make_exclusive(chain).items()}
            for agent, chain in zip(agents, action.observability, strict=True)
        },
    }


def normal(formula: Formula) -> object:
    return meaning(formula.negation_normal_form())


# Plans


FOUND = [row for row in TOOLKIT_ROWS if row["plan_source"] == "bfs"]


@pytest.mark.parametrize("row", FOUND, ids=lambda row: f"{row['domain']}-{row['problem']}")
def test_the_toolkits_plans_are_valid_and_shortest(row: dict[str, str]) -> None:
    case, plan = CASES[f"{row['domain']}/{row['problem']}"], row["plan"].split()
    task = case.ground(plank_compat=True).task
    assert reference.validate(task, plan).valid
    # The plan of Grapevine needs the toolkit's reading of event arguments.
    assert reference.validate(case.ground().task, plan).valid == (row["domain"] != "Grapevine")
    shortest = shortest_plan(task)
    assert len(shortest) == int(row["plan_length"])
    assert reference.validate(task, shortest).valid


PUBLISHED = [row for row in table("ipc2026_published") if row["is_solution_correct"] == "true"]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["problem"].rsplit("/", 1)[-1])
def test_the_published_plans_are_valid(row: dict[str, str]) -> None:
    task = CASES[row["problem"].removeprefix("benchmarks/")].ground().task
    assert reference.validate(task, row["solution"].split("; ")).valid


COMPETITION = {case.problem.stem: case for case in competition_cases()}
TIGER = "Tiger/problem_1"  # 20,480 worlds: left to `tests.tools.public_files`
SAMPLE = (
    "amc-03-02-clean", "amc-06-06-muddy", "bw-05", "cn-2-15", "cn-3-10", "gos-04-all-deceived", "gos-03-imp-deceived",
    "bw-3-03-2", "bw-3-3-2-clumsy", "cloud-03-len06", "sar-03-n1-fire", "sar-04-n3-nofire", "sc-03-04", "sc-04-05",
)  # fmt: skip
BIG_CASES = [COMPETITION[name] for name in ("cloud-10-len21", "gos-08-imp-deceived") if name in COMPETITION]
SAMPLE_CASES = [COMPETITION[name] for name in SAMPLE if name in COMPETITION]
SMALL_CASES = [case for case in TOOLKIT_CASES if case.name != TIGER]

BIG = 200  # worlds


def compare_random_plans(case: Case, enough: float = inf) -> None:
    """Compare 1,000 random plans of five actions; 20 of two actions where a model has more than 200 worlds.

    Args:
        case: a problem.
        enough: after so many e-states no further plan is compared.
    """
    task = case.ground().task
    rng = random.Random(case.name)
    is_big = len(task.initial.valuations) > BIG or case in BIG_CASES
    goals = [strategies.random_formula(rng, depth, task.fluents, task.agents) for depth in (1, 2, 2, 3, 3)]
    both = Comparison(task, goals)
    sequences, length, max_worlds = (20, 2, sys.maxsize) if is_big else (1000, 5, BIG)
    for _ in range(sequences):
        random_plan(both, length, rng, max_worlds)
        if len(both.estates) > enough:
            break
    if case in BIG_CASES:
        assert max(both.space.world_counts(list(both.estates))) > BIG


@pytest.mark.slow
def test_random_plans() -> None:
    for case in SMALL_CASES + SAMPLE_CASES + BIG_CASES:
        compare_random_plans(case, enough=200)


def test_random_plans_of_the_first_problem_of_each_family() -> None:
    for case in FIRST_OF_DOMAIN.values():
        compare_random_plans(case, enough=10)


def test_problems_without_plans() -> None:
    assert shortest_plan(CASES["Gossip/problem_1"].ground().task) is None


@pytest.mark.parametrize("case", SMALL_CASES + SAMPLE_CASES, ids=lambda case: case.name)
def test_ground_json_has_the_same_state_space(case: Case) -> None:
    specification = case.ground()
    again = ground_json.from_json(json.loads(json.dumps(ground_json.to_json(specification))))
    assert explore(specification.task, 200) == explore(again, 200)
