"""Every stage of a training says how far it is."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from epigym.problem import load_problem
from learn.data.files import sample_files
from learn.training.linear.options import LinearOptions
from learn.training.linear.training import train_linear
from learn.training.trainer import TrainingProgress
from tests.helpers.runs import SEARCHED, Fit, Stages, make_data_set


def test_a_training_with_an_expert(fit: Fit, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learn.training.expert.collecting.NODES", 1)  # the network solves nothing
    expert = ("expert.problems=2", "expert.aggregation=1", "expert.expansions=200")
    fit(*SEARCHED, "encoding=relational", "domain=gossip", "trainer.max_epochs=1", "outputs=other", *expert)
    assert stages["sampling, train"] == [f"{done} of 2 problems" for done in range(3)]
    assert stages["exploring"][-1].startswith("2 of 2 problems, ")
    assert stages["asking the expert"] == 2 * [f"{done} of 2 problems" for done in range(3)]
    assert stages["validating"][:3] == [f"{done} of 2 problems" for done in range(3)]
    assert stages["training"][0] == "epoch 1 of 2, step 0"
    assert stages["training"][-1].startswith("epoch 2 of 2, step ")
    assert "solved" in stages["training"][-1]


@pytest.mark.parametrize(("most", "expected"), [(12, "epoch 3 of 12, step 1,081"), (-1, "epoch 3, step 1,081")])
def test_the_words_of_a_training(most: int, expected: str, stages: Stages) -> None:
    shown: Any = TrainingProgress(str)
    trainer = SimpleNamespace(
        is_global_zero=True, estimated_stepping_batches=2000, global_step=1081, current_epoch=2, max_epochs=most,
        accumulate_grad_batches=1, num_training_batches=400,
    )  # fmt: skip
    shown.on_train_start(trainer, None)
    shown.teardown(trainer, None, "fit")
    assert stages == {"training": [expected]}


def test_a_linear_training(workdir: Path, stages: Stages) -> None:
    options = LinearOptions(
        validation_instances=1, nodes=100, features=40, iterations=[0, 1], worlds=[False], losses=["ranking"],
        l2=[1e-3], bases=[], residual_l2=[], aggregation=1, larger_instances=2,
    )  # fmt: skip
    train_linear(make_data_set(workdir, ["gossip"]), options, 0)
    assert stages["validating heuristics"] == [f"{done} of 3 heuristics" for done in range(4)]
    assert stages["fitting models"] == [f"{done} of 2 models" for done in range(3)]
    assert stages["refitting"][0] == "0 of 1 aggregations"
    assert stages["adding pairs"][0].startswith("0 of ")
    assert stages["validating"][0] == "0 of 1 problems"


def test_sampling_goals_of_files(stages: Stages) -> None:
    sample_files([load_problem(f"coin_in_the_box/pl_{steps}") for steps in (3, 5)], instances=2, validation=1, seed=0)
    assert stages["sampling goals, train"] == ["0 of 1 problems", "1 of 1 problems"]
    assert stages["sampling goals, validation"] == ["0 of 1 problems", "1 of 1 problems"]
