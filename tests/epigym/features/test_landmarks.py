"""Landmarks of the relaxation: what they mean, by the twin, and what they are on tasks small enough to read."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from epigym import StateSpace, Task, load_problem
from epigym.features.relaxation import Landmarks, Relaxation
from epigym.language import parse_mastar
from epigym.task.formula import Formula
from tests.helpers import strategies
from tests.helpers.benchmark_files import load_published_task, table
from tests.helpers.tasks import coin, counter, hopeless, trivial
from tests.oracles import landmarks as twin
from tests.oracles import relaxation

SMALL = 12  # actions of a problem whose landmarks the twin finds within seconds


def assert_agreement(task: Task) -> None:
    space = StateSpace(task)
    fast = Relaxation(space).landmarks(space.initial)
    slow = twin.Landmarks(relaxation.Relaxation(task), space.model(space.initial).state)
    assert len(fast.formulas) == len(slow.goal | slow.reached)
    assert set(fast.formulas) == slow.goal | slow.reached
    assert chosen(fast, fast.is_goal) == slow.goal
    for number, formula in enumerate(fast.formulas):
        assert chosen(fast, fast.before[:, number]) == slow.before(formula)


def chosen(landmarks: Landmarks, mask: NDArray[np.bool_]) -> set[Formula]:
    return {formula for formula, is_chosen in zip(landmarks.formulas, mask, strict=True) if is_chosen}


@settings(max_examples=100)
@given(strategies.tasks())
def test_on_tasks_with_any_event_models(task: Task) -> None:
    assert_agreement(task)


@pytest.mark.slow
@settings(max_examples=200)
@given(strategies.tasks())
def test_on_more_tasks_with_any_event_models(task: Task) -> None:
    assert_agreement(task)


def assert_agreement_on_written_tasks(seed: int) -> None:
    assert_agreement(strategies.telling_task(random.Random(seed)))
    assert_agreement(strategies.sensing_task(random.Random(seed)))


def test_on_tasks_as_people_write_them() -> None:
    for seed in range(3):
        assert_agreement_on_written_tasks(seed)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 1 << 32))
def test_on_more_tasks_as_people_write_them(seed: int) -> None:
    assert_agreement_on_written_tasks(seed)


@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_3", "selective_communication/4_2_pl_5"])
def test_on_problems_of_the_domains(problem: str) -> None:
    assert_agreement(load_problem(problem))


PUBLISHED = [row for row in table("expected_mastar") if int(row["n_actions"]) <= SMALL]


@pytest.mark.reference
@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["instance"])
def test_on_published_problems(row: dict[str, str]) -> None:
    assert_agreement(load_published_task(row))


def shown(task: Task) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """All landmarks, those that are parts of the goal, and the orders."""
    space = StateSpace(task)
    landmarks = Relaxation(space).landmarks(space.initial)
    names = list(map(str, landmarks.formulas))
    orders = {(names[one], names[other]) for one, other in np.argwhere(landmarks.before)}
    return set(names), set(map(str, chosen(landmarks, landmarks.is_goal))), orders


def test_landmarks_by_hand() -> None:
    assert shown(counter()) == ({"p", "q", "r", "-p"}, {"r", "-p"}, {("p", "q"), ("q", "r")})
    told = {"B(b, tail)", "B(a, B(b, tail))"}
    orders = {("open", "B(a, tail)"), *(("B(a, tail)", goal) for goal in told)}
    assert shown(coin()) == ({"open", "B(a, tail)", *told}, told, orders)
    assert shown(parse_mastar(EITHER)) == ({"r", "(p | q)"}, {"r"}, {("(p | q)", "r")})
    assert shown(hopeless())[0] == {"B(b, tail)", "B(a, B(b, tail))"}
    assert shown(trivial())[0] == {"-p"}


EITHER = """
fluent p, q, r, s;
action one, two, last;
agent a;
executable one if s | p;
executable last if p | q;
one causes p; two causes q; last causes r;
a observes one; a observes two; a observes last;
initially C([a], -p), C([a], -q), C([a], -r), C([a], s), -p, -q, -r, s;
goal r;
"""
