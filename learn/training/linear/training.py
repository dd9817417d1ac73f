"""Training of linear models on a data set: fit models, and select one by search.

Models differ in their features, in their loss (ranking of pairs or regression of distances), and in the base heuristic
that they correct, if any. Each is validated by greedy search on larger problems with a limit of nodes. The simplest of
the models that solve most problems with about the fewest expansions is selected. It is fitted again with pairs from
larger problems that it solves (dataset aggregation) as long as its validation score improves.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import cast

import numpy as np

from epigym.errors import EpigymError, UsageError
from epigym.features.description import Description
from epigym.features.texts import find_mentioned, texts
from epigym.features.types import FeatureTypes
from epigym.task.task import Task
from learn.data.dataset import DataSet
from learn.data.rollout import Rollout
from learn.data.sources import drop_training, keep_known, sample_tasks
from learn.models.base import Base
from learn.models.linear.model import LinearModel, Observed, Representation
from learn.models.model import GENERAL
from learn.training.linear.fit import Loss
from learn.training.linear.options import LinearOptions
from learn.training.linear.trials import Trial, TrialMaker, make_types, select_model
from learn.training.validation import Problems

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of a training.

    Attributes:
        model: the selected model, with its card.
        trials: the baselines, then the models, simple ones first.
        validation: number of validation problems.
    """

    model: LinearModel
    trials: tuple[Trial, ...]
    validation: int


def train_linear(data: DataSet, options: LinearOptions, seed: int) -> Selection:
    """Train linear models on the pairs of a data set and select one by search on larger problems of its domains.

    Args:
        data: one model is trained for all of its domains.
        options: see `conf/train_linear.yaml`.
        seed: of the validation problems and of the aggregation.

    Raises:
        UsageError: when the options describe no model.
        EpigymError: when the data set has no pairs, or no domain.
    """
    start = time.perf_counter()
    choices = list_choices(options)
    problems = data.rollouts("pairs")
    validation = _choose_validation(data, options, seed, [one.space.task for one in problems])
    types, domains = make_types(problems), data.domains
    logger.info(
        "%d problems, %s e-states, %s pairs", len(problems), f"{sum(len(one.ids) for one in problems):,}",
        f"{sum(len(one.better) for one in problems):,}",
    )  # fmt: skip
    maker = TrialMaker(options, validation, data.consistent_beliefs)
    baselines = maker.run_baselines()
    trials = maker.fit_all(choices, problems, types)
    best, problems, refitted = maker.aggregate(select_model(trials), problems, types, data, seed)
    types += make_types(problems[len(types) :])
    card = {
        "domains": domains,
        "seed": seed,
        "data": {**data.settings, "key": data.key},
        "problems": len(problems),
        "states": sum(len(one.ids) for one in problems),
        "pairs": sum(len(one.better) for one in problems),
        "aggregation": best.aggregation,
        "loss": best.loss,
        "l2": best.l2,
        "validation": _summarize(best, len(validation)),
        "baselines": {one.name: _summarize(one, len(validation)) for one in baselines},
        "unsolved": list(best.validation.unsolved),
        "seconds": round(time.perf_counter() - start, 1),
    }
    found = cast(LinearModel, best.model)
    model = replace(
        found,
        definitions=_define_features(found, problems, types),
        domain=domains[0] if len(domains) == 1 else GENERAL,
        schema=frozenset[int]().union(*(one.schema for one in types)),
        card=card,
        steps=best.validation.calibrate(),
    )
    return Selection(model, (*baselines, *trials, *refitted), len(validation))


def _choose_validation(data: DataSet, options: LinearOptions, seed: int, known: Sequence[Task]) -> Problems:
    """The problems held out, or larger problems of the domains; none of those known."""
    tasks = data.choose_held_out(options.validation_instances)
    if not tasks:
        domains = keep_known(data.domains)
        if not domains:
            raise EpigymError(f"{data.folder}: its problems belong to no domain that validation could sample from")
        long_goals = data.samples_long_goals
        tasks = sample_tasks(domains, "validation", options.validation_instances, seed, long_goals=long_goals)
    return [(task, FeatureTypes(task)) for task in drop_training(tasks, known)]


def _define_features(model: LinearModel, problems: Sequence[Rollout], types: Sequence[FeatureTypes]) -> dict[int, str]:
    """The texts of a model's features and of the features that these texts mention, by colour."""
    seen = model.representation
    missing = set(model.colours.tolist())
    found: dict[int, Description] = {}
    for pairs, own in zip(problems, types, strict=True):
        if not missing:
            break
        rows = Observed(pairs.space, seen, own).features(pairs.ids)
        wanted = np.isin(rows.colour, np.array(list(missing), dtype=np.uint64))
        row_of = np.repeat(np.arange(len(pairs.ids)), np.diff(rows.ptr))[wanted]
        first = np.unique(rows.colour[wanted], return_index=True)[1]
        known = texts(pairs.space, own, seen.iterations, seen.worlds, pairs.ids[np.unique(row_of[first])])
        lines = {colour: known[colour] for colour in rows.colour[wanted].tolist()}
        found |= lines | find_mentioned(lines.values(), known)
        missing -= lines.keys()
    return {colour: str(description) for colour, description in found.items()}


def _summarize(trial: Trial, problems: int) -> dict[str, int]:
    return {"problems": problems, "solved": trial.validation.solved, "expanded": trial.validation.expanded}


def list_choices(options: LinearOptions) -> list[tuple[Representation, Loss, float]]:
    """List the models to fit, simple ones first.

    Raises:
        UsageError: when there are none.
    """
    alone = product(("none",), options.iterations, options.worlds, options.losses, options.l2)
    residuals = product(options.bases, options.iterations, options.worlds, options.losses, options.residual_l2)
    found = [
        (Representation(iterations, worlds, cast(Base, base)), loss, l2)
        for base, iterations, worlds, loss, l2 in (*alone, *residuals)
    ]
    if not found:
        raise UsageError("nothing to fit: give iterations, worlds, losses, and l2 or bases with residual_l2")
    return found
