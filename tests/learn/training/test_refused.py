"""Wrong settings of a training are refused in one line, before PyTorch is imported and before any work."""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from epigym.errors import UsageError
from learn.train import Train
from learn.train_linear import TrainLinear
from tests.helpers.commands import compose

RUN = """
import contextlib, io, json, os, sys
import learn.assess, learn.train, learn.train_linear
os.environ["PATH"] = ""
for name, arguments in json.load(sys.stdin):
    sys.argv = [name, *arguments, "hydra.run.dir=hydra", "hydra.sweep.dir=hydra"]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try: sys.modules[name].main()
        except SystemExit as stop: code = stop.code
    print(json.dumps([code, said.getvalue(), "torch" in sys.modules]))
"""
FINISHED = ("checkpoints/last.ckpt", "run.json", "model.safetensors")


class Case(NamedTuple):
    """A wrong command line, what is said of it, and its exit code."""

    arguments: str
    said: str
    code: int = 64
    command: str = "learn.train"


LINEAR = "learn.train_linear"
SAMPLED = "problems are sampled, not read: give it with data=published or problem="
FOLDER = "data.folder= names all that is learned from: leave one of them out"
CASES = (
    *(
        Case(f"model=paper model.network.{name}={value}",
             f"model.network.{name}={value}: expected at least {least}")
        for name, value, least in (("node_size", 0, 1), ("edge_size", 0, 1), ("hidden_size", 0, 1),
                                   ("head_size", -3, 1), ("blocks", -1, 0), ("max_distance", 0, 1))
    ),
    Case("model=paper model.network.dropout=1.5", "model.network.dropout=1.5: expected at most 1"),
    Case("model=paper model.network.margin=0.6", "model.network.margin=0.6: expected less than 0.5"),
    *(
        Case(f"model=gine model.network.{name}={value}",
             f"model.network.{name}={value}: expected at least 1")
        for name, value in (("width", 0), ("layers", 0))
    ),
    Case("model=gine model.network.type_dropout=1.5", "model.network.type_dropout=1.5: expected at most 1"),
    Case("model.averaging=1", "model.averaging=1: expected less than 1"),
    Case("model=gine +model.network.heads=3", "unknown setting 'model.network.heads': expected one of "
         "'model.network.layers', 'model.network.type_dropout', 'model.network.width'"),
    *(
        Case(f"model.optimizer.lr={value}", f"model.optimizer.lr={value}: expected more than 0")
        for value in (-1.0, 0, "nan")
    ),
    Case("model.optimizer.weight_decay=-0.1", "model.optimizer.weight_decay=-0.1: expected at least 0"),
    Case("model.optimizer.lr=inf", "model.optimizer.lr=inf: expected a finite number"),
    Case("model.optimizer.lr=fast", "model.optimizer.lr=fast: expected a number"),
    *(
        Case(f"model=paper model.optimizer.betas=[{betas}]", f"model.optimizer.betas={wrong}")
        for betas, wrong in (
            ("0.9, 1.0", "1.0: expected less than 1"), ("-0.1, 0.9", "-0.1: expected at least 0")
        )
    ),
    Case("model=paper model.optimizer.betas=[0.9]", "model.optimizer: betas=[0.9]: expected two numbers"),
    *(
        Case(f"data=sampled data.{name}=0", f"data.{name}=0: expected at least 1")
        for name in ("instances", "goals", "expansions")
    ),
    *(
        Case(f"encoding=relational validation.{name}={value}",
             f"validation.{name}={value}: expected at least {least}")
        for name, value, least in (("problems", 0, 1), ("nodes", 0, 1), ("verdict", -1, 0))
    ),
    *(
        Case(f"validation.share={share}",
             f"validation.share={share}: expected {expected}")
        for share, expected in (("0.0", "more than 0"), ("1.0", "less than 1"))
    ),
    Case("encoding=relational expert.aggregation=1",
         "expert: aggregation=1: give problems of the expert, too, with expert.problems="),
    Case("expert.problems=3", "expert.problems: plans tell which e-states are better: give objective=ranking, or "
         "expert.problems=0"),
    Case("batch_size=0", "batch_size=0: expected at least 1"),
    *(
        Case(given, f"{given}: expected at least {least}", command=LINEAR)
        for given, least in (("data.instances=0", 1), ("nodes=0", 1), ("aggregation=-1", 0), ("seed=-1", 0))
    ),
    Case("iterations=[3]", "unknown iterations '3': expected one of '0', '1', '2'", command=LINEAR),
    Case("losses=[hinge]", "unknown losses 'hinge': expected one of 'ranking', 'regression'", command=LINEAR),
    Case("bases=[h_max]", "unknown bases 'h_max': did you mean 'h_add'?", command=LINEAR),
    Case("base=h_max", "unknown base 'h_max': did you mean 'h_add'?"),
    Case("objective=distance objective.max_distance=0", "objective.max_distance=0: expected at least 1"),
    Case("trainer=gpu", "trainer=gpu: expected a mapping"),
    Case("-m hydra/launcher=slurm encoding=map,hash", "hydra/launcher=slurm: there is no sbatch: start it on a machine "
         "that can submit, or give hydra/launcher=local", 66),
    Case("run_dir=file/run", "cannot write file/run: file is not a folder: name another with run_dir=", 73),
    Case("run_dir=finished_0",
         "run_dir=finished_0: there is a training: go on with ckpt_path=last, or name another"),
    *(
        Case(f"run_dir=finished_{number}", f"run_dir=finished_{number}: there is a training: name another")
        for number in (1, 2)
    ),
    Case("run_dir=finished_0 ckpt_path=file",
         "run_dir=finished_0: there is a training: go on with ckpt_path=last, or name another"),
    *(
        Case(f"run_dir={run} ckpt_path=last", f"ckpt_path=last: there is no file {run}/checkpoints/last.ckpt", 66)
        for run in ("new", "finished_1")
    ),
    Case("ckpt_path=gone.ckpt", "ckpt_path=gone.ckpt: there is no file gone.ckpt", 66),
    Case("run_dir=finished_2", "run_dir=finished_2: there is a training: name another", command=LINEAR),
    *(
        Case(f"data.folder=set {given}", f"{given}: {FOLDER}", command=command)
        for command in ("learn.train", LINEAR, "learn.assess")
        for given in ("domain=grapevine", "without=gossip", "problem=coin_in_the_box/pl_3", "data=sampled",
                      "data.seed=3", "data.expansions=3", "explorer=dfs", "explorer.max_kept=3", "semantics=efp",
                      "consistent_beliefs=true")
    ),
    Case("data.folder=nowhere", "data.folder=nowhere: there is no such file or folder", 66),
    *(
        Case(f"problem=coin_in_the_box/pl_3 {given}",
             f"{given}: problem= names all that is learned from: leave one of them out")
        for given in ("domain=grapevine", "without=gossip", "data.split=test")
    ),
    *(
        Case(f"problem=coin_in_the_box/pl_3 data=sampled {given}",
             f"{given}: problem= names all that is learned from: leave one of them out")
        for given in ("data.goals=2", "data.partially_explored=false")
    ),
    *(
        Case(f"encoding=relational {given}", f"{given}: there is no expert: give expert.problems= or leave it out")
        for given in ("expert.growth=0.5", "expert.expansions=9")
    ),
    Case("expert=null", "expert=null: expected a mapping"),
    Case("batch_size=1", "batch_size=1: model=paper normalises batches: give at least 2"),
    *(
        Case(f"data=sampled {given}", f"{given}: {SAMPLED}")
        for given in ("semantics=efp", "determines=literals", "plank_compat=true")
    ),
    Case("data=sampled data.held_out=3", f"data.held_out=3: {SAMPLED}"),
    *(
        Case(f"{given} validation=distance",
             "validation=distance measures distances: give objective=distance, or validation=ranking")
        for given in ("encoding=relational", "encoding=map objective=ranking model=gine")
    ),
    *(
        Case(given, "model=paper predicts distances: give objective=distance base=none, or model=gine")
        for given in ("objective=ranking", "base=h_ff", "base=h_add", "encoding=relational model=paper",
                      "experiment=paper objective=ranking", "experiment=paper base=h_ff")
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, tuple[int, str, bool]]:
    """Exit code, standard error and whether PyTorch was imported, of every case in turn."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "file").touch()
    (folder / "set").mkdir()
    for number, name in enumerate(FINISHED):
        path = folder / f"finished_{number}" / name
        path.parent.mkdir(parents=True)
        path.touch()
    before = sorted(folder.rglob("*"))
    lines = json.dumps([(case.command, split(case.arguments)) for case in CASES])
    done = subprocess.run([sys.executable, "-c", RUN], input=lines, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path for path in folder.rglob("*") if "hydra" not in path.parts) == before
    return dict(zip(CASES, map(tuple, map(json.loads, done.stdout.splitlines())), strict=True))


def split(arguments: str) -> list[str]:
    """The arguments of a command line, where lists have blanks after their commas."""
    return arguments.replace(", ", ",").split()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command} {case.arguments}")
def test_a_wrong_setting_is_one_line_before_any_work(answers: dict[Case, tuple[int, str, bool]], case: Case) -> None:
    assert answers[case] == (case.code, f"error: {case.said}\n", False)


@pytest.mark.skipif(sys.platform != "linux", reason="a file system that takes no folders")
def test_a_folder_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(OSError, match="/proc/run"):
        compose(Train, "train", "run_dir=/proc/run")


@pytest.mark.parametrize(
    "overrides",
    [
        ["encoding=relational", "domain=all", "without=gossip", "data.instances=3", "data.expansions=8"],
        ["problem=coin_in_the_box/pl_3", "batch_size=8", "data=sampled", "data.held_out=3", "semantics=efp"],
        ["problem=coin_in_the_box/pl_3", "data=published", "semantics=efp", "data.expansions=8"],
        ["data=published", "domain=all", "without=gossip", "explorer=dfs", "explorer.seed=3"],
        ["data=sampled", "explorer.max_kept=3", "consistent_beliefs=true", "objective.max_class_share=0.3"],
        ["data.folder=.", "seed=3", "outputs=elsewhere", "validation.nodes=8"],
        ["model=gine", "base=h_ff", "validation.share=0.1", "validation.verdict=0"],
        ["experiment=paper", "encoding=map", "data=sampled", "data.expansions=8"],
        ["experiment=paper", "validation=ranking", "validation.problems=8", "validation.nodes=8"],
        ["encoding=map", "trainer.max_epochs=3", "callbacks.early_stopping.patience=2"],
        ["callbacks=[]", "logger=csv"],
        ["model=gine", "~model.network.layers", "+model.optimizer.amsgrad=true"],
    ],
)
def test_settings_that_are_used_are_taken(overrides: list[str]) -> None:
    assert compose(Train, "train", *overrides)


@pytest.mark.parametrize(
    "overrides",
    [
        ["domain=all", "without=gossip", "data.instances=3", "data.long_goals=true", "explorer.max_visited=9"],
        ["problem=coin_in_the_box/pl_3", "data.held_out=3", "semantics=efp", "consistent_beliefs=true"],
        ["data=published", "explorer=dfs", "validation_instances=3", "nodes=8"],
        ["data.folder=.", "seed=3", "aggregation=0", "bases=[]"],
    ],
)
def test_settings_of_linear_models(overrides: list[str]) -> None:
    assert compose(TrainLinear, "train_linear", *overrides)


def test_a_class_of_the_user_takes_its_own_values() -> None:
    own = ("model.optimizer._target_=torch.optim.SGD", "model.optimizer.lr=-1.0")
    with pytest.raises(UsageError, match=r"model\.optimizer\.lr=-1\.0: expected more than 0"):
        compose(Train, "train", own[1])
    assert compose(Train, "train", *own).model.optimizer["lr"] == -1
