"""Linear models from distributions: draw problems, exhaust them, fit candidates, and take the one that searches best.

Candidates see more or less of an e-state, learn an order or a distance, correct the relaxation or stand alone. None is
chosen by its loss: what counts is how many validation problems, larger than those to learn from, greedy search with it
solves within a limit of nodes, then how few it expands. Of those that expand about as few the simplest is taken.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress, track

from epigym.errors import EpigymError, UsageError
from epigym.feature_texts import mentioned, texts
from epigym.feature_types import FeatureTypes
from epigym.formula import parts_of
from epigym.space import StateSpace
from epigym.task import Task
from epigym.walks import best_first
from learn.data.distribution import MAX_STATES, draw
from learn.data.pairs import Pairs, pairs_of
from learn.model.linear import Base, LinearModel, LinearScorer, Observed, Representation
from learn.model.shipped import GENERAL
from learn.training.options import LinearOptions
from learn.training.ranking import Loss, TrainingData, fit, observe

logger = logging.getLogger(__name__)

_ABOUT = 1.1  # so many times the fewest expansions are about as few
_FAR = 2  # so many times more are far more

Scores = Callable[[NDArray[np.int32]], NDArray[np.float64]]
Problems = Sequence[tuple[Task, FeatureTypes]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be chosen, and how greedy search with it did on the validation problems.

    Attributes:
        representation: what it sees.
        loss: what it was fitted to; empty for what is not learned.
        l2: weight of the sum of squares.
        accuracy: share of the pairs that it orders rightly, each problem and expansion counting the same.
        solved: validation problems solved within the limit of nodes.
        expanded: nodes expanded over all of them.
        unsolved: names of the others.
        stopped: whether the search was stopped before its end, as another candidate does clearly better.
        model: the model; None for what is not learned.
    """

    representation: str
    loss: str
    l2: float
    accuracy: float
    solved: int
    expanded: int
    unsolved: tuple[str, ...]
    stopped: bool
    model: LinearModel | None = None

    def row(self) -> dict[str, Any]:
        """What a table says of it."""
        return {
            "sees": self.representation,
            "loss": self.loss,
            "l2": self.l2,
            "features": 0 if self.model is None else len(self.model.colours),
            "pairs in order": self.accuracy,
            "solved": self.solved,
            "expanded": self.expanded,
            "stopped": "yes" if self.stopped else "",
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
    tasks = _drawn(domains, "train", options.draws, seed)
    validation = [(task, FeatureTypes(task)) for task in _drawn(domains, "validation", options.validation, seed)]
    problems = _pairs(tasks, options, seed)
    if not problems:
        raise EpigymError(f"nothing to learn from in {len(tasks)} problems of {', '.join(domains)}: raise model.draws")
    types = [FeatureTypes(pairs.space.task) for pairs in problems]
    logger.info(
        "%d problems, %s e-states, %s pairs", len(problems), f"{sum(len(one.ids) for one in problems):,}",
        f"{sum(len(one.better) for one in problems):,}",
    )  # fmt: skip
    candidates = list(_unlearned(validation, options.nodes))
    with Progress(transient=True) as progress:
        bar = progress.add_task("candidates", total=len(choices))
        seen: dict[Representation, TrainingData] = {}
        for representation, loss, l2 in choices:
            if representation not in seen:
                seen = {representation: observe(problems, types, representation)}
            learned = [one for one in candidates if one.model]
            passing = min(map(_merit, learned), default=(len(validation), options.nodes * len(validation)))
            candidates.append(_candidate(seen[representation], loss, l2, validation, options, passing))
            progress.advance(bar)
    best = _best([one for one in candidates if one.model])
    card = {
        "domains": list(domains),
        "seed": seed,
        "draws": options.draws,
        "problems": len(problems),
        "states": sum(len(one.ids) for one in problems),
        "pairs": sum(len(one.better) for one in problems),
        "loss": best.loss,
        "l2": best.l2,
        "validation": _summary(best, len(validation)),
        "beside": {one.representation: _summary(one, len(validation)) for one in candidates if one.model is None},
        "unsolved": list(best.unsolved),
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
    return Chosen(model, tuple(candidates), len(validation))


def _merit(candidate: Candidate) -> tuple[int, int]:
    """What candidates are compared by, the less the better: problems not solved, nodes expanded."""
    return len(candidate.unsolved), candidate.expanded


def _best(candidates: Sequence[Candidate]) -> Candidate:
    """The simplest of those that solve the most and expand about as few e-states as the best of these."""
    ended = [one for one in candidates if not one.stopped]
    missed, fewest = min(map(_merit, ended))
    return next(one for one in ended if len(one.unsolved) == missed and one.expanded <= _ABOUT * fewest)


def _definitions(model: LinearModel, problems: Sequence[Pairs], types: Sequence[FeatureTypes]) -> dict[int, str]:
    """The texts of a model's features, and of what they mention, looked up where they occur."""
    seen = model.representation
    missing = set(model.colours.tolist())
    found: dict[int, str] = {}
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
    return found


def _summary(candidate: Candidate, problems: int) -> dict[str, int]:
    return {"problems": problems, "solved": candidate.solved, "expanded": candidate.expanded}


def _drawn(domains: Sequence[str], split: str, draws: int, seed: int) -> list[Task]:
    """The first problems of the domains' distributions."""
    found: list[Task] = []
    for domain in track(domains, f"drawing {split} problems", transient=True):
        found += [drawn.task for drawn in islice(draw(domain, split, seed), draws)]
    return found


def _pairs(tasks: Sequence[Task], options: LinearOptions, seed: int) -> list[Pairs]:
    found = [
        pairs_of(task, expansions=options.expansions, max_states=MAX_STATES + 1, seed=seed + number)
        for number, task in enumerate(track(tasks, "exhausting them", transient=True))
    ]
    return [pairs for pairs in found if pairs is not None]


def _choices(options: LinearOptions) -> list[tuple[Representation, Loss, float]]:
    """What is fitted, the simplest first."""
    alone = product(("none",), options.levels, options.worlds, options.losses, options.l2)
    residuals = product(options.bases, options.levels, options.worlds, options.losses, options.residual_l2)
    return [
        (Representation(level, worlds, cast(Base, base)), loss, l2)
        for base, level, worlds, loss, l2 in (*alone, *residuals)
    ]


def _candidate(
    data: TrainingData, loss: Loss, l2: float, validation: Problems, options: LinearOptions, bar: tuple[int, int]
) -> Candidate:
    model = fit(data, loss, l2, most=options.features)
    scores = data.scores(model)
    right = data.weight @ (scores[data.worse] > scores[data.better])
    found = _searched(validation, options.nodes, lambda space, types: LinearScorer(space, model, types).score, most=bar)
    return Candidate(str(data.representation), loss, l2, float(right), *found, model)


def _searched(
    problems: Problems, nodes: int, scores: Callable[[StateSpace, FeatureTypes], Scores], most: tuple[int, int]
) -> tuple[int, int, tuple[str, ...], bool]:
    """How greedy search does: problems solved, nodes expanded, names of the problems that were not solved.

    It is stopped once it has missed more problems than `most` says, or all of these and expanded far more nodes.
    """
    solved, expanded, unsolved = 0, 0, list[str]()
    for task, types in problems:
        space = StateSpace(task)
        found = best_first(space, scores(space, types), max_expanded=nodes)
        expanded += found.expanded if found.solved else nodes
        solved += found.solved
        if not found.solved:
            unsolved.append(task.name)
        if len(unsolved) > most[0] or (len(unsolved) == most[0] and expanded > _FAR * most[1]):
            break
    return solved, expanded, tuple(unsolved), solved + len(unsolved) < len(problems)


def _unlearned(problems: Problems, nodes: int) -> Iterator[Candidate]:
    """What is not learned, to compare with: the count of open parts of the goal, and the relaxation."""
    kinds: Mapping[str, Callable[[StateSpace, FeatureTypes], Scores]] = {
        "divided_goals": _open_parts,
        "h_ff": lambda space, types: LinearScorer(space, _relaxed("h_ff"), types).score,
        "h_add": lambda space, types: LinearScorer(space, _relaxed("h_add"), types).score,
    }
    for name, scores in kinds.items():
        all_of_it = len(problems), nodes * len(problems)
        yield Candidate(name, "", 0.0, float("nan"), *_searched(problems, nodes, scores, all_of_it))


def _relaxed(base: Base) -> LinearModel:
    """The relaxation alone."""
    empty = np.empty(0)
    return LinearModel(
        "", Representation(0, base=base), empty.astype(np.uint64), empty, empty.astype(np.int64), base_weight=1.0
    )


def _open_parts(space: StateSpace, types: FeatureTypes) -> Scores:
    truth = space.query(parts_of(space.task.goal))
    return lambda ids: np.sum(~truth(ids), axis=1, dtype=np.float64)
