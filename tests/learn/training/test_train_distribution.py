"""A regressor that learns from problems drawn from distributions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
import torch

import domains
from epigym.errors import UsageError
from epigym.task.task import Task
from learn.data.dataset import load
from learn.data.distribution import GOALS, draw
from learn.data.explorers import ExplorerSettings, explore
from learn.train import Train, train
from learn.training import drawing
from learn.training.options import DataOptions, DistributionOptions, LinearOptions
from tests.helpers.commands import composed
from tests.helpers.runs import PROBLEM, Fit

DRAWN = ("data=distribution", "trainer=cpu", "trainer.max_epochs=1")


def test_sampled_problems_are_the_default_and_what_batches_are_made_of_is_the_same() -> None:
    published = composed(Train, "train", "domain=grapevine", "data=published").data
    drawn = composed(Train, "train", "domain=grapevine").data
    assert published == DataOptions(batch_size=256, max_class_share=0.5, validation_share=0.2)
    assert drawn == DistributionOptions(
        batch_size=256, max_class_share=0.5, validation_share=0.2, draws=60, goals=GOALS
    )
    linear = composed(Train, "train", "domain=grapevine", "model=linear").model
    assert isinstance(linear, LinearOptions)
    assert linear.goals == GOALS


def test_a_regressor_learns_from_what_is_drawn_and_says_so(fit: Fit, tmp_path: Path) -> None:
    names = ["consecutive_numbers", "selective_communication"]
    metrics = fit(*DRAWN, f"domain=[{','.join(names)}]", "data.draws=3", "data.goals=2", "seed=5")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    distribution = {"draws": 3, "goals": 2, "seed": 5}
    assert (record["domains"], record["problems"], record["distribution"]) == (names, [], distribution)
    checkpoint = torch.load(tmp_path / "run" / "checkpoints" / "best.ckpt", weights_only=True)["hyper_parameters"]
    assert (checkpoint["domains"], checkpoint["problems"], checkpoint["distribution"]) == (names, [], distribution)

    drawn = [one.task for name in names for one in islice(draw(name, "train", 5, 2), 3)]
    sets = [load(Path(folder)) for folder in record["data_sets"]]
    assert [data.metadata["task"] for data in sets] == [task.name for task in drawn]
    for data, task in zip(sets, drawn, strict=True):
        exploration = explore(task, ExplorerSettings("exhaustive"))
        assert data.samples.distance.tolist() == exploration.distance[data.samples.state].tolist()
    assert 0 < metrics["train/samples"] + metrics["val/samples"] <= sum(len(data.samples) for data in sets)


def test_published_problems_are_named(fit: Fit, tmp_path: Path) -> None:
    fit(f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=1")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    checkpoint = torch.load(tmp_path / "run" / "checkpoints" / "best.ckpt", weights_only=True)["hyper_parameters"]
    for said in (record, checkpoint):
        assert (said["problems"], said["distribution"]) == ([PROBLEM], None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], str, int, int, int]]:
    """What would have been drawn; drawing ends the training."""
    calls: list[tuple[Sequence[str], str, int, int, int]] = []

    def record(names: Sequence[str], split: str, draws: int, seed: int, goals: int) -> list[Task]:
        calls.append((names, split, draws, seed, goals))
        raise InterruptedError

    monkeypatch.setattr(drawing, "drawn", record)
    return calls


def test_all_are_all_domains(asked: list[tuple[Sequence[str], str, int, int, int]], tmp_path: Path) -> None:
    settings = composed(Train, "train", *DRAWN, "domain=all", "data.draws=9", "seed=3", f"run_dir={tmp_path}/run")
    with pytest.raises(InterruptedError):
        train(settings)
    assert asked == [(list(domains.DOMAINS), "train", 9, 3, GOALS)]


def test_domains_may_be_left_out(asked: list[tuple[Sequence[str], str, int, int, int]], tmp_path: Path) -> None:
    settings = composed(Train, "train", *DRAWN, "domain=all", "without=gossip", f"run_dir={tmp_path}/run")
    with pytest.raises(InterruptedError):
        train(settings)
    assert set(domains.DOMAINS) - set(asked[0][0]) == {"gossip"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["domain=all", "without=gosip"], "unknown domain 'gosip': did you mean 'gossip'?"),
        (["domain=gossip", "without=gossip"], "no domain is left to learn from: give domain="),
        (
            ["domain=grapevine", f"problem={PROBLEM}"],
            "domain=grapevine: problem= names all that is learned from: ",
        ),
        ([f"problem={PROBLEM}"], "data=distribution: problem= names all that is learned from: leave one of them out"),
        (["domain=[]"], "no domain is left to learn from: give domain="),
        (["domain=grapevin"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (["domain=grapevine", "semantics=efp"], "semantics=efp: problems are sampled, not read: give it with"),
        (
            ["domain=grapevine", "model=linear"],
            "data=distribution: model=linear does not use it, only model=gine: ",
        ),
        (
            ["domain=grapevine", "model.optimizer.momentum=1"],
            "unknown setting 'model.optimizer.momentum': did you mean ",
        ),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_is_drawn(
    asked: list[object], tmp_path: Path, overrides: list[str], message: str
) -> None:
    overrides = [f"+{one}" if "momentum" in one else one for one in overrides]
    base = DRAWN if "model=linear" not in overrides else DRAWN[:1]
    with pytest.raises(UsageError, match=rf"^{re.escape(message)}[^\n]*$"):
        train(composed(Train, "train", *base, *overrides, f"run_dir={tmp_path}/run"))
    assert asked == []


def test_published_problems_are_not_left_out_by_domain() -> None:
    with pytest.raises(UsageError, match=r"^without=gossip: it leaves out sampled problems only: give it with data="):
        composed(Train, "train", "domain=grapevine", "without=gossip", "data=published")


@pytest.mark.parametrize("name", ["draws", "goals"])
def test_at_least_one_is_drawn(name: str) -> None:
    with pytest.raises(UsageError, match=rf"^data\.{name}=0: expected at least 1$"):
        composed(Train, "train", *DRAWN, "domain=grapevine", f"data.{name}=0")
