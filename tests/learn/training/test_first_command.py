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
from learn.data.sources import PublishedData, SampledData
from learn.models import open_model
from learn.models.gine.model import NetworkModel
from learn.train import Train
from learn.training.options import DistanceOptions, LossValidation, RankingOptions, SearchValidation
from learn.training.resuming import read_checkpoint
from learn.training.verdict import HELD_OUT, LARGER, NEW, PUBLISHED
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit, validate_again

FEW = {
    "hash": (f"problem={PROBLEM}", "trainer.max_epochs=3", "trainer.accelerator=cpu", "validation.verdict=4",
             "validation.nodes=50"),
    "relational": ("data.instances=4", "trainer.max_epochs=3", "trainer.accelerator=cpu", "validation.problems=3",
                   "validation.verdict=4", "validation.nodes=50"),
}  # fmt: skip
STILL = ("model.optimizer.lr=1e-60", "callbacks.early_stopping.patience=2", "trainer.max_epochs=50")


class Stop(Callback):
    """Stops a training at its first step."""

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        trainer.should_stop = True


def run_command(folder: Path, *arguments: str) -> list[str]:
    """The lines of output of a command that succeeds."""
    command = [sys.executable, "-m", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def solve(folder: Path, line: str) -> dict[str, Any]:
    """The result of a printed command line, which finds a plan."""
    python, dash, *arguments = shlex.split(line)
    assert (python, dash) == ("python", "-m")
    run_command(folder, *arguments, f"run_dir={folder}/solved")
    result: dict[str, Any] = json.loads((folder / "solved" / "result.json").read_text())
    assert result["status"] == "solved"
    return result


def end_of(lines: list[str]) -> tuple[str, list[str]]:
    """The command line that a training prints, empty if there is none, and the lines of its verdict."""
    [place] = [place for place, line in enumerate(lines) if line.startswith("verdict: ")]
    command = lines[place - 1] if lines[place - 1].startswith("python -m search.solve ") else ""
    return command, lines[place:]


def test_the_paper_s_method_takes_minutes() -> None:
    settings = compose(Train, "train", "encoding=hash")
    assert (settings.domain, settings.problem, settings.base) == (["collaboration_communication"], [], "none")
    assert settings.data == PublishedData(split="train", seed=42, expansions=40)
    assert settings.objective == DistanceOptions(name="distance", max_distance=50, max_class_share=0.5)
    assert settings.validation == LossValidation(by="loss", share=0.2, verdict=10, nodes=100)
    assert (settings.batch_size, settings.model.schedule, settings.model.averaging) == (256, "cosine", 0)
    assert settings.trainer == {
        "accelerator": "auto", "max_epochs": 500, "deterministic": True, "max_steps": 400, "limit_train_batches": 200,
    }  # fmt: skip


def test_ours_takes_minutes() -> None:
    settings = compose(Train, "train", "encoding=relational")
    assert (settings.domain, settings.problem, settings.base) == (["grapevine"], [], "h_add")
    assert isinstance(settings.data, SampledData)
    assert (settings.data.instances, settings.data.goals, settings.objective) == (60, 4, RankingOptions(name="ranking"))
    assert settings.validation == SearchValidation(by="search", problems=40, verdict=40, nodes=500)
    assert (settings.batch_size, settings.model.schedule, settings.model.averaging) == (256, "linear", 0.98)
    assert settings.trainer == {
        "accelerator": "auto", "max_epochs": 12, "deterministic": True, "check_val_every_n_epoch": 3,
    }  # fmt: skip


@pytest.mark.parametrize("encoding", ["hash", "relational"])
def test_it_ends_with_a_command_that_solves_a_problem_and_a_verdict(tmp_path: Path, encoding: str) -> None:
    lines = run_command(tmp_path, "learn.train", f"encoding={encoding}", *FEW[encoding])
    [run] = (path.relative_to(tmp_path) for path in tmp_path.glob("outputs/train/*"))
    record = json.loads((tmp_path / run / "run.json").read_text())
    metrics, verdict = record["metrics"], record["verdict"]

    command, said = end_of(lines)
    agent = "hfs_star" if encoding == "hash" else "hfs"
    assert command.endswith(f"problem={run}/example.json agent={agent} heuristic=learned heuristic.model={run}")
    larger = verdict["tiers"][-1]
    solved = [count for count in larger["expanded"]["network"] if count is not None]
    assert solve(tmp_path, command)["expanded"] == min(solved)
    text = verdict["text"]
    assert said[: len(text)] == text == open_model(tmp_path / run).card["verdict"]
    kinds = [PUBLISHED] * (encoding == "hash") + [NEW, LARGER]
    assert [tier["name"] for tier in verdict["tiers"]] == kinds
    domain = "collaboration_communication" if encoding == "hash" else "grapevine"
    assert f"  {LARGER}: 4 problems of {domain}" in text
    assert ("untrained" in larger["expanded"]) == verdict["is_trained"] == (metrics["step"] > 0)
    assert said[len(text) + 1].startswith("next: learn from ")
    *_, suggested, files, logs = said
    assert suggested.startswith("python -m learn.train ")
    assert {"expert.problems=80", "encoding=relational"} <= set(suggested.split())
    assert files.startswith(f"files: {run}/{{model.safetensors,curves.png,")
    assert logs == f"tensorboard --logdir {run}"

    last = read_checkpoint(tmp_path / run / "checkpoints" / "last.ckpt")
    assert record["stopped"] == f"epoch limit: 3 epochs, {last['global_step']} steps"
    kept = f"kept is the network of epoch {metrics['epoch']:.0f}, step {metrics['step']:,.0f}"
    assert any(line.endswith(f"{record['stopped']}; {kept}") for line in lines)
    again = validate_again(tmp_path / run, f"encoding={encoding}", *FEW[encoding])
    assert again == pytest.approx(metrics["val/score"], rel=1e-5)
    shown = {"hash": "{val/mae:.3f} ", "relational": "{val/solved:.0f} │ +{val/expanded:,.0f} "}[encoding]
    row = r"network +│ +" + shown
    assert any(re.search(row.format_map(metrics), line) for line in lines)


def test_every_encoding_has_a_folder_of_its_own(tmp_path: Path) -> None:
    few = ("data=sampled", "domain=consecutive_numbers", "data.instances=2", "trainer.max_epochs=1",
           "trainer.accelerator=cpu", "validation.verdict=2", "validation.nodes=20")  # fmt: skip
    lines = run_command(tmp_path, "learn.train", "-m", "encoding=map,hash,bitmask,relational", *few)
    runs = sorted(tmp_path.glob("outputs/train/*/*/run.json"))
    encodings = ["map", "hash", "bitmask", "relational"]
    assert [json.loads(run.read_text())["encoding"] for run in runs] == encodings
    models = [open_model(run.parent) for run in runs]
    assert [model.encoding["name"] for model in models if isinstance(model, NetworkModel)] == encodings
    verdicts = [line for line in lines if line.startswith("verdict: ")]
    assert [line.startswith("verdict: none") for line in verdicts] == [False] * 4
    tiers = [[tier["name"] for tier in json.loads(run.read_text())["verdict"]["tiers"]] for run in runs]
    assert tiers == [[NEW, LARGER]] * 4


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
        ([f"+callbacks.mine._target_={__name__}.Stop"], "stopped by a callback after 1 steps, epoch 1"),
    ],
)
def test_a_training_says_when_and_why_it_stopped(fit: Fit, tmp_path: Path, overrides: list[str], stopped: str) -> None:
    metrics = fit(*PAPER, *overrides)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["stopped"] == stopped.format(int(metrics["epochs"]))


@pytest.mark.parametrize("data", ["sampled", "published"])
def test_what_is_named_is_learned(fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str) -> None:
    """With other goals, of which some are held out for the verdict; published goals leave no problem for one."""
    path = tmp_path / "it's one=two.txt"
    path.write_text(domains.write("collaboration_communication/2_2_3_pl_4"))
    fit(
        f"data={data}", f"problem='{tmp_path}/it\\'s one=two.txt'", "semantics=efp", "determines=literals",
        "consistent_beliefs=true", "trainer.accelerator=cpu", "trainer.max_epochs=1", "validation.verdict=3",
    )  # fmt: skip
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    kind = "files" if data == "sampled" else "published"
    assert (record["data"]["problems"], record["data"]["kind"]) == ([str(path)], kind)
    command, verdict = end_of(capsys.readouterr().out.splitlines())
    assert (record["verdict"] is None) == (data == "published")
    if data == "published":
        assert command == ""
        assert verdict[0].startswith("verdict: none: there are no other problems: these belong to no domain")
    else:
        assert any(line.startswith(f"  {HELD_OUT}: 3 problems") for line in verdict)
        assert command.endswith(" consistent_beliefs=true")
        solve(tmp_path, command)


def test_a_verdict_says_that_the_network_is_untrained(fit: Fit, capsys: pytest.CaptureFixture[str]) -> None:
    fit(*SEARCHED, *STILL, "validation.verdict=2")
    said = end_of(capsys.readouterr().out.splitlines())[1]
    assert said[0] == "verdict: untrained, no validation after a step was better than the one before"


def test_a_verdict_can_be_left_out(fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(*SEARCHED, "trainer.max_epochs=1")
    command, said = end_of(capsys.readouterr().out.splitlines())
    assert (command, said[0]) == ("", "verdict: none was asked for")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["verdict"] is None
    assert not (tmp_path / "run" / "example.json").exists()
