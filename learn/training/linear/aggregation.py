"""Dataset aggregation: training pairs from larger problems that the current model solves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.distribution import MAX_STATES
from learn.data.explorers import ExplorerSettings, explore
from learn.data.making import make_rollout
from learn.data.pairs import make_plan_pairs
from learn.data.rollout import Rollout
from learn.data.sources import drop_isomorphic, sample_tasks
from learn.models.linear.model import LinearModel, LinearScorer
from learn.training.validation import find_states_along, search_greedily


def sample_larger(
    domains: Sequence[str], instances: int, seed: int, but: Sequence[Task], *, long_goals: bool = False
) -> list[Task]:
    """Sample up to `instances` problems of each domain from the split `validation`, except `but` up to names."""
    return drop_isomorphic(sample_tasks(domains, "validation", instances, seed, long_goals=long_goals), but)


def make_added_pairs(
    spaces: Iterable[StateSpace], model: LinearModel, *, nodes: int, expansions: int, seed: int
) -> list[Rollout]:
    """Make pairs of the problems that greedy search with a model solves, exact if a problem can be fully explored.

    Args:
        spaces: of the problems.
        model: the heuristic of the search.
        nodes: maximum number of expansions on each problem.
        expansions: see `make_trees`.
        seed: of the sampling.
    """
    found: list[Rollout] = []
    for number, space in enumerate(spaces):
        plan = search_greedily(space, LinearScorer(space, model, FeatureTypes(space.task)).score, nodes).plan
        if plan:
            explorer = ExplorerSettings("exhaustive", max_visited=MAX_STATES, max_kept=None, seed=seed + number)
            states = find_states_along(space, plan)
            exact = make_rollout(space, explorer, expansions) if explore(space, explorer).complete else None
            found.append(exact or make_plan_pairs(space, states, seed=explorer.seed))
    return found
