"""Trainings from one command: every choice of encoding, objective, base and data, and what a run leaves behind."""

import csv
import json
import math
import os
import platform
import resource
import subprocess
import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hydra.types import RunMode
from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import timer
from omegaconf import OmegaConf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import domains
from epigym import to_pyg
from epigym.__main__ import main
from epigym.encoding.encoder import ENCODINGS, make_encoder, make_encoding
from epigym.encoding.relational import Relational, type_ids_of
from epigym.errors import EpigymError, UsageError
from epigym.features.types import FeatureTypes
from epigym.problem import load_problem
from learn.assess import Assess
from learn.data.dataset import DataSet
from learn.data.explorers import ExplorerSettings
from learn.data.making import make_rollout
from learn.data.problems import list_problems
from learn.data.sources import PublishedData
from learn.models import open_model
from learn.models.base import BaseHeuristic, correct
from learn.models.gine.kinds import CLASSES
from learn.rollouts import Rollouts, make_rollouts
from learn.train import Train
from learn.train_linear import TrainLinear
from learn.training.data_module import RolloutData
from learn.training.options import DistanceOptions, LossValidation
from learn.training.report.report import list_files
from learn.training.resuming import read_checkpoint
from learn.training.validation import validate_by_search
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit, assert_same, is_same, model_of, rows_of, validate_again

SMALL = "collaboration_communication/2_2_3_pl_4"
FEW = ("model=gine", "validation=ranking", "trainer.accelerator=cpu", "batch_size=64", "trainer.max_epochs=1",
       "validation.problems=1", "validation.nodes=5", "validation.verdict=0", "model.network.width=4",
       "model.network.layers=1")  # fmt: skip
SMALL_DISTANCE = ("model=gine", "data=sampled", "domain=consecutive_numbers", "data.instances=1", "data.expansions=5",
                  "trainer.accelerator=cpu", "batch_size=64", "trainer.max_epochs=1", "validation.verdict=0",
                  "model.network.width=4", "model.network.layers=1")  # fmt: skip
"""A training of a network that corrects distances, validated by its loss."""
SOURCES = {
    "sampled": ("data=sampled", "domain=consecutive_numbers", "data.instances=1", "data.expansions=5"),
    "published": ("data=published", f"problem={SMALL}"),
    "files": ("data=sampled", "problem={file}", "data.instances=1", "data.expansions=5"),
}
# Any two choices are together in one of these.
SPARSE = [
    (encoding, ("ranking", "distance")[(i + j) % 2], ("none", "h_ff")[(i // 2 + j) % 2], source)
    for i, encoding in enumerate(ENCODINGS)
    for j, source in enumerate(SOURCES)
]


def short_run(fit: Fit, tmp_path: Path, encoding: str, objective: str, base: str, data: str) -> dict[str, float]:
    """Train in one cell of the choices."""
    (tmp_path / "own.txt").write_text(domains.write(SMALL))
    source = [one.format(file=tmp_path / "own.txt") for one in SOURCES[data]]
    return fit(*FEW, f"encoding={encoding}", f"objective={objective}", f"base={base}", *source)


@pytest.mark.parametrize(("encoding", "objective", "base", "data"), SPARSE)
def test_choices_are_independent(fit: Fit, tmp_path: Path, encoding: str, objective: str, base: str, data: str) -> None:
    """See that a short training succeeds, and that its checkpoint and its record say what was chosen."""
    metrics = short_run(fit, tmp_path, encoding, objective, base, data)
    assert metrics["val/solved"] in (0, 1)
    parameters = read_checkpoint(tmp_path / "run" / "checkpoints" / "last.ckpt")["hyper_parameters"]
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert parameters["encoding"] == {"name": encoding, **asdict(ENCODINGS[encoding]())}
    assert parameters["objective"]["name"] == record["objective"] == objective
    assert parameters["base"] == record["base"] == base
    assert parameters["data"] == record["data"]
    assert record["data"].keys() == {"kind", "data", "explorer", "key", "domains" if data == "sampled" else "problems"}
    assert record["data"]["kind"] == data
    names = {"sampled": [], "published": [SMALL], "files": [f"{tmp_path}/own.txt"]}[data]
    assert record["data"].get("problems", []) == names
    learned = {"sampled": ["consecutive_numbers"], "published": ["collaboration_communication"], "files": []}[data]
    assert parameters["domains"] == record["domains"] == learned
    assert bool(parameters["types"]) == (encoding == "relational")
    assert record["encoding"] == encoding


@pytest.mark.parametrize(("encoding", "base"), [("hash", "h_ff"), ("relational", "h_add")])
def test_an_untrained_network_is_worth_its_base(fit: Fit, tmp_path: Path, encoding: str, base: str) -> None:
    """The control is a learning rate that changes no weight; with another one the value is the base, corrected."""
    states = make_rollout(load_problem(SMALL), ExplorerSettings("exhaustive"), 1, "samples")
    assert states is not None
    space, ids = states.space, states.ids
    costs = BaseHeuristic(space, base)(ids)  # type: ignore[arg-type]
    assert len(np.unique(costs)) > 1
    for rate in ("1e-60", "0.1"):
        chosen = (f"encoding={encoding}", f"base={base}", f"model.optimizer.lr={rate}", "model.schedule=constant")
        fit(*SMALL_DISTANCE, *chosen, run=rate)
        trained: Any = open_model(tmp_path / rate)
        scores = trained.make_scorer(space).score(ids)
        assert np.array_equal(scores, costs) == (rate == "1e-60")
        with torch.no_grad():
            correction = trained.network(to_pyg(make_encoder(space, make_encoding(trained.encoding)).graphs(ids)))
        assert np.allclose(scores, correct(trained.base, costs, correction.numpy()), atol=1e-4)


def test_the_first_validation_is_of_the_base(fit: Fit, tmp_path: Path) -> None:
    chosen = (*SEARCHED, "base=h_add")
    metrics = fit(*chosen, "trainer.max_epochs=1")
    settings = compose(Train, "train", f"run_dir={tmp_path / 'other'}", *chosen)
    data = RolloutData(settings, settings.source)
    data.setup()
    found = validate_by_search(data.problems, 20, lambda space, _: BaseHeuristic(space, "h_add"))
    first = rows_of(tmp_path / "run")[0]
    assert (first["epoch"], first["step"]) == (0, 0)
    assert (first["val/solved"], first["val/expanded"]) == (found.solved, found.expanded)
    assert (metrics["untrained/solved"], metrics["untrained/expanded"]) == (found.solved, found.expanded)


@pytest.mark.parametrize("kind", [PAPER, (*SMALL_DISTANCE, "base=h_ff")])
def test_no_model_is_worse_than_the_network_before_training(fit: Fit, tmp_path: Path, kind: tuple[str, ...]) -> None:
    """The optimizer raises the loss."""
    worse = ("+model.optimizer.maximize=true", "model.optimizer.lr=0.1", "model.schedule=constant", "model.averaging=0")
    metrics = fit(*kind, *worse)
    first, *others = rows_of(tmp_path / "run")
    assert (first["epoch"], first["step"]) == (0, 0)
    assert min(row["val/score"] for row in others) > first["val/score"]
    assert (metrics["step"], metrics["val/score"]) == (0, first["val/score"])
    assert validate_again(tmp_path / "run", *kind) == pytest.approx(first["val/score"], rel=1e-5)


def test_types_of_the_training_problems_are_known_to_the_network(fit: Fit, tmp_path: Path) -> None:
    short_run(fit, tmp_path, "relational", "ranking", "h_ff", "published")
    trained: Any = open_model(tmp_path / "run")
    assert list(trained.types) == type_ids_of([FeatureTypes(load_problem(SMALL))], Relational())


def test_a_run_leaves_everything_in_its_folder(fit: Fit, tmp_path: Path) -> None:
    metrics = fit(*PAPER, "trainer.max_epochs=2")
    run = tmp_path / "run"
    assert {path.name for path in run.iterdir()} >= {
        "config.yaml", "metrics.csv", "run.json", "checkpoints", "model.safetensors",
    }  # fmt: skip
    for picture in ("curves.png", "predictions.png", "errors.png"):
        assert (run / picture).read_bytes().startswith(b"\x89PNG")
    assert list((run / "tensorboard").glob("events.*"))

    record = json.loads((run / "run.json").read_text())
    assert record["domains"] == ["collaboration_communication"]
    assert record["seed"] == 42
    assert record["versions"].keys() >= {"python", "torch", "epigym"}
    assert record["metrics"].keys() >= {"median/mae", "median/rmse", "median/r2", "goal_count/mae"}
    config = OmegaConf.load(run / "config.yaml")
    assert config.model.network.hidden_size == 128
    with (run / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0.0", "1.0", "2.0"]
    assert min(float(row["val/loss"]) for row in rows) == pytest.approx(metrics["val/loss"])
    names = {"train/loss", "val/loss", "val/mae", "val/rmse", "val/r2", "val/within_half"}
    assert rows[0].keys() >= names
    states = make_rollout(load_problem(PROBLEM), ExplorerSettings("dfs"), 1, "samples")
    assert states is not None
    kept = len(states.ids)
    assert 0 < metrics["val/samples"] < metrics["train/samples"] <= kept - metrics["val/samples"]
    assert 0 < metrics["train/waiting_share"] < 1


def test_the_files_to_look_at_are_named(fit: Fit, tmp_path: Path) -> None:
    run = tmp_path / "my run"
    fit(*PAPER, "trainer.max_epochs=1", run=run.name)
    names = "model.safetensors,curves.png,predictions.png,errors.png,metrics.csv,run.json"
    assert list_files(run) == [f"files: {run}/{{{names}}}", f"tensorboard --logdir '{run}'"]
    fit(*SEARCHED, "trainer.max_epochs=1", "logger=csv")
    run = tmp_path / "run"
    assert list_files(run) == [f"files: {run}/{{model.safetensors,curves.png,metrics.csv,run.json}}"]


def test_a_run_that_is_validated_by_search_leaves_its_curve(fit: Fit, tmp_path: Path) -> None:
    metrics = fit(*SEARCHED)
    run = tmp_path / "run"
    assert (run / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert metrics["val/problems"] == 2
    best = min(rows_of(run), key=lambda row: (-row["val/solved"], row["val/expanded"], row["epoch"]))
    assert {name: metrics[name] for name in best if name != "seconds"} == {
        name: value for name, value in best.items() if name != "seconds"
    }


@pytest.mark.slow
def test_training_fits_better_than_any_constant(fit: Fit, tmp_path: Path) -> None:
    fit(*PAPER, "trainer.max_epochs=40", "batch_size=32", "model.network.dropout=0.0", "explorer=exhaustive")
    history = [row for row in rows_of(tmp_path / "run") if "train/loss" in row]
    states = make_rollout(load_problem(PROBLEM), ExplorerSettings("exhaustive"), 1, "samples")
    assert states is not None
    distance = states.distance
    constant = np.var(distance) / 50**2
    assert history[-1]["train/loss"] < 0.8 * constant < history[0]["train/loss"]
    assert history[0]["train/loss"] < 2 * constant  # outputs start where the distances are


def test_metrics_are_those_of_the_best_network_wherever_an_epoch_is_validated(fit: Fit, tmp_path: Path) -> None:
    often = ("trainer.val_check_interval=2", "trainer.check_val_every_n_epoch=null", "trainer.max_steps=7")
    metrics = fit(*PAPER, "trainer.max_epochs=-1", *often)
    history = rows_of(tmp_path / "run")  # epochs of 4 steps
    losses = {row["step"]: row["val/loss"] for row in history if "val/loss" in row}
    assert sorted(losses) == [0, 2, 4, 6, 7]
    assert metrics["val/loss"] == min(losses.values()) == losses[metrics["step"]]
    assert metrics["epochs"] == 2


@pytest.mark.parametrize("overrides", [(*PAPER, "trainer.max_epochs=2"), (*SEARCHED, "trainer.max_epochs=2")])
def test_two_runs_with_one_seed_are_bitwise_equal(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    for run, seed in (("first", 1), ("second", 1), ("other", 2)):
        fit(*overrides, f"seed={seed}", run=run)
    first, second, other = (tmp_path / run for run in ("first", "second", "other"))
    assert_same(first, second)
    one, two = (read_checkpoint(run / "checkpoints" / "last.ckpt")["state_dict"] for run in (first, other))
    assert not is_same(one, two)


@pytest.mark.parametrize(
    ("end", "steps", "stopped"),
    [
        ((*PAPER, "trainer.max_steps=2"), [0, 2], "step limit: 2 steps, epoch 1"),
        ((*PAPER, "trainer.max_steps=5"), [0, 4, 5], "step limit: 5 steps, epoch 2"),
        ((*SEARCHED, "trainer.max_steps=5"), [0, 2, 4, 5], "step limit: 5 steps, epoch 3"),
        ((*PAPER, "+trainer.max_time={seconds:3}"), [0, 3], "time limit: 3 steps, epoch 1"),
        ((*SEARCHED, "+trainer.max_time={seconds:3}"), [0, 2, 3], "time limit: 3 steps, epoch 2"),
    ],
)
def test_a_training_that_ends_in_the_middle_of_an_epoch_writes_its_model(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: tuple[str, ...], steps: list[int], stopped: str
) -> None:
    seconds = count()
    monkeypatch.setattr(timer, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    metrics = fit(*end)
    rows = rows_of(tmp_path / "run")
    assert [row["step"] for row in rows if "val/score" in row] == steps
    assert metrics["val/score"] == min(row["val/score"] for row in rows if "val/score" in row)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["stopped"] == stopped
    assert validate_again(tmp_path / "run", *end) == pytest.approx(metrics["val/score"], rel=1e-5)


@pytest.mark.parametrize("kind", [PAPER, SEARCHED])
def test_a_development_run_leaves_nothing(
    kind: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *kind, "trainer.fast_dev_run=true", "run_dir=run"]) == 0
    assert "trainer.fast_dev_run: training and validation work; nothing is kept" in capsys.readouterr().out
    assert not Path("run").exists()


def test_accumulating_more_batches_than_an_epoch_has_is_said(fit: Fit) -> None:
    with pytest.warns(UserWarning, match=r"accumulate_grad_batches=500 is more than the (\d) batches .* acts as \1$"):
        metrics = fit(*SEARCHED, "+trainer.accumulate_grad_batches=500")
    assert metrics["step"] <= metrics["epochs"] == 4


@pytest.mark.parametrize("overrides", [PAPER, (*SEARCHED, "model.schedule=constant")])
def test_training_stops_early(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    patient = ("callbacks.early_stopping.patience=2", "trainer.max_epochs=50")
    metrics = fit(*overrides, "model.optimizer.lr=1e-60", *patient)
    scores = [row["val/score"] for row in rows_of(tmp_path / "run") if row["epoch"] > 0]
    assert len(scores) == metrics["epochs"] == scores.index(min(scores)) + 3 < 50
    assert read_checkpoint(tmp_path / "run" / "checkpoints" / "last.ckpt")["epoch"] == len(scores) - 1


def train_in_two_processes(run: Path, *overrides: str, code: int = 0) -> None:
    """See how the command ends."""
    command = [sys.executable, "-m", "learn.train", *PAPER, "trainer.devices=2", f"run_dir={run}", *overrides]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.slow
def test_several_processes_share_the_samples(tmp_path: Path) -> None:
    train_in_two_processes(tmp_path / "run", "batch_size=32", "trainer.max_epochs=1")
    metrics = json.loads((tmp_path / "run" / "run.json").read_text())["metrics"]
    assert metrics["step"] == math.ceil(math.ceil(metrics["train/samples"] / 2) / 32)
    assert open_model(tmp_path / "run").domain


@pytest.mark.slow
def test_processes_that_a_scheduler_starts_at_once_write_one_run(tmp_path: Path) -> None:
    """They have no folder in common, and each would name its run after its own time."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "OMP_NUM_THREADS": "1"}
    samples = 17  # of each process, in batches of 16
    command = [
        *(sys.executable, "-m", "learn.train", *PAPER, "trainer.max_epochs=1", "explorer=exhaustive"),
        *("trainer.devices=2", "trainer.strategy=ddp", "batch_size=16", "explorer.max_kept=42"),
    ]
    running = [
        subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, **shared, "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    [written] = tmp_path.glob("outputs/train/*/run.json")
    record = json.loads(written.read_text())
    assert record["metrics"]["train/samples"] == 2 * samples
    assert record["metrics"]["step"] == 1  # the lonely sample of a second batch is left out
    assert open_model(written.parent / record["model"]).domain == "collaboration_communication"
    other = [path for path in tmp_path.glob("outputs/train/*/*") if path.parent != written.parent]
    assert {path.name for path in other} <= {".hydra", "train.log"}


def test_problems_of_several_domains_are_pooled() -> None:
    names = list_problems("train", ["collaboration_communication", "grapevine"], ["coin_in_the_box/pl_3"])
    assert {name.partition("/")[0] for name in names} == {"collaboration_communication", "grapevine", "coin_in_the_box"}
    assert names[-1] == "coin_in_the_box/pl_3"
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        list_problems("train", ["grapevin"], [])
    with pytest.raises(EpigymError, match="no problem is named"):
        list_problems("train", [], [])


def test_the_papers_training_is_an_experiment() -> None:
    settings = compose(Train, "train", "experiment=paper", "domain=grapevine", "trainer.accelerator=cpu")
    assert settings.explorer == ExplorerSettings("dfs", seed=42)
    assert settings.data == PublishedData(split="train", seed=42, expansions=40)
    assert settings.objective == DistanceOptions(name="distance", max_distance=50, max_class_share=0.5)
    assert settings.validation == LossValidation(by="loss", share=0.2, verdict=10, nodes=100)
    assert (settings.base, settings.batch_size) == ("none", 1024)
    assert settings.callbacks["early_stopping"]["patience"] == 30
    assert settings.trainer == {
        "accelerator": "cpu", "max_epochs": 500, "deterministic": True, "max_steps": -1, "limit_train_batches": 1.0,
    }  # fmt: skip
    assert asdict(settings.model) == {
        "network": {
            "_target_": CLASSES["paper"], "node_size": 64, "edge_size": 32, "hidden_size": 128, "head_size": 128,
            "blocks": 3, "dropout": 0.2, "max_distance": 50, "margin": 1e-3,
        },
        "optimizer": {"_target_": None, "lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 1e-2},
        "schedule": "constant",
        "averaging": 0,
    }  # fmt: skip


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_a_training_keeps_the_memory_of_freed_tensors(fit: Fit) -> None:
    fit(*SMALL_DISTANCE)
    torch.ones(1 << 24)  # leaves enough room also where a small block is put into it
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(1 << 23)  # 8,192 pages, which are cleared one by one where they are new
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 8192


@pytest.mark.filterwarnings("ignore:.*AMP with fp16 is not supported on CPU")  # Lightning takes bf16-mixed
@pytest.mark.parametrize(
    ("kind", "precision"), [(PAPER, "bf16-mixed"), ((*SEARCHED, "encoding=relational"), "16-mixed")]
)
def test_options_of_the_trainer_pass_through(fit: Fit, tmp_path: Path, kind: tuple[str, ...], precision: str) -> None:
    metrics = fit(*kind, "trainer.max_epochs=1", f"trainer.precision={precision}", "trainer.gradient_clip_val=0.5")
    types = {weights.dtype for weights in model_of(tmp_path / "run").weights.values()}
    assert types <= {np.dtype(np.float32), np.dtype(np.int64)}
    assert validate_again(tmp_path / "run", *kind) == pytest.approx(metrics["val/score"], rel=1e-2)


def test_checkpoints_of_the_user_are_kept_beside_ours(fit: Fit, tmp_path: Path) -> None:
    checkpoint = "lightning.pytorch.callbacks.ModelCheckpoint"
    fit(*SEARCHED, f"+callbacks.mine._target_={checkpoint}", "+callbacks.mine.monitor=val/score")
    best = min((row for row in rows_of(tmp_path / "run") if row["epoch"] > 0), key=lambda row: row["val/score"])
    theirs = f"tensorboard/checkpoints/epoch={best['epoch'] - 1:.0f}-step={best['step']:.0f}.ckpt"  # Lightning's count
    found = {str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*.ckpt")}
    assert found == {"checkpoints/last.ckpt", theirs}


def call(folder: Path, *arguments: str) -> None:
    """Train by the command in a folder."""
    command = [sys.executable, "-m", "learn.train", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_settings_of_a_run_repeat_it(tmp_path: Path) -> None:
    overrides = (*SEARCHED, "encoding=relational", "+trainer.gradient_clip_val=0.5")
    call(tmp_path, *overrides, "run_dir=first")
    call(tmp_path, "--config-dir", "first", "--config-name", "config", "run_dir=second")
    first, second = tmp_path / "first", tmp_path / "second"
    assert (first / "config.yaml").read_text() == (second / "config.yaml").read_text()
    assert_same(first, second)
    assert OmegaConf.load(first / "overrides.yaml") == [*overrides, "run_dir=first"]


def test_the_settings_of_a_continued_run_are_those_of_the_whole(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "trainer.max_epochs=1")
    fit(*SEARCHED, "ckpt_path=last")
    fit(*SEARCHED, run="whole")
    continued, whole = (tmp_path / run / "config.yaml" for run in ("run", "whole"))
    assert continued.read_text() == whole.read_text()


@pytest.mark.parametrize("explorer", ["auto", "dfs", "exhaustive"])
def test_one_setting_rules_inconsistent_beliefs_out_of_all_rollouts(explorer: str) -> None:
    kinds: dict[str, Any] = {
        "rollouts": Rollouts, "train": Train, "train_linear": TrainLinear, "assess": Assess,
    }  # fmt: skip
    for name, kind in kinds.items():
        chosen = ("domain=grapevine", f"explorer={explorer}")
        assert not compose(kind, name, *chosen).explorer.consistent_beliefs
        assert compose(kind, name, *chosen, "consistent_beliefs=true").explorer.consistent_beliefs


def test_rollouts_are_listed_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = (f"problem={PROBLEM}", "explorer=dfs", "explorer.max_visited=100")
    make_rollouts(compose(Rollouts, "rollouts", f"outputs={tmp_path}", f"run_dir={tmp_path}/run", *few))
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["rollouts.png"]
    assert "100+" in capsys.readouterr().out
    [row] = DataSet(*(tmp_path / "rollouts").iterdir()).rows
    assert (row.name, row.counts["visited"], row.counts["explorer"]) == (PROBLEM, 100, "dfs")


def test_loggers_count_epochs_and_steps_as_the_metrics_do(fit: Fit, tmp_path: Path) -> None:
    """Also those of a training that is gone on with, for which CSVLogger begins a new file."""
    often = ("trainer.val_check_interval=3", "trainer.check_val_every_n_epoch=null", "logger=[csv,tensorboard]")
    fit(*PAPER, *often, "trainer.max_epochs=2")
    first = len(rows_of(tmp_path / "run"))
    fit(*PAPER, *often, "trainer.max_epochs=3", "ckpt_path=last")
    rows = rows_of(tmp_path / "run")
    assert [(row["epoch"], row["step"]) for row in rows[:3]] == [(0, 0), (1, 3), (1, 4)]
    for version, own in enumerate((rows[:first], rows[first:])):
        logged: dict[float, dict[str, float]] = {}
        for row in rows_of(
            tmp_path / "run" / "csv" / f"version_{version}"
        ):  # one for a validation, and one for the end of an epoch
            logged.setdefault(row["step"], {}).update(row)
        assert list(logged.values()) == own
    board = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    board.Reload()
    for name in ("epoch", "train/loss", "val/mae", "val/score"):
        found = {one.step: one.value for one in board.Scalars(name)}
        assert found == pytest.approx({row["step"]: row[name] for row in rows if name in row})


def test_limited_batches_of_validation_measure_the_kept_network_on_all_samples(fit: Fit, tmp_path: Path) -> None:
    limited, whole = (fit(*PAPER, "trainer.max_epochs=1", *more, run=run)
                      for more, run in ((("+trainer.limit_val_batches=1", "batch_size=16"), "limited"),
                                        (("batch_size=16",), "whole")))  # fmt: skip
    errors = ("val/mae", "val/rmse", "val/samples", "goal_count/mae")
    assert {name: limited[name] for name in errors} == pytest.approx({name: whole[name] for name in errors})


@pytest.mark.parametrize("strategy", ["ddp_fork", "ddp_spawn"])
def test_processes_that_lose_the_network_are_refused(fit: Fit, strategy: str) -> None:
    with pytest.raises(UsageError, match=r"^trainer\.strategy: processes that are forked or spawned lose the network"):
        fit(*PAPER, "trainer.devices=2", f"trainer.strategy={strategy}")


def test_a_job_of_a_multirun_does_not_start_the_command_again(fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = SimpleNamespace(initialized=lambda: True, get=lambda: SimpleNamespace(mode=RunMode.MULTIRUN))
    monkeypatch.setattr("epigym.config.sweeps.HydraConfig", mode)
    with pytest.raises(UsageError, match=r"^trainer\.devices: several processes do not train a job of -m: start each"):
        fit(*PAPER, "trainer.devices=2", "trainer.strategy=ddp")


class InterruptLast(Callback):
    """Interrupts the validation after the training."""

    def on_validation_start(self, trainer: Trainer, module: LightningModule) -> None:
        if trainer.state.fn == "validate":
            raise KeyboardInterrupt


def test_an_interrupt_of_the_last_validation_keeps_the_best_network_so_far(fit: Fit, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="its model is kept"):
        fit(*PAPER, "trainer.max_steps=5", f"+callbacks.mine._target_={__name__}.InterruptLast")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["stopped"] == "interrupted"
    assert open_model(tmp_path / "run").domain


class Interrupt(Callback):
    """Interrupts the main process after a step, as Ctrl-C does."""

    def on_train_batch_end(self, trainer: Trainer, module: LightningModule, *_: Any) -> None:
        if trainer.global_step == 5 and trainer.is_global_zero:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_of_several_processes_an_interrupt_keeps_the_best_network_so_far(tmp_path: Path) -> None:
    own = f"+callbacks.mine._target_={__name__}.Interrupt"
    train_in_two_processes(tmp_path / "run", "batch_size=16", own, code=130)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["stopped"] == "interrupted"
    assert open_model(tmp_path / "run").domain


def test_a_verdict_leaves_the_number_of_threads(fit: Fit) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        fit(*PAPER, "trainer.max_epochs=1", "validation.verdict=1", "validation.nodes=5")
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_the_report_of_a_profiler_is_shown(fit: Fit, caplog: pytest.LogCaptureFixture) -> None:
    fit(*PAPER, "trainer.max_epochs=1", "+trainer.profiler=simple")
    assert "FIT Profiler Report" in caplog.text
