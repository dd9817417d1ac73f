"""Making of labelled e-states: problems are explored, and e-states and pairs are chosen."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.space.search_problem import Source
from learn.data.explorers import ExploredGraph, ExplorerSettings, NoGoalError, OnVisit, explore, keep
from learn.data.labels import Label
from learn.data.pairs import Pairs, choose_pairs
from learn.data.rollout import LabelledGoal, Rollout, Tree, Use, find_passed

logger = logging.getLogger(__name__)


class _Chosen(NamedTuple):
    """What is learned from an exploration: positions of samples, and pairs of positions."""

    exploration: ExploredGraph
    samples: NDArray[np.int64]
    pairs: Pairs
    seconds: float


def make_trees(
    problems: Iterable[Source],
    explorer: ExplorerSettings,
    expansions: int,
    on_visit: OnVisit = lambda visited: None,
) -> Iterator[Tree]:
    """Explore problems and choose e-states and pairs; one tree for consecutive problems that differ in their goals.

    A problem of which no explored e-state reaches a goal is left out with a warning.

    Args:
        problems: the starts and goals, see `SearchProblem.of`.
        explorer: settings of the exploration; the pairs of the n-th problem are sampled with its seed plus n.
        expansions: maximum number on each problem; the successors make pairs.
        on_visit: called with the number of e-states visited.
    """
    group: list[_Chosen] = []
    for number, problem in enumerate(problems):
        start = time.perf_counter()
        exploration = explore(problem, explorer, on_visit)
        if group and exploration.space is not group[0].exploration.space:
            yield _make_tree(group, explorer)
            group = []
        try:
            samples = keep(exploration, explorer)
        except NoGoalError as error:
            logger.warning("%s is left out: %s", exploration.task.name, error)
            continue
        pairs = choose_pairs(exploration, expansions, explorer.seed + number)
        if explorer.max_kept is None:
            samples = np.unique([pairs.better, pairs.worse])
        group.append(_Chosen(exploration, samples, pairs, time.perf_counter() - start))
    if group:
        yield _make_tree(group, explorer)


def make_rollout(problem: Source, explorer: ExplorerSettings, expansions: int, use: Use = "pairs") -> Rollout | None:
    """Explore one problem and open its e-states, see `make_trees` and `open_rollout`; None without such e-states."""
    rollouts = (open_rollout(tree, 0, use) for tree in make_trees([problem], explorer, expansions))
    found = next(rollouts, None)
    return found if found is not None and len(found.ids) else None


def open_rollout(tree: Tree, number: int, use: Use) -> Rollout:
    """Build the state space of one goal of a tree with the e-states that a use needs.

    Args:
        tree: the tree.
        number: of the goal.
        use: `samples` for the e-states to learn distances from, without pairs; `pairs` for those of the pairs.
    """
    goal = tree.goals[number]
    if use == "samples":
        rows, better, worse, weight = np.flatnonzero(goal.sample), *([np.empty(0, np.int64)] * 2), np.empty(0)
    else:
        rows, places = np.unique([goal.better, goal.worse], return_inverse=True)
        (better, worse), weight = places.reshape(2, -1), goal.weight
    space, ids = tree.walk(replace(tree.task, name=goal.name, instance=goal.instance, goal=goal.goal), rows)
    return Rollout(space, ids, goal.distance[rows], goal.label[rows], better, worse, weight)


def _make_tree(group: Sequence[_Chosen], explorer: ExplorerSettings) -> Tree:
    """Join the e-states of explorations that differ in their goals."""
    first = group[0].exploration
    before = first.places[first.predecessor]
    passed = np.flatnonzero(
        find_passed(before, np.concatenate([part for one in group for part in (one.samples, *one.pairs[:2])]))
    )
    row = np.full(len(first.states) + 1, -1)  # the last entry is for -1
    row[passed] = np.arange(len(passed))
    return Tree(
        task=first.task,
        consistent_beliefs=explorer.consistent_beliefs or first.space.consistent_beliefs,
        predecessor=row[before[passed]].astype(np.int32),
        action=first.action[passed],
        goals=tuple(_label(one, passed, row) for one in group),
    )


def _label(chosen: _Chosen, passed: NDArray[np.int64], row: NDArray[np.int64]) -> LabelledGoal:
    """Label the e-states at the positions `passed`; `row` maps positions to rows of the tree."""
    exploration, samples, pairs, seconds = chosen
    sample = np.zeros(len(passed), np.bool_)
    sample[row[samples]] = True
    task = exploration.task
    return LabelledGoal(
        name=task.name,
        instance=task.instance,
        goal=task.goal,
        distance=exploration.distance[passed],
        label=exploration.label[passed],
        sample=sample,
        better=row[pairs.better],
        worse=row[pairs.worse],
        weight=pairs.weight,
        counts=_count(chosen),
        seconds=seconds,
    )


def _count(chosen: _Chosen) -> dict[str, Any]:
    """The statistics that `learn.rollouts` prints and draws."""
    exploration, samples, pairs, _ = chosen
    distance = exploration.distance[samples]
    return {
        "explorer": exploration.explorer,
        "complete": exploration.complete,
        "visited": len(exploration.states),
        "transitions": len(exploration.target),
        "samples": len(samples),
        "goals": int(np.count_nonzero(distance == 0)),
        "dead_ends": int(np.count_nonzero(exploration.label == Label.DEAD_END)),
        "distances": np.bincount(distance[distance >= 0]).tolist(),
        "depths": np.bincount(exploration.depth[samples]).tolist(),
        "worlds": int(exploration.space.world_counts(exploration.states[samples]).sum()),
        "pairs": len(pairs.better),
    }
