"""Kills a command at random moments, starts it again, and compares with what nobody disturbed.

    OMP_NUM_THREADS=1 python -m tests.tools.killed rollouts 50
    OMP_NUM_THREADS=1 python -m tests.tools.killed training 50 --seed 7
    OMP_NUM_THREADS=1 python -m tests.tools.killed searched 50
    OMP_NUM_THREADS=1 python -m tests.tools.killed evaluation 50

A moment is a call of a function in the process, of Python or C, drawn from all that an undisturbed process makes; there
the process kills itself (`kill -9`). The command is then started again, and now and then killed once more.
"""

import argparse
import csv
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch.utils.tensorboard  # noqa: F401 - not in every process again
from matplotlib.figure import Figure

from epigym.cli.codes import ExitCode
from epigym.io.checksummed import read_checksummed
from learn.data.dataset import TABLE
from learn.models import open_model
from learn.models.gine.model import NetworkModel
from learn.rollouts import Rollouts, make_rollouts
from learn.train import Train, train
from learn.training import fitting  # noqa: F401 - the same
from learn.training.resuming import read_checkpoint
from search.evaluate import Evaluate, evaluate
from search.evaluation.record import MEASURED
from tests.helpers.commands import compose
from tests.helpers.runs import SEARCHED

PROBLEMS = ("collaboration_communication/2_2_3_pl_4", "coin_in_the_box/pl_3")


def _rollouts() -> Callable[[], None]:
    settings = compose(Rollouts, "rollouts", f"problem=[{','.join(PROBLEMS)}]", "run_dir=run")
    return lambda: make_rollouts(settings)


SMALL = (
    "experiment=paper", f"problem={PROBLEMS[0]}", "validation.verdict=0",
    *(f"model.network.{name}_size=16" for name in ("node", "edge", "hidden", "head")),
    "trainer.max_epochs=-1", "trainer.max_steps=12", "trainer.val_check_interval=3", "trainer.accelerator=cpu",
    "trainer.check_val_every_n_epoch=null", "batch_size=16",
)  # fmt: skip
"""Settings of a training of the paper's network that lasts a moment."""


def _training(*given: str) -> Callable[[], None]:
    def command() -> None:
        last = ("ckpt_path=last",) if Path("run/checkpoints/last.ckpt").exists() else ()
        train(compose(Train, "train", *given, "run_dir=run", *last))

    return command


def _assert_success(code: object) -> None:
    assert code == ExitCode.SUCCESS, code


def _evaluation() -> Callable[[], None]:
    agents = "agents=[bfs,dfs,{name: hfs, label: one},{name: hfs, label: two}]"
    limits = ("memory_limit=2GiB", "parallel=2")
    settings = compose(Evaluate, "evaluate", f"problems=[{','.join(PROBLEMS)}]", agents, *limits, "folder=run")

    def command() -> None:
        sys.modules["__main__"] = ModuleType("__main__")  # which processes of searches would import
        _assert_success(evaluate(settings))

    return command


COMMANDS: dict[str, Callable[[], Callable[[], None]]] = {
    "rollouts": _rollouts,
    "training": partial(_training, *SMALL),
    "searched": partial(_training, *SEARCHED, "encoding=relational"),
    "evaluation": _evaluation,
}


class Calls:
    """Counts the calls of functions in this process, and kills it at one of them.

    Args:
        fatal: the number of the call at which it is killed; 0 for none.
    """

    def __init__(self, fatal: int) -> None:
        self.count = 0
        self._fatal = fatal

    def __call__(self, frame: object, event: str, argument: object) -> None:
        """What the interpreter calls at every call and return."""
        if event in ("call", "c_call"):
            self.count += 1
            if self.count == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)


def run(command: Callable[[], None], folder: Path, fatal: int = 0) -> tuple[int, int]:
    """Call a command in a process forked from this one, in a folder of its own.

    Args:
        command: what to call.
        folder: where it works; its output goes to `log` there.
        fatal: the call at which it is killed.

    Returns:
        How it ended, as `os.waitstatus_to_exitcode`, and how many calls it made if it ended by itself.
    """
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _execute(command, folder, fatal)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, int((folder / "calls").read_text()) if code == 0 else 0


def _execute(command: Callable[[], None], folder: Path, fatal: int) -> None:
    os.chdir(folder)
    output = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    calls = Calls(fatal)
    sys.setprofile(calls)
    try:
        command()
    except Exception:
        sys.setprofile(None)
        traceback.print_exc()
        raise
    sys.setprofile(None)
    Path("calls").write_text(str(calls.count))


def results(kind: str, folder: Path) -> dict[str, Any]:
    """What a command has left to be read again, less times."""
    if kind == "evaluation":
        with (folder / "run" / "results.csv").open(newline="") as file:
            return {"rows": [dict(row, **dict.fromkeys(MEASURED)) for row in csv.DictReader(file)]}
    found: dict[str, Any] = {}
    if kind == "rollouts":
        found |= _data_sets(folder / "outputs" / "rollouts")
    if kind in ("training", "searched"):
        found |= _read_training(folder / "run")
    return found


def _data_sets(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in folder.iterdir():
        if not path.name.startswith("."):  # what was being written when it was killed
            table = read_checksummed(path / TABLE, "")
            found[path.name] = table | {"rows": [row | {"seconds": 0} for row in table["rows"]]}
            found |= {f"{path.name}/{file.name}": file.read_bytes() for file in path.iterdir() if file.name != TABLE}
    return found


def _read_training(run: Path) -> dict[str, Any]:
    record = read_checksummed(run / "run.json", "")
    times = {"seconds", "train/waiting_share"}
    found: dict[str, Any] = {"metrics": {name: value for name, value in record["metrics"].items() if name not in times}}
    with (run / "metrics.csv").open(newline="") as file:
        found["rows"] = [dict(row, seconds="") for row in csv.DictReader(file)]
    content = read_checkpoint(run / "checkpoints" / "last.ckpt")
    for part in content.keys() - {"callbacks", "loops"}:  # these hold folders and seconds
        found[part] = _plain(content[part])
    model = open_model(run)
    assert isinstance(model, NetworkModel)
    return found | {"model": {name: array.tobytes() for name, array in model.weights.items()}}


def _plain(value: Any) -> Any:
    """Tensors as bytes, so that equal means equal bit by bit."""
    if hasattr(value, "numpy"):
        return value.numpy().tobytes()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def check(kind: str, moments: int, seed: int, folder: Path) -> int:
    """Kill, start again and compare at some moments; how often the results were others than undisturbed ones."""
    command = COMMANDS[kind]()
    Figure.savefig = lambda self, path, **options: Path(path).touch()  # pictures take most of the time
    code, calls = run(command, folder / "undisturbed")
    assert code == 0, (folder / "undisturbed" / "log").read_text()
    expected = results(kind, folder / "undisturbed")
    generator = random.Random(seed)
    different = 0
    for number in range(moments):
        place = folder / str(number)
        fatal = [1 + int(generator.random() * calls) for _ in range(1 + (number % 5 == 0))]
        codes = [run(command, place, one)[0] for one in fatal] + [run(command, place)[0]]
        is_same = codes[-1] == 0 and results(kind, place) == expected
        different += not is_same
        print(json.dumps({"moment": number, "killed": fatal, "of": calls, "exits": codes, "same": is_same}), flush=True)
        if codes[-1] != 0:
            print((place / "log").read_text(), flush=True)
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill a command at random moments.")
    parser.add_argument("kind", choices=COMMANDS)
    parser.add_argument("moments", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        different = check(given.kind, given.moments, given.seed, Path(folder))
    seconds = time.perf_counter() - start
    print(f"{given.kind}: {given.moments} moments, {different} different, {seconds:.0f} s")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
