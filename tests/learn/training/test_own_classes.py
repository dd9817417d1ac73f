"""Networks, optimizers, callbacks and loggers of users, named on the command line."""

from __future__ import annotations

import inspect
import json
import logging
import signal
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from lightning import Trainer

from epigym.errors import EpigymError, UsageError
from learn.data.dataset import DataSet
from learn.models.checkpoints import load
from learn.train import Train, main
from learn.training.fitting import train
from learn.training.options import TrainerOptions
from tests.helpers.commands import composed
from tests.helpers.runs import PROBLEM, Fit

OWN = """
from pathlib import Path

from lightning import Callback
from lightning.pytorch.loggers import CSVLogger
from torch.optim import SGD

from learn.models.gine.regressor import Regressor


class Net(Regressor):
    def __init__(self, width, *, margin, scale, **settings):
        super().__init__(width, margin=margin, **settings)
        self.scale = scale


class Pushed(SGD):
    def __init__(self, parameters, lr, push):
        super().__init__(parameters, lr=lr, momentum=push)


class Note(Callback):
    def __init__(self, file):
        self.file = file

    def on_train_end(self, trainer, module):
        Path(self.file).write_text(type(module.regressor).__name__)


class Stop(Callback):
    def __init__(self, epoch):
        self.epoch = epoch

    def on_train_epoch_start(self, trainer, module):
        if trainer.current_epoch == self.epoch:
            raise KeyboardInterrupt


class Log(CSVLogger):
    def __init__(self, folder):
        super().__init__(folder, name="own", version="")
"""
SHORT = (f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=1", "model.schedule=constant")
PUSHED = ("model.optimizer._target_=own.Pushed", "+model.optimizer.push=0.25")
LESS = ("~model.optimizer.betas", "~model.optimizer.eps", "~model.optimizer.weight_decay")


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of the user's."""
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own", None)


def test_a_training_takes_classes_of_the_user(fit: Fit, tmp_path: Path) -> None:
    network = ("model.network._target_=own.Net", "+model.network.scale=3", "model.network.blocks=1")
    callbacks = f"callbacks=[{{_target_: own.Note, file: {tmp_path}/note}}]"
    loggers = f"loggers=[{{_target_: own.Log, folder: {tmp_path}}}]"
    metrics = fit(*SHORT, *network, *PUSHED, *LESS, callbacks, loggers)
    best = tmp_path / "run" / "checkpoints" / "best.ckpt"
    regressor = load(best).regressor
    assert (type(regressor).__name__, regressor.scale, len(regressor.head)) == ("Net", 3, 4)
    [group] = torch.load(best, weights_only=True)["optimizer_states"][0]["param_groups"]
    assert (group["momentum"], group["lr"]) == (0.25, 1e-3)
    assert (tmp_path / "note").read_text() == "Net"
    assert f"{metrics['val/loss']:.4g}"[:6] in (tmp_path / "own" / "metrics.csv").read_text()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.network._target_=own.Gone"], r"_target_=own\.Gone: module 'own' has no attribute 'Gone'"),
        (["model.network._target_=gone.Net"], r"_target_=gone\.Net: No module named 'gone'"),
        (["model.network._target_=own.Net"], r"own\.Net: .*missing .* argument: 'scale'"),
        (PUSHED, r"own\.Pushed: .*unexpected keyword argument 'betas'; leave a setting of ours out with a ~"),
        (["callbacks=[{file: note}]"], "name a class as _target_: module.Class"),
    ],
)
def test_classes_that_do_not_fit_are_named(fit: Fit, overrides: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fit(*SHORT, *overrides)


def test_every_option_of_the_trainer_can_be_given() -> None:
    theirs = set(inspect.signature(Trainer.__init__).parameters) - {"self", "callbacks", "logger"}
    added = {"enable_autolog_hparams", "model_registry"}  # since Lightning 2.5
    assert {entry.name for entry in fields(TrainerOptions)} == theirs | added


def test_options_of_ours_give_way_to_those_of_the_user(fit: Fit, tmp_path: Path) -> None:
    elsewhere = f"trainer.default_root_dir={tmp_path}/root"
    fit(*SHORT, elsewhere, "trainer.num_sanity_val_steps=1", "trainer.log_every_n_steps=1")
    with pytest.raises(UsageError, match=r"trainer: .*quantum"):
        fit(*SHORT, "trainer.accelerator=quantum", run="other")


@pytest.fixture
def signals() -> Iterator[None]:
    """Puts back the answers to signals and the loggers, which a command changes."""
    handlers, level = logging.root.handlers[:], logging.root.level
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("epoch", [0, 1])
def test_an_interrupted_training_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], epoch: int
) -> None:
    stop = f"callbacks=[{{_target_: own.Stop, epoch: {epoch}}}]"
    folders = (f"outputs={tmp_path}", f"hydra.run.dir={tmp_path}/run")
    arguments = ["learn.train", f"problem={PROBLEM}", "trainer=cpu", "trainer.max_epochs=3"]
    monkeypatch.setenv("HYDRA_FULL_ERROR", "")
    last = tmp_path / "run" / "checkpoints" / "last.ckpt"
    remedy = f"go on with resume=true run_dir={tmp_path}/run" if epoch else "no epoch was finished, nothing is kept"
    monkeypatch.setattr(sys, "argv", [*arguments, *folders, stop])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == f"error: interrupted: {remedy}"
    assert last.exists() == bool(epoch)
    if epoch:
        monkeypatch.setattr(sys, "argv", [*arguments, f"outputs={tmp_path}", "resume=true", f"run_dir={tmp_path}/run"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        assert json.loads((tmp_path / "run" / "run.json").read_text())["metrics"]["epochs"] == 3


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.optimizer._target_=torch.optim.SGD", "SGD: .*unexpected keyword argument"),
        ("callbacks=[{_target_: collections.OrderedDict}]", "derives from Lightning's Callback"),
        ("trainer.accelerator=abacus", "trainer: .*abacus"),
        ("ckpt_path={}/broken.ckpt", "broken.ckpt: damaged or cut off, "),
    ],
)
def test_what_a_training_does_not_take_shows_before_anything_is_explored(
    tmp_path: Path, override: str, message: str
) -> None:
    (tmp_path / "broken.ckpt").write_text("x")
    settings = composed(Train, "train", f"run_dir={tmp_path}", override.replace("{}", str(tmp_path)))

    def collect() -> list[DataSet]:
        raise AssertionError("explored")

    with pytest.raises(EpigymError, match=message):
        train(settings, collect, [], [PROBLEM], "default")
