"""The example that writes Minari data sets: what Minari reads is what the environment does."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import minari
import numpy as np
import pytest

from epigym import load_problem
from epigym.config.packages import PLACE
from epigym.task.formula import TRUE
from learn.data.dataset import DataSet, write_data_set
from learn.data.explorers import ExplorerSettings
from learn.data.making import make_trees
from learn.rollouts import Rollouts
from tests.helpers.commands import compose

FOLDER = PLACE / "docs" / "examples"
PROBLEM = "coin_in_the_box/pl_3"
NAME = "epigym/coin_in_the_box_pl_3-v0"


@pytest.fixture
def export(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The example as a module, which writes into `tmp_path / "minari"`."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    import minari_export

    return minari_export


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    settings = compose(Rollouts, "rollouts", f"problem={PROBLEM}", "explorer=exhaustive")
    return settings.source.open(tmp_path_factory.mktemp("outputs"))


@pytest.mark.parametrize("encoding", ["hash", "relational"])
def test_minari_reads_what_the_recovered_environment_does(encoding: str, export: ModuleType, data: DataSet) -> None:
    assert export.export(data, encoding, 12, seed=1) == [NAME]
    written = minari.load_dataset(NAME)
    assert len(written) == 12
    env = written.recover_environment()
    assert written.action_space == env.action_space
    assert written.observation_space == env.observation_space
    ends = set()
    for episode in written.iterate_episodes():
        observation, _ = env.reset()
        steps = [observation]
        for action, reward, terminated in zip(episode.actions, episode.rewards, episode.terminations, strict=True):
            observation, expected, is_goal, _, info = env.step(action)
            assert not info["invalid_action"]
            assert (reward, terminated) == (expected, is_goal)
            steps.append(observation)
        for name, array in episode.observations.items():
            assert np.array_equal(array, np.stack([step[name] for step in steps]))
        assert episode.truncations.tolist() == [False] * (len(steps) - 2) + [not is_goal]
        ends.add(bool(is_goal))
    assert True in ends


def test_each_path_ends_at_its_first_goal_or_at_a_leaf(export: ModuleType, data: DataSet) -> None:
    tree = data.read_tree(0)
    space, ids = tree.walk(tree.task, np.arange(len(tree.predecessor)))
    goal = tree.goals[0]
    paths = list(export.list_paths(tree, goal))
    assert len({tuple(path) for path in paths}) == len(paths) > 12
    leaves = set(ids.tolist()) - {int(ids[before]) for before in tree.predecessor[1:]}
    goals = set(ids[goal.distance == 0].tolist())
    for path in paths:
        states = [space.initial]
        for action in path:
            states.append(space.successor(states[-1], action))
        assert not goals & set(states[:-1])
        assert states[-1] in goals | leaves


def test_a_goal_at_the_start_has_no_episodes(export: ModuleType, tmp_path: Path) -> None:
    explorer = ExplorerSettings("exhaustive")
    trees = make_trees([replace(load_problem(PROBLEM), goal=(TRUE,))], explorer, 8)
    settings = {"explorer": {"consistent_beliefs": False}}
    made = write_data_set(tmp_path / "set", trees, settings=settings)
    with pytest.raises(SystemExit, match=rf"^{PROBLEM}: the initial e-state is a goal, there are no episodes$"):
        export.export(made)
    assert not (tmp_path / "minari").exists()


def test_odd_arguments_are_one_line(
    export: ModuleType,
    data: DataSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError(f"A Minari dataset with ID {NAME} already exists\nand more")

    folder, root = str(data.folder), f"--root={tmp_path}/minari"
    monkeypatch.setattr(minari, "create_dataset_from_buffers", refuse)
    for arguments, said in (
        ([], "the following arguments are required: folder"),
        ([f"{tmp_path}/gone", root], f"{tmp_path}/gone is no data set"),
        ([folder, root, "--encoding=bits"], "unknown encoding 'bits'"),
        ([folder, root, "--episodes=few"], "argument --episodes: invalid int value: 'few'"),
        ([folder, root, "--episodes=0"], "--episodes is a number from 1 on"),
        ([folder, root, "--seed=-1"], "--episodes is a number from 1 on, --seed one from 0 on"),
        (
            [folder, "--root="],
            "--episodes is a number from 1 on, --seed one from 0 on, and --root the path of a folder",
        ),
        ([folder, root, "--episodes=1"], f"A Minari dataset with ID {NAME} already exists"),
    ):
        with pytest.raises(SystemExit) as stop:
            export.main(arguments)
        output = capsys.readouterr()
        assert (stop.value.code, output.out, output.err.count("\n")) == (2, "", 1)
        assert f"error: {said}" in output.err


@pytest.mark.slow
def test_the_example_as_a_command(data: DataSet, tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "minari_export.py", data.folder, "--episodes", "3", "--root", "root"]
    environment = {**os.environ, "PYTHONPATH": str(PLACE)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.split() == [NAME]
    assert (tmp_path / "root" / NAME / "data" / "metadata.json").exists()
