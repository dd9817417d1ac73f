"""Compares EPDDL tasks in the core with the reference, the toolkit's plans and ground JSON.

With `--full -k random_plans` every random plan of every problem is compared.
"""

import json
import random
import sys

import pytest

from epigym.language import ground_json
from epigym.reference import semantics as reference
from tests.helpers import strategies
from tests.helpers.benchmark_files import table
from tests.helpers.comparison import Comparison, random_plan
from tests.helpers.domain_problems import shortest_plan
from tests.helpers.epddl_files import Case, competition_cases, toolkit_cases
from tests.helpers.equivalence import explore

pytestmark = pytest.mark.reference

TOOLKIT = {case.name: case for case in toolkit_cases()}
COMPETITION = {case.problem.stem: case for case in competition_cases()}
TIGER = "Tiger/problem_1"  # 20,480 worlds: only with --full
SAMPLE = (
    "amc-03-02-clean", "amc-06-06-muddy", "bw-05", "cn-2-15", "cn-3-10", "gos-04-all-deceived", "gos-03-imp-deceived",
    "bw-3-03-2", "bw-3-3-2-clumsy", "cloud-03-len06", "sar-03-n1-fire", "sar-04-n3-nofire", "sc-03-04", "sc-04-05",
)  # fmt: skip
BIG_CASES = [COMPETITION[name] for name in ("cloud-10-len21", "gos-08-imp-deceived") if name in COMPETITION]
SAMPLE_CASES = [COMPETITION[name] for name in SAMPLE if name in COMPETITION]
SMALL_CASES = [case for case in TOOLKIT.values() if case.name != TIGER]

BIG = 200  # worlds
ENOUGH = 200  # e-states to compare; further sequences run with --full only


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is test_random_plans:
        whole = metafunc.config.getoption("full")
        cases = [*TOOLKIT.values(), *competition_cases()] if whole else SMALL_CASES + SAMPLE_CASES + BIG_CASES
        metafunc.parametrize("case", cases, ids=lambda case: case.name)


def test_random_plans(case: Case, pytestconfig: pytest.Config) -> None:
    """1,000 random plans of five actions; 20 of two actions where a model has more than 200 worlds."""
    task = case.ground().task
    rng = random.Random(case.name)
    is_big = len(task.initial.valuations) > BIG or case in BIG_CASES
    goals = [strategies.random_formula(rng, depth, task.fluents, task.agents) for depth in (1, 2, 2, 3, 3)]
    both = Comparison(task, goals)
    enough = sys.maxsize if pytestconfig.getoption("full") else ENOUGH
    sequences, length, max_worlds = (20, 2, sys.maxsize) if is_big else (1000, 5, BIG)
    for _ in range(sequences):
        random_plan(both, length, rng, max_worlds)
        if len(both.estates) > enough:
            break
    if case in BIG_CASES:
        assert max(both.space.world_counts(list(both.estates))) > BIG


FOUND = [
    row
    for row in table("plank_results")
    if f"{row['domain']}/{row['problem']}" in TOOLKIT and row["plan_source"] == "bfs"
]


@pytest.mark.parametrize("row", FOUND, ids=lambda row: f"{row['domain']}-{row['problem']}")
def test_shortest_plans_are_as_long_as_the_toolkits(row: dict[str, str]) -> None:
    task = TOOLKIT[f"{row['domain']}/{row['problem']}"].ground(plank_compat=True).task
    plan = shortest_plan(task)
    assert plan is not None
    assert len(plan) == int(row["plan_length"])
    assert reference.validate(task, plan).valid


def test_problems_without_plans() -> None:
    assert shortest_plan(TOOLKIT["Gossip/problem_1"].ground().task) is None


@pytest.mark.parametrize("case", SMALL_CASES + SAMPLE_CASES, ids=lambda case: case.name)
def test_ground_json_has_the_same_state_space(case: Case) -> None:
    specification = case.ground()
    again = ground_json.from_json(json.loads(json.dumps(ground_json.to_json(specification))))
    assert explore(specification.task, 200) == explore(again, 200)
