"""The first command of a user, `python -m learn.train encoding=hash`: its settings, and what it says at its end."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lightning import Callback, Trainer

import domains
from epigym.features.types import FeatureTypes
from epigym.problem import load_problem
from learn.data.sources import SampledData, sample_tasks
from learn.models import open_model
from learn.models.gine.model import NetworkModel
from learn.train import Train
from learn.training.example import write_samples
from learn.training.options import (
    RankingOptions,
    SearchValidation,
    collect_given,
)
from learn.training.resuming import read_checkpoint
from learn.training.validation import validate_by_search
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, Fit

FEW = ("data.instances=4", "trainer.max_epochs=3", "trainer.check_val_every_n_epoch=1", "trainer.accelerator=cpu",
       "validation.problems=3", "validation.nodes=50")  # fmt: skip


class Stop(Callback):
    """Stops a training at its first step."""

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        trainer.should_stop = True


STILL = ("model.optimizer.lr=0.0", "patience=2")


def run_command(folder: Path, *arguments: str) -> list[str]:
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
    run_command(folder, *arguments, f"run_dir={folder}/solved")
    result: dict[str, object] = json.loads((folder / "solved" / "result.json").read_text())
    assert result["status"] == "solved"
    return result


def test_it_samples_problems_of_grapevine_and_takes_minutes() -> None:
    settings = compose(Train, "train", "encoding=hash")
    assert (settings.domain, settings.problem, settings.base) == (["grapevine"], [], "best")
    assert isinstance(settings.data, SampledData)
    assert (settings.data.instances, settings.batch_size, settings.model.schedule) == (60, 256, "linear")
    assert settings.model.averaging == 0.98
    assert (settings.encoding["name"], settings.objective) == ("hash", RankingOptions(name="ranking"))
    assert settings.validation == SearchValidation(by="search", problems=40, nodes=500)
    assert collect_given(settings.trainer) == {
        "accelerator": "auto", "max_epochs": 12, "deterministic": True, "check_val_every_n_epoch": 3,
    }  # fmt: skip


@pytest.mark.parametrize("encoding", ["hash", "relational"])
def test_it_ends_with_a_command_that_solves_a_larger_problem(tmp_path: Path, encoding: str) -> None:
    lines = run_command(tmp_path, "learn.train", f"encoding={encoding}", *FEW)
    [run] = tmp_path.glob("outputs/train/*")
    run = run.relative_to(tmp_path)
    assert f" problem={run}/grapevine_" in lines[-1]
    assert lines[-1].endswith(f"agent=hfs heuristic=learned heuristic.model={run}")
    result, run = solves(tmp_path, lines[-1]), tmp_path / run
    assert result["plan_length"]

    record = json.loads((run / "run.json").read_text())
    metrics, path = record["metrics"], run / "checkpoints" / "best.ckpt"
    assert (
        record["stopped"]
        == f"epoch limit: 3 epochs, {read_checkpoint(path.with_name('last.ckpt'))['global_step']} steps"
    )
    best, model = read_checkpoint(path), open_model(run)
    assert best["global_step"] == metrics["step"] + 1
    tasks = sample_tasks(["grapevine"], "validation", 2, 42, long_goals=True) + sample_tasks(
        ["grapevine"], "test", 1, 42, long_goals=True
    )
    problems = [(task, FeatureTypes(task)) for task in tasks]
    anew = validate_by_search(problems, 50, lambda space, types: model.make_scorer(space).score)
    assert (metrics["val/solved"], metrics["val/expanded"]) == (anew.solved, anew.expanded)
    kept = f"kept is the network of epoch {best['epoch'] + 1}, step {best['global_step']}"
    assert any(line.endswith(f"{record['stopped']}; {kept}") for line in lines)
    assert any(re.search(rf"network +│ +{anew.solved} │ +{anew.expanded} ", line) for line in lines)
    assert any("h_ff alone" in line and "│" in line for line in lines)


def test_every_encoding_has_a_folder_of_its_own(tmp_path: Path) -> None:
    few = [*FEW, "trainer.max_epochs=1", "data.instances=2"]
    lines = run_command(tmp_path, "learn.train", "-m", "encoding=map,hash,bitmask,relational", *few)
    runs = sorted(tmp_path.glob("outputs/train/*/*/run.json"))
    encodings = ["map", "hash", "bitmask", "relational"]
    assert [json.loads(run.read_text())["encoding"] for run in runs] == encodings
    models = [open_model(run.parent) for run in runs]
    assert [model.encoding["name"] for model in models if isinstance(model, NetworkModel)] == encodings
    assert len([line for line in lines if line.startswith("python -m search.solve problem=")]) == 4


@pytest.mark.parametrize(
    ("overrides", "stopped"),
    [
        (["trainer.max_epochs=3"], "epoch limit: 3 epochs, 12 steps"),
        (["trainer.max_epochs=-1", "trainer.max_steps=6"], "step limit: 6 steps, epoch 2"),
        ([*STILL], "early stopping after epoch {}: no better validation loss for 2 epochs"),
        (
            [*STILL, "trainer.val_check_interval=1"],
            "early stopping after epoch {}: no better validation loss for 2 validations",
        ),
        ([f"callbacks=[{{_target_: {__name__}.Stop}}]"], "stopped by a callback after 1 steps, epoch 1"),
    ],
)
def test_a_training_says_when_and_why_it_stopped(fit: Fit, tmp_path: Path, overrides: list[str], stopped: str) -> None:
    metrics = fit(*PAPER, *(("trainer.max_epochs=50",) if "patience=2" in overrides else ()), *overrides)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["stopped"] == stopped.format(int(metrics["epochs"]))


@pytest.mark.parametrize(("kind", "overrides"), [("files", FEW), ("published", ("recipe=paper", "trainer=cpu"))])
def test_what_is_named_is_learned(
    fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, overrides: tuple[str, ...]
) -> None:
    text = domains.write("collaboration_communication/2_2_3_pl_4")
    (tmp_path / "it's one=two.txt").write_text(text)
    fit(
        f"problem='{tmp_path}/it\\'s one=two.txt'",
        "semantics=efp",
        "determines=literals",
        *overrides,
        "trainer.max_epochs=1",
    )
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (record["data"]["problems"], record["data"]["kind"]) == ([f"{tmp_path}/it's one=two.txt"], kind)
    line = capsys.readouterr().out.splitlines()[-1]
    assert "semantics=efp determines=literals" in line
    solves(tmp_path, line)


@pytest.mark.parametrize("domain", ["grapevine", "blocks_world"])  # in mA*, in EPDDL
def test_sampled_problems_are_files(tmp_path: Path, domain: str) -> None:
    path, task = next(write_samples(domain, 3, tmp_path))
    written = load_problem(path)
    assert task.instance.startswith("validation_")
    assert (written.fluents, written.agents, written.goal) == (task.fluents, task.agents, task.goal)
    assert [action.name for action in written.actions] == [action.name for action in task.actions]
