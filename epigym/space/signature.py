"""Isomorphism-invariant signature of a task, independent of names and of the order of declarations.

A task is a graph of fluents, agents, formulas, actions, events and worlds; colour refinement (Weisfeiler and Leman
1968) gives every node a colour that says nothing of names. Tasks that are the same up to names have equal signatures;
tasks that differ may share one only where refinement cannot tell their nodes apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Event, Task

MASK: Final = (1 << 64) - 1
_MAX_ROUNDS: Final = 64


@lru_cache(maxsize=4_096)
def word(text: str) -> int:
    """The colour of a text: 64 bits, the same on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def signature(task: Task) -> str:
    """32 hexadecimal digits, equal for tasks that are the same up to names and orders of declaration.

    The initial e-state counts up to bisimulation. The order of the conditions of one agent's observability counts, as
    the first that holds decides.
    """
    graph = _Graph()
    graph.task(task)
    return blake2b(np.sort(graph.colours()).tobytes(), digest_size=16).hexdigest()


class _Graph:
    """Nodes with colours, and labelled edges between them."""

    def __init__(self) -> None:
        self._kinds: list[int] = []
        self._edges: list[tuple[int, int, int]] = []
        self._nodes: dict[Hashable, int] = {}

    def task(self, task: Task) -> None:
        for name in task.fluents:
            self._find_node("fluent", name)
        for name in task.agents:
            self._find_node("agent", name)
        self._node("goal", ((part, "part") for part in dict.fromkeys(map(self._formula, task.goal))))
        for action in task.actions:
            self._action(action, task.agents)
        self._state(StateSpace(task).model(0).state, task.agents)

    def colours(self) -> NDArray[np.uint64]:
        """uint64[nodes]: the colours once a round tells no more nodes apart."""
        colours = np.array(self._kinds, dtype=np.uint64)
        source, target, label = np.array(self._edges, dtype=np.uint64).reshape(-1, 3).T
        source, target = source.astype(np.int64), target.astype(np.int64)
        classes = 0
        for _ in range(_MAX_ROUNDS):
            around = np.zeros_like(colours)
            np.add.at(around, source, mix(colours[target] ^ label))
            np.add.at(around, target, mix(colours[source] + label))
            colours = mix(mix(colours) + around)
            found = len(np.unique(colours))
            if found == classes:
                break
            classes = found
        return colours

    def _node(self, kind: str, edges: Iterable[tuple[int, str]] = ()) -> int:
        number = len(self._kinds)
        self._kinds.append(word(kind))
        self._edges += [(number, other, word(label)) for other, label in edges]
        return number

    def _find_node(self, kind: str, name: str) -> int:
        if (kind, name) not in self._nodes:
            self._nodes[kind, name] = self._node(kind)
        return self._nodes[kind, name]

    def _formula(self, formula: Formula) -> int:
        """The node of a formula; formulas that differ in the order of operands alone share one."""
        if formula in self._nodes:
            return self._nodes[formula]
        for part in formula.subformulas():
            if part in self._nodes:
                continue
            if part.op is Op.FLUENT:
                self._nodes[part] = self._find_node("fluent", part.name)
                continue
            operands = frozenset(self._nodes[child] for child in part.children)
            key = (part.op, part.agents, operands)
            if key not in self._nodes:
                edges = [(operand, "operand") for operand in operands]
                edges += [(self._find_node("agent", agent), "who") for agent in part.agents]
                self._nodes[key] = self._node(part.op.name, edges)
            self._nodes[part] = self._nodes[key]
        return self._nodes[formula]

    def _action(self, action: Action, agents: Iterable[str]) -> None:
        events = [self._event(event) for event in action.events]
        edges = [(self._formula(action.applicability), "applicability")]
        edges += [
            (event, "designated" if index in action.designated else "event") for index, event in enumerate(events)
        ]
        number = self._node("action", edges)
        types = {kind: self._relation(events, rows) for kind, rows in action.relations.items()}
        for agent, conditions in zip(agents, action.observability, strict=True):
            observer = self._node("observer", [(number, "of"), (self._find_node("agent", agent), "who")])
            deciding = dict(reversed(conditions))  # of those that are repeated the first decides
            for place, condition in enumerate(dict.fromkeys(condition for condition, _ in conditions)):
                kind = deciding[condition]
                self._node(
                    "condition", [(observer, str(place)), (self._formula(condition), "if"), (types[kind], "type")]
                )

    def _event(self, event: Event) -> int:
        number = self._node("event", [(self._formula(event.precondition), "precondition")])
        for effect in event.effects:
            edges = [
                (number, "of"),
                (self._find_node("fluent", effect.fluent), "what"),
                (self._formula(effect.condition), "if"),
            ]
            self._node("adds" if effect.value else "deletes", edges)
        return number

    def _relation(self, nodes: list[int], rows: Iterable[frozenset[int]], agent: int | None = None) -> int:
        """A relation: each distinct row once, with the nodes that have it and those that it leads to."""
        number = self._node("relation", [] if agent is None else [(agent, "who")])
        members: Mapping[frozenset[int], list[int]] = defaultdict(list)
        for node, row in zip(nodes, rows, strict=True):
            members[row].append(node)
        for row, having in members.items():
            edges = [(number, "of"), *((node, "from") for node in having), *((nodes[target], "to") for target in row)]
            self._node("row", edges)
        return number

    def _state(self, state: EState, agents: Iterable[str]) -> None:
        worlds = [
            self._node(
                "actual" if world in state.designated else "world",
                ((self._find_node("fluent", name), "true") for name in valuation),
            )
            for world, valuation in enumerate(state.valuations)
        ]
        for agent, rows in zip(agents, state.successors, strict=True):
            self._relation(worlds, rows, self._find_node("agent", agent))


def mix(value: Any) -> Any:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): a bijection that spreads every bit.

    Args:
        value: a number of 64 bits, or uint64[n].
    """
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31
