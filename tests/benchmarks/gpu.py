"""What a GPU gains in training a network, and a larger general network trained in resumable pieces.

python -m tests.benchmarks.gpu                       measures and trains in outputs/gpu; started again it goes on
python -m tests.benchmarks.gpu minutes=60 pieces=12  longer; settings of learn.train reach every training
python -m tests.benchmarks.gpu accelerator=cpu       the same without a GPU, to try the program
"""

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.utilities import move_data_to_device
from rich.console import Console

from epigym.encoding.encoder import make_encoding
from epigym.io.tables import Table
from learn.models.gine.network import make_network
from learn.train import Train
from learn.training.batches import Batch, LabelledStates, PairRuns
from learn.training.data_module import RolloutData
from learn.training.options import Training
from tests.helpers.commands import compose

FOLDER = Path("outputs", "gpu")
SAME = ("encoding=relational", "domain=room_messages", "base=h_ff")
GENERAL = ("encoding=relational", "domain=all", "model.network.width=64", "model.schedule=constant")
TRAINERS = {
    "cpu": ("trainer.accelerator=cpu",),
    "gpu": ("trainer.accelerator=gpu", "trainer.precision=bf16-mixed"),
}
OURS = {"accelerator": "gpu", "minutes": "20", "pieces": "4", "steps": "50", "largest": str(1 << 22)}
"""The arguments of this program: `steps` are timed, and batches grow up to `largest` pairs."""


def main(arguments: Sequence[str]) -> None:
    """Measure, train, and print both."""
    given = dict(one.split("=", 1) for one in arguments)
    own = {name: given.pop(name, default) for name, default in OURS.items()}  # what is left is for the trainings
    others = [f"{name}={value}" for name, value in given.items()]
    accelerator = own["accelerator"]
    if accelerator == "gpu" and not torch.cuda.is_available():
        print("nothing was measured: PyTorch finds no GPU; accelerator=cpu tries the program without one")
        return
    console, kinds = Console(), ["cpu", accelerator]
    used = {}
    for kind, name in zip(kinds, ("baseline", "measured"), strict=True):
        used[name] = train(name, *SAME, *TRAINERS[kind], *others)
    rows = [[name, *describe(name, kind, used[name], own, others)] for kind, name in zip(kinds, used, strict=True)]
    titles = ("run", "trainer", "s to same score", "loader, batches/s", "step, batches/s", "most pairs", "utilisation")
    console.print(Table(" ".join(("learn.train", *SAME)), titles, rows))
    minutes, pieces = float(own["minutes"]), int(own["pieces"])
    for piece in range(1, pieces + 1):
        # Lightning counts the time of earlier pieces.
        limit = f"trainer.max_time={{seconds: {round(60 * minutes * piece / pieces)}}}"
        train("general", *GENERAL, *TRAINERS[accelerator], "trainer.max_epochs=10000", limit, *others)
        best = min(scores("general"), key=lambda row: row[1])
        console.print(f"general network, piece {piece} of {pieces}: validation score {best[1]:.4f}")
    console.print(f"go on: python -m tests.benchmarks.gpu {' '.join(arguments)} minutes=<more>", markup=False)


def train(name: str, *settings: str) -> str:
    """Train in a process on one thread, going on where it stopped; the mean utilisation of the GPU, if it is known."""
    folder = FOLDER / name
    last = (folder / "checkpoints" / "last.ckpt").exists()
    if not last:
        shutil.rmtree(folder, ignore_errors=True)  # of a training without a whole epoch
    others = ("validation.verdict=0", "logger=csv", f"run_dir={folder}", *(("ckpt_path=last",) if last else ()))
    command = [sys.executable, "-m", "learn.train", *settings, *others]
    query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--loop-ms=500"]
    watch = subprocess.Popen(query, stdout=subprocess.PIPE, text=True) if shutil.which(query[0]) else None
    try:
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    finally:
        if watch is not None:
            watch.terminate()
    said = [float(one) for one in watch.communicate()[0].split() if one.isdigit()] if watch is not None else []
    return f"{sum(said) / len(said):.0f} %" if said else "not known"


def scores(name: str) -> list[tuple[float, float]]:
    """Seconds and score of each validation of a training; the lower the score, the better."""
    with (FOLDER / name / "metrics.csv").open(newline="") as file:
        return [(float(row["seconds"]), float(row["val/score"])) for row in csv.DictReader(file) if row["val/score"]]


def describe(name: str, kind: str, used: str, own: dict[str, str], others: Sequence[str]) -> list[str]:
    """The cells of a run: its trainer, time to the score that both runs reach, speeds, and the largest batch."""
    goal = max(min(score for _, score in scores(one)) for one in ("baseline", "measured"))
    seconds = next(second for second, score in scores(name) if score <= goal)
    step, batches = prepare(compose(Train, "train", *SAME, *TRAINERS[kind], *others), kind)
    loaded = list(islice(batches(0), int(own["steps"])))
    waiting = measure_time(lambda: list(islice(batches(0), len(loaded)))) / len(loaded)
    step(loaded[0])
    working = measure_time(lambda: [step(batch) for batch in loaded]) / len(loaded)
    most = find_largest(lambda pairs: step(next(batches(pairs))), int(own["largest"]))
    measured = [f"{seconds:.1f}", f"{1 / waiting:.1f}", f"{1 / working:.1f}", f"{most:,}", used]
    return [" ".join(TRAINERS[kind]), *measured]


def prepare(settings: Training, kind: str) -> tuple[Callable[[Batch], None], Callable[[int], Any]]:
    """A training step, and what makes batches of so many pairs, of the usual size for 0, without an end."""
    data = RolloutData(settings, settings.source)
    runs = data.train = PairRuns(LabelledStates(data.rollouts, make_encoding(settings.encoding), "h_ff", shared=False))
    device = torch.device("cuda" if kind == "gpu" else "cpu")
    types = range(1, 300)  # as many as a domain has
    network = make_network(settings.model.network, settings.encoding, types).to(device)
    optimizer = torch.optim.AdamW(network.parameters())

    def step(batch: Batch) -> None:
        batch = move_data_to_device(batch, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=kind == "gpu"):
            values = batch.base + network(batch.graphs).float()
        optimizer.zero_grad()
        torch.autograd.backward(batch.weight @ torch.nn.functional.softplus(values[batch.better] - values[batch.worse]))
        optimizer.step()
        if kind == "gpu":
            torch.cuda.synchronize()

    def batches(pairs: int) -> Any:
        if pairs:
            yield runs.__getitems__(list(islice(cycle(range(len(runs))), pairs // 64)))
        while True:
            yield from data.train_dataloader()

    return step, batches


def measure_time(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def find_largest(work: Callable[[int], None], largest: int) -> int:
    """The largest batch, in pairs, that fits into memory, by doubling."""
    pairs = 256
    while 2 * pairs <= largest:
        try:
            work(2 * pairs)
        except torch.cuda.OutOfMemoryError:
            break
        pairs *= 2
    return pairs


if __name__ == "__main__":
    main(sys.argv[1:])
