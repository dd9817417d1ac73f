"""Write the e-states of a data set of named problems as episodes of Minari data sets, one for each problem.

    python -m learn.rollouts problem=coin_in_the_box/pl_3
    python docs/examples/minari_export.py outputs/rollouts/KEY --encoding hash --root outputs/minari
    MINARI_DATASETS_PATH=outputs/minari minari list local

An episode leads from the initial e-state along the explorer's tree to the first goal, or to a leaf, where it is
truncated. Observations are padded to the largest graph; rewards are -1. `recover_environment` makes the environment.
"""

import argparse
import os
import re
from collections.abc import Iterator, Sequence

import gymnasium as gym
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

from epigym import EpigymError, PaddedObservation
from learn.data.dataset import DataSet
from learn.data.labels import Label
from learn.data.rollout import LabelledGoal, Tree


def list_paths(tree: Tree, goal: LabelledGoal) -> Iterator[list[int]]:
    """The actions to each first goal of a branch, and to each leaf without a goal before it."""
    is_goal = (goal.distance == 0) & (goal.label != Label.UNKNOWN)
    open_ends = np.ones(len(is_goal), bool)  # whether no goal comes before
    paths: list[list[int]] = [[]]
    for row in range(1, len(is_goal)):
        before = tree.predecessor[row]
        open_ends[row] = open_ends[before] and not is_goal[before]
        paths.append([*paths[before], int(tree.action[row])])
    is_leaf = ~np.isin(np.arange(len(is_goal)), tree.predecessor)
    for row in np.flatnonzero(open_ends & (is_goal | is_leaf)):
        if paths[row]:
            yield paths[row]


def follow(env: gym.Env, path: list[int], number: int) -> EpisodeBuffer:
    """The episode of a path."""
    observations, rewards, terminations = [env.reset()[0]], [], []
    for action in path:
        observation, reward, terminated, _, _ = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        terminations.append(terminated)
    truncations = [False] * (len(path) - 1) + [not terminations[-1]]
    stacked = {name: np.stack([one[name] for one in observations]) for name in observations[0]}
    return EpisodeBuffer(number, None, None, stacked, np.array(path, np.int64), rewards, terminations, truncations)


def export(data: DataSet, encoding: str = "hash", episodes: int = 1000, seed: int = 0) -> list[str]:
    """Write the data sets into the folder MINARI_DATASETS_PATH, an absolute path; returns their ids."""
    names = []
    for row in data.rows:
        tree = data.read_tree(row.tree)
        paths = list(list_paths(tree, tree.goals[row.goal]))
        if not paths:
            raise SystemExit(f"{row.name}: the initial e-state is a goal, there are no episodes")
        chosen = np.sort(np.random.default_rng(seed).permutation(len(paths))[:episodes])
        env = gym.make("epi/Problem-v0", path=row.name, encoding=encoding, max_episode_steps=len(tree.predecessor))
        sizes = np.max([measure(env, paths[number]) for number in chosen], axis=0)
        padded = PaddedObservation(env, *map(int, sizes))
        name = f"epigym/{re.sub(r'[^A-Za-z0-9_.]+', '_', row.name)}-v0"
        minari.create_dataset_from_buffers(
            name,
            [follow(padded, paths[number], place) for place, number in enumerate(chosen)],
            env=padded,
            algorithm_name="state space exploration",
            description=f"epistemic planning task {row.name}; actions: {', '.join(env.unwrapped.action_names)}",
        )
        names.append(name)
    return names


def measure(env: gym.Env, path: list[int]) -> tuple[int, int]:
    """The most nodes and edges of the graphs along a path, at least 1 each."""
    graphs = [env.reset()[0], *(env.step(action)[0] for action in path)]
    return max(1, *(len(one.nodes) for one in graphs)), max(1, *(len(one.edges) for one in graphs))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the data sets and print their ids."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("folder", help="a data set of learn.rollouts")
    parser.add_argument("--root", default="outputs/minari", help="MINARI_DATASETS_PATH")
    parser.add_argument("--encoding", default="hash")
    parser.add_argument("--episodes", type=int, default=1000, help="most of each problem; more are sampled")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.episodes < 1 or given.seed < 0 or not given.root:
        parser.error("--episodes is a number from 1 on, --seed one from 0 on, and --root the path of a folder")
    os.environ["MINARI_DATASETS_PATH"] = os.path.abspath(given.root)  # Minari doubles a relative path
    try:
        for name in export(DataSet(given.folder), given.encoding, given.episodes, given.seed):
            print(name)
    except (EpigymError, OSError, ValueError) as error:  # Minari raises a ValueError for a data set that exists
        parser.error(str(error).partition("\n")[0])


if __name__ == "__main__":
    main()
