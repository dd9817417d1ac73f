"""Linear models of actions from distributions: draw problems, exhaust them, fit candidates, take what searches best.

What leads to an e-state nearest to a goal is preferred to everything else that can be done. Candidates differ in
whether they see which actions the relaxation holds helpful, and in how many actions they prefer. None is chosen by its
loss: what counts is how many validation problems greedy search with deferred evaluation solves when it prefers what the
candidate prefers, then how few e-states it builds. Beside them stand the same search with the helpful actions of the
relaxation, and without preferences.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from epigym.errors import UsageError
from epigym.features.relaxation import Relaxation
from epigym.features.texts import mentioned
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from epigym.space.traversal import Found, deferred
from learn.data.pairs import ActionPairs
from learn.models.linear.model import LinearModel, LinearScorer, Representation
from learn.models.linear.ranker import ActionRanker, ObservedActions
from learn.models.linear.shipped import GENERAL, fitting
from learn.training.drawing import all_action_pairs, drawn, validating
from learn.training.linear.fit import Compared, compared, fit_order
from learn.training.options import ActionOptions
from learn.training.selection import Problems, Searched, walked

logger = logging.getLogger(__name__)

Preferences = Callable[[NDArray[np.int32]], NDArray[np.int32]]
"""From an e-state, int32[1], to its preferred actions, int32[p]."""

Preferring = Callable[[StateSpace, FeatureTypes], Preferences]
"""Makes the preferences of a problem."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What prefers actions, and how search with it did on the validation problems.

    Attributes:
        name: what it sees, or what is not learned.
        margin: by so many steps an action may be worse than the best to be preferred.
        accuracy: share of the pairs that it orders rightly, each problem and expansion counting the same.
        found: how the search did; stopped where another candidate does clearly better.
        model: the model; None for what is not learned.
    """

    name: str
    margin: float
    accuracy: float
    found: Searched
    model: LinearModel | None = None

    def row(self) -> dict[str, Any]:
        """What a table says of it."""
        return {
            "sees": self.name,
            "margin": self.margin,
            "features": 0 if self.model is None else len(self.model.colours),
            "pairs in order": self.accuracy,
            "solved": self.found.solved,
            "built": self.found.expanded,
            "stopped": "yes" if self.found.stopped else "",
        }


@dataclass(frozen=True, slots=True)
class Chosen:
    """The result of a training.

    Attributes:
        model: the best candidate's, with its card.
        candidates: all of them, after what is not learned.
        validation: number of validation problems.
    """

    model: LinearModel
    candidates: tuple[Candidate, ...]
    validation: int


def train_actions(domains: Sequence[str], options: ActionOptions, seed: int) -> Chosen:
    """Train linear models of actions on the distributions of some domains and choose one by search.

    Args:
        domains: their problems are learned from together.
        options: see `conf/model/actions.yaml`.
        seed: equal seeds draw equal problems.

    Raises:
        UsageError: when there is no such domain, or there are no candidates.
        EpigymError: when no problem can be learned from, or the model of e-states is not there or cannot be read.
    """
    start = time.perf_counter()
    if not options.bases or not options.margins or min(options.margins) <= 0:
        raise UsageError("model: nothing to choose from: give bases, and margins above 0")
    tasks = drawn(domains, "train", options.draws, seed)
    validation = validating(domains, options.validation, seed)
    problems = all_action_pairs(tasks, options.expansions, seed)
    types = [FeatureTypes(pairs.space.task) for pairs in problems]
    logger.info("%d problems, %s actions", len(problems), f"{sum(len(one.actions) for one in problems):,}")
    unlearned = [
        Candidate(name, 0.0, float("nan"), _searched(validation, options, preferring))
        for name, preferring in _UNLEARNED.items()
    ]
    candidates: list[Candidate] = []
    for base in track(options.bases, "candidates", transient=True):
        data = observe(problems, types, Representation(0, base=base, of="actions"))
        fitted = fit_order(data, options.l2, options.features)
        for margin in options.margins:
            passing = min((one.found.merit for one in candidates), default=None)
            candidates.append(_candidate(data, fitted, margin, validation, options, passing))
    best = min((one for one in candidates if not one.found.stopped), key=lambda one: one.found.merit)
    card = {
        "domains": list(domains),
        "seed": seed,
        "draws": options.draws,
        "problems": len(problems),
        "actions": sum(len(one.actions) for one in problems),
        "pairs": sum(len(one.better) for one in problems),
        "l2": options.l2,
        "margin": best.margin,
        "validation": _summary(best, len(validation)),
        "beside": {one.name: _summary(one, len(validation)) for one in unlearned},
        "unsolved": list(best.found.unsolved),
        "seconds": round(time.perf_counter() - start, 1),
    }
    found = cast(LinearModel, best.model)
    model = replace(
        found,
        definitions=_definitions(found, problems, types),
        domain=domains[0] if len(domains) == 1 else GENERAL,
        schema=frozenset[int]().union(*(one.schema for one in types)),
        card=card,
    )
    return Chosen(model, (*unlearned, *candidates), len(validation))


def observe(problems: Sequence[ActionPairs], types: Sequence[FeatureTypes], representation: Representation) -> Compared:
    """What a model of a representation sees of problems, whose types are given."""
    seen = []
    for pairs, own in zip(problems, types, strict=True):
        observed = ObservedActions(pairs.space, representation, own)
        states, place = np.unique(pairs.ids, return_inverse=True)
        seen.append((observed.features(pairs.ids, pairs.actions), observed.base(states, place, pairs.actions)))
    return compared(representation, problems, seen)


def _candidate(
    data: Compared,
    fitted: LinearModel,
    margin: float,
    validation: Problems,
    options: ActionOptions,
    passing: tuple[int, int] | None,
) -> Candidate:
    """The model in whose scores that margin is 1, which is what is preferred."""
    model = replace(fitted, weights=fitted.weights / margin, base_weight=fitted.base_weight / margin)

    def preferring(space: StateSpace, types: FeatureTypes) -> Preferences:
        ranker = ActionRanker(space, model, types)
        return lambda ids: ranker.preferred(ids)[1]

    found = _searched(validation, options, preferring, passing)
    return Candidate(str(data.representation), margin, data.accuracy(model), found, model)


def _searched(
    problems: Problems, options: ActionOptions, preferring: Preferring, most: tuple[int, int] | None = None
) -> Searched:
    """How search with deferred evaluation does with preferences; `most` as in `learn.training.selection`."""

    def walk(space: StateSpace, types: FeatureTypes) -> Found:
        scorer = LinearScorer(space, fitting(options.checkpoint, space.task.domain, types.schema)[1], types)
        preferred = preferring(space, types)

        def evaluate(state: int) -> tuple[float, list[int]]:
            ids = np.array([state], dtype=np.int32)
            return float(scorer.score(ids)[0]), preferred(ids).tolist()

        return deferred(space, evaluate, max_built=options.nodes)

    return walked(problems, options.nodes, walk, most)


def _nothing(space: StateSpace, types: FeatureTypes) -> Preferences:
    return lambda ids: ids[:0]


def _helpful(space: StateSpace, types: FeatureTypes) -> Preferences:
    relaxation = Relaxation(space)
    return lambda ids: relaxation(ids).helpful


_UNLEARNED: Mapping[str, Preferring] = {"nothing": _nothing, "helpful": _helpful}


def _definitions(model: LinearModel, problems: Sequence[ActionPairs], types: Sequence[FeatureTypes]) -> dict[int, str]:
    """The texts of a model's features, and of what they mention."""
    missing = set(model.colours.tolist())
    found: dict[int, str] = {}
    for pairs, own in zip(problems, types, strict=True):
        if not missing:
            break
        features = ObservedActions(pairs.space, model.representation, own).features
        lines = features.texts(missing)
        found |= lines | mentioned(lines.values(), features.definitions)
        missing -= lines.keys()
    return found


def _summary(candidate: Candidate, problems: int) -> dict[str, int]:
    return {"problems": problems, "solved": candidate.found.solved, "built": candidate.found.expanded}
