"""E-states as arrays, for the reference: what relations lead to, which worlds are reached, which are bisimilar."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import chain, compress, pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from epigym.task.task import EState

Truth: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.int64]
Thing = TypeVar("Thing", bound=Hashable)


class Relation(NamedTuple):
    """The worlds that one agent considers possible at each of n worlds; worlds with equal successors may share a row.

    Attributes:
        row_of: int64[n], the row of each world.
        rows: how many rows there are.
        row: int64[s], the row of each member.
        member: int64[s], the worlds in the rows: those that `row` calls r are the successors of the worlds of row r.
    """

    row_of: Numbers
    rows: int
    row: Numbers
    member: Numbers

    @classmethod
    def of(cls, successors: Sequence[frozenset[int]]) -> Relation:
        """The relation that leads from each world to its successors."""
        distinct, row_of = number_distinct(successors)
        sizes = [len(row) for row in distinct]
        member = np.fromiter(chain.from_iterable(distinct), np.int64, sum(sizes))
        return cls(row_of, len(distinct), np.repeat(np.arange(len(distinct)), sizes), member)

    def lists(self) -> list[list[int]]:
        """The members of each row, in the order in which they stand."""
        ends = np.cumsum(np.bincount(self.row, minlength=self.rows))
        members = self.member[np.argsort(self.row, kind="stable")].tolist()
        return [members[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def image(self, sources: Truth) -> Truth:
        """bool[n]: the worlds to which a step leads from `sources`, bool[n]."""
        leaves, found = np.zeros(self.rows, np.bool_), np.zeros_like(sources)
        leaves[self.row_of[sources]] = True
        found[self.member[leaves[self.row]]] = True
        return found

    def preimage(self, targets: Truth) -> Truth:
        """bool[n]: the worlds from which a step leads into `targets`, bool[n]."""
        hits = np.zeros(self.rows, np.bool_)
        hits[self.row[targets[self.member]]] = True
        return np.asarray(hits[self.row_of])

    def restrict(self, kept: Truth) -> Relation:
        """The relation on the worlds that are `kept`, bool[n], which no step leaves; rows that no world has go."""
        used = np.zeros(self.rows, np.bool_)
        used[self.row_of[kept]] = True
        place, number, inside = np.cumsum(used) - 1, np.cumsum(kept) - 1, used[self.row]
        return Relation(place[self.row_of[kept]], int(used.sum()), place[self.row[inside]], number[self.member[inside]])

    def to_colours(self, colour: Numbers) -> Relation:
        """The relation that leads from each world to the colours of its successors, `colour` being int64[n].

        Rows with equal sets of colours become one. They are numbered in lexicographic order of the sorted colours.
        """
        width = int(colour.max()) + 1
        pairs = np.sort(self.row * width + colour[self.member])
        is_new = np.ones(len(pairs), np.bool_)
        is_new[1:] = pairs[1:] > pairs[:-1]
        row, seen = np.divmod(pairs[is_new], width)
        # Numbers of eight bytes, the highest first, compare like the bytes.
        text, size = seen.astype(">i8").tobytes(), 8
        ends = size * np.searchsorted(row, np.arange(self.rows + 1))
        texts = [text[start:end] for start, end in pairwise(ends.tolist())]
        distinct = sorted(set(texts))
        return Relation(
            row_of=_ranks(texts)[self.row_of],
            rows=len(distinct),
            row=np.repeat(np.arange(len(distinct)), [len(key) // size for key in distinct]),
            member=np.frombuffer(b"".join(distinct), ">i8").astype(np.int64),
        )


class PointedModel(NamedTuple):
    """An e-state of n worlds.

    Attributes:
        fluents: the names of f fluents, ascending; all others are false everywhere.
        truth: bool[v, f]: valuations, each once.
        label: int64[n], the number of each world's valuation.
        relations: one for each agent.
        designated: int64[d], the designated worlds, ascending.
    """

    fluents: tuple[str, ...]
    truth: Truth
    label: Numbers
    relations: tuple[Relation, ...]
    designated: Numbers

    @classmethod
    def of(cls, estate: EState | PointedModel) -> PointedModel:
        """The same e-state as arrays."""
        if isinstance(estate, PointedModel):
            return estate
        relations = tuple(Relation.of(successors) for successors in estate.successors)
        valuations, label = number_distinct(estate.valuations)
        fluents = tuple(sorted(frozenset[str]().union(*valuations)))
        place = {name: number for number, name in enumerate(fluents)}
        truth = np.zeros((len(valuations), len(fluents)), np.bool_)
        for row, valuation in zip(truth, valuations, strict=True):
            row[list(map(place.__getitem__, valuation))] = True
        return cls(fluents, truth, label, relations, np.array(estate.designated))

    def estate(self) -> EState:
        """The same e-state as sets."""
        successors = []
        for relation in self.relations:
            rows = [frozenset(row) for row in relation.lists()]
            successors.append(tuple(rows[row] for row in relation.row_of.tolist()))
        valuations = [frozenset(compress(self.fluents, row)) for row in self.truth.tolist()]
        return EState(
            valuations=tuple(valuations[label] for label in self.label.tolist()),
            successors=tuple(successors),
            designated=tuple(self.designated.tolist()),
        )

    def contract(self) -> PointedModel:
        """The quotient of the part that designated worlds reach by its coarsest bisimulation."""
        model = self.reachable()
        colour = model.refine(model.fluents)
        first, _ = rank_numbers(colour)
        quotients = [relation.to_colours(colour) for relation in model.relations]
        return PointedModel(
            model.fluents,
            model.truth,
            model.label[first],
            tuple(quotient._replace(row_of=quotient.row_of[first]) for quotient in quotients),
            np.array(sorted(set(colour[model.designated].tolist())), dtype=np.int64),
        )

    def refine(self, fluents: Sequence[str]) -> Numbers:
        """int64[n]: ranks of worlds that are equal iff the worlds are bisimilar.

        Worlds are ranked by the truth of these fluents in this order, false before true; then by the sorted ranks of
        their successors, agent after agent, until nothing changes.
        """
        _, rank = rank_rows(self.list_truths(fluents))
        _, colour = rank_tuples([rank[self.label]])
        while colour.max() + 1 < len(colour):
            _, finer = rank_tuples([colour, *(relation.to_colours(colour).row_of for relation in self.relations)])
            if finer.max() == colour.max():
                break
            colour = finer
        return colour

    def find_truth(self, fluent: str) -> Truth:
        """bool[v]: the truth of a fluent in each valuation."""
        place = bisect_left(self.fluents, fluent)
        is_known = self.fluents[place : place + 1] == (fluent,)
        return self.truth[:, place] if is_known else np.zeros(len(self.truth), np.bool_)

    def list_truths(self, fluents: Sequence[str]) -> Truth:
        """bool[v, k]: the truth of k fluents in each valuation."""
        if tuple(fluents) == self.fluents:
            return self.truth
        truths = [self.find_truth(name) for name in fluents]
        return np.array(truths, np.bool_).reshape(len(fluents), len(self.truth)).T

    def reachable(self) -> PointedModel:
        """The part that zero or more steps from designated worlds reach."""
        wider = np.zeros(len(self.label), np.bool_)
        wider[self.designated] = True
        kept = np.zeros_like(wider)
        while not np.array_equal(kept, wider):
            kept, wider = wider, np.any([wider, *(r.image(wider) for r in self.relations)], axis=0)
        return PointedModel(
            self.fluents,
            self.truth,
            self.label[kept],
            tuple(relation.restrict(kept) for relation in self.relations),
            (np.cumsum(kept) - 1)[self.designated],
        )


def number_distinct(things: Sequence[Thing]) -> tuple[list[Thing], Numbers]:
    """Things in the order in which they first appear, and the place of each in it, int64[n]."""
    place = {thing: number for number, thing in enumerate(dict.fromkeys(things))}
    return list(place), np.fromiter(map(place.__getitem__, things), np.int64, len(things))


def rank_tuples(columns: Sequence[NDArray[Any]]) -> tuple[Numbers, Numbers]:
    """The tuples that columns of numbers from 0 make up, ranked in lexicographic order.

    Args:
        columns: integers or truth values [n], below 2**31 as n is; one or more.

    Returns:
        int64[k], where each of the distinct tuples first stands, and int64[n], the rank of each tuple.
    """
    key, bound = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        width = int(column.max()) + 1
        if bound * width > 2**62:
            distinct, key = rank_numbers(key)
            bound = len(distinct)
        key, bound = key * width + column, bound * width
    return rank_numbers(key)


def rank_numbers(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """As `rank_tuples` for int64[n]; `np.unique` would import masked arrays, which takes longer."""
    order = np.argsort(numbers, kind="stable")
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.diff(numbers[order]) > 0
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(is_new) - 1
    return order[is_new], rank


def rank_rows(truth: Truth) -> tuple[Numbers, Numbers]:
    """The rows of truth values, bool[k, f], ranked in lexicographic order, false before true; as `rank_tuples`."""
    return rank_tuples(list(np.packbits(truth, axis=1).T) or [np.zeros(len(truth), np.uint8)])


def _ranks(keys: Sequence[Any]) -> Numbers:
    """int64[n]: the rank of each key among the distinct keys."""
    rank = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.fromiter(map(rank.__getitem__, keys), np.int64, len(keys))
