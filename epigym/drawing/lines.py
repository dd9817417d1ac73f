"""Which lines to draw between the worlds of a Kripke model, so that a picture stays readable.

Loops are left to the node, the two arrows of a symmetric pair become one line, agents that share a line share
its drawing, and where that is still too much, transitive relations are thinned: lines that follow from others
by transitivity are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import networkx as nx
import numpy as np

from epigym.space.kripke_model import KripkeModel

LINES_PER_WORLD = 2
"""Pictures with more lines than this, per world, are thinned."""

Pair = tuple[int, int]
Connect = Callable[[KripkeModel, Sequence[int]], list[Pair]]


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn line from world `tail` to world `head`.

    Attributes:
        tail: the world it starts at.
        head: the world it ends at, never the tail.
        agents: positions of the agents who go this way, ascending.
        both: whether they also go back: then the line has no arrowhead, and `tail < head`.
    """

    tail: int
    head: int
    agents: tuple[int, ...]
    both: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """The lines of a picture.

    Attributes:
        lines: in ascending order.
        thinned: whether lines that follow by transitivity were dropped.
    """

    lines: tuple[Line, ...]
    thinned: bool


def draw_lines(model: KripkeModel, worlds: Sequence[int]) -> Drawing:
    """The lines between `worlds` of `model`: all of them, or as many as the picture bears."""
    shown = frozenset(worlds)
    relations = [
        {(world, target) for world in worlds for target in rows[world] & shown if target != world}
        for rows in model.state.successors
    ]
    everything = lines = _merge(relations)
    for connect in (_near, _tree):
        if len(lines) > LINES_PER_WORLD * len(worlds):
            lines = _merge(_thin(model, worlds, agent, pairs, connect) for agent, pairs in enumerate(relations))
    return Drawing(lines, thinned=lines != everything)


def _merge(relations: Iterable[set[Pair]]) -> tuple[Line, ...]:
    """One line for all agents who go the same way between the same worlds."""
    agents: dict[tuple[int, int, bool], list[int]] = {}
    for agent, pairs in enumerate(relations):
        for tail, head in pairs:
            both = (head, tail) in pairs
            if not both or tail < head:
                agents.setdefault((tail, head, both), []).append(agent)
    return tuple(Line(tail, head, tuple(who), both) for (tail, head, both), who in sorted(agents.items()))


def _thin(model: KripkeModel, worlds: Sequence[int], agent: int, pairs: set[Pair], connect: Connect) -> set[Pair]:
    """The pairs of a transitive relation from which the others follow; any other relation as it is."""
    rows = model.state.successors[agent]
    if not all(rows[target] <= rows[world] for world in worlds for target in rows[world]):
        return pairs
    clusters = nx.condensation(nx.DiGraph(sorted(pairs)))
    members = {cluster: sorted(clusters.nodes[cluster]["members"]) for cluster in clusters}
    arrows = {
        min(product(members[source], members[target]), key=partial(_distance, model))
        for source, target in nx.transitive_reduction(clusters).edges
    }
    ties = [pair for cluster in members.values() for pair in connect(model, cluster)]
    return arrows.union(ties, [(head, tail) for tail, head in ties])


def _near(model: KripkeModel, cluster: Sequence[int]) -> list[Pair]:
    """The pairs of a cluster of mutually possible worlds that have no third world between them.

    That is the relative neighbourhood graph of the valuations, which is connected: a cube for three facts.
    """
    length = np.array([[_distance(model, (tail, head))[0] for head in cluster] for tail in cluster])
    detour = np.maximum(length[:, None, :], length[None, :, :]).min(axis=2)
    return [(cluster[i], cluster[j]) for i, j in np.argwhere(np.triu(detour >= length, k=1))]


def _tree(model: KripkeModel, cluster: Sequence[int]) -> list[Pair]:
    """The fewest pairs that connect a cluster of mutually possible worlds: a tree of nearest valuations."""
    forest = nx.utils.UnionFind(cluster)
    tree = []
    for tail, head in sorted(combinations(cluster, 2), key=partial(_distance, model)):
        if forest[tail] != forest[head]:
            forest.union(tail, head)
            tree.append((tail, head))
    return tree


def _distance(model: KripkeModel, pair: Pair) -> tuple[int, int, int]:
    """Number of fluents that differ; ties are broken by the worlds, so that all agents choose alike."""
    tail, head = sorted(pair)
    return len(model.state.valuations[tail] ^ model.state.valuations[head]), tail, head
