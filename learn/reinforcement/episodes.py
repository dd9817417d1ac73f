"""Rollouts as episodes of an environment, stored as a Minari data set."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from epigym.config.packages import extras
from epigym.envs.env import EpistemicEnv
from epigym.envs.wrappers import PaddedObservation
from epigym.errors import EpigymError
from epigym.task.task import Task
from learn.data.dataset import Samples

with extras():
    import minari
    from minari.data_collector import EpisodeBuffer


def write_minari(task: Task, samples: Samples, encoding: Mapping[str, Any], root: Path, most: int, seed: int) -> str:
    """Write episodes as the Minari data set `epigym/TASK-v0` in `root`; it replaces an earlier one.

    An episode leads from the initial e-state along the explorer's tree to the first goal, or to a leaf, where it is
    truncated. Observations are those of `PaddedObservation` with the size of the largest graph; rewards are -1.

    Args:
        task: the explored task.
        samples: its labelled e-states.
        encoding: name and settings of the encoding.
        root: the folder of data sets, `MINARI_DATASETS_PATH` for Minari.
        most: maximum number of episodes; if there are more, they are sampled.
        seed: of the sampling.

    Returns:
        The id, for `minari.load_dataset`.

    Raises:
        EpigymError: when the initial e-state is a goal, or samples on the way to all goals were left out.
    """
    paths = list(_list_paths(samples))
    if not paths:
        raise EpigymError(f"the samples of {task.name} have no way from the start to a goal: raise explorer.max_kept")
    chosen = np.random.default_rng(seed).permutation(len(paths))[:most]
    env = EpistemicEnv(task, encoding=encoding)
    episodes = [_follow(env, paths[number]) for number in sorted(chosen.tolist())]
    graphs = [graph for episode in episodes for graph in episode.observations]
    sizes = (max(1, *map(len, parts)) for parts in zip(*((one.nodes, one.edges) for one in graphs), strict=True))
    padded = PaddedObservation(env, *sizes)
    name = f"epigym/{re.sub(r'[^A-Za-z0-9_.]+', '_', task.name)}-v0"
    root.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=root) as scratch,
        patch.dict(os.environ, MINARI_DATASETS_PATH=os.path.abspath(scratch)),
        warnings.catch_warnings(action="ignore", category=UserWarning),  # about author and environment
    ):
        minari.create_dataset_from_buffers(
            name,
            [_pad(padded, episode, number) for number, episode in enumerate(episodes)],
            action_space=env.action_space,
            observation_space=padded.observation_space,
            algorithm_name="state space exploration",
            description=f"epistemic planning task {task.name}; actions: {', '.join(env.action_names)}",
        )
        folder = (root / name).parent
        folder.mkdir(exist_ok=True)
        shutil.rmtree(root / name, ignore_errors=True)
        for made in Path(scratch, folder.name).iterdir():  # the data set and the metadata of its namespace
            made.replace(folder / made.name)
    return name


def _list_paths(samples: Samples) -> Iterator[list[int]]:
    """The actions to each first goal of a branch, and to each leaf without a goal before it, in the explorer's tree."""
    columns = (samples.state, samples.predecessor, samples.action, samples.is_goal)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    via = {state: (before, action) for state, before, action, _ in rows}
    goals = {state for state, *_, is_goal in rows if is_goal}
    inner = {before for before, _ in via.values()}
    for end in via:
        path, state = list[int](), end
        while state in via and via[state][0] >= 0 and (state == end or state not in goals):
            state, action = via[state]
            path.append(action)
        is_complete = state in via and via[state][0] < 0 and (state == end or state not in goals)
        if is_complete and path and (end in goals or end not in inner):
            yield path[::-1]


def _follow(env: EpistemicEnv, path: list[int]) -> EpisodeBuffer:
    """The episode of a path; its observations are graphs."""
    observations, terminations = [env.reset()[0]], list[bool]()
    for action in path:
        observation, _, terminated, _, _ = env.step(np.int64(action))
        observations.append(observation)
        terminations.append(terminated)
    truncations = [False] * (len(path) - 1) + [not terminations[-1]]
    return EpisodeBuffer(None, None, None, observations, path, [-1.0] * len(path), terminations, truncations)


def _pad(env: PaddedObservation, episode: EpisodeBuffer, number: int) -> EpisodeBuffer:
    """An episode with padded observations, as arrays over the steps."""
    rows = [env.observation(graph) for graph in episode.observations]
    arrays = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return replace(episode, id=number, observations=arrays, actions=np.array(episode.actions, np.int64))
