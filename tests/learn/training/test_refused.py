"""Wrong settings of a training are refused in one line, before PyTorch is imported and before any work."""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from epigym.errors import UsageError
from learn.train import Train
from learn.training import options
from tests.helpers.commands import compose

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
FINISHED = ("checkpoints/last.ckpt", "run.json", "model.safetensors")


class Case(NamedTuple):
    """A wrong command line, what is said of it, and its exit code."""

    arguments: str
    said: str
    code: int = 64


LINEAR = "model=linear does not use it, only networks (model=gine or model=paper): leave it out"
ROLLOUTS = "rollouts are made with data=published and objective=distance only: leave it out"
DISTANCE = "data=published objective=distance"
CASES = (
    *(
        Case(f"model=paper model.network.{name}={value}",
             f"model.network.{name}={value}: expected at least {least}, and finite")
        for name, value, least in (("node_size", 0, 1), ("edge_size", 0, 1), ("hidden_size", 0, 1),
                                   ("head_size", -3, 1), ("blocks", -1, 0), ("max_distance", 0, 1))
    ),
    Case("model=paper model.network.dropout=1.5", "model.network.dropout=1.5: expected at most 1"),
    Case("model=paper model.network.margin=0.6", "model.network.margin=0.6: expected at most 0.5"),
    *(
        Case(f"model.network.{name}={value}", f"model.network.{name}={value}: expected at least 1, and finite")
        for name, value in (("width", 0), ("layers", 0))
    ),
    Case("model.network.type_dropout=1.5", "model.network.type_dropout=1.5: expected at most 1"),
    Case("model.averaging=1.5", "model.averaging=1.5: expected at most 1"),
    Case("+model.network.heads=3", "unknown setting 'model.network.heads': did you mean 'model.network.layers' "
         "or 'model.network.width' or 'model.network.type_dropout'?"),
    *(
        Case(f"model.optimizer.{name}={value}", f"model.optimizer.{name}={value}: expected at least 0, and finite")
        for name, value in (("lr", -1.0), ("lr", "inf"), ("lr", "nan"), ("weight_decay", -0.1))
    ),
    Case("model.optimizer.lr=fast", "model.optimizer.lr=fast: expected a number"),
    *(
        Case(
            f"model=paper model.optimizer.betas=[{betas}]",
            f"model.optimizer: betas=[{betas}]: expected two numbers from 0 to below 1",
        )
        for betas in ("0.9, 1.0", "-0.1, 0.9", "0.9")
    ),
    *(
        Case(f"data.{name}=0", f"data.{name}=0: expected at least 1")
        for name in ("instances", "goals", "expansions", "batch_size")
    ),
    *(Case(f"validation.{name}=0", f"validation.{name}=0: expected at least 1") for name in ("problems", "nodes")),
    *(Case(f"model=linear model.{name}=0", f"model.{name}=0: expected at least 1") for name in ("instances", "goals")),
    Case("model=linear model.iterations=[3]", "unknown model.iterations '3': expected one of '0', '1', '2'"),
    Case("model=linear model.losses=[hinge]", "unknown model.losses 'hinge': expected one of 'ranking', 'regression'"),
    Case("model=linear model.bases=[h_max]", "unknown model.bases 'h_max': did you mean 'h_add'?"),
    Case("base=h_max", "unknown base 'h_max': did you mean 'h_add'?"),
    Case("objective=distance objective.max_distance=0", "objective.max_distance=0: expected at least 1"),
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
    *(
        Case(f"model=linear {given}", f"{given}: {LINEAR}")
        for given in ("encoding=bitmask", "encoding.width=32", "objective=distance", "base=h_ff", "data=published",
                      "data.instances=3", "validation=loss", "validation.nodes=3", "explorer=dfs", "trainer=cpu",
                      "trainer.max_epochs=5", "patience=3", "problem=coin_in_the_box/pl_3", "resume=true",
                      "recipe=paper")
    ),
    *(
        Case(f"problem=coin_in_the_box/pl_3 {given}",
             f"{given}: problem= names all that is learned from: leave one of them out")
        for given in ("domain=grapevine", "without=gossip")
    ),
    *(
        Case(given, f"{given}: problems are sampled, not read: give it with data=published or problem=")
        for given in ("semantics=efp", "determines=literals", "plank_compat=true")
    ),
    Case("data=published without=gossip", "without=gossip: it leaves out sampled problems only: give it with "
         "data=sampled"),
    *(
        Case(f"{chosen} {given}".strip(), f"{given}: {ROLLOUTS}")
        for chosen in ("", "objective=distance", "data=published", "problem=coin_in_the_box/pl_3")
        for given in ("explorer=dfs", "explorer.max_kept=3", "consistent_beliefs=true")
    ),
    Case("data=published data.max_class_share=0.3", f"data.max_class_share=0.3: {ROLLOUTS}"),
    Case(f"{DISTANCE} data.expansions=3",
         "data.expansions=3: the explorer decides what is learned from: leave it out"),
    Case("recipe=paper data.expansions=3",
         "data.expansions=3: the explorer decides what is learned from: leave it out"),
    Case("objective=distance base=best validation=loss",
         "base=best is chosen by search: give base=none, h_ff or h_add, or validation=search"),
    Case("base=none validation=loss",
         "validation=loss measures distances: give objective=distance, or validation=search"),
    Case("recipe=paper objective=ranking",
         "validation=loss measures distances: give objective=distance, or validation=search"),
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
        compose(Train, "train", "run_dir=/proc/run")


def test_a_gpu_that_may_be_there_is_left_to_lightning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "GPU_FILES", ("/dev/nul*",))
    assert compose(Train, "train", "trainer=gpu").trainer.accelerator == "gpu"


@pytest.mark.parametrize(
    "overrides",
    [
        ["model=linear", "without=gossip", "domain=all"],
        ["domain=all", "without=gossip", "data.instances=3", "data.expansions=8"],
        ["problem=coin_in_the_box/pl_3", "data.batch_size=8", "data.instances=8", "semantics=efp"],
        ["problem=coin_in_the_box/pl_3", "data=published", "semantics=efp", "data.expansions=8"],
        [*DISTANCE.split(), "explorer=dfs", "explorer.seed=3", "consistent_beliefs=true", "data.max_class_share=0.3"],
        ["objective=distance", "base=h_ff", "validation=loss", "validation.share=0.1"],
        ["recipe=paper", "encoding=map", "data=sampled", "data.expansions=8"],
        ["recipe=paper", "base=h_add", "validation=search", "validation.nodes=8"],
        ["model=paper", "encoding=map", "trainer.max_epochs=3", "patience=2", "resume=true"],
        ["~model.network.layers", "+model.optimizer.amsgrad=true"],
    ],
)
def test_settings_that_are_used_are_taken(overrides: list[str]) -> None:
    assert compose(Train, "train", *overrides)


def test_a_class_of_the_user_takes_its_own_values() -> None:
    own = ("model.optimizer._target_=torch.optim.SGD", "model.optimizer.lr=-1.0")
    with pytest.raises(UsageError, match=r"model\.optimizer\.lr=-1\.0: expected at least 0"):
        compose(Train, "train", own[1])
    assert compose(Train, "train", *own).network.optimizer["lr"] == -1
