"""Wrong settings of a training are refused in one line, before PyTorch is imported and before any work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from epigym.errors import UsageError
from learn.train import Train
from learn.training import options
from tests.helpers.commands import composed

RUN = """
import contextlib, io, json, os, sys
import learn.train, learn.training.options
learn.training.options.GPU_FILES = ()
os.environ["PATH"] = ""
for arguments in json.load(sys.stdin):
    sys.argv = ["learn.train", *arguments, "hydra.run.dir=hydra", "hydra.sweep.dir=hydra"]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try: learn.train.main()
        except SystemExit as stop: code = stop.code
    print(json.dumps([code, said.getvalue(), "torch" in sys.modules]))
"""
FINISHED = ("checkpoints/last.ckpt", "run.json", "model.json")


class Case(NamedTuple):
    """A wrong command line, what is said of it, and its exit code."""

    arguments: str
    said: str
    code: int = 64


CASES = (
    *(
        Case(f"model.network.{name}={value}", f"model.network.{name}={value}: expected at least {least}, and finite")
        for name, value, least in (("node_size", 0, 1), ("edge_size", 0, 1), ("hidden_size", 0, 1),
                                   ("head_size", -3, 1), ("blocks", -1, 0))
    ),
    Case("model.network.dropout=1.5", "model.network.dropout=1.5: expected at most 1"),
    Case("model.network.dropout=-0.1", "model.network.dropout=-0.1: expected at least 0"),
    *(
        Case(f"model.optimizer.{name}={value}", f"model.optimizer.{name}={value}: expected at least 0, and finite")
        for name, value in (("lr", -1.0), ("lr", "inf"), ("lr", "nan"), ("weight_decay", -0.1), ("eps", -1.0))
    ),
    Case("model.optimizer.lr=fast", "model.optimizer.lr=fast: expected a number"),
    *(
        Case(
            f"model.optimizer.betas=[{betas}]",
            f"model.optimizer: betas=[{betas}]: expected two numbers from 0 to below 1",
        )
        for betas in ("0.9, 1.0", "-0.1, 0.9", "0.9")
    ),
    Case("trainer=gpu", "trainer.accelerator: this machine has no GPU for 'gpu': give trainer=auto or trainer=cpu"),
    Case("-m hydra/launcher=slurm encoding=map,hash", "hydra/launcher=slurm: there is no sbatch: start it on a machine "
         "that can submit, or give hydra/launcher=local"),
    Case("run_dir=file/run", "cannot write file/run: file is not a folder", 73),
    *(
        Case(f"run_dir=finished_{number}",
             f"run_dir=finished_{number}: there is a training: go on with resume=true, or name another")
        for number in range(len(FINISHED))
    ),
    Case("model=linear run_dir=finished_2", "run_dir=finished_2: there is a training: name another"),
    Case("model=linear encoding=bitmask trainer.max_steps=5",
         "encoding=bitmask: model=linear does not use it, only model=gine: leave it out"),
    Case("encoding=relational",
         "encoding: the encoding 'relational' has no identifiers of worlds: use 'map' or 'hash' or 'bitmask'; "
         "model=relational makes its typed graphs itself"),
    Case("model=relational encoding=relational",
         "encoding=relational: model=relational does not use it, only model=gine: leave it out"),
    Case("model=linear explorer=dfs", "explorer=dfs: model=linear does not use it, only model=gine: leave it out"),
    Case("model=linear trainer.max_steps=5",
         "trainer.max_steps=5: model=linear does not use it, only model=gine and model=relational: leave it out"),
    Case("model=linear patience=3",
         "patience=3: model=linear does not use it, only model=gine and model=relational: leave it out"),
    Case("model=relational data.batch_size=3",
         "data.batch_size=3: model=relational does not use it, only model=gine: leave it out"),
    Case("model=linear recipe=paper", "recipe=paper: it is for model=gine, not for model=linear"),
    Case("recipe=L0", "recipe=L0: it is for model=linear, not for model=gine"),
    Case("problem=coin_in_the_box/pl_3 data.draws=3",
         "data.draws=3: problem= names all that is learned from: leave one of them out"),
)  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, tuple[int, str, bool]]:
    """Exit code, standard error and whether PyTorch was imported, of every case in turn."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "file").touch()
    for number, name in enumerate(FINISHED):
        path = folder / f"finished_{number}" / name
        path.parent.mkdir(parents=True)
        path.touch()
    before = sorted(folder.rglob("*"))
    lines = json.dumps([split(case.arguments) for case in CASES])
    done = subprocess.run([sys.executable, "-c", RUN], input=lines, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path for path in folder.rglob("*") if "hydra" not in path.parts) == before
    return dict(zip(CASES, map(tuple, map(json.loads, done.stdout.splitlines())), strict=True))


def split(arguments: str) -> list[str]:
    """The arguments of a command line, where lists have blanks after their commas."""
    return arguments.replace(", ", ",").split()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
def test_a_wrong_setting_is_one_line_before_any_work(answers: dict[Case, tuple[int, str, bool]], case: Case) -> None:
    assert answers[case] == (case.code, f"error: {case.said}\n", False)


@pytest.mark.skipif(sys.platform != "linux", reason="a file system that takes no folders")
def test_a_folder_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(OSError, match="/proc/run"):
        composed(Train, "train", "run_dir=/proc/run")


def test_a_gpu_that_may_be_there_is_left_to_lightning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "GPU_FILES", ("/dev/nul*",))
    assert composed(Train, "train", "trainer=gpu").trainer.accelerator == "gpu"


@pytest.mark.parametrize(
    "overrides",
    [
        ["model=relational", "trainer.max_epochs=3", "patience=2", "resume=true"],
        ["model=linear", "recipe=L0", "without=gossip", "domain=all"],
        ["problem=coin_in_the_box/pl_3", "data.batch_size=8", "semantics=efp", "explorer=dfs"],
        ["data=published", "problem=coin_in_the_box/pl_3"],
        ["recipe=paper", "encoding=map", "data=distribution"],
        ["~model.network.blocks", "+model.optimizer.amsgrad=true"],
    ],
)
def test_settings_that_are_used_are_taken(overrides: list[str]) -> None:
    assert composed(Train, "train", *overrides)


def test_a_class_of_the_user_takes_its_own_values() -> None:
    own = ("model.optimizer._target_=torch.optim.SGD", "model.optimizer.lr=-1.0")
    with pytest.raises(UsageError, match=r"model\.optimizer\.lr=-1\.0: expected at least 0"):
        composed(Train, "train", own[1])
    assert composed(Train, "train", *own).model.optimizer["lr"] == -1
