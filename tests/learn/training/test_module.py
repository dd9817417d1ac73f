"""What the Lightning module computes: errors, losses, the choice of the best epoch, calibration, averages and rates."""

import json
import math
import re
from collections.abc import Container, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning import Callback, LightningModule, Trainer
from numpy.typing import NDArray
from torch import Tensor, nn

from epigym import EpigymError, StateSpace
from learn.models import open_model
from learn.models.calibration import Calibration
from learn.train import Train
from learn.training import module
from learn.training.batches import Batch
from learn.training.data_module import RolloutData
from learn.training.module import GineModule, StepErrors
from learn.training.report.report import make_metrics_table
from learn.training.resuming import read_checkpoint
from learn.training.trainer import describe_search
from learn.training.validation import ValidationResult, find_states_along, search_greedily
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, SEARCHED, Fit, model_of, rows_of

STILL = ("model.optimizer.lr=1e-60", "model.schedule=constant", "model.averaging=0")


def test_losses_and_errors_by_hand() -> None:
    errors = StepErrors()
    errors.update(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    errors.update(torch.tensor([3.5]), torch.tensor([3.0]))
    metrics = {name: float(value) for name, value in errors.compute().items()}
    mean = 8 / 3
    spread = (1 - mean) ** 2 + (4 - mean) ** 2 + (3 - mean) ** 2
    expected = {"mae": 2.5 / 3, "rmse": math.sqrt(4.25 / 3), "r2": 1 - 4.25 / spread, "within_half": 2 / 3}
    assert metrics == pytest.approx(expected)
    errors = StepErrors()
    errors.update(torch.tensor([3.0, 2.0]), torch.tensor([2.0, 2.0]))
    assert torch.isnan(errors.compute()["r2"])
    loss = loss_of({"name": "distance", "max_distance": 50}, [1.0, -2.0, 40.0], [2.0, 10.0, 5.0],
                   distance=[4.0, 8.0, 70.0])  # fmt: skip
    assert loss == pytest.approx(((3 - 4) ** 2 + (8 - 8) ** 2 + (45 - 50) ** 2) / 3 / 50**2)
    loss = loss_of({"name": "ranking"}, [0.5, 0.0, 1.0], [1.0, 2.0, 0.0],
                   better=[0, 2], worse=[1, 0], weight=[0.25, 0.75])  # fmt: skip
    assert loss == pytest.approx(0.25 * math.log1p(math.exp(1.5 - 2)) + 0.75 * math.log1p(math.exp(1 - 1.5)))


class Given(nn.Module):
    """Says what the graphs are said to be."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, data: Tensor) -> Tensor:
        return self.scale * data


def loss_of(objective: dict[str, Any], said: list[float], base: list[float], **batch: list[float]) -> float:
    """The loss of a batch in training, and its gradient reaches the network."""
    made = GineModule(
        encoding={"name": "hash"}, types=(), network={"_target_": f"{__name__}.Given"}, objective=objective,
        base="h_ff", optimizer={}, schedule="constant", data={}, validation={"nodes": 0},
    )  # fmt: skip
    made.log = lambda *_, **__: None  # type: ignore[method-assign]
    tensors = {"distance": torch.empty(0), "weight": torch.empty(0)}
    tensors |= {name: torch.tensor(values) for name, values in batch.items()}
    pairs = {name: torch.tensor(batch.get(name, []), dtype=torch.int64) for name in ("better", "worse")}
    loss = made.training_step(Batch(torch.tensor(said), torch.tensor(base), **(tensors | pairs)), 0)
    loss.backward()  # type: ignore[no-untyped-call]
    assert made.network.scale.grad is not None
    return float(loss)


def record_bounds(
    monkeypatch: pytest.MonkeyPatch, found: list[tuple[int, int, int]], stopped: Container[int] = ()
) -> list[tuple[int, int] | None]:
    """Has validation by search find so many solved, expanded and not solved, one after the other; the bounds asked.

    Some are cut short.
    """
    bounds: list[tuple[int, int] | None] = []
    number = count()

    def result(*_: Any, bound: tuple[int, int] | None = None, **__: Any) -> ValidationResult:
        bounds.append(bound)
        place = next(number)
        solved, expanded, missed = found[place]
        return ValidationResult(solved, expanded, ("problem",) * missed, stopped=place in stopped)

    monkeypatch.setattr(module, "validate_by_search", result)
    return bounds


@pytest.mark.parametrize("excluded", [False, True])
def test_validation_excludes_the_inconsistent_beliefs_that_the_data_set_excludes(
    fit: Fit, monkeypatch: pytest.MonkeyPatch, excluded: bool
) -> None:
    found: list[bool] = []

    def result(*_: Any, consistent_beliefs: bool, **__: Any) -> ValidationResult:
        found.append(consistent_beliefs)
        return ValidationResult(1, 1, (), stopped=False)

    monkeypatch.setattr(module, "validate_by_search", result)
    fit(*SEARCHED, "trainer.max_epochs=1", f"consistent_beliefs={str(excluded).lower()}")
    assert found == [excluded] * 2


@pytest.mark.parametrize(
    ("found", "best"),
    [
        ([(0, 40, 2), (0, 40, 2), (2, 39, 0), (1, 21, 1), (2, 38, 0)], 4),  # as many solved, and a node less
        ([(0, 40, 2), (1, 1, 1), (2, 40, 0), (1, 1, 1), (2, 40, 0)], 2),  # the first of equals
        ([(0, 40, 2), (2, 40, 0), (1, 20, 1), (1, 20, 1), (0, 40, 2)], 1),
        ([(2, 40, 0), (2, 40, 0), (1, 20, 1), (0, 40, 2), (1, 20, 1)], 0),  # before training
        ([(400, 9001, 200), (400, 9000, 200), (400, 8999, 200), (400, 8998, 200), (400, 8999, 200)], 3),
    ],
)
def test_the_best_network_is_kept(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[tuple[int, int, int]], best: int
) -> None:
    """Of one validation before the first step and four after an epoch each."""
    bounds = record_bounds(monkeypatch, found)
    nodes = 1000 if found[0][0] > 2 else 20
    metrics = fit(*SEARCHED, f"validation.nodes={nodes}", f"+callbacks.mine._target_={__name__}.Trace")
    assert metrics["epoch"] == best
    assert (metrics["val/solved"], metrics["val/expanded"]) == found[best][:2]
    assert torch.equal(flat(model_of(tmp_path / "run").network), Trace.validated[best])
    scores = [(missed, expanded) for _, expanded, missed in found]
    assert bounds == [None, *(min(scores[:epoch]) for epoch in range(1, 5))], "no epoch is searched with for longer"


def test_a_validation_that_is_cut_short_is_shown_with_its_bounds(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the table, beside the network that is kept and the one before training."""
    found = [(0, 4000, 2), (1, 2021, 1), (1, 2022, 1), (1, 2023, 1), (1, 3500, 1)]
    record_bounds(monkeypatch, found, stopped=(2, 4))
    metrics = fit(*SEARCHED, "validation.nodes=2000")
    table = make_metrics_table(metrics)
    assert table.caption == "greedy search on 2 validation problems"
    assert table.titles == ("heuristic", "solved", "expanded")
    assert table.rows == [
        ["network", "1", "2,021"],
        ["before training", "0", "4,000"],
        ["after the last step", "at most 1", "at least 3,500"],
    ]
    assert table.note == "the last validation was cut short when it could no longer be the best"
    rows = rows_of(tmp_path / "run")
    assert [describe_search(row) for row in rows] == [
        "0 of 2 solved, 4,000 expansions",
        "1 of 2 solved, 2,021 expansions",
        "at most 1 of 2 solved, cut short",
        "1 of 2 solved, 2,023 expansions",
        "at most 1 of 2 solved, cut short",
    ]
    assert open_model(tmp_path / "run").card["validation"] == {
        "val/solved": 1, "val/expanded": 2021, "untrained/solved": 0, "untrained/expanded": 4000,
    }  # fmt: skip


@pytest.mark.parametrize(
    "overrides",
    [
        ("encoding=relational", "base=h_add"),
        ("encoding=hash", "base=none", "domain=grapevine", "model.optimizer.lr=0.05", "model.averaging=0"),
    ],
)
def test_models_validated_by_search_are_calibrated(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    """Of the plans found in its validation, the least squares among monotone maps."""
    given = (*SEARCHED, *overrides, "objective=distance", "validation=ranking", "validation.nodes=100")
    metrics = fit(*given)
    model = open_model(tmp_path / "run")
    steps = model.steps
    assert metrics["val/solved"] > 0
    assert len(steps.values) > 1
    settings = compose(Train, "train", f"run_dir={tmp_path}", *given)
    data = RolloutData(settings, settings.source)
    data.setup()
    values, left = [np.empty(0)], [np.empty(0)]
    for task, _ in data.problems:
        space = StateSpace(task)
        score = model.make_scorer(space).score
        found = search_greedily(space, score, 100)
        if found.plan is not None:
            states = find_states_along(space, found.plan)
            values.append(score(np.array(states, dtype=np.int32)))
            left.append(np.arange(len(states))[::-1].astype(np.float64))
    assert len(values) - 1 == metrics["val/solved"]
    assert_least_squares(steps, np.concatenate(values), np.concatenate(left))


def assert_least_squares(steps: Calibration, values: NDArray[np.float64], left: NDArray[np.float64]) -> None:
    """See that a map is monotone, and that no shift of a stretch of equal steps is closer to what is left."""
    order = np.argsort(values, kind="stable")
    fitted = steps(values)[order]
    assert (np.diff(fitted) >= 0).all()
    for level in np.unique(fitted):
        is_level = np.isclose(fitted, level)
        assert left[order][is_level].mean() == pytest.approx(level, abs=1e-6)
    assert np.square(fitted - left[order]).mean() <= np.var(left) + 1e-9


class Trace(Callback):
    """Keeps the weights after each step, and those with which validation runs."""

    trained: list[Tensor]
    validated: list[Tensor]

    def __init__(self) -> None:
        Trace.trained, Trace.validated = [], []

    def on_train_batch_end(self, trainer: Trainer, module: LightningModule, *_: Any) -> None:
        self.trained.append(flat(module.network))

    def on_validation_batch_start(self, trainer: Trainer, module: LightningModule, *_: Any) -> None:
        self.validated.append(flat(module.network))


def flat(network: nn.Module | Any) -> Tensor:
    return torch.cat([one.detach().flatten() for one in network.parameters()]).clone()


def flat_state(state: Mapping[str, Tensor], run: Path) -> Tensor:
    """The parameters of the network in a part of a checkpoint."""
    network: Any = open_model(run)
    return torch.cat([state[f"network.{name}"].flatten() for name, _ in network.network.named_parameters()])


@pytest.mark.parametrize("decay", [0.5, 0.98])
def test_the_exponential_average_is_validated_and_saved(fit: Fit, tmp_path: Path, decay: float) -> None:
    fit(*SEARCHED, f"model.averaging={decay}", f"+callbacks.mine._target_={__name__}.Trace")
    average, after = Trace.trained[0], {}
    for step, weights in enumerate(Trace.trained, 1):
        average = weights if step == 1 else decay * average + (1 - decay) * weights
        after[step] = average
    content = read_checkpoint(tmp_path / "run" / "checkpoints" / "last.ckpt")
    assert torch.allclose(flat_state(content["state_dict"], tmp_path / "run"), average, atol=1e-6)
    assert not torch.allclose(Trace.trained[-1], average, atol=1e-6)
    steps = len(Trace.trained) // 4
    for epoch, validated in enumerate(Trace.validated[1:], 1):  # the first is before training
        assert torch.allclose(validated, after[epoch * steps], atol=1e-6)
    current = flat_state(content["current_model_state"], tmp_path / "run")
    assert torch.equal(current, Trace.trained[-1]), "training goes on from the weights themselves"


def test_without_averaging_the_weights_themselves_are_saved(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "model.averaging=0", f"+callbacks.mine._target_={__name__}.Trace")
    content = read_checkpoint(tmp_path / "run" / "checkpoints" / "last.ckpt")
    assert torch.equal(flat_state(content["state_dict"], tmp_path / "run"), Trace.trained[-1])
    assert "current_model_state" not in content


class Rates(Callback):
    """Keeps the learning rate of each step."""

    used: list[float]

    def __init__(self) -> None:
        Rates.used = []

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        Rates.used.append(trainer.optimizers[0].param_groups[0]["lr"])


def test_the_learning_rate_follows_its_schedule(fit: Fit) -> None:
    """Over 20 steps."""
    used = {}
    for schedule in ("constant", "cosine", "linear"):
        rates = f"+callbacks.mine._target_={__name__}.Rates"
        fit(*PAPER, "trainer.max_epochs=5", f"model.schedule={schedule}", rates, run=schedule)
        used[schedule] = Rates.used
    steps = np.arange(20)
    assert used["constant"] == [1e-3] * 20
    assert used["cosine"] == pytest.approx(1e-3 * (1 + np.cos(np.pi * steps / 20)) / 2)
    assert used["linear"][:2] == pytest.approx([0.5e-3, 1e-3])
    assert used["linear"][1:] == pytest.approx(1e-3 * (20 - steps[1:]) / 19)


def test_schedules_without_end_or_name_are_refused(fit: Fit) -> None:
    with pytest.raises(EpigymError, match="needs an end"):
        fit(*PAPER, "model.schedule=cosine", "trainer.max_epochs=-1", "trainer.max_steps=-1")
    with pytest.raises(EpigymError, match=r"unknown model\.schedule 'cosin': did you mean 'cosine'"):
        fit(*PAPER, "model.schedule=cosin")


def test_validation_is_repeatable(fit: Fit, tmp_path: Path) -> None:
    """Weights that stay are worth the same in every epoch."""
    fit(*SEARCHED, *STILL)
    rows = rows_of(tmp_path / "run")
    assert len({(row["val/solved"], row["val/expanded"]) for row in rows}) == 1
    for row in rows:
        assert row["val/score"] == pytest.approx(row["val/expanded"] / (1 + 2 * 20) + 2 - row["val/solved"])


@pytest.mark.parametrize("kind", [SEARCHED, PAPER])
def test_a_training_that_diverges_says_why(fit: Fit, kind: tuple[str, ...]) -> None:
    with pytest.raises(EpigymError) as caught:
        fit(*kind, "model.optimizer.lr=1e30")
    assert re.fullmatch(
        r"the training diverged: after \d steps the network's values are not numbers; lower the learning rate, "
        r"model\.optimizer\.lr=1e\+30, or clip gradients with trainer\.gradient_clip_val=1; "
        r"the best network before is kept",
        str(caught.value),
    )


class Spoil(Callback):
    """Makes all weights useless after a step."""

    def __init__(self, step: int) -> None:
        self._step = step

    def on_train_batch_end(self, trainer: Trainer, module: LightningModule, *_: Any) -> None:
        if trainer.global_step == self._step:
            for one in module.parameters():
                one.data.fill_(torch.nan)


@pytest.mark.parametrize(
    ("kind", "step"),
    [(SEARCHED, 7), (PAPER, 7), ((*PAPER, "trainer.check_val_every_n_epoch=7"), 35)],  # the last: after the training
)
def test_the_best_network_before_a_divergence_is_kept(
    fit: Fit, tmp_path: Path, kind: tuple[str, ...], step: int
) -> None:
    own = "+callbacks.mine"
    with pytest.raises(EpigymError, match=r"^the training diverged: after \d+ .*; the best network before is kept$"):
        fit(*kind, "trainer.max_epochs=9", f"{own}._target_={__name__}.Spoil", f"{own}.step={step}")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (record["stopped"], record["verdict"]) == ("diverged", None)
    assert all(np.isfinite(weights).all() for weights in model_of(tmp_path / "run").weights.values())
