from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from socket import socket

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from epigym.errors import EpigymError, MissingError
from epigym.io.sealed import write_sealed
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from learn.assess import Assess
from learn.data.dataset import DataSet
from learn.data.dataset import load as load_set
from learn.data.problems import named
from learn.models.checkpoints import load, write
from learn.models.runs import newest
from learn.models.scoring import open_scorer
from learn.rollouts import Rollouts, rollouts
from learn.train import Train
from learn.training import options
from learn.training.options import DataOptions, given
from search.agents.breadth_first import BreadthFirst
from tests.helpers.commands import composed
from tests.helpers.runs import Fit, rows_of

PROBLEM = "collaboration_communication/2_2_3_pl_6"
SHORT = (f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=2")


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["state_dict"]


def cached_set(outputs: Path) -> DataSet:
    (folder,) = (outputs / "rollouts").iterdir()
    return load_set(folder)


def equal(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def is_statistic(name: str) -> bool:
    return name.endswith(("running_mean", "running_var", "num_batches_tracked"))


def test_a_run_leaves_everything_in_its_folder(fit: Fit, tmp_path: Path) -> None:
    metrics = fit(*SHORT)
    run = tmp_path / "run"
    assert {path.name for path in run.iterdir()} >= {"config.yaml", "metrics.csv", "run.json", "checkpoints"}
    for picture in ("curves.png", "predictions.png", "errors.png"):
        assert (run / picture).read_bytes().startswith(b"\x89PNG")
    assert list((run / "tensorboard").glob("events.*"))

    record = json.loads((run / "run.json").read_text())
    assert record["domains"] == ["collaboration_communication"]
    assert record["seed"] == 42
    assert record["versions"].keys() >= {"python", "torch", "epigym"}
    config = OmegaConf.load(run / "config.yaml")
    assert config.model.network.hidden_size == 128
    with (run / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0.0", "1.0"]
    assert min(float(row["val/loss"]) for row in rows) == pytest.approx(metrics["val/loss"])
    names = {"train/loss", "val/loss", "val/mae", "val/rmse", "val/r2", "val/within_half"}
    assert rows[0].keys() >= names
    assert metrics["train/samples"] + metrics["val/samples"] == 225
    assert 0 < metrics["train/waiting_share"] < 1


@pytest.mark.slow
def test_training_fits_better_than_any_constant(fit: Fit, tmp_path: Path) -> None:
    settings = ("trainer.max_epochs=40", "data.batch_size=32", "model.network.dropout=0.0")
    fit(*SHORT, *settings)
    history = rows_of(tmp_path / "run")
    distance = cached_set(tmp_path).samples.distance
    constant = np.var(distance) * (0.998 / 50) ** 2
    assert history[-1]["train/loss"] < 0.8 * constant < history[0]["train/loss"]
    assert history[0]["train/loss"] < 2 * constant  # outputs start where the distances are


def test_metrics_are_those_of_the_best_checkpoint_wherever_an_epoch_is_validated(fit: Fit, tmp_path: Path) -> None:
    often = ("trainer.val_check_interval=2", "trainer.check_val_every_n_epoch=null", "trainer.max_steps=7")
    metrics = fit(f"problem={PROBLEM}", "trainer=cpu", "data.batch_size=50", *often)
    history = rows_of(tmp_path / "run")  # epochs of 4 steps
    losses = {row["step"]: row["val/loss"] for row in history if "val/loss" in row}
    assert sorted(losses) == [1, 3, 5]
    assert metrics["val/loss"] == min(losses.values())
    best = torch.load(tmp_path / "run" / "checkpoints" / "best.ckpt", weights_only=True)
    assert best["global_step"] == metrics["step"] + 1
    assert metrics["epochs"] == 2


def test_two_runs_with_one_seed_are_bitwise_equal(fit: Fit, tmp_path: Path) -> None:
    for run, seed in (("first", 1), ("second", 1), ("other", 2)):
        fit(*SHORT, f"seed={seed}", run=run)
    first, second, other = (
        weights(tmp_path / run / "checkpoints" / "last.ckpt") for run in ("first", "second", "other")
    )
    assert equal(first, second)
    assert not equal(first, other)


def test_resuming_goes_on_where_training_stopped(fit: Fit, tmp_path: Path) -> None:
    settings = (f"problem={PROBLEM}", "trainer=cpu", "model.network.dropout=0.0")
    fit(*settings, "trainer.max_epochs=1", run="start")
    last = tmp_path / "start" / "checkpoints" / "last.ckpt"
    fit(*settings, "trainer.max_epochs=3", f"ckpt_path={last}", run="resumed")
    content = torch.load(tmp_path / "resumed" / "checkpoints" / "last.ckpt", weights_only=True)
    assert content["epoch"] == 2
    with (tmp_path / "resumed" / "metrics.csv").open(newline="") as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["0.0", "1.0", "2.0"]


def test_resuming_takes_up_the_stored_weights(fit: Fit, tmp_path: Path) -> None:
    fit(*SHORT, run="start")
    last = tmp_path / "start" / "checkpoints" / "last.ckpt"
    content = torch.load(last, weights_only=True)
    for group in content["optimizer_states"][0]["param_groups"]:
        group["lr"] = 0.0
    write(content, last)
    fit(*SHORT, "trainer.max_epochs=3", f"ckpt_path={last}", "seed=7", run="resumed")
    before, after = weights(last), weights(tmp_path / "resumed" / "checkpoints" / "last.ckpt")
    assert all(torch.equal(before[name], after[name]) for name in before if not is_statistic(name))
    assert not equal(before, after), "batch statistics go on"


@pytest.mark.parametrize(("schedule", "last_rate"), [("constant", 1e-3), ("cosine", 0.0)])
def test_the_learning_rate_follows_its_schedule(fit: Fit, tmp_path: Path, schedule: str, last_rate: float) -> None:
    fit(*SHORT, f"model.schedule={schedule}", "data.batch_size=32")
    content = torch.load(tmp_path / "run" / "checkpoints" / "last.ckpt", weights_only=True)
    (group,) = content["optimizer_states"][0]["param_groups"]
    assert group["lr"] == pytest.approx(last_rate, abs=1e-12)


def test_schedules_without_end_or_name_are_refused(fit: Fit) -> None:
    with pytest.raises(EpigymError, match="needs an end"):
        fit(*SHORT, "model.schedule=cosine", "trainer.max_epochs=-1", "trainer.max_steps=-1")
    with pytest.raises(EpigymError, match=r"unknown model\.schedule 'cosin': did you mean 'cosine'"):
        fit(*SHORT, "model.schedule=cosin")


def test_a_training_without_validation_says_what_to_do(fit: Fit) -> None:
    with pytest.raises(EpigymError, match="ended after 2 steps, before the first validation"):
        fit(*SHORT, "data.batch_size=32", "trainer.max_steps=2")


@pytest.mark.slow
def test_training_stops_early(fit: Fit, tmp_path: Path) -> None:
    still = ("model.optimizer.lr=0.0", "patience=2")
    metrics = fit(f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=50", *still)
    history = rows_of(tmp_path / "run")
    losses = [row["val/loss"] for row in history]
    assert len(losses) == metrics["epochs"] == losses.index(min(losses)) + 3 < 50
    epochs = {
        name: torch.load(tmp_path / "run" / "checkpoints" / f"{name}.ckpt", weights_only=True)["epoch"]
        for name in ("best", "last")
    }
    assert epochs == {"best": losses.index(min(losses)), "last": len(losses) - 1}


@pytest.mark.slow
def test_several_processes_train_one_regressor(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "learn.train", f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=1"),
        *("trainer.devices=2", "data.batch_size=32", f"outputs={tmp_path}", f"hydra.run.dir={tmp_path}/run"),
    ]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    samples = record["metrics"]["train/samples"]
    assert record["metrics"]["step"] + 1 == math.ceil(math.ceil(samples / 2) / 32)
    assert load(tmp_path / "run" / "checkpoints" / "best.ckpt").domains == ("collaboration_communication",)


@pytest.mark.slow
def test_processes_that_a_scheduler_starts_at_once_write_one_run(tmp_path: Path) -> None:
    """They have no folder in common but that of the data sets, and each would name its run after its own time."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "OMP_NUM_THREADS": "1"}
    samples = 17  # of each process, in batches of 16
    command = [
        *(sys.executable, "-m", "learn.train", f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=1"),
        *("trainer.devices=2", "trainer.strategy=ddp", "data.batch_size=16", "explorer.max_kept=42"),
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
    assert record["metrics"]["step"] + 1 == 1  # the lonely sample of a second batch is left out
    assert load(written.parent / record["checkpoint"]).domains == ("collaboration_communication",)
    other = [path for path in tmp_path.glob("outputs/train/*/*") if path.parent != written.parent]
    assert {path.name for path in other} <= {".hydra", "train.log"}


def test_checkpoint_holds_everything_that_scoring_needs(fit: Fit, tmp_path: Path) -> None:
    fit(*SHORT, "encoding=bitmask")
    path = tmp_path / "run" / "checkpoints" / "best.ckpt"
    trained = load(path)
    assert trained.encoding == {
        "name": "bitmask", "width": 64, "repetition_bits": 16, "fluent_bits": 32, "goal_bits": 16,
    }  # fmt: skip
    assert trained.target.max_distance == 50
    assert trained.target.alpha == pytest.approx(0.998 / 50)
    assert trained.domains == ("collaboration_communication",)
    scores = open_scorer(path, StateSpace(load_problem(PROBLEM))).score(np.array([0]))
    assert scores.shape == (1,)


def test_newest_good_run_of_a_domain_is_found(tmp_path: Path) -> None:
    def finish(name: str, finished: str, domains: list[str], error: float = 1.0) -> Path:
        run = tmp_path / "train" / name
        run.mkdir(parents=True)
        (run / "best.ckpt").touch()
        metrics = {"val/mae": error, "median/mae": 2.0}
        record = {"finished": finished, "checkpoint": "best.ckpt", "domains": domains, "metrics": metrics}
        write_sealed(run / "run.json", record)
        return run / "best.ckpt"

    finish("a", "2026-01-02", ["grapevine"])
    second = finish("sweep/1", "2026-01-03", ["coin_in_the_box", "grapevine"])
    finish("c", "2026-01-04", ["coin_in_the_box"])
    finish("no better than the median", "2026-01-05", ["grapevine", "assembly_line"], error=2.0)
    assert newest("grapevine", tmp_path) == second
    with pytest.raises(MissingError, match=r"none of the 1 finished runs on 'assembly_line' predicts better"):
        newest("assembly_line", tmp_path)
    with pytest.raises(MissingError, match=r"no finished run was trained on 'gossip': .*learn\.train domain=gossip"):
        newest("gossip", tmp_path)


def flip(path: Path) -> None:
    """Another error than was measured: text that reads as well as before."""
    path.write_text(path.read_text().replace("0.5", "1.5"))


def as_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        *(
            lambda path, text=text: path.write_text(text)
            for text in ("", "{", "null", "{}", "[]", "7", '"text"', "[" * 10**5, "1" * 10**4, '{"a": 1, "a": 1}')
        ),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
        lambda path: write_sealed(path, {}),
        lambda path: write_sealed(path, {"metrics": None}),
        flip,
        as_a_folder,
    ],
)
def test_a_damaged_record_is_named_and_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], object]
) -> None:
    metrics = {"val/mae": 0.5, "median/mae": 1.0}
    for name, day in (("good", 1), ("damaged", 2)):
        run = tmp_path / "train" / name
        run.mkdir(parents=True)
        (run / "best.ckpt").touch()
        record = {"finished": f"2026-01-0{day}", "checkpoint": "best.ckpt", "domains": ["gossip"], "metrics": metrics}
        write_sealed(run / "run.json", record)
    damage(tmp_path / "train" / "damaged" / "run.json")
    assert newest("gossip", tmp_path) == tmp_path / "train" / "good" / "best.ckpt"
    (message,) = caplog.messages
    assert re.fullmatch(rf"skipped the damaged record of a run: {tmp_path}/train/damaged/run\.json[^\n]+", message)


def test_problems_of_several_domains_are_pooled() -> None:
    names = named("train", ["collaboration_communication", "grapevine"], ["coin_in_the_box/pl_3"])
    assert {name.partition("/")[0] for name in names} == {"collaboration_communication", "grapevine", "coin_in_the_box"}
    assert names[-1] == "coin_in_the_box/pl_3"
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        named("train", ["grapevin"], [])
    with pytest.raises(EpigymError, match="no problem is named"):
        named("train", [], [])


@pytest.mark.parametrize("encoding", ["map", "hash", "bitmask"])
@pytest.mark.parametrize("trainer", ["auto", "cpu", "gpu"])
def test_every_group_option_composes(monkeypatch: pytest.MonkeyPatch, encoding: str, trainer: str) -> None:
    monkeypatch.setattr(options, "GPU_FILES", ("/dev/null",))
    several = "domain=[coin_in_the_box,grapevine]"
    settings = composed(Train, "train", f"encoding={encoding}", f"trainer={trainer}", several)
    assert settings.encoding["name"] == encoding
    assert settings.trainer.accelerator == trainer
    assert settings.domain == ["coin_in_the_box", "grapevine"]


def test_the_papers_training_is_a_recipe() -> None:
    settings = composed(Train, "train", "recipe=paper", "domain=grapevine", "trainer=cpu")
    assert (settings.explorer.name, type(settings.data), settings.data.batch_size) == ("dfs", DataOptions, 1024)
    assert settings.patience == 30
    assert given(settings.trainer) == {
        "accelerator": "cpu", "max_epochs": 500, "deterministic": True, "max_steps": -1, "limit_train_batches": 1.0,
    }  # fmt: skip
    assert asdict(settings.model) == {
        "network": {
            "_target_": None, "node_size": 64, "edge_size": 32, "hidden_size": 128, "head_size": 128, "blocks": 3,
            "dropout": 0.2,
        },
        "target": {"max_distance": 50, "margin": 1e-3},
        "optimizer": {"_target_": None, "lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 1e-2},
        "schedule": "constant",
    }  # fmt: skip


def test_options_of_the_trainer_pass_through(fit: Fit, tmp_path: Path) -> None:
    fit(*SHORT, "trainer.precision=bf16-mixed", "trainer.gradient_clip_val=0.5")
    assert load(tmp_path / "run" / "checkpoints" / "best.ckpt").regressor.head[0].weight.dtype is torch.float32


@pytest.mark.parametrize("explorer", ["auto", "dfs", "exhaustive"])
def test_one_setting_rules_collapse_out_of_all_rollouts(explorer: str) -> None:
    for kind, name in ((Rollouts, "rollouts"), (Train, "train"), (Assess, "assess")):
        chosen = ("domain=grapevine", f"explorer={explorer}")
        assert not composed(kind, name, *chosen).explorer.forbid_collapse
        assert composed(kind, name, *chosen, "forbid_collapse=true").explorer.forbid_collapse


def test_rollouts_print_and_draw_their_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = (f"problem={PROBLEM}", "explorer=dfs", "explorer.max_visited=100")
    rollouts(composed(Rollouts, "rollouts", f"outputs={tmp_path}", f"run_dir={tmp_path}/run", *few))
    assert PROBLEM.replace("/", "_") + ".png" in {path.name for path in (tmp_path / "run").iterdir()}
    output = capsys.readouterr().out
    assert "100+" in output
    record = json.loads((tmp_path / "run" / (PROBLEM.replace("/", "_") + ".json")).read_text())
    assert (record["explorer"]["used"], record["explorer"]["forbid_collapse"]) == ("dfs", False)
    assert record["counts"]["visited"] == 100


def test_rollouts_of_drawn_problems_list_them(tmp_path: Path) -> None:
    chosen = ("distribution=cloud_scheduling", "draws=3", "draw_seed=2")
    rollouts(composed(Rollouts, "rollouts", f"outputs={tmp_path}", f"run_dir={tmp_path}/run", *chosen))
    with (tmp_path / "run" / "problems.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    for row in rows:
        record = json.loads((tmp_path / "run" / f"{row['domain']}_{row['instance']}.json").read_text())
        assert record["counts"]["visited"] == int(row["states"])
        assert record["counts"]["complete"]
        task = domain_problem(row["domain"], **json.loads(row["parameters"]))
        assert BreadthFirst().search(StateSpace(task)).plan_length == int(row["distance"])
