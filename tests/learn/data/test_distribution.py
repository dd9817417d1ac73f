"""Problems sampled from the ranges of the domains: they fit, they differ, and none of them is a test problem."""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import pytest

import domains
from domains.domain import SPLITS
from domains.instances import load_sizes
from epigym import StateSpace, Task
from epigym.errors import EpigymError, UsageError
from epigym.problem import domain_problem
from epigym.space.sampling import RandomGoal, sample_goal
from epigym.space.signature import signature
from epigym.task.formula import Op
from learn.data import distribution
from learn.data.distribution import MAX_STATES, MIN_DISTANCE, SampledProblem, sample_problems
from learn.data.explorers import ExplorerSettings, explore
from learn.data.making import make_rollout
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst
from search.agents.result import SearchStatus
from tests.helpers.marks import slow_but

DOMAINS = list(domains.DOMAINS)


@cache
def sample(domain: str, split: str, count: int = 4, growth: float = 0.0) -> tuple[SampledProblem, ...]:
    return tuple(islice(sample_problems(domain, split, growth=growth), count))


def counts(task: Task) -> tuple[int, ...]:
    return len(task.fluents), len(task.agents), len(task.actions), len(task.goal)


@cache
def list_held_out(*names: str) -> dict[tuple[int, ...], list[str]]:
    """The problems of domains that are tested on: the test splits, the competition's among them, and the suites.

    What the tables of suites say of sizes is taken from there, as it is tested where these are.
    """
    found: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for domain in map(domains.DOMAINS.get, names):
        for instance in domain.instances:
            if instance not in domain.train and not instance.startswith("g_"):
                name = f"{domain.name}/{instance}"
                found[load_sizes().get(name) or counts(domain_problem(name))].append(name)
    return found


@cache
def mark_of(name: str) -> str:
    return signature(domain_problem(name))


@pytest.mark.parametrize("domain", slow_but(DOMAINS, "epistemic_gossip", "cloud_scheduling"))
def test_training_problems_are_exhausted_and_not_trivial(domain: str) -> None:
    for problem in sample(domain, "train"):
        space = StateSpace(problem.task)
        result = run_agent(BreadthFirst(), space)
        assert result.status is SearchStatus.SOLVED
        assert result.plan_length == problem.distance
        assert result.plan_length >= MIN_DISTANCE
        reached = 0
        while reached < len(space) <= MAX_STATES:
            reached, before = len(space), reached
            space.expand(range(before, reached))
        assert len(space) == problem.states


@pytest.mark.slow
def test_what_is_too_large_is_drawn_where_a_goal_is_in_sight() -> None:
    found = list(islice(sample_problems("blocks_world", "train", partially_explored=True), 12))
    large = [problem for problem in found if problem.states is None]
    several = {problem.parameters.get("tier") for problem in large}
    assert "several" in several  # who tell each other what they believe have e-states without end
    assert "several" not in {one.parameters.get("tier") for one in islice(sample_problems("blocks_world", "train"), 12)}
    for problem in large:
        result = run_agent(BreadthFirst(), StateSpace(problem.task))
        assert result.status is SearchStatus.SOLVED
        assert result.plan_length == problem.distance
        assert result.plan_length >= MIN_DISTANCE
        assert result.expanded < MAX_STATES  # all that is nearer than the goal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "split", "growth"),
    [
        *((domain, "train", 0.0) for domain in DOMAINS),
        *((domain, *other) for domain in ("gossip", "grapevine") for other in (("validation", 0.0), ("test", 0.25))),
    ],
)
def test_no_drawn_problem_is_a_test_problem_up_to_names(domain: str, split: str, growth: float) -> None:
    problems = sample(domain, split, growth=growth)
    marks = [signature(problem.task) for problem in problems]
    assert len(set(marks)) == len(problems)
    for problem, mark in zip(problems, marks, strict=True):
        assert all(mark_of(name) != mark for name in list_held_out(*DOMAINS).get(counts(problem.task), ()))


@pytest.mark.parametrize("domain", slow_but(DOMAINS, "epistemic_gossip", "cloud_scheduling"))
def test_the_parameters_say_the_problem(domain: str) -> None:
    for problem in sample(domain, "train"):
        task = domain_problem(domain, **problem.parameters)
        assert replace(task, name=problem.task.name, instance=problem.instance) == problem.task


def test_test_problems_are_recognised() -> None:
    task = domain_problem("grapevine/3_pl_2")
    mark = signature(domain_problem("grapevine", agents=3, learn="ab"))
    assert any(mark_of(name) == mark for name in list_held_out("grapevine")[counts(task)])
    goals = [goal for problem in islice(sample_problems("epistemic_gossip", "train"), 20) for goal in problem.task.goal]
    assert any(goal.depth == 2 for goal in goals)
    assert any(goal.op is Op.NOT and goal.children[0].op is Op.BELIEVES for goal in goals)


@pytest.mark.parametrize("domain", slow_but(DOMAINS, "assembly_line", "epistemic_gossip"))
def test_splits_grow(domain: str) -> None:
    def worlds_and_actions(split: str) -> int:
        tasks = [domain_problem(domain, **domains.DOMAINS[domain].sample(split, Random(seed))) for seed in range(6)]
        return sum(len(task.actions) * len(task.initial.valuations) for task in tasks)

    sizes = [worlds_and_actions(split) for split in SPLITS]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == len(sizes)


def test_growing_problems() -> None:
    growth = domains.DOMAINS["gossip"].growth
    assert growth is not None
    lower = [growth.at(step) for step in range(1, len(growth) // 4 + 1)]
    found = sample("gossip", "test", 9, growth=0.25)
    for one in found:
        own = {name: value for name, value in one.parameters.items() if name != "goals"}
        [(_, walk, subgoals)] = [at for at in lower if at[0] == own]
        assert walk >= MIN_DISTANCE
        assert 1 < len(one.parameters["goals"]) <= subgoals
    assert len({one.parameters["agents"] for one in found}) > 1


def test_the_same_seed_draws_the_same_problems() -> None:
    def parameters(seed: int) -> list[object]:
        return [problem.parameters for problem in islice(sample_problems("gossip", "train", seed), 5)]

    assert parameters(3) == parameters(3)
    assert parameters(3) != parameters(4)


@pytest.mark.parametrize(
    ("split", "long_goals", "steps", "subgoals"),
    slow_but(
        [
            ("train", False, 15, 6), ("validation", False, 30, 12), ("test", False, 60, 24),
            ("train", True, 30, 40), ("validation", True, 60, 60), ("test", True, 120, 80),
        ],
        ("validation", False, 30, 12), ("train", True, 30, 40),
    ),
)  # fmt: skip
def test_goals(split: str, long_goals: bool, steps: int, subgoals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One problem in four has the domain's own goal; the others have conjunctions that so long a walk reaches."""
    asked: list[tuple[int, int]] = []

    def record(*arguments: Any, steps: int, size: int, **options: Any) -> RandomGoal:
        asked.append((steps, size))
        return sample_goal(*arguments, steps=steps, size=size, **options)

    monkeypatch.setattr(distribution, "sample_goal", record)
    problems = list(islice(sample_problems("coin_in_the_box", split, long_goals=long_goals), 10))
    numbers = [int(problem.instance.removeprefix(f"{split}_")) for problem in problems]
    assert {number % 4 for number in numbers} == {0, 1, 2, 3}
    for number, problem in zip(numbers, problems, strict=True):
        given = problem.parameters.get("goals", [])
        assert (number % 4 > 0) == bool(given)
        assert len(given) <= subgoals
        assert problem.distance is None or not given or problem.distance <= steps
    assert all(MIN_DISTANCE <= most <= steps and 1 <= size <= subgoals for most, size in asked)
    assert max(most for most, _ in asked) > steps / 2
    assert max(size for _, size in asked) > subgoals / 2


@pytest.mark.parametrize("goals", [1, 3, 8])
def test_as_many_goals_as_asked_for_have_the_same_parameters(goals: int) -> None:
    problems = list(islice(sample_problems("gossip", "train", 0, goals), 12))
    parameters: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for problem in problems:
        number = int(problem.instance.removeprefix("train_"))
        parameters[number // goals].append({**problem.parameters, "goals": None})
        assert (number % goals == 0) == ("goals" not in problem.parameters)
    assert all(one == same[0] for same in parameters.values() for one in same)
    assert len(parameters) == 12 if goals == 1 else max(map(len, parameters.values())) > 1
    assert len({signature(problem.task) for problem in problems}) == 12


def test_e_states_are_explored_once_for_all_goals() -> None:
    problems = list(islice(sample_problems("gossip", "train", 0, 20), 20))
    settings = ExplorerSettings("exhaustive", max_visited=MAX_STATES)
    explorations = [explore(problem.task, settings) for problem in problems]
    count = len({id(found.space) for found in explorations})
    assert count <= int(problems[-1].instance.removeprefix("train_")) // 20 + 1
    assert count < len(problems) / 4
    for problem in problems:
        assert make_rollout(problem.task, settings, 4) is not None


def test_what_cannot_be_drawn_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^unknown domain 'grapes'"):
        next(sample_problems("grapes", "train"))
    with pytest.raises(UsageError, match=r"^unknown split 'tran': did you mean 'train'\?"):
        next(sample_problems("grapevine", "tran"))
    known = domains.DOMAINS["grapevine"]
    small = replace(known, ranges={**known.ranges, "train": ({"agents": (5,), "rooms": (3,)},)})
    monkeypatch.setattr(domains, "DOMAINS", {**domains.DOMAINS, "grapevine": small})
    with pytest.raises(EpigymError, match=r"^grapevine: none of 400 problems .*; change its ranges$"):
        next(sample_problems("grapevine", "train"))
