"""The initial e-state of an EPDDL problem: an explicit model, or a finitary S5 theory.

The worlds of a theory are the valuations that satisfy the common knowledge. Two worlds are indistinguishable for an
agent iff they agree on all formulas whose truth it knows. Worlds of a class share one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from epigym.errors import LimitError
from epigym.language.epddl import syntax, terms
from epigym.language.epddl.expansion import Assignment, Expander
from epigym.language.epddl.readings import ReadingWarning
from epigym.language.theories import Column, evaluate, find_models, list_rows, list_valuations, number_classes
from epigym.task.formula import Formula, literal
from epigym.task.task import EState


def build_initial_state(expander: Expander, fluents: tuple[str, ...]) -> EState:
    """Build the initial e-state of the expander's problem.

    Args:
        expander: expands the problem's formulas.
        fluents: names of the fluents, in the task's order.

    Returns:
        The e-state, with worlds as declared; or, for a theory, in binary counting order of their valuations, the last
        fluent least significant.

    Raises:
        ParseError: if no world satisfies a theory.
        LimitError: if a theory has too many worlds.
    """
    model = expander.spec.problem.inits[0].model
    facts = {expander.fluent(fact).name for fact in expander.facts if fact[0] not in expander.rigid}
    if isinstance(model, syntax.ExplicitModel):
        return _build_explicit(expander, model, facts)
    return _Theory(expander, model, facts).build(fluents)


def _build_explicit(expander: Expander, model: syntax.ExplicitModel, facts: set[str]) -> EState:
    worlds = tuple(map(str, model.worlds))
    relations = {str(agent): pairs for agent, pairs in model.relations}
    agents = expander.members(("agent",))
    missing = [agent for agent in agents if agent not in relations]
    if missing:
        _warn(expander, f"no relation for {', '.join(missing)}: inconsistent beliefs at all worlds")
    rows = {agent: expander.expand_relation(pairs, "world", worlds) for agent, pairs in relations.items()}
    empty = (frozenset[int](),) * len(worlds)
    labels = {str(world): frozenset(_list_names(expander, atoms)) for world, atoms in model.labels}
    return EState(
        valuations=tuple(labels.get(world, frozenset()) | facts for world in worlds),
        successors=tuple(rows.get(agent, empty) for agent in agents),
        designated=tuple(sorted({worlds.index(world) for world in model.designated})),
    )


def _list_names(expander: Expander, atoms: terms.List[terms.Atom]) -> list[str]:
    def name(atom: terms.Atom) -> Callable[[Assignment], list[str]]:
        key = expander.compile_key(atom)
        return lambda assignment: [expander.fluent(key(assignment)).name]

    return list(expander.compile_list(atoms, "object", name)({}))


def _warn(expander: Expander, message: str) -> None:
    expander.spec.problem_source.warn(message, expander.spec.problem.inits[0].place, ReadingWarning)


class _Theory:
    """A finitary S5 theory, sorted by the shape of its formulas.

    Attributes:
        actual: formulas that hold at the designated worlds.
        common: formulas that are common knowledge.
        known: for each agent the formulas whose truth it knows, as common knowledge.
        unknown: for each agent the formulas whose truth it does not know, as common knowledge.
    """

    def __init__(self, expander: Expander, formulas: terms.List[terms.Formula], facts: set[str]) -> None:
        self.expander = expander
        agents = expander.members(("agent",))
        self.actual: list[Formula] = []
        self.common: list[Formula] = [
            literal(name, name in facts)
            for predicate in expander.spec.domain.predicates
            if predicate.is_fact and predicate.name not in expander.rigid
            for name in map("_".join, expander.ground_atoms(predicate))
        ]
        self.known: dict[str, list[Formula]] = {agent: [] for agent in agents}
        self.unknown: dict[str, list[Formula]] = {agent: [] for agent in agents}
        for target, formula in expander.compile_list(formulas, "object", self._compile_entry)({}):
            target.append(formula)

    def _compile_entry(self, formula: terms.Formula) -> Callable[[Assignment], list[tuple[list[Formula], Formula]]]:
        if not isinstance(formula, terms.Modal):
            build = self.expander.compile_formula(formula)
            return lambda assignment: [(self.actual, build(assignment))]
        inner = formula.operand
        if not isinstance(inner, terms.Modal):
            build = self.expander.compile_formula(inner)
            return lambda assignment: [(self.common, build(assignment))]
        build, agent = self.expander.compile_formula(inner.operand), str(inner.group)
        if inner.kind is None:  # in S5, common knowledge of an agent's knowledge makes its content common knowledge
            return lambda assignment: [(self.common, build(assignment))]
        table = self.known if inner.is_box else self.unknown
        return lambda assignment: [(table[assignment.get(agent, agent)], build(assignment))]

    def build(self, fluents: tuple[str, ...]) -> EState:
        source, place = self.expander.spec.problem_source, self.expander.spec.problem.inits[0].place
        try:
            worlds = find_models(self.common, fluents)
        except LimitError as error:
            raise LimitError(f"{place.location}: {error}") from None
        if not len(worlds):
            raise source.error("no world satisfies the common knowledge: the theory contradicts itself", place)
        columns = dict(zip(fluents, worlds.T, strict=True))
        designated = np.ones(len(worlds), dtype=np.bool_)
        for formula in self.actual:
            designated &= evaluate(formula, columns)
        if not designated.any():
            raise source.error("no world of the theory satisfies the formulas outside [C. All]", place)
        return EState(
            valuations=list_valuations(worlds, fluents),
            successors=tuple(list_rows(self._number_classes(agent, columns, len(worlds))) for agent in self.known),
            designated=tuple(np.flatnonzero(designated).tolist()),
        )

    def _number_classes(self, agent: str, columns: Mapping[str, Column], count: int) -> NDArray[np.int64]:
        found = number_classes(self.known[agent], columns, count)
        sizes = np.bincount(found)
        for formula in self.unknown[agent]:
            true = np.bincount(found, evaluate(formula, columns) & np.ones(count, dtype=np.bool_))
            if ((true == 0) | (true == sizes)).any():
                _warn(self.expander, f"agent {agent!r} is said not to know whether {formula}, but does in some world")
        return found
