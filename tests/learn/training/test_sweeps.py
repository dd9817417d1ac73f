import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import learn.training.options  # noqa: F401 - names the options of the trainer
from epigym.config.packages import PLACE
from tests.helpers.runs import PAPER


@pytest.mark.slow
def test_submitit_trains_in_a_process_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("submitit")
    command = [
        *(sys.executable, "-m", "learn.train", "-m", "hydra/launcher=submitit_local", "encoding=map"),
        *(*PAPER, "trainer.max_epochs=1", f"hydra.sweep.dir={tmp_path}/train"),
    ]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    job = tmp_path / "train" / "0"
    assert json.loads((job / "run.json").read_text())["encoding"] == "map"
    assert (job / "model.safetensors").is_file()
    assert list((tmp_path / "train" / ".submitit").iterdir())


@pytest.mark.parametrize(
    ("launcher", "plugin", "option"), [("local", "joblib", "n_jobs"), ("slurm", "submitit_launcher", "timeout_min")]
)
def test_launchers_are_configured(launcher: str, plugin: str, option: str) -> None:
    pytest.importorskip(f"hydra_plugins.hydra_{plugin}" + ("_launcher" if plugin == "joblib" else ""))
    with initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
        config = compose("train", [f"hydra/launcher={launcher}"], return_hydra_config=True)
    assert plugin in config.hydra.launcher._target_
    assert config.hydra.launcher[option] > 0


def test_jobs_of_sweeps_log_where_evaluations_do_and_pass_their_processors_on() -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    with initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
        launcher = compose("train", ["hydra/launcher=slurm"], return_hydra_config=True).hydra.launcher
    assert OmegaConf.to_container(launcher)["submitit_folder"] == "${hydra.sweep.dir}/cluster"
    assert launcher.setup == ["export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"]
