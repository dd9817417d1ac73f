"""Minari data sets of rollouts: what Minari reads is what the environment does."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pytest

from epigym import EpistemicEnv, PaddedObservation, Task, load_problem
from epigym.errors import EpigymError, UsageError
from epigym.task.formula import TRUE
from learn.data.dataset import make_samples
from learn.data.explorers import ExplorerSettings, explore
from learn.reinforcement.episodes import write_minari
from learn.rollouts import Rollouts, make_rollouts
from tests.helpers.commands import compose

PROBLEM = "coin_in_the_box/pl_3"
NAME = "epigym/coin_in_the_box_pl_3-v0"


def write(task: Task, root: Path, most: int, encoding: dict[str, Any]) -> str:
    settings = ExplorerSettings(name="exhaustive")
    samples = make_samples(explore(task, settings), settings, encoding)
    return write_minari(task, samples, encoding, root, most, seed=1)


@pytest.mark.parametrize("encoding", ["hash", "relational"])
def test_minari_reads_what_the_environment_does(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    task = load_problem(PROBLEM)
    for most in (30, 5):  # the second one replaces the first
        assert write(task, tmp_path, most, {"name": encoding}) == NAME
        data = minari.load_dataset(NAME)
        assert len(data) == most
    env = EpistemicEnv(task, encoding=encoding)
    space = data.observation_space["nodes"].shape[0], data.observation_space["edges"].shape[0]
    padded = PaddedObservation(env, *space)
    assert data.action_space == env.action_space
    assert data.observation_space == padded.observation_space
    ends = set()
    for episode in data.iterate_episodes():
        observation, _ = padded.reset()
        steps = [observation]
        for action, reward, terminated in zip(episode.actions, episode.rewards, episode.terminations, strict=True):
            observation, expected, is_goal, _, info = padded.step(action)
            assert not info["invalid_action"]
            assert (reward, terminated) == (expected, is_goal)
            steps.append(observation)
        for name, array in episode.observations.items():
            assert np.array_equal(array, np.stack([step[name] for step in steps]))
        assert episode.truncations[-1] != is_goal
        assert not episode.truncations[:-1].any()
        ends.add(bool(is_goal))
    assert True in ends


def test_the_command_writes_one_for_each_problem(tmp_path: Path) -> None:
    settings = compose(Rollouts, "rollouts", f"problem={PROBLEM}", "format=minari", "episodes=3", f"outputs={tmp_path}")
    make_rollouts(replace(settings, run_dir=tmp_path / "run"))
    assert (tmp_path / "minari" / NAME / "data" / "metadata.json").exists()
    assert [path.name for path in (tmp_path / "minari").iterdir()] == ["epigym"]
    with pytest.raises(UsageError, match="episodes=3: there are none: add format=minari"):
        compose(Rollouts, "rollouts", f"problem={PROBLEM}", "episodes=3")


def test_a_goal_at_the_start_has_no_episodes(tmp_path: Path) -> None:
    with pytest.raises(EpigymError, match="have no way from the start to a goal"):
        write(replace(load_problem(PROBLEM), goal=(TRUE,)), tmp_path, 5, {"name": "hash"})
    assert not [*tmp_path.iterdir()]
