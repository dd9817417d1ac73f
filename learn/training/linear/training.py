"""Linear models from distributions: draw problems, exhaust them, fit candidates, and take the one that searches best.

Candidates see more or less of an e-state, learn an order or a distance, correct the relaxation or stand alone. None is
chosen by its loss: what counts is how many validation problems, larger than those to learn from, greedy search with it
solves within a limit of nodes, then how few it expands. Of those that expand about as few the simplest is taken, and
fitted again to what a search with it meets on larger problems as long as that helps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, cast

import numpy as np
from rich.progress import track

from epigym.errors import UsageError
from epigym.features.texts import mentioned, texts
from epigym.features.types import Description, FeatureTypes
from epigym.space.space import StateSpace
from epigym.task.formula import split_goal
from learn.data.pairs import Pairs
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.linear.model import LinearModel, LinearScorer, Observed, Representation
from learn.models.shipped import GENERAL
from learn.training.linear.aggregation import larger, lessons
from learn.training.linear.fit import Loss, TrainingData, fit, observe
from learn.training.options import LinearOptions
from learn.training.sampling import all_pairs, drawn, validating
from learn.training.validation import PlanValues, Problems, Scores, ValidationResult, validate_by_search

logger = logging.getLogger(__name__)

_ABOUT = 1.1  # so many times the fewest expansions are about as few


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be chosen, and how greedy search with it did on the validation problems.

    Attributes:
        representation: what it sees.
        loss: what it was fitted to; empty for what is not learned.
        l2: weight of the sum of squares.
        accuracy: share of the pairs that it orders rightly, each problem and expansion counting the same.
        found: how greedy search did; stopped where another candidate does clearly better.
        model: the model; None for what is not learned.
        rounds: rounds of training on what a search met, before it was fitted.
    """

    representation: str
    loss: str
    l2: float
    accuracy: float
    found: ValidationResult
    model: LinearModel | None = None
    rounds: int = 0

    def row(self) -> dict[str, Any]:
        """What a table says of it."""
        return {
            "sees": self.representation,
            "loss": self.loss,
            "l2": self.l2,
            "rounds": self.rounds,
            "features": 0 if self.model is None else len(self.model.colours),
            "pairs in order": self.accuracy,
            "solved": self.found.solved,
            "expanded": self.found.expanded,
            "stopped": "yes" if self.found.stopped else "",
        }


@dataclass(frozen=True, slots=True)
class Chosen:
    """The result of a training.

    Attributes:
        model: the best candidate's, with its card.
        candidates: all of them, simple ones first, after what is not learned.
        validation: number of validation problems.
    """

    model: LinearModel
    candidates: tuple[Candidate, ...]
    validation: int


def train_linear(domains: Sequence[str], options: LinearOptions, seed: int) -> Chosen:
    """Train linear models on the distributions of some domains and choose one by search.

    Args:
        domains: their problems are learned from together.
        options: see `conf/model/linear.yaml`.
        seed: equal seeds draw equal problems.

    Raises:
        UsageError: when there is no such domain, or there are no candidates.
        EpigymError: when no problem can be learned from.
    """
    start = time.perf_counter()
    choices = _choices(options)
    if not choices:
        raise UsageError("model: nothing to choose from: give levels, worlds, losses, and l2 or bases with residual_l2")
    tasks = drawn(
        domains, "train", options.draws, seed, options.goals, in_sight=options.in_sight, long_goals=options.long_goals
    )
    validation = validating(domains, options.validation, seed, long_goals=options.long_goals)
    problems = all_pairs(tasks, options.expansions, seed, in_sight=options.in_sight)
    types = _types(problems)
    logger.info(
        "%d problems, %s e-states, %s pairs", len(problems), f"{sum(len(one.ids) for one in problems):,}",
        f"{sum(len(one.better) for one in problems):,}",
    )  # fmt: skip
    unlearned = list(_unlearned(validation, options.nodes))
    fitted = _fitted(choices, problems, types, validation, options)
    best, problems, refitted = _improved(_best(fitted), problems, types, validation, domains, options, seed)
    candidates = (*unlearned, *fitted, *refitted)
    types += _types(problems[len(types) :])
    card = {
        "domains": list(domains),
        "seed": seed,
        "draws": options.draws,
        "goals": options.goals,
        "in_sight": options.in_sight,
        "long_goals": options.long_goals,
        "problems": len(problems),
        "states": sum(len(one.ids) for one in problems),
        "pairs": sum(len(one.better) for one in problems),
        "rounds": best.rounds,
        "loss": best.loss,
        "l2": best.l2,
        "validation": _summary(best, len(validation)),
        "beside": {one.representation: _summary(one, len(validation)) for one in unlearned},
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
        steps=calibrate(found, validation, options.nodes),
    )
    return Chosen(model, candidates, len(validation))


def calibrate(model: LinearModel, validation: Problems, nodes: int) -> Calibration:
    """From a model's scores to steps, fitted to the plans that greedy search finds on the validation problems."""
    plans = PlanValues()
    validate_by_search(validation, nodes, lambda space, types: LinearScorer(space, model, types).score,
                       on_solved=plans.collect)  # fmt: skip
    return plans.calibrate()


def _fitted(
    choices: Sequence[tuple[Representation, Loss, float]],
    problems: Sequence[Pairs],
    types: Sequence[FeatureTypes],
    validation: Problems,
    options: LinearOptions,
) -> list[Candidate]:
    """A candidate for each choice, in the same order."""
    found: list[Candidate] = []
    seen: dict[Representation, TrainingData] = {}
    for representation, loss, l2 in track(choices, "candidates", transient=True):
        if representation not in seen:
            seen = {representation: observe(problems, types, representation)}
        bound = min((one.found.score for one in found), default=None)
        found.append(_candidate(seen[representation], loss, l2, validation, options, bound))
    return found


def _improved(
    best: Candidate,
    problems: list[Pairs],
    types: list[FeatureTypes],
    validation: Problems,
    domains: Sequence[str],
    options: LinearOptions,
    seed: int,
) -> tuple[Candidate, list[Pairs], list[Candidate]]:
    """The best after the rounds that gained, what it learned from, and all candidates of these rounds."""
    found: list[Candidate] = []
    chosen_by = [task for task, _ in validation]
    for number in range(1, options.rounds + 1):
        tasks = larger(domains, options.larger, seed + number, chosen_by, long_goals=options.long_goals)
        model = cast(LinearModel, best.model)
        met = lessons(tasks, model, nodes=options.nodes, expansions=options.expansions, seed=seed)
        known, own = [*problems, *met], [*types, *_types(met)]
        found.append(_again(best, known, own, validation, options))
        if found[-1].found.stopped or found[-1].found.score >= best.found.score:
            break
        best, problems, types = found[-1], known, own
    return best, problems, found


def _types(problems: Sequence[Pairs]) -> list[FeatureTypes]:
    return [FeatureTypes(pairs.space.task) for pairs in problems]


def _again(
    best: Candidate,
    problems: Sequence[Pairs],
    types: Sequence[FeatureTypes],
    validation: Problems,
    options: LinearOptions,
) -> Candidate:
    """The same, fitted to more."""
    model = cast(LinearModel, best.model)
    data = observe(problems, types, model.representation)
    again = _candidate(data, cast(Loss, best.loss), best.l2, validation, options, best.found.score)
    return replace(again, rounds=best.rounds + 1)


def _best(candidates: Sequence[Candidate]) -> Candidate:
    """The simplest of those that solve the most and expand about as few e-states as the best of these."""
    ended = [one for one in candidates if not one.found.stopped]
    missed, fewest = min(one.found.score for one in ended)
    return next(one for one in ended if len(one.found.unsolved) == missed and one.found.expanded <= _ABOUT * fewest)


def _definitions(model: LinearModel, problems: Sequence[Pairs], types: Sequence[FeatureTypes]) -> dict[int, str]:
    """The texts of a model's features, and of what they mention, looked up where they occur."""
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
        known = texts(pairs.space, own, seen.level, seen.worlds, pairs.ids[np.unique(row_of[first])])
        lines = {colour: known[colour] for colour in rows.colour[wanted].tolist()}
        found |= lines | mentioned(lines.values(), known)
        missing -= lines.keys()
    return {colour: str(description) for colour, description in found.items()}


def _summary(candidate: Candidate, problems: int) -> dict[str, int]:
    return {"problems": problems, "solved": candidate.found.solved, "expanded": candidate.found.expanded}


def _choices(options: LinearOptions) -> list[tuple[Representation, Loss, float]]:
    """What is fitted, the simplest first."""
    alone = product(("none",), options.levels, options.worlds, options.losses, options.l2)
    residuals = product(options.bases, options.levels, options.worlds, options.losses, options.residual_l2)
    return [
        (Representation(level, worlds, cast(Base, base)), loss, l2)
        for base, level, worlds, loss, l2 in (*alone, *residuals)
    ]


def _candidate(
    data: TrainingData,
    loss: Loss,
    l2: float,
    validation: Problems,
    options: LinearOptions,
    bound: tuple[int, int] | None,
) -> Candidate:
    model = fit(data, loss, l2, most=options.features)
    found = validate_by_search(
        validation, options.nodes, lambda space, types: LinearScorer(space, model, types).score, bound=bound
    )
    return Candidate(str(data.representation), loss, l2, data.accuracy(model), found, model)


def _unlearned(problems: Problems, nodes: int) -> Iterator[Candidate]:
    """What is not learned, to compare with: the count of open parts of the goal, and the relaxation."""
    kinds: Mapping[str, Callable[[StateSpace, FeatureTypes], Scores]] = {
        "split_goal_count": _open_parts,
        "h_ff": lambda space, types: LinearScorer(space, _relaxed("h_ff"), types).score,
        "h_add": lambda space, types: LinearScorer(space, _relaxed("h_add"), types).score,
    }
    for name, scores in kinds.items():
        yield Candidate(name, "", 0.0, float("nan"), validate_by_search(problems, nodes, scores))


def _relaxed(base: Base) -> LinearModel:
    """The relaxation alone."""
    empty = np.empty(0)
    return LinearModel(
        "", Representation(0, base=base), empty.astype(np.uint64), empty, empty.astype(np.int64), base_weight=1.0
    )


def _open_parts(space: StateSpace, types: FeatureTypes) -> Scores:
    truth = space.query(split_goal(space.task.goal))
    return lambda ids: np.sum(~truth(ids), axis=1, dtype=np.float64)
