"""Descriptions of the colours of features in one readable line each.

The features of e-states are computed once more, in plain Python from their definition, with a text beside each colour:

- level 0: the text of an atom's type, and its state in the e-state;
- after a round of refinement: the atom, object or fact before, and its neighbours by relation: `who` leads from
  a belief to its agent, `child` from a subformula to a part of it, a number to the argument at that place; at an
  object stands what these lead from;
- worlds: the types of true facts, and of the subformulas of the goal that hold or do not hold there.

Each colour in a description has a description of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from numpy.typing import ArrayLike

from epigym.features.counts import CHILD, WHO, FeatureTables, join, set_colour
from epigym.features.description import Description, join_texts, list_texts, refer_to
from epigym.features.types import FeatureTypes
from epigym.reference.semantics import Evaluation
from epigym.space.space import StateSpace, as_ids
from epigym.task.task import EState, Task

_NEITHER, _NO, _YES, _EITHER = map(frozenset[bool], ((), (False,), (True,), (False, True)))
_TRUTH = {_NO: (0, "false"), _YES: (1, "true"), _EITHER: (2, "undetermined")}
_HELD = {_EITHER: (0, "unsure"), _YES: (1, "held true"), _NO: (2, "held false"), _NEITHER: (3, "held true and false")}
_HOLDS = {False: "does not hold", True: "holds"}
_LABELS = {WHO: "who", CHILD: "child"}
_PLACES = 0x100  # what other labels are a multiple of, apart from a place


def texts(space: StateSpace, types: FeatureTypes, level: int, worlds: bool, ids: ArrayLike) -> dict[int, Description]:
    """The descriptions of all features that occur in e-states, and of the types that these mention, by colour.

    A colour has the same one in every task, and no name occurs in it.

    Args:
        space: where the e-states live.
        types: of the space's task.
        level: 0, 1 or 2.
        worlds: whether worlds have features too.
        ids: int32[k], the e-states.
    """
    writer = _Writer(space.task, types)
    for state in as_ids(ids).tolist():
        writer.add(space.model(state).state, level, worlds)
    return find_mentioned(writer.found.values(), types.definitions) | writer.found


def names(space: StateSpace, types: FeatureTypes, level: int, worlds: bool, state: int) -> dict[int, list[str]]:
    """The names of the objects that each feature of an e-state counts.

    That is a fluent, an agent `about` a fluent, a subformula of the goal, an object, a static fact by its objects, or a
    world by the fluents that are true there.

    Args:
        space: where the e-state lives.
        types: of the space's task.
        level: 0, 1 or 2.
        worlds: whether worlds have features too.
        state: the e-state.
    """
    writer = _Writer(space.task, types)
    writer.add(space.model(state).state, level, worlds)
    return dict(writer.names)


def list_names(task: Task, tables: FeatureTables) -> dict[str, list[str]]:
    """The names of all objects, subformulas of the goal, fluents, beliefs and static facts, by kind.

    Beliefs are named `agent about fluent`, facts by their objects.

    Args:
        task: with its structure, where it has one.
        tables: of its types.
    """
    found: dict[str, list[str]] = {kind: [] for kind in ("object", "subformula", "fluent", "belief", "fact")}
    for node in _nodes(task, tables):
        found[node.kind].append(node.name)
    return found


def find_mentioned(lines: Iterable[Description], known: Mapping[int, Description]) -> dict[int, Description]:
    """Of some descriptions by colour those that `lines` mention, and those that these mention in turn."""
    found: dict[int, Description] = {}
    left = [colour for line in lines for colour in line.mentions]
    while left:
        colour = left.pop()
        if colour in known and colour not in found:
            found[colour] = known[colour]
            left += known[colour].mentions
    return found


@dataclass(frozen=True, slots=True)
class _Node:
    """An atom, object or fact with its colour, which refinement changes.

    Attributes:
        kind: `object`, `fact`, `fluent`, `belief` or `subformula`.
        name: in the task.
        types: the colours of its types, the fine one first.
        edges: those that start here, each its label and the number of the node at its end.
    """

    kind: str
    name: str
    types: tuple[int, ...]
    edges: list[tuple[int, int]]


class _State(NamedTuple):
    """The state of an atom in an e-state: as a number, in words, and whether it is refined."""

    number: int
    words: str
    is_present: bool


def _nodes(task: Task, tables: FeatureTables) -> Iterator[_Node]:
    """First the objects, then the subformulas of the goal, whose numbers edges use, then all others."""
    goal, fluents = range(len(tables.goal)), range(len(tables.fluent_fine))
    ptr, child = tables.goal_children
    first = len(tables.objects)
    objects = list(task.structure.types if task.structure else task.agents)
    for name, colour in zip(objects, tables.objects.tolist(), strict=True):
        yield _Node("object", name, (colour,), [])
    for g in goal:
        children = [(CHILD, first + number) for number in child[ptr[g] : ptr[g + 1]].tolist()]
        types = int(tables.goal_fine[g]), int(tables.goal_coarse[g])
        yield _Node("subformula", str(tables.goal[g]), types, tables.goal_edges.row(g) + children)
    for f in fluents:
        types = int(tables.fluent_fine[f]), int(tables.fluent_coarse[f])
        yield _Node("fluent", task.fluents[f], types, tables.fluent_edges.row(f))
    for i, agent in enumerate(tables.agent_object.tolist()):
        for f in fluents:
            types = int(tables.belief_fine[i, f]), int(tables.belief_coarse[i, f])
            name = f"{objects[agent]} about {task.fluents[f]}"
            yield _Node("belief", name, types, [*tables.fluent_edges.row(f), (WHO, agent)])
    for s, colour in enumerate(tables.fact_fine.tolist()):
        edges = tables.fact_edges.row(s)
        yield _Node("fact", f"({', '.join(objects[end] for _, end in edges)})", (colour,), edges)


def _states(task: Task, tables: FeatureTables, estate: EState, evaluation: Evaluation) -> Iterator[_State]:
    """Of all atoms of an e-state, in the order of `_nodes`."""

    def values(fluent: str, worlds: Iterable[int]) -> frozenset[bool]:
        return frozenset(fluent in estate.valuations[world] for world in worlds)

    for formula in tables.goal:
        holds = evaluation.holds(formula)
        yield _State(int(holds), _HOLDS[holds], True)
    truths = [_TRUTH[values(fluent, estate.designated)] for fluent in task.fluents]
    for (truth, truth_words), relevant in zip(truths, tables.relevant_fluent, strict=True):
        yield _State(truth, f"is {truth_words}", truth != 0 or bool(relevant))
    for successors, row in zip(estate.successors, tables.relevant_belief, strict=True):
        possible = frozenset().union(*(successors[world] for world in estate.designated))
        for fluent, (truth, truth_words), relevant in zip(task.fluents, truths, row, strict=True):
            held, held_words = _HELD[values(fluent, possible)]
            is_present = (truth, held) != (0, 2) or bool(relevant)
            yield _State(4 * truth + held, f"{held_words}, truth {truth_words}", is_present)


class _Writer:
    """Collects descriptions of features and names of their instances by colour."""

    def __init__(self, task: Task, types: FeatureTypes) -> None:
        self.found: dict[int, Description] = {}
        self.names: defaultdict[int, list[str]] = defaultdict(list)
        self._task, self._tables, self._definitions = task, types.tables, types.definitions
        self._nodes = list(_nodes(task, types.tables))

    def add(self, estate: EState, level: int, worlds: bool) -> None:
        """Collect those of an e-state."""
        evaluation = Evaluation(self._task.agents, estate)
        states = _states(self._task, self._tables, estate, evaluation)
        colours: dict[int, int] = {}
        words: dict[int, str] = {}
        for number, node in enumerate(self._nodes):
            if node.kind in ("object", "fact"):
                colours[number] = node.types[0]
                continue
            state = next(states)
            for kind in node.types:
                self.names[join(kind, state.number)].append(node.name)
                then = ":" if node.kind == "belief" else ""
                self.found[join(kind, state.number)] = join_texts(self._definitions[kind], then, " ", state.words)
            if state.is_present:
                colours[number], words[number] = join(node.types[0], state.number), f" ({state.words})"
        for done in range(1, level + 1):
            colours = self._refine(done, colours, words)
        if worlds:
            self._add_worlds(estate, evaluation)

    def _refine(self, done: int, colours: dict[int, int], words: dict[int, str]) -> dict[int, int]:
        """The colours after one more round."""
        beside: dict[int, set[tuple[int, int]]] = {number: set() for number in colours}
        for number, colour in colours.items():
            for label, end in self._nodes[number].edges:
                beside[number].add((label, colours[end]))
                if self._nodes[end].kind == "object":
                    beside[end].add((label, colour))
        after = {
            number: join(colour, set_colour(join(*one) for one in beside[number])) for number, colour in colours.items()
        }
        for number, colour in after.items():
            self.names[colour].append(self._nodes[number].name)
            if colour not in self.found:
                near = list_texts(
                    join_texts(_LABELS.get(label, label % _PLACES), ": ", refer_to(one))
                    for label, one in beside[number]
                )
                what = join_texts(self._nodes[number].kind, " ", refer_to(colours[number]), words.get(number, ""))
                self.found[colour] = join_texts(f"round {done} of ", what, ": ", near)
        return after

    def _add_worlds(self, estate: EState, evaluation: Evaluation) -> None:
        fluents = list(zip(self._task.fluents, self._tables.fluent_fine.tolist(), strict=True))
        goal = [
            (evaluation.truth(formula), kind)
            for formula, kind in zip(self._tables.goal, self._tables.goal_fine.tolist(), strict=True)
        ]
        for world, valuation in enumerate(estate.valuations):
            parts = (
                ("true", 4, [kind for fluent, kind in fluents if fluent in valuation]),
                ("holds", 5, [kind for truth, kind in goal if world in truth]),
                ("does not hold", 6, [kind for truth, kind in goal if world not in truth]),
            )
            is_designated = world in estate.designated
            colour = join(int(is_designated), set_colour(join(kind, mark) for _, mark, own in parts for kind in own))
            which = "designated" if is_designated else "other"
            what = join_texts(
                *(join_texts(title, " ", list_texts(map(refer_to, own))) for title, _, own in parts), by="; "
            )
            for part, measure in ((1, "share"), (2, "log of 1 + number")):
                self.names[join(colour, part)].append(str(list_texts(valuation)))
                self.found[join(colour, part)] = join_texts(f"{measure} of {which} worlds: ", what)
