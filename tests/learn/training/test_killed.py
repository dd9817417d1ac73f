"""What is killed or stopped at any moment loses nothing that was finished; started again it ends as if undisturbed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from lightning import Callback, Trainer

from epigym.io.checksummed import read_checksummed
from learn.models import open_model
from learn.models.gine.model import NetworkModel
from learn.training.trainer import validate_interrupted
from tests.helpers.benchmark_files import ROOT
from tests.helpers.runs import PAPER, Fit, assert_same, rows_of

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


class Send(Callback):
    """Sends a signal to its own process, in the middle of a step."""

    def __init__(self, number: int, step: int) -> None:
        self._number, self._step = number, step

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step == self._step:
            os.kill(os.getpid(), self._number)


@pytest.mark.parametrize(("kind", "moments"), [("rollouts", 2), ("training", 1), ("evaluation", 2)])
def test_killed_at_random_moments(kind: str, moments: int) -> None:
    command = [sys.executable, "-m", "tests.tools.killed", kind, str(moments), "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"same": true') == moments
    assert done.stdout.count("-9") >= moments


@pytest.mark.parametrize(
    ("number", "code", "step"),
    [(signal.SIGTERM, 143, 8), (signal.SIGINT, 130, 6), (signal.SIGTERM, 143, 2)],
)
def test_a_stopped_training_says_how_to_go_on(tmp_path: Path, fit: Fit, number: int, code: int, step: int) -> None:
    """Of four steps an epoch has."""
    own = "+callbacks.stop"
    stop = f"{own}._target_={__name__}.Send", f"{own}.number={int(number)}", f"{own}.step={step}"
    folders = (f"run_dir={tmp_path}/run", f"hydra.run.dir={tmp_path}/hydra")
    process = subprocess.Popen(
        [sys.executable, "-m", "learn.train", *PAPER, *folders, *stop],
        env=ENVIRONMENT, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    output, _ = process.communicate()
    assert process.returncode == code
    run, is_kept = tmp_path / "run", step > 4
    remedy = f"go on with ckpt_path=last run_dir={run}" if is_kept else "no epoch was finished to go on from"
    assert output.splitlines()[-1] == f"error: interrupted: its model is kept; {remedy}"
    assert "Traceback" not in output
    left = [one for one in psutil.process_iter() if session(one.pid) == process.pid]
    assert psutil.wait_procs(left, timeout=60)[1] == []
    assert isinstance(open_model(run), NetworkModel)
    record = read_checksummed(run / "run.json", "")
    assert (record["stopped"], record["verdict"]) == ("interrupted", None)
    assert rows_of(run)[-1]["step"] == step, "its last step is validated"
    assert (run / "checkpoints" / "last.ckpt").exists() == is_kept
    if is_kept:
        fit(*PAPER, "ckpt_path=last")
        fit(*PAPER, run="whole")
        assert_same(tmp_path / "whole", run)


def session(process: int) -> int | None:
    """The session of a process; None when it has ended."""
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return None


class Endless:
    """A trainer that was interrupted after its third step, and whose validation does not end."""

    callbacks = ()
    is_validating = False

    def validate(self, *_: object, **__: object) -> None:
        self.is_validating = True
        while True:
            pass


@pytest.mark.parametrize("is_again", [False, True])
def test_the_validation_after_an_interrupt_ends_with_its_time_or_another_interrupt(
    is_again: bool, caplog: pytest.LogCaptureFixture
) -> None:
    trainer: Any = Endless()
    if is_again:
        trainer.validate = lambda *_, **__: signal.raise_signal(signal.SIGINT)
    nothing: Any = None
    caplog.set_level("INFO")
    validate_interrupted(trainer, nothing, nothing, 600 if is_again else 1)
    assert trainer.is_validating is not is_again
    assert caplog.messages[-1] == "its validation was given up"
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
