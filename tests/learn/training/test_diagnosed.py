"""What a verdict says of the values of trained models: constant ones, their order, and what the model knows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.sources import sample_tasks
from learn.models import open_model
from learn.models.calibration import Calibration
from learn.models.gine.model import NetworkModel
from learn.training.diagnosis import FIRST, list_first
from learn.training.judging import Judge
from learn.training.verdict import LARGER, NEW, Tier
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit, model_of

OWN = """
import torch
from torch import nn

class Small(nn.Module):
    '''The weighted number of worlds, at most 3 steps: it says nothing of e-states with many.'''

    def __init__(self, encoding):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(0.05))

    def forward(self, data):
        nodes = torch.bincount(data.batch, minlength=data.num_graphs)
        return (self.weight * nodes).clamp(max=3.0)
"""


def judge(model: NetworkModel, large: list[Task]) -> tuple[Tier, Tier]:
    """The tiers of the problem that a model learned from and of large ones, a few expansions each."""
    small, larger = (
        Judge(agent="hfs_star", limit=5, model=model, untrained=None)
        .judge({NEW: [domain_problem(PROBLEM)], LARGER: large})
        .tiers
    )
    return small, larger


@pytest.fixture(scope="module")
def large() -> list[Task]:
    return sample_tasks(["collaboration_communication"], "test", 1, 5)


def test_a_regressor_of_tiny_problems_is_constant_on_large_ones(fit: Fit, tmp_path: Path, large: list[Task]) -> None:
    """Its identifiers name facts of the problem that it learned from, and only these."""
    fit(*PAPER)
    model = model_of(tmp_path / "run")
    small, larger = judge(model, large)
    assert (small.diagnosis.constant, larger.diagnosis.constant) == ((False,), (True,))
    assert small.diagnosis.unknown[0] < 0.1
    assert larger.diagnosis.unknown[0] > 0.9
    assert larger.diagnosis.describe().startswith("its values are constant on 1 of 1, where it says nothing")
    assert len(list_first(StateSpace(large[0]))) == FIRST


def test_values_that_are_equal_in_steps_only_are_not_constant(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "trainer.max_epochs=1")
    model = replace(model_of(tmp_path / "run"), steps=Calibration((-1e3, 1e3), (5.0, 5.0)))
    task = domain_problem("consecutive_numbers")
    [tier] = Judge(agent="hfs", limit=50, model=model, untrained=None).judge({NEW: [task]}).tiers
    assert tier.diagnosis.constant == (False,)
    assert tier.diagnosis.rank is not None
    assert tier.diagnosis.rank > 0.5


def test_a_network_of_a_user_is_diagnosed_as_well(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: list[Task]
) -> None:
    (tmp_path / "small_network.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    own = ("model=gine", "objective=distance", "validation=distance", "model.network._target_=small_network.Small")
    fit(*PAPER, *own, "trainer.max_epochs=1", "trainer.max_steps=1", "model.optimizer.lr=1e-9", "explorer.max_kept=80")
    model = model_of(tmp_path / "run")
    small, larger = judge(model, large)
    assert (small.diagnosis.constant, larger.diagnosis.constant) == ((False,), (True,))
    assert larger.diagnosis.unknown[0] > 0.9


def test_models_of_before_know_no_identifiers(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, "trainer.max_epochs=1", "explorer.max_kept=80")
    model, ids = model_of(tmp_path / "run"), np.arange(1, dtype=np.int32)
    task = domain_problem("collaboration_communication/3_3_3_pl_6")
    assert model.make_scorer(StateSpace(task)).rate_known(ids) < 1
    replace(model, identifiers=np.empty((0, 0), np.uint8)).write(tmp_path / "old.safetensors")
    old = open_model(tmp_path / "old.safetensors")
    assert old.make_scorer(StateSpace(task)).rate_known(ids) == 1
