"""Expands formulas, lists and comprehensions over the entities of a problem.

As every ground action expands the same formulas, they are compiled once into closures over an assignment of
variables. Conditions after `|` are tested as soon as their variables are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, product
from typing import Final, TypeAlias, TypeVar

from epigym.errors import LimitError
from epigym.language.epddl import terms as syntax
from epigym.language.epddl.readings import Readings
from epigym.language.epddl.syntax import EventPair, Predicate
from epigym.language.epddl.types import Specification, types_of
from epigym.language.modalities import make_modal
from epigym.task.formula import FALSE, TRUE, Formula, and_, fluent, implies, not_, or_

T = TypeVar("T")
U = TypeVar("U")
Assignment: TypeAlias = dict[str, str]
Test: TypeAlias = Callable[[Assignment], bool]
Builder: TypeAlias = Callable[[Assignment], Formula]
Expansion: TypeAlias = Callable[[Assignment], Iterator[T]]
MAX_INSTANCES: Final = 2**20
"""The most instances of a predicate or an action: short texts can have too many for memory."""
MAX_EXPANDED: Final = 2**24
"""The most instances of a quantifier or list in a problem, for all actions and quantifiers around it together."""


def limit_instances(instances: Iterable[T], kind: str, name: syntax.Symbol) -> Iterator[T]:
    """Yield the instances of a predicate or an action. Raises LimitError after `MAX_INSTANCES`."""
    return _limit(instances, MAX_INSTANCES, count(), kind, name)


def _limit(instances: Iterable[T], most: int, counts: Iterator[int], kind: str, name: syntax.Symbol) -> Iterator[T]:
    for instance, number in zip(instances, counts, strict=False):
        if number == most:
            message = f"{kind} {str(name)!r} has more than {most} instances: give its variables narrower types"
            raise LimitError(f"{name.location}: {message}")
        yield instance


class Expander:
    """Compiles syntax into functions of an assignment.

    An expansion binds its variables in the given assignment: consume it before changing the assignment.

    Attributes:
        spec: the checked specification.
        facts: the initially true facts, each as (predicate, arguments...).
        rigid: predicates that never change; constants replace their atoms.
        readings: collects constructs that the official toolkit reads differently.
    """

    def __init__(self, spec: Specification, readings: Readings) -> None:
        self.spec = spec
        self.readings = readings
        section = spec.problem.facts
        atoms = section[0].atoms if section else ()
        self.facts = frozenset((str(atom.predicate), *map(str, atom.arguments)) for atom in atoms)
        self.rigid = frozenset(name for name, predicate in spec.predicates.items() if predicate.is_fact)
        self._members: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._fluents: dict[tuple[str, ...], Formula] = {}

    def members(self, types: tuple[str, ...]) -> tuple[str, ...]:
        """The entities of any of the types, in entity order."""
        if types not in self._members:
            self._members[types] = tuple(map(str, self.spec.members(types)))
        return self._members[types]

    def ground_atoms(self, predicate: Predicate) -> Iterator[tuple[str, ...]]:
        """The ground atoms (predicate, arguments...) of a predicate; the last argument varies fastest."""
        domains = [self.members(types_of(variable, "object")) for variable in predicate.parameters]
        return product([str(predicate.name)], *domains)

    def fluent(self, atom: tuple[str, ...]) -> Formula:
        """The fluent of a ground atom."""
        if atom not in self._fluents:
            self._fluents[atom] = fluent("_".join(atom))
        return self._fluents[atom]

    # Binders and lists

    def compile_assignments(
        self, binder: syntax.Binder, default: str, members: Sequence[str] | None = None
    ) -> Expansion[Assignment]:
        """Compile a binder into its assignments; the last variable varies fastest.

        Args:
            binder: variables and condition.
            default: type of untyped variables.
            members: the domain of the variables, if it is not the entities of their types.
        """
        names = [str(variable.name) for variable in binder.variables]
        domains = [members or self.members(types_of(variable, default)) for variable in binder.variables]
        tests: list[list[Test]] = [[] for _ in range(len(names) + 1)]
        for conjunct in syntax.conjuncts(binder.condition):
            mentioned = syntax.variables(conjunct)
            level = max((index + 1 for index, name in enumerate(names) if name in mentioned), default=0)
            tests[level].append(self.compile_test(conjunct))

        def bind(assignment: Assignment, level: int) -> Iterator[Assignment]:
            if not all(test(assignment) for test in tests[level]):
                return
            if level == len(names):
                yield assignment
                return
            for value in domains[level]:
                assignment[names[level]] = value
                yield from bind(assignment, level + 1)

        return lambda assignment: bind(assignment, 0)

    def compile_list(
        self,
        elements: syntax.List[T],
        default: str,
        compile_item: Callable[[T], Callable[[Assignment], Iterable[U]]],
        members: Sequence[str] | None = None,
    ) -> Expansion[U]:
        """Compile a list into its elements.

        Args:
            elements: the list.
            default: type of untyped variables.
            compile_item: compiles an item of the list into a function from assignments to its elements.
            members: the domain of the variables, if it is not the entities of their types.
        """
        if isinstance(elements, syntax.Item):
            item = compile_item(elements.value)
            return lambda assignment: iter(item(assignment))
        if isinstance(elements, syntax.Several):
            parts = [self.compile_list(part, default, compile_item, members) for part in elements.parts]
            return lambda assignment: (element for part in parts for element in part(assignment))
        bind = self.compile_assignments(elements.binder, default, members)
        if members is None:  # relations may have a pair for each two of many worlds
            bind = _limit_expanded(bind, "list", elements.place)
        body = self.compile_list(elements.body, default, compile_item, members)
        return lambda assignment: (element for inner in bind(assignment) for element in body(inner))

    def expand_relation(
        self, pairs: syntax.List[EventPair], default: str, members: tuple[str, ...]
    ) -> tuple[frozenset[int], ...]:
        """Expand a relation into the successors of each member, as numbers; equal rows are one object."""
        number = {name: index for index, name in enumerate(members)}
        successors: list[set[int]] = [set() for _ in members]
        for source, target in self.compile_list(pairs, default, _compile_pair, members)({}):
            successors[number[source]].add(number[target])
        shared: dict[frozenset[int], frozenset[int]] = {}
        return tuple(shared.setdefault(row, row) for row in map(frozenset, successors))

    # Conditions on facts

    def is_static(self, formula: syntax.Formula) -> bool:
        """Whether a formula without quantifiers depends on rigid facts and equality alone."""
        if isinstance(formula, syntax.Atom):
            return formula.predicate in self.rigid
        if isinstance(formula, syntax.Modal | syntax.Quantified):
            return False
        return all(map(self.is_static, syntax.children(formula)))

    def compile_test(self, condition: syntax.Formula) -> Test:
        """Compile a condition over facts and equality into its truth at the initial facts."""
        match condition:
            case syntax.Constant(value):
                return lambda assignment: value == "true"
            case syntax.Atom():
                key, facts = self.compile_key(condition), self.facts
                return lambda assignment: key(assignment) in facts
            case syntax.Equality(sign, left, right):
                first, second, equal = str(left), str(right), sign == "="
                return lambda values: (values.get(first, first) == values.get(second, second)) == equal
            case syntax.Negation(_, operand):
                inner = self.compile_test(operand)
                return lambda assignment: not inner(assignment)
            case syntax.Junction(_, operands):
                parts = [self.compile_test(operand) for operand in operands]
                decide = all if condition.is_conjunction else any
                return lambda assignment: decide(part(assignment) for part in parts)
            case syntax.Implication(_, premise, conclusion):
                before, after = self.compile_test(premise), self.compile_test(conclusion)
                return lambda assignment: not before(assignment) or after(assignment)
            case syntax.Quantified(_, binder, body):
                bind = _limit_expanded(self.compile_assignments(binder, "object"), "quantifier", condition.place)
                inner, quantify = self.compile_test(body), all if condition.is_universal else any
                return lambda assignment: quantify(inner(values) for values in bind(assignment))
            case _:
                raise AssertionError(f"no condition on facts: {condition}")

    def compile_key(self, atom: syntax.Atom) -> Callable[[Assignment], tuple[str, ...]]:
        """Compile an atom into its ground atom (predicate, arguments...)."""
        predicate, arguments = str(atom.predicate), [str(argument) for argument in atom.arguments]
        return lambda values: (predicate, *map(values.get, arguments, arguments))

    # Formulas

    def compile_formula(self, formula: syntax.Formula) -> Builder:
        """Compile a formula into its ground formula, with rigid facts as constants."""
        match formula:
            case syntax.Atom(predicate):
                key, facts = self.compile_key(formula), self.facts
                if predicate in self.rigid:
                    return lambda assignment: TRUE if key(assignment) in facts else FALSE
                return lambda assignment: self.fluent(key(assignment))
            case syntax.Constant() | syntax.Equality():
                test = self.compile_test(formula)
                return lambda assignment: TRUE if test(assignment) else FALSE
            case syntax.Negation(_, operand):
                inner = self.compile_formula(operand)
                return lambda assignment: not_(inner(assignment))
            case syntax.Junction():
                return self._compile_junction(formula.is_conjunction, formula.operands)
            case syntax.Implication(_, premise, conclusion):
                before, after = self.compile_formula(premise), self.compile_formula(conclusion)
                return lambda assignment: implies(before(assignment), after(assignment))
            case syntax.Quantified(_, binder, body):
                for variable in binder.variables:
                    if not variable.types:
                        self.readings.note("untyped", variable.name)
                bind = _limit_expanded(self.compile_assignments(binder, "object"), "quantifier", formula.place)
                inner = self.compile_formula(body)
                return lambda assignment: _join(formula.is_universal, map(inner, bind(assignment)))
            case syntax.Modal():
                return self._compile_modal(formula)

    def _compile_junction(self, conjunctive: bool, operands: tuple[syntax.Formula, ...]) -> Builder:
        """Test static parts first: they often decide the junction without building formulas."""
        tests = [self.compile_test(operand) for operand in operands if self.is_static(operand)]
        parts = [self.compile_formula(operand) for operand in operands if not self.is_static(operand)]

        def build(assignment: Assignment) -> Formula:
            for test in tests:
                if test(assignment) != conjunctive:
                    return FALSE if conjunctive else TRUE
            return _join(conjunctive, (part(assignment) for part in parts))

        return build

    def _compile_modal(self, formula: syntax.Modal) -> Builder:
        group, operand = self._compile_group(formula.group), self.compile_formula(formula.operand)
        kind, is_box = (formula.kind or "").rstrip("."), formula.is_box

        def build(assignment: Assignment) -> Formula:
            agents = group(assignment)
            if len(agents) != 1 and kind != "C" and not is_box:
                self.readings.note("group diamond", formula.place)
            return make_modal(kind, is_box, agents, operand(assignment), one_by_one=self.readings.plank_compat)

        return build

    def _compile_group(
        self, group: syntax.Symbol | syntax.List[syntax.Group]
    ) -> Callable[[Assignment], tuple[str, ...]]:
        if not isinstance(group, syntax.Symbol):
            expand = self.compile_list(group, "agent", _compile_terms)
            return lambda assignment: tuple(dict.fromkeys(expand(assignment)))
        if group == "All":
            agents = self.members(("agent",))
            return lambda assignment: agents
        term = str(group)
        named = {
            str(name): tuple(dict.fromkeys(self.compile_list(declared.members, "agent", _compile_terms)({})))
            for name, declared in self.spec.groups.items()
        }

        def lookup(assignment: Assignment) -> tuple[str, ...]:
            value = assignment.get(term, term)
            return named.get(value, (value,))

        return lookup


def _limit_expanded(bind: Expansion[Assignment], kind: str, place: syntax.Symbol) -> Expansion[Assignment]:
    counts = count()
    return lambda assignment: _limit(bind(assignment), MAX_EXPANDED, counts, kind, place)


def _compile_pair(names: EventPair) -> Callable[[Assignment], list[tuple[str, str]]]:
    first, second = map(str, names)
    return lambda values: [(values.get(first, first), values.get(second, second))]


def _compile_terms(members: syntax.Group) -> Callable[[Assignment], list[str]]:
    return lambda values: [values.get(str(member), str(member)) for member in members]


def _join(conjunctive: bool, formulas: Iterable[Formula]) -> Formula:
    """The conjunction or disjunction; stops at the first part that decides it."""
    absorbing = FALSE if conjunctive else TRUE
    parts = []
    for formula in formulas:
        if formula is absorbing:
            return absorbing
        parts.append(formula)
    return and_(*parts) if conjunctive else or_(*parts)
