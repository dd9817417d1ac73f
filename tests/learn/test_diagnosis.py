"""Diagnosis of values: constant ones, their order along plans, and the e-states that are looked at."""

import numpy as np
import pytest

from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from learn.training.diagnosis import Diagnosis, correlate_along, is_constant, list_first
from tests.helpers.runs import PROBLEM


@pytest.mark.parametrize(
    ("values", "highest", "expected"),
    [
        ([2.0, 2.0, 2.0], np.inf, True),
        ([2.0, 2.0004, 1.9997], np.inf, True),  # a search compares thousandths
        ([2.0, 2.0011], np.inf, False),
        ([0.0, 50.0, 0.0], 50.0, True),
        ([0.0, 50.0, 0.0], np.inf, False),
        ([0.0, 50.0, 7.0], 50.0, False),
        ([np.inf, np.inf], np.inf, True),
        ([np.inf, 3.0], np.inf, False),
    ],
)
def test_values_that_say_nothing(values: list[float], highest: float, expected: bool) -> None:
    assert is_constant(np.array(values), highest) is expected


def test_the_first_e_states_are_the_nearest() -> None:
    space, other = (StateSpace(domain_problem(PROBLEM)) for _ in range(2))
    assert list_first(space, 40).tolist() == list(range(40))
    depth, layer, near = {other.initial: 0}, [other.initial], 0
    while len(depth) < 40:
        near += 1
        layer = [one for one in dict.fromkeys(other.expand(layer).target.tolist()) if one not in depth]
        depth |= dict.fromkeys(layer, near)
    signatures = {other.model(one) for one in depth}
    assert all(space.model(one) in signatures for one in range(40))
    assert len(list_first(StateSpace(domain_problem(PROBLEM)), 10_000)) == 225


def test_correlation_along_a_plan() -> None:
    assert correlate_along(np.array([9.0, 4.0, 3.5, 0.0])) == pytest.approx(1.0)
    assert correlate_along(np.array([0.0, 1.0, 2.0])) == pytest.approx(-1.0)
    assert correlate_along(np.array([5.0, 5.0, 5.0])) == 0.0
    assert correlate_along(np.array([1.0, 0.0])) is None


def test_the_sentence() -> None:
    found = Diagnosis("identifiers", (True, False, True, True), (None, 0.25, 0.75, 1.0), (0.5, 1.0, 1.0, 0.5))
    assert found.describe() == (
        "its values are constant on 3 of 4, where it says nothing; rank correlation with the actions left 0.75; "
        "75% of the identifiers are unknown to it"
    )
    clear = Diagnosis("types", (False,), (None,), (0.0,))
    assert clear.describe() == "its values are constant on 0 of 1; 0% of the types are unknown to it"
