"""What a search with a model met: larger problems that it solves teach what their plans prefer."""

from __future__ import annotations

from collections.abc import Sequence

from epigym.features.types import FeatureTypes
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.data.distribution import MAX_STATES
from learn.data.pairs import Pairs, make_pairs, make_plan_pairs
from learn.models.linear.model import LinearModel, LinearScorer
from learn.training.sampling import sample_tasks
from learn.training.validation import find_states_along, search_greedily


def sample_larger(
    domains: Sequence[str], instances: int, seed: int, but: Sequence[Task], *, long_goals: bool = False
) -> list[Task]:
    """Problems from the ranges to validate on, at most `instances` of each domain, but for `but` up to names."""
    known = {signature(task) for task in but}
    found = sample_tasks(domains, "validation", instances, seed, long_goals=long_goals)
    return [task for task in found if signature(task) not in known]


def make_added_pairs(
    tasks: Sequence[Task], model: LinearModel, *, nodes: int, expansions: int, seed: int
) -> list[Pairs]:
    """Pairs of the problems that greedy search with a model solves; exact ones where a problem can be exhausted.

    Args:
        tasks: the problems.
        model: that guides the search.
        nodes: most expansions for each problem.
        expansions: as in `make_pairs`.
        seed: what is drawn depends on it.
    """
    found: list[Pairs] = []
    for number, task in enumerate(tasks):
        space = StateSpace(task)
        plan = search_greedily(space, LinearScorer(space, model, FeatureTypes(task)).score, nodes).plan
        if plan:
            exact = make_pairs(task, expansions=expansions, max_states=MAX_STATES, seed=seed + number)
            found.append(exact or make_plan_pairs(space, find_states_along(space, plan), seed=seed + number))
    return found
