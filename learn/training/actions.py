"""Linear models of actions from distributions: draw problems, exhaust them, fit candidates, take what searches best.

What leads to an e-state nearest to a goal is preferred to everything else that can be done. Candidates differ in whether
they see which actions the relaxation holds helpful, and in how many actions they prefer. None is chosen by its loss:
what counts is how many validation problems greedy search with deferred evaluation solves when it prefers what the
candidate prefers, then how few e-states it builds. Beside them stand the same search with the helpful actions of the
relaxation and that without preferences.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from epigym.errors import EpigymError, UsageError
from epigym.feature_texts import mentioned
from epigym.feature_types import FeatureTypes
from epigym.relaxation import Relaxation
from epigym.space import StateSpace
from epigym.walks import Found, deferred
from learn.data.pairs import ActionPairs
from learn.model.linear import LinearModel, LinearScorer, Representation
from learn.model.ranker import ActionRanker, ObservedActions
from learn.model.shipped import GENERAL, fitting
from learn.training.drawing import all_action_pairs, drawn
from learn.training.options import ActionOptions
from learn.training.ranking import Compared, compared, fit_order
from learn.training.searching import Problems, Searched, walked

logger = logging.getLogger(__name__)

Preferences = Callable[[NDArray[np.int32]], NDArray[np.int32]]
"""The preferred actions of one e-state, int32[1], in order, int32[p]."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What prefers actions, and how search with it did on the validation problems.

    Attributes:
        name: what it sees, or what is not learned.
        l2: weight of the sum of squares.
        margin: by so many steps an action may be worse than the best to be preferred.
        accuracy: share of the pairs that it orders rightly, each problem and expansion counting the same.
        found: how the search did; stopped where another candidate does clearly better.
        model: the model; None for what is not learned.
    """

    name: str
    l2: float
    margin: float
    accuracy: float
    found: Searched
    model: LinearModel | None = None

    def row(self) -> dict[str, Any]:
        """What a table says of it."""
        return {
            "sees": self.name,
            "l2": self.l2,
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
    choices = list(product(options.bases, options.l2, options.margins))
    if not choices:
        raise UsageError("model: nothing to choose from: give bases, l2 and margins")
    tasks = drawn(domains, "train", options.draws, seed)
    validation = [(task, FeatureTypes(task)) for task in drawn(domains, "validation", options.validation, seed)]
    problems = all_action_pairs(tasks, options.expansions, seed)
    if not problems:
        raise EpigymError(f"nothing to learn from in {len(tasks)} problems of {', '.join(domains)}: raise model.draws")
    types = [FeatureTypes(pairs.space.task) for pairs in problems]
    search = _Search(validation, options)
    candidates = [
        Candidate("nothing", 0.0, 0.0, float("nan"), search(lambda space, types: _nothing)),
        Candidate("helpful", 0.0, 0.0, float("nan"), search(lambda space, types: _helpful(space))),
    ]
    learned: list[Candidate] = []
    for base, l2, margin in track(choices, "candidates", transient=True):
        data = observe(problems, types, Representation(0, base=base, of="actions"))
        model = fit_order(data, l2, options.features)
        model = replace(model, weights=model.weights / margin, base_weight=model.base_weight / margin)
        passing = min((one.found.merit for one in learned), default=None)
        found = search(lambda space, types, model=model: _preferred(space, model, types), passing)
        learned.append(Candidate(str(data.representation), l2, margin, data.accuracy(model), found, model))
    best = min((one for one in learned if not one.found.stopped), key=lambda one: one.found.merit)
    card = {
        "domains": list(domains),
        "seed": seed,
        "draws": options.draws,
        "problems": len(problems),
        "actions": sum(len(one.actions) for one in problems),
        "pairs": sum(len(one.better) for one in problems),
        "l2": best.l2,
        "margin": best.margin,
        "validation": _summary(best, len(validation)),
        "beside": {one.name: _summary(one, len(validation)) for one in candidates},
        "unsolved": list(best.found.unsolved),
        "seconds": round(time.perf_counter() - start, 1),
    }
    found_model = cast(LinearModel, best.model)
    model = replace(
        found_model,
        definitions=_definitions(found_model, problems, types),
        domain=domains[0] if len(domains) == 1 else GENERAL,
        schema=frozenset[int]().union(*(one.schema for one in types)),
        card=card,
    )
    return Chosen(model, (*candidates, *learned), len(validation))


def observe(problems: Sequence[ActionPairs], types: Sequence[FeatureTypes], representation: Representation) -> Compared:
    """What a model of a representation sees of problems, whose types are given."""
    seen = []
    for pairs, own in zip(problems, types, strict=True):
        observed = ObservedActions(pairs.space, representation, own)
        states, place = np.unique(pairs.ids, return_inverse=True)
        seen.append((observed.features(pairs.ids, pairs.actions), observed.base(states, place, pairs.actions)))
    return compared(representation, problems, seen)


class _Search:
    """How search does on the validation problems, by what it prefers.

    Args:
        problems: the problems, with the types of their tasks.
        options: name the model of e-states and the limit.
    """

    def __init__(self, problems: Problems, options: ActionOptions) -> None:
        self._problems, self._options = problems, options

    def __call__(
        self, prefer: Callable[[StateSpace, FeatureTypes], Preferences], most: tuple[int, int] | None = None
    ) -> Searched:
        """Search with the preferences that `prefer` makes; `most` as in `searched`."""

        def walk(space: StateSpace, types: FeatureTypes) -> Found:
            _, model = fitting(self._options.checkpoint, space.task.domain, types.schema)
            scorer, preferred = LinearScorer(space, model, types), prefer(space, types)

            def evaluate(state: int) -> tuple[float, list[int]]:
                ids = np.array([state], dtype=np.int32)
                return float(scorer.score(ids)[0]), preferred(ids).tolist()

            return deferred(space, evaluate, max_built=self._options.nodes)

        return walked(self._problems, self._options.nodes, walk, most)


def _nothing(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    return ids[:0]


def _helpful(space: StateSpace) -> Preferences:
    relaxation = Relaxation(space)
    return lambda ids: relaxation(ids).helpful


def _preferred(space: StateSpace, model: LinearModel, types: FeatureTypes) -> Preferences:
    ranker = ActionRanker(space, model, types)
    return lambda ids: ranker.preferred(ids)[1]


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
