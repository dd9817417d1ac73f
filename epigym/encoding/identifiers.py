"""The encodings whose nodes are identifiers, see `epigym.encoding.encoder`: what differs between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from epigym.config.values import Natural
from epigym.encoding.goal_graph import GoalGraph
from epigym.errors import LimitError
from epigym.space.space import StateSpace
from epigym.task.formula import Formula
from epigym.task.task import Task

Identify = Callable[[NDArray[np.bool_], NDArray[np.int64]], NDArray[np.uint8]]
"""From the valuations of worlds and their repetition indices or ranks to identifier bits, see `Encoder.identify`."""

NODE_TYPES = ("epsilon", "goal root", "goal", "world", "designated world")


@dataclass(frozen=True, kw_only=True)
class Identifiers(ABC):
    """An encoding with its settings.

    Attributes:
        width: bits of every identifier, the input size of the network.
    """

    name: ClassVar[str]
    node_types: ClassVar[int] = len(NODE_TYPES)
    """Number of node types in PyTorch Geometric data."""
    world_types: ClassVar[tuple[int, ...]] = tuple(NODE_TYPES.index(name) for name in ("world", "designated world"))
    """Those whose nodes grow and shrink with the worlds of an e-state."""
    by_rank: ClassVar[bool] = False
    """Whether a world is identified by its rank in canonical order, after the goal; else by its valuation."""
    width: Natural = 64

    def shortfalls(self, task: Task, goal: GoalGraph) -> dict[str, int]:
        """The settings that are too small for a task under a goal, with the values that they need."""
        return self._below({"width": _bit_length(goal)})

    def of_goal(self, goal: GoalGraph) -> NDArray[np.uint8]:
        """uint8[n, width]: the identifiers of the n nodes of a goal."""
        return to_bits(_numbers(goal), self.width)

    def encoder(self, space: StateSpace, goal: Sequence[Formula] | None = None) -> Any:
        """An encoder of other graphs, with `graphs`, `under` and `without_worlds`; None for `Encoder`.

        Args:
            space: where the e-states live.
            goal: the subgoals; those of the space's task by default.
        """
        return None

    @abstractmethod
    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        """A function that makes the identifiers of the worlds of e-states of a task under a goal.

        Unless `by_rank`, the identifiers are the same under every goal, as environments share them.
        """

    def _below(self, needed: Mapping[str, int]) -> dict[str, int]:
        return {name: value for name, value in needed.items() if value > getattr(self, name)}


@dataclass(frozen=True, kw_only=True)
class Map(Identifiers):
    """Identifiers count worlds in canonical order."""

    name: ClassVar[str] = "map"
    by_rank: ClassVar[bool] = True

    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        """Numbers after those of the goal."""

        def identify(valuations: NDArray[np.bool_], ranks: NDArray[np.int64]) -> NDArray[np.uint8]:
            identifiers = ranks.astype(np.uint64) + np.uint64(goal.first_free)
            needed = int(identifiers.max(initial=0)).bit_length()
            if needed > self.width:
                raise LimitError(
                    f"an e-state of {task.name!r} has {int(ranks.max()) + 1} worlds, which does not fit the map "
                    f"encoding with width={self.width}: raise to width={needed}, or use encoding=hash"
                )
            return to_bits(identifiers, self.width)

        return identify


@dataclass(frozen=True, kw_only=True)
class Hash(Identifiers):
    """Identifiers are 64-bit XXH3 of the names of the true fluents and the repetition index, the lowest bits of it."""

    name: ClassVar[str] = "hash"

    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        """Hashes, independent of the goal."""
        order = sorted(range(len(task.fluents)), key=task.fluents.__getitem__)
        names = [task.fluents[index].encode() for index in order]

        def identify(valuations: NDArray[np.bool_], repetitions: NDArray[np.int64]) -> NDArray[np.uint8]:
            ordered = valuations[:, order]
            true = [names[position] for position in np.nonzero(ordered)[1].tolist()]
            ends = np.cumsum(np.count_nonzero(ordered, axis=1)).tolist()
            hashes = [
                xxhash.xxh3_64_intdigest(b"\n".join(true[start:end]) + repetition.to_bytes(4, "little"))
                for (start, end), repetition in zip(pairwise([0, *ends]), repetitions.tolist(), strict=True)
            ]
            return to_bits(np.array(hashes, dtype=np.uint64), self.width)

        return identify


@dataclass(frozen=True, kw_only=True)
class Bitmask(Identifiers):
    """Repetition index, valuation and goal identifier side by side.

    Attributes:
        repetition_bits: bits of the repetition index.
        fluent_bits: bits of the valuation, one per fluent.
        goal_bits: bits of the identifiers of goal-side nodes.
    """

    name: ClassVar[str] = "bitmask"
    repetition_bits: Natural = 16
    fluent_bits: Natural = 32
    goal_bits: Natural = 16

    def shortfalls(self, task: Task, goal: GoalGraph) -> dict[str, int]:
        """The fields that are too small, and the width if it holds less than the fields."""
        needed = {"fluent_bits": len(task.fluents), "goal_bits": _bit_length(goal)}
        fields = [max(value, getattr(self, name)) for name, value in needed.items()]
        return self._below({**needed, "width": self.repetition_bits + sum(fields)})

    def of_goal(self, goal: GoalGraph) -> NDArray[np.uint8]:
        """The numbers of the nodes, in their own field."""
        return _place(to_bits(_numbers(goal), self.goal_bits), self.repetition_bits + self.fluent_bits, self.width)

    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        """Repetition index and valuation, independent of the goal."""

        def identify(valuations: NDArray[np.bool_], repetitions: NDArray[np.int64]) -> NDArray[np.uint8]:
            needed = int(repetitions.max(initial=0)).bit_length()
            if needed > self.repetition_bits:
                raise LimitError(
                    f"an e-state of {task.name!r} repeats a valuation {int(repetitions.max()) + 1} times, which does "
                    f"not fit the bitmask encoding with repetition_bits={self.repetition_bits}: raise to "
                    f"repetition_bits={needed} and width={self.width - self.repetition_bits + needed}, "
                    "or use encoding=map or encoding=hash"
                )
            repetition = to_bits(repetitions.astype(np.uint64), self.repetition_bits)
            return _place(np.hstack([repetition, valuations.astype(np.uint8)]), 0, self.width)

        return identify


def _numbers(goal: GoalGraph) -> NDArray[np.uint64]:
    return np.array(goal.nodes, dtype=np.uint64)


def _bit_length(goal: GoalGraph) -> int:
    return max(goal.nodes).bit_length()


def to_bits(numbers: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    """uint8[n, width]: the lowest `width` bits of numbers, least significant first, zeros beyond 64."""
    octets = numbers.astype("<u8").view(np.uint8).reshape(len(numbers), 8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    return _place(bits[:, :width], 0, width)


def _place(bits: NDArray[np.uint8], offset: int, width: int) -> NDArray[np.uint8]:
    """uint8[n, width]: the columns of `bits` from column `offset` on, zeros elsewhere."""
    row = np.zeros((len(bits), width), dtype=np.uint8)
    row[:, offset : offset + bits.shape[1]] = bits
    return row
