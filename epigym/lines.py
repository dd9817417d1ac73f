"""Which lines to draw between the worlds of a Kripke model, so that a picture stays readable.

Loops are left to the node, the two arrows of a symmetric pair become one line, agents that share a line share
its drawing, and where that is still too much, transitive relations are thinned: lines that follow from others
by transitivity are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx

from epigym.model import KripkeModel

LINES_PER_WORLD = 3
"""Pictures with more lines than this, per world, are thinned."""

Pair = tuple[int, int]


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
    """The lines between `worlds` of `model`."""
    shown = frozenset(worlds)
    relations = [
        {(world, target) for world in worlds for target in rows[world] & shown if target != world}
        for rows in model.state.successors
    ]
    lines = _merge(relations)
    if len(lines) <= LINES_PER_WORLD * len(worlds):
        return Drawing(lines, thinned=False)
    thin = _merge([_thin(model, worlds, agent, pairs) for agent, pairs in enumerate(relations)])
    return Drawing(thin, thinned=len(thin) < len(lines))


def _merge(relations: Iterable[set[Pair]]) -> tuple[Line, ...]:
    """One line for all agents who go the same way between the same worlds."""
    agents: dict[tuple[int, int, bool], list[int]] = {}
    for agent, pairs in enumerate(relations):
        for tail, head in pairs:
            both = (head, tail) in pairs
            if not both or tail < head:
                agents.setdefault((tail, head, both), []).append(agent)
    return tuple(Line(tail, head, tuple(who), both) for (tail, head, both), who in sorted(agents.items()))


def _thin(model: KripkeModel, worlds: Sequence[int], agent: int, pairs: set[Pair]) -> set[Pair]:
    """The pairs of a transitive relation from which the others follow; any other relation as it is."""
    rows = model.state.successors[agent]
    if not all(rows[target] <= rows[world] for world in worlds for target in rows[world]):
        return pairs
    clusters = nx.condensation(nx.DiGraph(sorted(pairs)))
    kept: set[Pair] = set()
    for cluster, members in clusters.nodes(data="members"):
        kept |= {arrow for tail, head in _neighbours(model, sorted(members)) for arrow in ((tail, head), (head, tail))}
        for other in nx.transitive_reduction(clusters)[cluster]:
            heads = clusters.nodes[other]["members"]
            kept.add(min(((t, h) for t in members for h in heads), key=lambda pair: _distance(model, pair)))
    return kept


def _neighbours(model: KripkeModel, cluster: Sequence[int]) -> list[Pair]:
    """Pairs that connect a cluster of mutually possible worlds: a tree of nearest valuations."""
    pairs = ((tail, head) for i, tail in enumerate(cluster) for head in cluster[i + 1 :])
    forest = nx.utils.UnionFind(cluster)
    tree = []
    for tail, head in sorted(pairs, key=lambda pair: _distance(model, pair)):
        if forest[tail] != forest[head]:
            forest.union(tail, head)
            tree.append((tail, head))
    return tree


def _distance(model: KripkeModel, pair: Pair) -> tuple[int, int, int]:
    """Number of fluents that differ; ties are broken by the worlds, so that all agents choose alike."""
    tail, head = sorted(pair)
    return len(model.state.valuations[tail] ^ model.state.valuations[head]), tail, head
