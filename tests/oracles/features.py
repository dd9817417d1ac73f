"""The features of e-states in plain Python, written from their definition to be obviously right."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

from epigym.features.counts import Edges, FeatureTables, Lists
from epigym.reference.semantics import Evaluation
from epigym.task.task import EState, Task

GOLDEN, WHO, CHILD = 0x9E3779B97F4A7C15, 0x57484F, 0x4348494C44
NOWHERE, THROUGHOUT, SOMEWHERE = range(3)
UNSURE, YES, NO, BOTH = range(4)

Node = tuple[str, int] | tuple[str, int, int]


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % 2**64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def join(a: int, b: int) -> int:
    return mix(mix((a + GOLDEN) % 2**64) ^ b)


def set_of(xs: set[int]) -> int:
    return sum(mix(x) for x in xs) % 2**64


def features(task: Task, tables: FeatureTables, estate: EState, level: int, worlds: bool) -> dict[int, float]:
    """The value of each colour."""
    found: Counter[int] = Counter()
    atoms = Atoms(task, tables, estate)
    found.update(atoms.colours(coarse=False).values())
    found.update(atoms.colours(coarse=True).values())
    colours = atoms.nodes()
    for _ in range(level):
        colours = refine(task, tables, colours)
        found.update(colours.values())
    values = {colour: float(count) for colour, count in found.items()}
    for colour, value in of_worlds(task, tables, estate) if worlds else []:
        values[colour] = values.get(colour, 0) + value
    return values


class Atoms:
    """What atoms are in an e-state."""

    def __init__(self, task: Task, tables: FeatureTables, estate: EState) -> None:
        self.tables = tables
        evaluation = Evaluation(task.agents, estate)
        possible = [
            {world for d in estate.designated for world in estate.successors[agent][d]}
            for agent in range(len(task.agents))
        ]

        def values(fluent: int, at: set[int]) -> set[bool]:
            return {task.fluents[fluent] in estate.valuations[world] for world in at}

        kinds = {frozenset(): BOTH, frozenset({True}): YES, frozenset({False}): NO}
        where = {frozenset({True}): THROUGHOUT, frozenset({False}): NOWHERE}
        every = range(len(task.fluents))
        self.truth = [where.get(frozenset(values(f, set(estate.designated))), SOMEWHERE) for f in every]
        self.held = [[kinds.get(frozenset(values(f, at)), UNSURE) for f in every] for at in possible]
        self.true = [int(evaluation.holds(formula)) for formula in tables.goal]

    def colours(self, *, coarse: bool) -> dict[Node, int]:
        """The colours of all atoms and subformulas by their fine or coarse types."""
        t = self.tables
        fluent, belief, goal = (
            (t.fluent_coarse, t.belief_coarse, t.goal_coarse) if coarse else (t.fluent_fine, t.belief_fine, t.goal_fine)
        )
        found: dict[Node, int] = {("fluent", f): join(int(fluent[f]), truth) for f, truth in enumerate(self.truth)}
        for i, row in enumerate(self.held):
            for f, held in enumerate(row):
                found["belief", i, f] = join(int(belief[i, f]), 4 * self.truth[f] + held)
        return found | {("goal", g): join(int(goal[g]), true) for g, true in enumerate(self.true)}

    def nodes(self) -> dict[Node, int]:
        """The colours of what is present, before refinement."""
        t = self.tables
        found: dict[Node, int] = {("object", o): int(colour) for o, colour in enumerate(t.objects)}
        found |= {("fact", s): int(colour) for s, colour in enumerate(t.fact_fine)}
        return found | {node: colour for node, colour in self.colours(coarse=False).items() if self.is_present(node)}

    def is_present(self, node: Node) -> bool:
        match node:
            case ("fluent", f):
                return self.truth[f] != NOWHERE or bool(self.tables.relevant_fluent[f])
            case ("belief", i, f):
                unremarkable = self.truth[f] == NOWHERE and self.held[i][f] == NO
                return not unremarkable or bool(self.tables.relevant_belief[i, f])
            case _:
                return True


def refine(task: Task, tables: FeatureTables, colours: dict[Node, int]) -> dict[Node, int]:
    """One round."""
    own: defaultdict[Node, set[int]] = defaultdict(set)
    for node, colour in colours.items():
        for target, label in edges(tables, node):
            own[node].add(join(label, colours[target]))
            if target[0] == "object":
                own[target].add(join(label, colour))
    return {node: join(colour, set_of(own[node])) for node, colour in colours.items()}


def edges(tables: FeatureTables, node: Node) -> Iterator[tuple[Node, int]]:
    match node:
        case ("fluent", f):
            yield from row(tables.fluent_edges, f)
        case ("belief", i, f):
            yield from row(tables.fluent_edges, f)
            yield ("object", int(tables.agent_object[i])), WHO
        case ("fact", s):
            yield from row(tables.fact_edges, s)
        case ("goal", g):
            yield from row(tables.goal_edges, g)
            ptr, child = tables.goal_children
            for number in child[ptr[g] : ptr[g + 1]].tolist():
                yield ("goal", number), CHILD


def row(table: Edges, number: int) -> Iterator[tuple[Node, int]]:
    ptr, target, label = table
    for k in range(ptr[number], ptr[number + 1]):
        yield ("object", int(target[k])), int(label[k])


def of_worlds(task: Task, tables: FeatureTables, estate: EState) -> list[tuple[int, float]]:
    evaluation = Evaluation(task.agents, estate)
    truth = [evaluation.truth(formula) for formula in tables.goal]
    count = len(estate.valuations)
    found: Counter[int] = Counter()
    for world in range(count):
        seen = {
            join(int(kind), 4)
            for kind, name in zip(tables.fluent_fine, task.fluents, strict=True)
            if name in estate.valuations[world]
        }
        seen |= {join(int(kind), 5) for kind, at in zip(tables.goal_fine, truth, strict=True) if world in at}
        seen |= {join(int(kind), 6) for kind, at in zip(tables.goal_fine, truth, strict=True) if world not in at}
        found[join(int(world in estate.designated), set_of(seen))] += 1
    shares = [(join(colour, 1), times / count) for colour, times in found.items()]
    return shares + [(join(colour, 2), log(1 + times)) for colour, times in found.items()]


def random_tables(task: Task, seed: int, most_types: int = 8) -> FeatureTables:
    """Tables of few types, so that parts share them, with rows that are empty where they are ragged."""
    rng = np.random.default_rng(seed)
    agents, fluents, objects, facts = len(task.agents), len(task.fluents), len(task.agents) + 3, int(rng.integers(6))
    goal = tuple(dict.fromkeys(node for formula in task.goal for node in formula.subformulas()))
    types = rng.integers(2**64, size=int(rng.integers(1, most_types + 1)), dtype=np.uint64)

    def some(*shape: int) -> NDArray[np.uint64]:
        return rng.choice(types, size=shape)

    def draw_edges(rows: int) -> Edges:
        ptr = np.cumsum([0, *rng.integers(4, size=rows)], dtype=np.int64)
        numbers, labels = rng.integers(objects, size=ptr[-1], dtype=np.int32), rng.integers(3, size=ptr[-1])
        return Edges(ptr, numbers, labels.astype(np.uint64))

    number = {node: k for k, node in enumerate(goal)}
    children = Lists(
        np.cumsum([0, *(len(node.children) for node in goal)], dtype=np.int64),
        np.array([number[child] for node in goal for child in node.children], dtype=np.int32),
    )
    share = float(rng.choice([0, 0.3, 1]))
    return FeatureTables(
        agent_object=rng.permutation(objects)[:agents].astype(np.int32),
        objects=some(objects),
        fluent_fine=some(fluents),
        fluent_coarse=some(fluents),
        belief_fine=some(agents, fluents),
        belief_coarse=some(agents, fluents),
        goal=goal,
        goal_fine=some(len(goal)),
        goal_coarse=some(len(goal)),
        fact_fine=some(facts),
        relevant_fluent=rng.random(fluents) < share,
        relevant_belief=rng.random((agents, fluents)) < share,
        fluent_edges=draw_edges(fluents),
        goal_edges=draw_edges(len(goal)),
        fact_edges=draw_edges(facts),
        goal_children=children,
    )


LEVELS = tuple(product((0, 1, 2), (False, True)))
