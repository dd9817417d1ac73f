"""What a GPU gains: in scoring batches of e-states, in the first training of the README, and in a wide general network.

python -m tests.benchmarks.gpu                  measures in outputs/gpu; run again it goes on with the general network
python -m tests.benchmarks.gpu minutes=60       trains the general network for longer; settings of learn.train reach it
python -m tests.benchmarks.gpu accelerator=cpu  the same without a GPU, to try the program
"""

import csv
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from statistics import median

import numpy as np
import torch
from lightning.fabric.utilities import move_data_to_device
from matplotlib.figure import Figure
from rich.console import Console

from epigym import StateSpace, load_problem
from epigym.io.tables import Table
from epigym.space.traversal import breadth_first
from learn.models.gine.scorer import NetworkScorer, PaperScorer
from learn.models.scoring import Scorer
from learn.train import Train
from learn.training.batches import Batch
from learn.training.fitting import build
from tests.helpers.commands import compose
from tests.helpers.trained import bind, random_regressor

FOLDER = Path("outputs", "gpu")
OURS = {"accelerator": "gpu", "minutes": "4", "repeats": "100"}
"""The arguments of this program: minutes of training the general network, and repeats of what is timed."""
PROBLEM = "coin_in_the_box/pl_7"  # about ten worlds per e-state
BATCHES = (1, 8, 16, 32, 64, 128, 256, 512)
PROJECTED = 10.73
"""Milliseconds of one evaluation in the paper; its projection of batches of B divides them by B (Appendix H)."""
FIRST = ("encoding=hash",)
GENERAL = (
    *("encoding=relational", "domain=all", "model.network.width=64", "model.schedule=constant", "callbacks=[]"),
    *(
        "trainer.max_epochs=10000",
        "trainer.check_val_every_n_epoch=5",
        "validation.problems=10",
        "validation.nodes=200",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Measure and train, and print tables."""
    given = dict(one.split("=", 1) for one in arguments)
    own = {name: given.pop(name, default) for name, default in OURS.items()}  # what is left is for the trainings
    others, repeats = [f"{name}={value}" for name, value in given.items()], int(own["repeats"])
    if own["accelerator"] == "gpu" and not torch.cuda.is_available():
        print("nothing was measured: PyTorch finds no GPU; accelerator=cpu tries the program without one")
        return
    warnings.filterwarnings("ignore", ".*self.trainer.*not registered")  # steps are timed without a trainer
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    kinds, console = {"baseline": "cpu", "measured": own["accelerator"]}, Console()
    console.print(score_batches(own["accelerator"], repeats))
    console.print(compare_trainings(kinds, others, repeats))
    limit = f"trainer.max_time={{seconds: {round(60 * float(own['minutes']))}}}"
    train("general", *GENERAL, f"trainer.accelerator={own['accelerator']}", limit, *others)
    rows = [[f"{second:.0f}", f"{score:.4f}"] for second, score in read_scores("general")]
    console.print(Table("a general network of width 64", ("seconds", "validation score"), rows))


def score_batches(accelerator: str, repeats: int) -> Table:
    """Milliseconds per e-state of the paper's regressor by batch size, beside the projection of Appendix H."""
    space = StateSpace(load_problem(PROBLEM))
    deque(breadth_first(space), maxlen=0)
    scorers: dict[str, Scorer] = {  # weights do not matter for the time; a scorer moves its network to the device
        "cpu, plain": bind(NetworkScorer, random_regressor(), space),
        "cpu, equal worlds once": bind(PaperScorer, random_regressor(), space),
    }
    if accelerator == "gpu":
        scorers["gpu, plain"] = bind(NetworkScorer, random_regressor(), space, "cuda")
    columns = {"projected": [PROJECTED / size for size in BATCHES]}
    for name, scorer in scorers.items():
        columns[name] = [1e3 * measure_scoring(scorer, len(space), size, repeats) for size in BATCHES]
    rows = [
        [str(size), *(f"{value:.4f}" for value in row)] for size, *row in zip(BATCHES, *columns.values(), strict=True)
    ]
    with (FOLDER / "batches.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["batch", *columns], *rows])
    draw_batches(columns, FOLDER / "batches.svg")
    return Table("the paper's regressor, milliseconds per e-state", ("batch", *columns), rows)


def measure_scoring(scorer: Scorer, states: int, size: int, repeats: int) -> float:
    """Seconds per e-state, the median over batches of random e-states."""
    order = np.random.default_rng(0).permutation(states).astype(np.int32)
    batches = np.resize(order, (repeats + 5, size))
    seconds = [measure_time(partial(scorer.score, ids)) for ids in batches]
    return median(seconds[5:]) / size


def draw_batches(columns: dict[str, list[float]], path: Path) -> None:
    """Draw milliseconds per e-state against batch sizes."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, values in columns.items():
        axes.plot(BATCHES, values, marker=".", linestyle="--" if name == "projected" else "-", label=name)
    axes.set(xscale="log", yscale="log", xlabel="e-states in a batch", ylabel="milliseconds per e-state")
    axes.set_xticks(BATCHES, list(map(str, BATCHES)))
    axes.legend(frameon=False)
    figure.savefig(path)


def compare_trainings(kinds: dict[str, str], others: Sequence[str], repeats: int) -> Table:
    """The first training of the README on the CPU and on the GPU: seconds to the same loss, and speeds."""
    trainers = {name: f"trainer.accelerator={kind}" for name, kind in kinds.items()}
    used = {name: train(name, *FIRST, trainer, *others) for name, trainer in trainers.items()}
    goal = max(min(score for _, score in read_scores(name)) for name in kinds)
    rows = []
    for name, kind in kinds.items():
        seconds = next(second for second, score in read_scores(name) if score <= goal)
        loader, step = measure_speeds((*FIRST, trainers[name], *others), "cuda" if kind == "gpu" else "cpu", repeats)
        rows.append([kind, f"{seconds:.1f}", f"{loader:.1f}", f"{step:.1f}", used[name]])
    titles = ("trainer", f"s to loss {goal:.5f}", "loader, batches/s", "step, batches/s", "utilisation")
    return Table(" ".join(("learn.train", *FIRST)), titles, rows)


def measure_speeds(arguments: Sequence[str], device: str, repeats: int) -> tuple[float, float]:
    """Batches that the loader makes, and training steps, in a second."""
    settings = compose(Train, "train", *arguments)
    module, data = build(settings, settings.source)
    module.to(device).train()
    optimizer = torch.optim.AdamW(module.parameters())
    loader: Iterator[Batch] = chain.from_iterable(data.train_dataloader() for _ in repeat(None))

    def step(batch: Batch) -> None:
        optimizer.zero_grad()
        torch.autograd.backward(module.training_step(move_data_to_device(batch, torch.device(device)), 0))
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()

    step(next(loader))
    batches = list[Batch]()
    loading = measure_time(lambda: batches.extend(next(loader) for _ in range(repeats)))
    working = measure_time(lambda: deque(map(step, batches), maxlen=0))
    return repeats / loading, repeats / working


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


def read_scores(name: str) -> list[tuple[float, float]]:
    """Seconds and score of each validation of a training; the lower the score, the better."""
    with (FOLDER / name / "metrics.csv").open(newline="") as file:
        return [(float(row["seconds"]), float(row["val/score"])) for row in csv.DictReader(file) if row["val/score"]]


def measure_time(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(sys.argv[1:])
