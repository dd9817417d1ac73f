"""The first command of a user, `python -m learn.train encoding=hash`: its settings, and what it says at its end."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, Trainer

import domains
from epigym.problem import load_problem
from learn.data.dataset import load as load_set
from learn.models.checkpoints import load, read_all
from learn.train import Train
from learn.training.loaders import RolloutData
from learn.training.options import DistributionOptions, ModelOptions, given
from learn.training.report.report import step_errors
from learn.training.trial import sampled
from tests.helpers.commands import composed
from tests.helpers.runs import PROBLEM, Fit

FEW = ("data.draws=6", "explorer.max_kept=300", "data.batch_size=32", "trainer.max_steps=20",
       "trainer.limit_train_batches=8", "trainer.accelerator=cpu")  # fmt: skip


class Stop(Callback):
    """Stops a training at its first step."""

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        trainer.should_stop = True


STILL = ("model.optimizer.lr=0.0", "patience=2")


def ended(folder: Path, *arguments: str) -> list[str]:
    """The lines of output of a command that succeeds."""
    command = [sys.executable, "-m", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def solves(folder: Path, line: str) -> dict[str, object]:
    """What a printed command line reports of the plan that it finds."""
    python, dash, *arguments = shlex.split(line)
    assert (python, dash) == ("python", "-m")
    ended(folder, *arguments, f"run_dir={folder}/solved")
    result: dict[str, object] = json.loads((folder / "solved" / "result.json").read_text())
    assert result["status"] == "solved"
    return result


def test_it_samples_problems_of_grapevine_and_takes_minutes() -> None:
    settings = composed(Train, "train", "encoding=hash")
    assert (settings.domain, settings.problem, settings.explorer.name) == (["grapevine"], [], "auto")
    assert isinstance(settings.data, DistributionOptions)
    assert isinstance(settings.model, ModelOptions)
    assert (settings.data.draws, settings.data.batch_size, settings.model.schedule) == (60, 256, "cosine")
    assert given(settings.trainer) == {
        "accelerator": "auto", "max_epochs": 500, "deterministic": True, "max_steps": 2000, "limit_train_batches": 200,
    }  # fmt: skip


def test_it_ends_with_a_command_that_solves_a_larger_problem(tmp_path: Path) -> None:
    lines = ended(tmp_path, "learn.train", "encoding=hash", *FEW)
    [run] = tmp_path.glob("outputs/train/*")
    run = run.relative_to(tmp_path)
    assert f" problem={run}/grapevine_" in lines[-1]
    assert lines[-1].endswith(f"agent=hfs heuristic=gnn heuristic.checkpoint={run}/checkpoints/best.ckpt")
    result, run = solves(tmp_path, lines[-1]), tmp_path / run
    assert result["plan_length"]

    record = json.loads((run / "run.json").read_text())
    assert record["stopped"] == "step limit: 20 steps, epoch 3"
    best = read_all(run / "checkpoints" / "best.ckpt")
    assert best["global_step"] == record["metrics"]["step"] + 1 < 20
    trained = load(run / "checkpoints" / "best.ckpt")
    data = RolloutData([load_set(tmp_path / folder) for folder in record["data_sets"]], batch_size=32)
    batches = list(data.val_dataloader())
    with torch.inference_mode():
        predicted = torch.cat([trained.target.steps(trained.regressor.forward_shared(batch)) for batch in batches])
    anew = step_errors(predicted, torch.cat([batch.distance for batch in batches]))
    for name, value in anew.items():
        assert record["metrics"][f"val/{name}"] == pytest.approx(value, rel=1e-4), name
    kept = f"kept is the checkpoint of epoch {best['epoch'] + 1}, step {best['global_step']}"
    assert any(line.endswith(f"step limit: 20 steps, epoch 3; {kept}") for line in lines)
    assert any(re.search(rf"regressor +│ +{anew['mae']:.3f} ", line) for line in lines)


def test_every_encoding_has_a_folder_of_its_own(tmp_path: Path) -> None:
    few = [*FEW, "trainer.max_steps=8", "data.draws=3"]
    lines = ended(tmp_path, "learn.train", "-m", "encoding=map,hash,bitmask", *few)
    runs = sorted(tmp_path.glob("outputs/train/*/*/run.json"))
    assert [json.loads(run.read_text())["encoding"] for run in runs] == ["map", "hash", "bitmask"]
    assert len([line for line in lines if line.startswith("python -m search.solve problem=")]) == 3


@pytest.mark.parametrize(
    ("overrides", "stopped"),
    [
        (["trainer.max_epochs=3"], "epoch limit: 3 epochs, 3 steps"),
        (
            [*STILL],
            "early stopping after epoch {}: no better validation loss for 2 epochs",
        ),
        (
            [*STILL, "data.batch_size=64", "trainer.val_check_interval=1"],
            "early stopping after epoch {}: no better validation loss for 2 validations",
        ),
        ([f"callbacks=[{{_target_: {__name__}.Stop}}]"], "stopped by a callback after 1 steps, epoch 1"),
    ],
)
def test_a_training_says_when_and_why_it_stopped(fit: Fit, tmp_path: Path, overrides: list[str], stopped: str) -> None:
    metrics = fit(f"problem={PROBLEM}", "trainer=cpu", *overrides)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["stopped"] == stopped.format(int(metrics["epochs"]))


def test_what_is_named_is_learned_from_and_searched(
    fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = domains.text("collaboration_communication/2_2_3_pl_4")
    (tmp_path / "it's one=two.txt").write_text(text)
    fit(f"problem='{tmp_path}/it\\'s one=two.txt'", "semantics=efp", "trainer=cpu", "trainer.max_epochs=1")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (record["problems"], record["distribution"]) == ([f"{tmp_path}/it's one=two.txt"], None)
    line = capsys.readouterr().out.splitlines()[-1]
    assert "semantics=efp" in line
    solves(tmp_path, line)


@pytest.mark.parametrize("domain", ["grapevine", "blocks_world"])  # in mA*, in EPDDL
def test_sampled_problems_are_files(tmp_path: Path, domain: str) -> None:
    path, task = next(sampled(domain, 3, tmp_path))
    written = load_problem(path)
    assert task.instance.startswith("validation_")
    assert (written.fluents, written.agents, written.goal) == (task.fluents, task.agents, task.goal)
    assert [action.name for action in written.actions] == [action.name for action in task.actions]
