"""The configuration of trainings: groups that choose each other, the open trainer, experiments, and sweepers."""

import json
import math
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from epigym.cli.settings import read
from epigym.config.packages import PLACE
from learn.rollouts import Rollouts
from learn.train import Train
from learn.training.options import LossValidation, SearchValidation, as_yaml
from learn.training.report.comparison import compare_runs
from tests.helpers.commands import compose
from tests.helpers.marks import slow_but
from tests.helpers.runs import SEARCHED

LR = "model.optimizer.lr"
PAPERS = ("hash", "map", "bitmask")


@pytest.mark.parametrize("encoding", [*PAPERS, "relational"])
def test_encodings_choose_their_method(encoding: str) -> None:
    found = compose(Train, "train", f"encoding={encoding}")
    is_paper = encoding in PAPERS
    assert found.encoding["name"] == encoding
    assert (found.objective.name, found.base) == (("distance", "none") if is_paper else ("ranking", "h_add"))
    assert isinstance(found.validation, LossValidation if is_paper else SearchValidation)
    assert found.model.network["_target_"] == ("learn.models.gine.paper.PaperNetwork" if is_paper else None)
    assert found.source.settings["kind"] == ("published" if is_paper else "sampled")
    assert found.explorer.name == ("auto" if is_paper else "exhaustive")
    assert found.domain == ["collaboration_communication" if is_paper else "grapevine"]


def test_the_default_is_the_paper_s_method() -> None:
    assert compose(Train, "train") == compose(Train, "train", "encoding=hash")


@pytest.mark.parametrize("overrides", [("encoding=hash", "semantics=efp"), ("encoding=relational",)])
def test_written_settings_are_settings_of_the_command(overrides: tuple[str, ...]) -> None:
    training = compose(Train, "train", *overrides)
    written = yaml.safe_load(as_yaml(training))
    del written["defaults"]
    assert read(OmegaConf.create({**written, "run_dir": str(training.run_dir)}), Train) == training


@pytest.mark.parametrize("encoding", slow_but([*PAPERS, "relational"], "hash", "relational"))
def test_all_choices_go_together(encoding: str) -> None:
    """What the command line chooses wins over what the encoding chooses, and explorer and validation follow it."""
    choices = (("distance", "ranking"), ("none", "h_ff", "h_add"), ("published", "sampled"))
    for objective, base, data in product(*choices):
        chosen = (f"objective={objective}", f"base={base}", f"data={data}", "model=gine", "domain=gossip")
        found = compose(Train, "train", f"encoding={encoding}", *chosen)
        assert (found.encoding["name"], found.objective.name, found.base) == (encoding, objective, base)
        assert found.source.settings["kind"] == data
        assert isinstance(found.validation, LossValidation if objective == "distance" else SearchValidation)
        assert found.explorer.name == ("auto" if data == "published" else "exhaustive")
        assert (found.model.network["_target_"], found.domain) == (None, ["gossip"])


def test_an_experiment_has_the_paper_s_budget_and_the_command_line_wins() -> None:
    found = compose(Train, "train", "experiment=paper", "encoding=map", "batch_size=8", "trainer.max_epochs=3")
    assert (found.encoding["name"], found.explorer.name, found.base) == ("map", "dfs", "none")
    assert (found.batch_size, found.model.schedule) == (8, "constant")
    assert found.trainer.items() >= {"max_epochs": 3, "max_steps": -1, "limit_train_batches": 1.0}.items()


def test_callbacks_and_loggers_are_chosen_by_name() -> None:
    found = compose(Train, "train", "callbacks=[]", "logger=csv", "++callbacks.mine._target_=builtins.dict")
    assert list(found.callbacks) == ["mine"]
    assert list(found.logger) == ["csv"]
    assert list(compose(Train, "train").callbacks) == ["early_stopping"]
    assert list(compose(Train, "train", "logger=[csv,tensorboard]").logger) == ["csv", "tensorboard"]


def run(*arguments: str, module: str = "learn.train") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PLACE)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("experiment=comparison", "experiment=comparison is one of search.evaluate: python -m search.evaluate exp"),
        ("callbacks=[{_target_: m.C}]", "callbacks= is a mapping by name: give +callbacks.mine._target_=module.Class"),
        ("logger=[{_target_: m.C}]", "logger= is a mapping by name: give +logger.mine._target_=module.Class"),
    ],
)
def test_forms_that_do_not_fit_are_one_line(tmp_path: Path, arguments: str, message: str) -> None:
    done = run(arguments, f"run_dir={tmp_path}/run")
    assert (done.returncode, done.stderr.count("\n")) == (64, 1)
    assert done.stderr.startswith(f"error: {message}")
    assert not (tmp_path / "run").exists()


def test_experiments_name_their_command() -> None:
    """By which a command refuses those of others."""
    for file in (PLACE / "conf" / "experiment").iterdir():
        assert re.search(rf"python -m \S+ experiment={file.stem}\b", file.read_text()), file.name


@pytest.mark.slow
def test_a_sweeper_minimises_the_validation_score(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    done = run(
        *(*SEARCHED, "trainer.max_epochs=1", f"outputs={tmp_path}", f"hydra.sweep.dir={tmp_path}/sweep", "-m"),
        *(
            "hydra/sweeper=optuna",
            "hydra.sweeper.n_trials=3",
            "hydra.sweeper.n_jobs=1",
            "hydra.sweeper.direction=minimize",
        ),
        "model.optimizer.lr=tag(log,interval(1e-4,1e-1))",
    )
    assert done.returncode == 0, done.stderr
    jobs = [tmp_path / "sweep" / str(number) for number in range(3)]
    scores = [json.loads((job / "run.json").read_text())["metrics"]["val/score"] for job in jobs]
    assert len({(job / "overrides.yaml").read_text() for job in jobs}) == 3
    best = (tmp_path / "sweep" / "optimization_results.yaml").read_text()
    assert float(re.search(r"best_value: (\S+)", best)[1]) == min(scores)  # type: ignore[index]


@pytest.mark.slow
def test_a_study_goes_on_and_a_training_that_diverges_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optuna = pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    study = (*SEARCHED, "trainer.max_epochs=1", "-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=2",
             "hydra.sweeper.n_jobs=1", "hydra.sweeper.storage=sqlite:///study.db", "hydra.sweeper.study_name=lr",
             "hydra.sweeper.sampler.seed=10", f"{LR}=choice(1e-3,1e30)")  # fmt: skip
    first = run(*study, "hydra.sweep.dir=first")
    assert first.returncode == 0, first.stderr
    assert "the training diverged" in first.stdout
    [best, diverged] = optuna.load_study(study_name="lr", storage="sqlite:///study.db").trials
    assert (diverged.value, diverged.params, best.params) == (math.inf, {LR: 1e30}, {LR: 1e-3})
    assert f"best_value: {best.value}" in Path("first/optimization_results.yaml").read_text()

    for words, message in (
        ((), "there is a training: go on with ckpt_path=last, or name another hydra.sweep.dir=, where a study goes on"),
        (
            ("ckpt_path=last", "hydra.sweeper.sampler.seed=0"),
            "give the same, or train anew in another hydra.sweep.dir=",
        ),
    ):
        again = run(*study, "hydra.sweep.dir=first", *words)
        assert again.returncode != 0
        assert message in again.stderr + again.stdout
    assert run(*study, "hydra.sweep.dir=second").returncode == 0
    assert len(optuna.load_study(study_name="lr", storage="sqlite:///study.db").trials) == 6

    rows = compare_runs(Path("first"))
    assert [row["validation"].endswith(", then diverged") for row in rows].count(True) == 1


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one decides it, makes the data set, and alone writes and prints the verdict."""
    monkeypatch.chdir(tmp_path)
    done = run(*SEARCHED, "validation.verdict=2", "trainer.devices=2", "trainer.strategy=ddp")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("verdict: ") == 1
    (folder,) = (tmp_path / "outputs" / "train").iterdir()
    assert json.loads((folder / "run.json").read_text())["metrics"]["val/problems"] == 2
    assert len(list((tmp_path / "outputs" / "rollouts").iterdir())) == 1
    assert sorted(one.name for one in (tmp_path / "outputs").iterdir()) == ["rollouts", "train"]


def test_a_training_finds_what_rollouts_make() -> None:
    """Without any setting but the domain."""
    made = compose(Rollouts, "rollouts", "domain=grapevine").source
    assert compose(Train, "train", "domain=grapevine").source.key == made.key
    assert compose(Train, "train", "domain=gossip").source.key != made.key
