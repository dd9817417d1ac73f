"""`c_pg`, `l_pg` and `s_pg`: heuristics from the epistemic planning graph.

Each level of the graph marks formulas, and no formula is unmarked. Level 0 marks the formulas that hold in an e-state.
An action is used from the first level on that marks its applicability formula. It marks the literals of its designated
events' effects and every belief formula that it may change: a formula about a fluent that the action changes, senses or
announces, and about agents that may notice it. The relaxation gives no guarantee: a graph that never marks the goal
does not prove that there is no plan.

Source: Le, Fabiano, Son, Pontelli, "EFP and PG-EFP" (ICAPS 2018), as used by Fabiano, Platnick, Son,
Pontelli, "H-EFP" (PRIMA 2024).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, Op, literal, not_
from epigym.task.task import Action, Event, Task
from search.heuristics.heuristic import Heuristic

Bools = NDArray[np.bool_]

_MODAL = (Op.BELIEVES, Op.EVERYBODY, Op.COMMON)


class PlanningGraph:
    """The planning graphs of one task, for many e-states at a time.

    Args:
        task: the planning task.

    Attributes:
        nodes: the formulas that levels mark, children before parents: both literals of every fluent, and the formulas
            of the task (applicability, conditions of effects and observers, subgoals) with all their subformulas, in
            negation normal form.
        goal: int64[g], the nodes of the subgoals.
    """

    def __init__(self, task: Task) -> None:
        roots = [formula.negation_normal_form() for formula in _relevant(task)]
        literals = [literal(name, value) for name in task.fluents for value in (True, False)]
        self.nodes = _with_parts([*literals, *roots])
        self._number = {node: number for number, node in enumerate(self.nodes)}
        self.goal = self._numbers(task.goal)
        self._applicability = self._numbers(action.applicability for action in task.actions)
        self._junctions = self._junction_layers()
        self._changes = self._rules(task)

    def levels(self, truth: Bools) -> NDArray[np.int32]:
        """The level at which each node is first marked.

        Args:
            truth: bool[k, n], whether node j holds in e-state i.

        Returns:
            int32[k, n]: 0 for nodes that hold, -1 for nodes that are never marked. A graph ends at the first level that
            marks all subgoals, or before the first level that would mark no new node.
        """
        levels = np.where(truth, 0, -1).astype(np.int32)
        rows = np.arange(len(truth))  # of the graphs that still grow
        marked = truth.copy()
        level = 0
        while True:
            growing = ~marked[:, self.goal].all(axis=1)
            rows, marked = rows[growing], marked[growing]
            if len(rows) == 0:
                return levels
            level += 1
            grown = self._next(marked)
            new = grown & ~marked
            row, node = np.nonzero(new)
            levels[rows[row], node] = level
            growing = new.any(axis=1)
            rows, marked = rows[growing], grown[growing]

    def _next(self, marked: Bools) -> Bools:
        entered = marked[:, self._applicability]
        firing = entered[:, self._changes.source] & marked[:, self._changes.condition]
        grown: Bools = marked | (firing.astype(np.float32) @ self._changes.marks > 0)
        for layer in self._junctions:
            grown[:, layer.nodes] |= layer.join.reduceat(grown[:, layer.parts], layer.starts, axis=1)
        return grown

    def _numbers(self, formulas: Iterable[Formula]) -> NDArray[np.int64]:
        return np.array([self._number[formula.negation_normal_form()] for formula in formulas], dtype=np.int64)

    def _junction_layers(self) -> list[_Junctions]:
        """The conjunctions and disjunctions among the nodes, by height."""
        height: dict[Formula, int] = {}
        by_kind: dict[tuple[int, bool], list[Formula]] = {}
        for node in self.nodes:
            parts = _parts(node)
            height[node] = 1 + max((height[part] for part in parts), default=-1)
            if parts:
                by_kind.setdefault((height[node], node.op is Op.OR), []).append(node)
        return [self._layer(np.logical_or if kind[1] else np.logical_and, by_kind[kind]) for kind in sorted(by_kind)]

    def _layer(self, join: np.ufunc, nodes: list[Formula]) -> _Junctions:
        parts = [self._numbers(_parts(node)) for node in nodes]
        starts = np.cumsum([0] + [len(part) for part in parts[:-1]])
        return _Junctions(join, self._numbers(nodes), np.concatenate(parts), starts)

    def _rules(self, task: Task) -> _Rules:
        """The nodes that each action marks: literals of effects under their conditions, and beliefs it may change."""
        changed_beliefs = functools.cache(self._find_changed_beliefs)  # many actions differ in name only
        sources, conditions, marks = [], [], []
        for number, action in enumerate(task.actions):
            effects = {effect for event in _list_designated(action) for effect in event.effects}
            rules = [(effect.condition, [literal(effect.fluent, effect.value)]) for effect in effects]
            rules.append((TRUE, changed_beliefs(_news(action), _noticing(task, action))))
            for condition, nodes in rules:
                row = np.zeros(len(self.nodes), dtype=np.float32)
                row[self._numbers(nodes)] = 1
                sources.append(number)
                marks.append(row)
                conditions.append(condition)
        return _Rules(np.array(sources, dtype=np.int64), self._numbers(conditions), np.array(marks))

    def _find_changed_beliefs(self, news: frozenset[str], noticing: frozenset[str]) -> list[Formula]:
        """The belief formulas, negated or not, about fluents in `news` and agents in `noticing`."""
        touched: set[Formula] = set()
        for node in self.nodes:
            if node.op is Op.FLUENT:
                is_touched = node.name in news
            else:
                is_touched = noticing.issuperset(node.agents) and not touched.isdisjoint(node.children)
            if is_touched:
                touched.add(node)
        return [node for node in self.nodes if node in touched and (node.unnegated.op in _MODAL)]


class _Junctions(NamedTuple):
    """Nodes that are marked when all (or any) of their parts are marked; part j of node i is parts[starts[i] + j]."""

    join: np.ufunc
    nodes: NDArray[np.int64]
    parts: NDArray[np.int64]
    starts: NDArray[np.int64]


class _Rules(NamedTuple):
    """Rule i: once action source[i] is used and node condition[i] is marked, mark the nodes of row marks[i]."""

    source: NDArray[np.int64]
    condition: NDArray[np.int64]
    marks: NDArray[np.float32]


def _relevant(task: Task) -> list[Formula]:
    """The formulas of a planning graph of `task`."""
    found: dict[Formula, None] = {TRUE: None}
    for action in task.actions:
        found[action.applicability] = None
        found.update((effect.condition, None) for event in action.events for effect in event.effects)
        found.update((condition, None) for rules in action.observability for condition, _ in rules)
    return [*found, *task.goal]


def _with_parts(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """All subformulas of formulas in negation normal form, parts before wholes."""
    found: dict[Formula, None] = {}
    for formula in formulas:
        for node in formula.subformulas():
            if node not in found and node.unnegated.op is Op.ACTUALLY:
                found.update(dict.fromkeys(_with_parts(_parts(node))))
            found[node] = None
    return tuple(found)


def _parts(node: Formula) -> tuple[Formula, ...]:
    """The nodes that mark `node` when all of them (any, for a disjunction) are marked; none for an atom."""
    if node.op in (Op.AND, Op.OR, Op.ACTUALLY):
        return node.children
    if node.unnegated.op is Op.ACTUALLY:
        return (not_(node.unnegated.children[0]).negation_normal_form(),)
    return ()


def _list_designated(action: Action) -> list[Event]:
    return [action.events[event] for event in action.designated]


def _news(action: Action) -> frozenset[str]:
    """The fluents that an action changes, senses or announces."""
    changed = frozenset(effect.fluent for event in _list_designated(action) for effect in event.effects)
    return changed.union(*(_said(event.precondition) for event in _list_designated(action)))


def _said(formula: Formula) -> frozenset[str]:
    """The fluents that a precondition reveals; formulas under `actually` are only conditions of revealing."""
    if formula.op is Op.ACTUALLY:
        return frozenset()
    return frozenset({formula.name} if formula.op is Op.FLUENT else ()).union(*map(_said, formula.children))


def _noticing(task: Task, action: Action) -> frozenset[str]:
    """The agents that may have an observability type that is not oblivious."""
    plain = {number for number, event in enumerate(action.events) if event.precondition is TRUE and not event.effects}
    oblivious = {
        kind for kind, rows in action.relations.items() if all(rows[event] <= plain for event in action.designated)
    }
    return frozenset(
        agent
        for agent, rules in zip(task.agents, action.observability, strict=True)
        if any(kind not in oblivious for _, kind in rules)
    )


class _GraphHeuristic(Heuristic):
    """Base of the heuristics that use one planning graph per e-state."""

    def __init__(self, space: StateSpace) -> None:
        self._graph = PlanningGraph(space.task)
        self._truth = space.query(self._graph.nodes)

    def _goal_levels(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k, g]: the level at which each subgoal is marked, infinite for never."""
        levels = self._graph.levels(self._truth(ids))[:, self._graph.goal]
        return np.where(levels < 0, np.inf, levels)


class GraphLength(_GraphHeuristic):
    """`l_pg`: the number of levels until all subgoals are marked; infinite when they never are."""

    name = "l_pg"

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the length of the planning graph from each of `ids` (int32[k])."""
        length: NDArray[np.float64] = self._goal_levels(ids).max(axis=1, initial=0.0)
        return length


class GoalLevels(_GraphHeuristic):
    """`s_pg`: the levels at which the subgoals are first marked, summed; infinite when one never is."""

    name = "s_pg"

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the sum of the subgoals' levels from each of `ids` (int32[k])."""
        total: NDArray[np.float64] = self._goal_levels(ids).sum(axis=1)
        return total


class EntailedLevels(_GraphHeuristic):
    """`c_pg`: the share of the initial planning graph's levels that an e-state does not entail, in percent.

    One graph, from the initial e-state, determines the level of every node; e-states that entail nodes of high levels
    score low.
    """

    name = "c_pg"

    def __init__(self, space: StateSpace) -> None:
        super().__init__(space)
        [levels] = self._graph.levels(self._truth(np.array([space.initial], dtype=np.int32)))
        weights = np.maximum(levels, 0).astype(np.float64)
        self._weights = weights / max(weights.sum(), 1.0)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: 100 minus the share, in percent, of the levels that each of `ids` (int32[k]) entails."""
        scores: NDArray[np.float64] = 100.0 * (1.0 - self._truth(ids) @ self._weights)
        return scores
