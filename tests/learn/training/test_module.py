from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import EpigymError
from learn.models.gine.target import Target
from learn.training.module import StepErrors


def test_step_errors_by_hand() -> None:
    errors = StepErrors()
    errors.update(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    errors.update(torch.tensor([3.5]), torch.tensor([3.0]))
    metrics = {name: float(value) for name, value in errors.compute().items()}
    mean = 8 / 3
    spread = (1 - mean) ** 2 + (4 - mean) ** 2 + (3 - mean) ** 2
    expected = {"mae": 2.5 / 3, "rmse": math.sqrt(4.25 / 3), "r2": 1 - 4.25 / spread, "within_half": 2 / 3}
    assert metrics == pytest.approx(expected)


def test_r2_of_equal_distances_is_not_a_number() -> None:
    errors = StepErrors()
    errors.update(torch.tensor([3.0, 2.0]), torch.tensor([2.0, 2.0]))
    assert torch.isnan(errors.compute()["r2"])


def test_target_is_the_papers() -> None:
    target = Target.between(50, 1e-3)
    assert target.alpha == pytest.approx(0.998 / 50)
    assert target.normalise(torch.tensor([0.0, 50.0, 70.0])).tolist() == pytest.approx([0.001, 0.999, 0.999])


@given(st.floats(0, 50))
def test_steps_undo_normalise(distance: float) -> None:
    target = Target.between(50, 1e-3)
    assert float(target.steps(target.normalise(torch.tensor([distance])))) == pytest.approx(distance, abs=1e-4)


def test_impossible_target_is_refused() -> None:
    with pytest.raises(EpigymError, match=r"margin < 0\.5"):
        Target.between(50, 0.5)
