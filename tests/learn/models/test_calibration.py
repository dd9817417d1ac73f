"""From values to steps: what a calibration promises of any value, and that the fitted one is the best."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.features.types import FeatureTypes
from learn.models.calibration import Calibration, fit_calibration
from learn.training.validation import validate_by_search
from tests.helpers.tasks import coin

numbers = st.floats(-1000, 1000)
steps = st.floats(0, 1000)


@st.composite
def calibrations(draw: st.DrawFn) -> Calibration:
    """With one point at least."""
    values = sorted(draw(st.sets(st.integers(-1000, 1000), min_size=1, max_size=8)))
    return Calibration(values, sorted(draw(st.lists(steps, min_size=len(values), max_size=len(values)))))


@given(calibrations(), st.lists(numbers, min_size=1))
def test_it_is_monotone_and_never_below_0(calibration: Calibration, values: list[float]) -> None:
    found = calibration(np.sort(np.array(values)))
    assert found.shape == (len(values),)
    assert (found >= 0).all()
    assert (np.diff(found) >= -1e-9).all()


@given(calibrations())
def test_it_meets_its_points_and_is_linear_between_them(calibration: Calibration) -> None:
    np.testing.assert_allclose(calibration(np.array(calibration.values)), calibration.steps, atol=1e-9)
    for (value, step), (next_value, next_step) in pairwise(zip(calibration.values, calibration.steps, strict=True)):
        middle = calibration(np.array([(value + next_value) / 2]))
        np.testing.assert_allclose(middle, [(step + next_step) / 2], atol=1e-9)


@given(calibrations(), st.floats(0, 1000))
def test_it_has_slope_1_beyond_its_points(calibration: Calibration, far: float) -> None:
    found = calibration(np.array([calibration.values[0] - far, calibration.values[-1] + far]))
    expected = [max(0, calibration.steps[0] - far), calibration.steps[-1] + far]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(st.lists(numbers))
def test_without_points_values_are_steps(values: list[float]) -> None:
    assert Calibration()(np.array(values)).tolist() == np.maximum(values, 0).tolist()


def test_equal_points_are_equal_maps() -> None:
    assert Calibration([], []) == Calibration()
    assert Calibration(np.array([1, 2]), [3, 4]) == Calibration((1.0, 2.0), (3.0, 4.0)) != Calibration([1, 2], [3, 5])


@pytest.mark.parametrize(
    ("values", "points"),
    [
        ([1, 1], [1, 2]), ([2, 1], [1, 2]), ([1, 2], [2, 1]), ([1], []), ([], [1]), ([float("nan")], [1]),
        ([1], [float("inf")]), ([1, float("inf")], [1, 2]),
    ],
)  # fmt: skip
def test_points_that_are_no_map_are_refused(values: list[float], points: list[float]) -> None:
    with pytest.raises(ValueError, match="no monotone map"):
        Calibration(values, points)


@pytest.mark.parametrize(
    ("values", "distances", "expected"),
    [
        ([], [], Calibration()),
        ([4], [3], Calibration([4], [3])),
        ([1, 1, 1], [0, 1, 5], Calibration([1], [2])),
        ([1, 2, 3], [0, 1, 5], Calibration([1, 2, 3], [0, 1, 5])),
        ([3, 2, 1], [5, 1, 0], Calibration([1, 2, 3], [0, 1, 5])),
        ([1, 2], [4, 2], Calibration([1, 2], [3, 3])),
        # The second and the third are out of order; of the stretch of equal steps only the ends are kept.
        ([1, 2, 3, 4, 5], [0, 6, 3, 3, 8], Calibration([1, 2, 4, 5], [0, 4, 4, 8])),
        ([1, 1, 1, 2], [4, 4, 4, 0], Calibration([1, 2], [3, 3])),  # weighs three times as much
    ],
)
def test_known_fits(values: list[float], distances: list[float], expected: Calibration) -> None:
    found = fit_calibration(np.array(values, dtype=np.float64), np.array(distances, dtype=np.float64))
    np.testing.assert_allclose(found.values, expected.values)
    np.testing.assert_allclose(found.steps, expected.steps)


def test_the_e_states_of_a_plan_count_with_the_actions_left() -> None:
    found = validate_by_search([(coin(), FeatureTypes(coin()))], 10, lambda space, types: lambda ids: -1.0 * ids)
    assert (found.values.tolist(), found.steps.tolist()) == ([0.0, -1.0, -2.0, -3.0], [3.0, 2.0, 1.0, 0.0])
    assert found.calibrate() == Calibration((-3, -2, -1, 0), (0, 1, 2, 3))


def squared_error(found: np.ndarray, distances: np.ndarray) -> float:
    return float(np.square(found - distances).sum())


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 6)), min_size=1, max_size=6))
def test_no_monotone_map_has_a_smaller_error(pairs: list[tuple[int, int]]) -> None:
    """Every optimum is constant on blocks, where it is the mean: all divisions into blocks are tried."""
    values, distances = np.array(pairs, dtype=np.float64).T
    known = np.unique(values)
    best = np.inf
    for is_cut in product([False, True], repeat=len(known) - 1):
        block = np.cumsum([False, *is_cut])[np.searchsorted(known, values)]
        means = np.bincount(block, distances) / np.bincount(block)
        if (np.diff(means) >= 0).all():
            best = min(best, squared_error(means[block], distances))
    fitted = fit_calibration(values, distances)
    assert squared_error(fitted(values), distances) == pytest.approx(best, abs=1e-9)
