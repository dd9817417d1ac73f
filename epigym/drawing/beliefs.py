"""Tables of beliefs: which fluents each agent knows, believes and doubts, and which it thinks that others do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from epigym.space.kripke_model import KripkeModel
from epigym.task.task import EState


class Standing(StrEnum):
    """How an agent stands to a fluent.

    Who knows is right and considers the world possible that it is in; who only believes rightly does not.
    """

    KNOWS = "k"
    RIGHT = "r"
    WRONG = "w"
    UNSURE = "u"
    EVERYTHING = "e"
    VARIES = "v"


@dataclass(frozen=True, slots=True)
class View:
    """What holds at the designated worlds of an e-state, or at those that an agent considers possible.

    Attributes:
        worlds: how many these are.
        truth: for each fluent `1` where it is true at all of them, `0` where at none, else `v`.
        standings: for each fluent the letters of the agents' standings; `v` where these are not the same everywhere.
        nested: for each agent what holds as it sees it, None where it believes everything; empty at the last depth.
    """

    worlds: int
    truth: str
    standings: tuple[str, ...]
    nested: tuple[View | None, ...]


def view(model: KripkeModel, depth: int) -> View:
    """What holds at the designated worlds, and as agents see it, and as agents believe that others see it.

    Args:
        model: the e-state.
        depth: how often views are nested; 0 for what holds alone.
    """
    truth = np.array([[name in valuation for name in model.fluents] for valuation in model.state.valuations])
    return _view(model.state, model.designated, truth, _standings(model, truth), depth)


def _view(
    state: EState, worlds: Collection[int], truth: NDArray[np.bool_], standings: NDArray[np.str_], depth: int
) -> View:
    here = list(worlds)
    seen = [frozenset[int]().union(*(rows[world] for world in here)) for rows in state.successors] if depth else []
    return View(
        worlds=len(here),
        truth="".join(_find_common(np.where(truth[here], "1", "0"))),
        standings=tuple(map("".join, _find_common(standings[here]))),
        nested=tuple(_view(state, others, truth, standings, depth - 1) if others else None for others in seen),
    )


def _find_common(letters: NDArray[np.str_]) -> NDArray[np.str_]:
    """The letters that all rows have in common, `v` where they have none."""
    return np.where((letters == letters[0]).all(axis=0), letters[0], Standing.VARIES.value)


def _standings(model: KripkeModel, truth: NDArray[np.bool_]) -> NDArray[np.str_]:
    """str[n, fluents, agents]: the letter of each agent's standing to each fluent at each world."""
    found = []
    for rows in model.state.successors:
        numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
        row_of, sizes = np.array([numbers[row] for row in rows]), np.array([[len(row)] for row in numbers])
        members = np.fromiter(chain.from_iterable(numbers), dtype=np.intp)
        true = np.zeros((len(numbers), truth.shape[1]), dtype=np.intp)  # worlds of each row, for each fluent
        np.add.at(true, np.repeat(np.arange(len(numbers)), sizes[:, 0]), truth[members])
        always, never = (true == sizes)[row_of], (true == 0)[row_of]
        itself = np.array([world in row for world, row in enumerate(rows)])
        right, wrong = np.where(truth, always, never), np.where(truth, never, always)
        standing = {
            Standing.EVERYTHING: right & wrong,
            Standing.KNOWS: right & itself[:, None],
            Standing.RIGHT: right,
            Standing.WRONG: wrong,
        }
        found.append(np.select(list(standing.values()), [letter.value for letter in standing], Standing.UNSURE.value))
    return np.stack(found, axis=-1)
