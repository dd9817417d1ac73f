"""Checks the static rules of EPDDL: declared names, types of arguments, and the content of sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import TypeAlias, TypeVar

from epigym.language.epddl.readings import ReadingWarning
from epigym.language.epddl.syntax import (
    ActionSchema,
    ActionType,
    Conditional,
    DefaultObserver,
    Effect,
    EventCall,
    EventSchema,
    ExplicitModel,
    LibraryFile,
    Literal,
    Observability,
)
from epigym.language.epddl.terms import (
    NOTHING,
    Atom,
    Binder,
    Each,
    Equality,
    Formula,
    Group,
    Item,
    List,
    Modal,
    Quantified,
    Several,
    Symbol,
    Typed,
    children,
    items,
    subformulas,
)
from epigym.language.epddl.types import INNER, Specification, declare, declare_action_types, types_of
from epigym.language.source import SourceText
from epigym.names import unknown

T = TypeVar("T")
Scope: TypeAlias = Mapping[str, tuple[str, ...]]
_CONDITIONS = frozenset(
    [":propositional-precondition", ":propositional-postconditions", ":propositional-event"]
    + [f":{trivial}-{part}" for trivial in ("trivial", "non-trivial") for part in ("precondition", "postconditions")]
    + [":trivial-event", ":non-trivial-event"]
)


def check(spec: Specification, libraries: Iterable[tuple[LibraryFile, SourceText]]) -> None:
    """Enter all declarations into `spec` and check their uses.

    Raises:
        ParseError: at the first violation.
    """
    libraries = list(libraries)
    _check_titles(spec, libraries)
    for library, source in libraries:
        declare_action_types(spec, library, source)
    declare(spec)
    for library, source in libraries:
        for action_type in library.action_types:
            _Checker(source, spec).check_action_type(action_type)
    _Checker(spec.domain_source, spec).check_domain()
    _Checker(spec.problem_source, spec).check_problem()


def _check_titles(spec: Specification, libraries: list[tuple[LibraryFile, SourceText]]) -> None:
    domain, problem = spec.domain, spec.problem
    if problem.domain != domain.name:
        message = f"the problem is for domain {str(problem.domain)!r}, the domain file declares {str(domain.name)!r}"
        raise spec.problem_source.error(message, problem.domain)
    seen = {domain.name: "the domain"}
    for kind, name, source in [("the problem", problem.name, spec.problem_source)] + [
        ("a library", library.name, source) for library, source in libraries
    ]:
        if name in seen:
            raise source.error(f"{kind} and {seen[name]} are both called {str(name)!r}; rename one of them", name)
        seen[name] = kind
    passed = [library.name for library, _ in libraries]
    for name in domain.libraries:
        if name not in passed:
            hint = f"pass its file (libraries given: {', '.join(passed) or 'none'})"
            raise spec.domain_source.error(f"the action-type library {str(name)!r} is missing: {hint}", name)


def _list_literals(
    effects: List[Effect] | List[Literal], context: tuple[Binder | Formula, ...] = ()
) -> Iterator[tuple[tuple[Binder | Formula, ...], Literal]]:
    """The literals of effects, each with the binders and conditions around it."""
    match effects:
        case Item(Conditional() as effect):
            yield from _list_literals(effect.literals, (*context, effect.condition))
        case Item(Literal() as literal):
            yield context, literal
        case Several(_, parts):
            for part in parts:
                yield from _list_literals(part, context)
        case Each(_, binder, body):
            yield from _list_literals(body, (*context, binder))


def _count(things: Sized, noun: str) -> str:
    return f"{len(things)} {noun}" + "s" * (len(things) != 1)


class _Checker:
    """The rules for one file."""

    def __init__(self, source: SourceText, spec: Specification) -> None:
        self.source = source
        self.spec = spec

    # Names, terms and types

    def require_unique(self, names: Iterable[Symbol], what: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise self.source.error(f"{what} {str(name)!r} is declared twice", name)
            seen.add(name)

    def require_agreement(self, entries: Iterable[tuple[Symbol, object]], what: str) -> None:
        """Allow equal entries of a name to be repeated, as in published problems, but no different ones."""
        first: dict[Symbol, object] = {}
        for name, entry in entries:
            if first.setdefault(name, entry) != entry:
                raise self.source.error(f"a second {what} {str(name)!r}, unlike the first; keep one", name)

    def require_declared(self, name: Symbol, what: str, table: Iterable[str]) -> None:
        table = list(table)
        if name not in table:
            raise self.source.error(unknown(what, name, table), name)

    def require_new(self, names: Iterable[Symbol], what: str) -> None:
        """Require that names of inner scopes differ from names of entities."""
        for name in names:
            if name in self.spec.entities:
                message = f"the {what} {str(name)!r} has the name of a declared {self.spec.entities[name]}; rename it"
                raise self.source.error(message, name)

    def find_types(self, term: Symbol, scope: Scope) -> tuple[str, ...]:
        """Find the types of a declared term."""
        if term in scope:
            return scope[term]
        if term.is_variable:
            raise self.source.error(unknown("variable", term, scope), term)
        self.require_declared(
            term, "name", [*self.spec.entities, *(name for name in scope if not name.startswith("?"))]
        )
        return (self.spec.entities[term],)

    def check_argument(self, term: Symbol, formal: tuple[str, ...], scope: Scope, what: str) -> None:
        types = self.find_types(term, scope)
        if not self.spec.types.fits(types, formal):
            found, expected = " or ".join(types), " or ".join(formal)
            raise self.source.error(f"{str(term)!r} has type {found}, {what} expects {expected}", term)

    def check_arguments(
        self, name: Symbol, terms: tuple[Symbol, ...], formals: tuple[Typed, ...], scope: Scope
    ) -> None:
        if len(terms) != len(formals):
            raise self.source.error(f"{str(name)!r} takes {_count(formals, 'argument')}, found {len(terms)}", name)
        for term, formal in zip(terms, formals, strict=True):
            self.check_argument(term, types_of(formal, "object"), scope, f"{str(name)!r}")

    def extend_scope(self, variables: Iterable[Typed], scope: Scope, default: str) -> dict[str, tuple[str, ...]]:
        """Extend a scope by variables."""
        inner = dict(scope)
        for variable in variables:
            if variable.name in inner:
                raise self.source.error(f"variable {str(variable.name)!r} is already bound here", variable.name)
            for kind in variable.types:
                self.require_declared(kind, "type", self.spec.types)
                if (kind if kind in INNER else "entity") != (default if default in INNER else "entity"):
                    raise self.source.error(f"variables of type {str(kind)!r} cannot be used here", kind)
            inner[variable.name] = types_of(variable, default)
        return inner

    def check_binder(self, binder: Binder, scope: Scope, default: str) -> dict[str, tuple[str, ...]]:
        inner = self.extend_scope(binder.variables, scope, default)
        if binder.condition is not None:
            self.check_formula(binder.condition, inner, facts_only=True)
        return inner

    def check_elements(self, elements: List[T], scope: Scope, default: str, check: Callable[[T, Scope], None]) -> None:
        match elements:
            case Item(value):
                check(value, scope)
            case Several(_, parts):
                for part in parts:
                    self.check_elements(part, scope, default, check)
            case Each(binder=binder, body=body):
                self.check_elements(body, self.check_binder(binder, scope, default), default, check)

    # Formulas

    def check_atom(self, atom: Atom, scope: Scope) -> None:
        self.require_declared(atom.predicate, "predicate", self.spec.predicates)
        self.check_arguments(atom.predicate, atom.arguments, self.spec.predicates[atom.predicate].parameters, scope)

    def check_formula(self, formula: Formula, scope: Scope, *, facts_only: bool = False) -> None:
        match formula:
            case Atom():
                self.check_atom(formula, scope)
                if facts_only and not self.spec.predicates[formula.predicate].is_fact:
                    message = f"only facts may occur in a '|' condition, {str(formula.predicate)!r} is no :fact"
                    raise self.source.error(message, formula.predicate)
            case Equality(_, left, right):
                self.find_types(left, scope)
                self.find_types(right, scope)
            case Modal():
                if facts_only:
                    raise self.source.error("a '|' condition must not contain modalities", formula.place)
                self.check_group(formula, scope)
                self.check_formula(formula.operand, scope)
            case Quantified(_, binder, body):
                self.check_formula(body, self.check_binder(binder, scope, "object"), facts_only=facts_only)
            case _:
                for child in children(formula):
                    self.check_formula(child, scope, facts_only=facts_only)

    def check_group(self, modal: Modal, scope: Scope) -> None:
        group = modal.group
        if not isinstance(group, Symbol):
            self.check_elements(group, scope, "agent", self.check_members("agent", "a group of agents"))
        elif group != "All":
            self.check_argument(group, ("agent", "agent-group"), scope, "a modality")
            if modal.kind == "C." and self.spec.types.fits(self.find_types(group, scope), ("agent",)):
                raise self.source.error(f"'C.' needs a group of agents; write [C. ({group})]", group)

    def check_members(self, kind: str, what: str) -> Callable[[Group, Scope], None]:
        """Make the check that all words of a list's item have a type."""

        def check(members: Group, scope: Scope) -> None:
            for member in members:
                self.check_argument(member, (kind,), scope, what)

        return check

    # Domain

    def check_domain(self) -> None:
        for predicate in self.spec.domain.predicates:
            self.extend_scope(predicate.parameters, {}, "object")
        for event in self.spec.domain.events:
            self.check_event(event)
        for action in self.spec.domain.actions:
            self.check_action(action)

    def check_event(self, event: EventSchema) -> None:
        scope = self.extend_scope(event.parameters, {}, "object")
        if event.precondition is not None:
            self.check_formula(event.precondition, scope)
        if event.effects is not None:
            self.check_elements(event.effects, scope, "object", self.check_effect)
            self.warn_about_contradictions(event)

    def warn_about_contradictions(self, event: EventSchema) -> None:
        """Warn about atoms that an event adds and deletes under the same condition, in the same words."""
        stated: dict[tuple[object, ...], bool] = {}
        for context, literal in _list_literals(event.effects or NOTHING):
            atom = literal.atom
            if stated.setdefault((*context, atom), literal.positive) is not literal.positive:
                is_conditional = any(not isinstance(one, Binder) for one in context)
                when = "under the same condition" if is_conditional else "without a condition"
                name = f"({' '.join((atom.predicate, *atom.arguments))})"
                message = f"event {str(event.name)!r} both adds and deletes {name} {when}: it is added"
                self.source.warn(message, atom.predicate, ReadingWarning)

    def check_effect(self, effect: Effect, scope: Scope) -> None:
        if isinstance(effect, Conditional):
            self.check_formula(effect.condition, scope)
            self.check_elements(effect.literals, scope, "object", self.check_literal)
        else:
            self.check_literal(effect, scope)

    def check_literal(self, literal: Literal, scope: Scope) -> None:
        self.check_atom(literal.atom, scope)

    def check_action(self, action: ActionSchema) -> None:
        scope = self.check_binder(action.binder, {}, "object")
        self.require_declared(action.action_type, "action type", self.spec.action_types)
        kind = self.spec.action_types[action.action_type]
        if len(action.events) != len(kind.events):
            message = f"action type {str(kind.name)!r} has {_count(kind.events, 'event')}, found {len(action.events)}"
            raise self.source.error(message, action.action_type)
        for call in action.events:
            self.require_declared(call.name, "event", self.spec.events)
            self.check_arguments(call.name, call.arguments, self.spec.events[call.name].parameters, scope)
        self.check_event_conditions(kind, action.events)
        self.check_observability(action, kind, scope)

    def check_event_conditions(self, kind: ActionType, calls: tuple[EventCall, ...]) -> None:
        conditions = dict(kind.conditions)
        for variable, call in zip(kind.events, calls, strict=True):
            for condition in conditions.get(variable, ()):
                if not _satisfies(self.spec.events[call.name], condition):
                    message = f"event {str(call.name)!r} is not {condition[1:]!r}, as {str(kind.name)!r} demands"
                    raise self.source.error(message, call.name)

    def check_observability(self, action: ActionSchema, kind: ActionType, scope: Scope) -> None:
        if action.observability is None:
            if kind.name != "basic":
                message = f"action {str(action.name)!r} needs :observability-conditions for type {str(kind.name)!r}"
                raise self.source.error(message, action.name)
            return
        defaults = [entry for entry in items(action.observability) if isinstance(entry, DefaultObserver)]
        if len(defaults) > 1:
            raise self.source.error(f"action {str(action.name)!r} has more than one default", defaults[1].place)

        def check(entry: Observability, scope: Scope) -> None:
            if isinstance(entry, DefaultObserver):
                self.require_declared(entry.type, "observability type", kind.types)
                return
            self.check_argument(entry.agent, ("agent",), scope, "an observability condition")
            for condition, observability_type in entry.branches:
                self.check_formula(condition, scope)
                self.require_declared(observability_type, "observability type", kind.types)
            if entry.otherwise is not None:
                self.require_declared(entry.otherwise, "observability type", kind.types)

        self.check_elements(action.observability, scope, "agent", check)

    # Libraries

    def check_action_type(self, kind: ActionType) -> None:
        self.require_unique(kind.events, "event variable")
        self.require_unique(kind.types, "observability type")
        self.require_new(kind.types, "observability type")
        scope: Scope = dict.fromkeys(kind.events, ("event",))
        self.require_agreement(kind.relations, "relation of observability type")
        self.require_agreement(kind.conditions, "list of conditions of event variable")
        for name, pairs in kind.relations:
            self.require_declared(name, "observability type", kind.types)
            self.check_elements(pairs, scope, "event", self.check_members("event", "a relation on events"))
        for variable in (*kind.designated, *(variable for variable, _ in kind.conditions)):
            self.require_declared(variable, "event variable", kind.events)
        for _, conditions in kind.conditions:
            for condition in conditions:
                self.require_declared(condition, "event condition", _CONDITIONS)

    # Problem

    def check_problem(self) -> None:
        problem, source = self.spec.problem, self.source
        for group in problem.groups:
            self.check_elements(group.members, {}, "agent", self.check_members("agent", "a group of agents"))
        seconds = [section.place for section in problem.facts[1:]] + [section.place for section in problem.inits[1:]]
        for place in seconds:
            raise source.error(f"a second {place}; write one", place)
        if not problem.inits:
            raise source.error("the problem has no :init", problem.name)
        if not problem.goals:
            raise source.error("the problem has no :goal; a goal that always holds is (:goal (true))", problem.name)
        for fact in problem.facts[0].atoms if problem.facts else ():
            self.check_atom(fact, {})
            if not self.spec.predicates[fact.predicate].is_fact:
                raise source.error(f"{str(fact.predicate)!r} is no :fact, so it belongs into :init", fact.predicate)
        model = problem.inits[0].model
        if isinstance(model, ExplicitModel):
            self.check_explicit_model(model)
        else:
            self.check_elements(model, {}, "object", self.check_theory_formula)
        for goal in problem.goals:
            self.check_formula(goal.formula, {})

    def check_explicit_model(self, model: ExplicitModel) -> None:
        self.require_unique(model.worlds, "world")
        self.require_new(model.worlds, "world")
        scope: Scope = dict.fromkeys(model.worlds, ("world",))
        self.require_agreement(model.relations, "relation of agent")
        self.require_agreement(model.labels, "label of world")
        for agent, pairs in model.relations:
            self.check_argument(agent, ("agent",), {}, ":relations")
            self.check_elements(pairs, scope, "world", self.check_members("world", "a relation on worlds"))
        for world, atoms in model.labels:
            self.require_declared(world, "world", model.worlds)
            self.check_elements(atoms, {}, "object", self.check_atom)
        for world in model.designated:
            self.require_declared(world, "world", model.worlds)

    def check_theory_formula(self, formula: Formula, scope: Scope) -> None:
        self.check_formula(formula, scope)
        inner = formula
        if isinstance(formula, Modal) and formula.kind == "C." and formula.is_box:
            if formula.group != "All":
                raise self.source.error("the only group of a theory is All: write [C. All]", formula.place)
            inner = formula.operand
            if isinstance(inner, Modal) and self.is_theory_modality(inner, scope):
                inner = inner.operand
        found = _first_modality(inner)
        if found is not None:
            shapes = "(f), ([C. All] (f)), ([C. All] ([i] (f))), ([C. All] ([Kw. i] (f))), ([C. All] (<Kw. i> (f)))"
            raise self.source.error(f"a theory has formulas {shapes} with f propositional", found.place)

    def is_theory_modality(self, modal: Modal, scope: Scope) -> bool:
        group = modal.group
        if (
            isinstance(group, Symbol)
            and group != "All"
            and self.spec.types.fits(self.find_types(group, scope), ["agent"])
        ):
            return modal.kind == "Kw." or (modal.kind is None and modal.is_box)
        return False


def _first_modality(formula: Formula) -> Modal | None:
    """The first modality of a formula in textual order."""
    return next((part for part in subformulas(formula) if isinstance(part, Modal)), None)


def _satisfies(event: EventSchema, condition: str) -> bool:
    """Whether an event meets an event condition, according to its syntax."""
    kind, _, part = condition[1:].rpartition("-")
    checks = []
    if part in ("precondition", "event"):
        trivial = event.precondition is None or str(event.precondition.place) == "true"
        formulas = [] if event.precondition is None else [event.precondition]
        checks.append(_meets(kind, trivial, formulas))
    if part in ("postconditions", "event"):
        effects = [] if event.effects is None else list(items(event.effects))
        conditions = [effect.condition for effect in effects if isinstance(effect, Conditional)]
        checks.append(_meets(kind, not effects, conditions))
    return all(checks)


def _meets(kind: str, trivial: bool, formulas: list[Formula]) -> bool:
    if kind == "propositional":
        return all(_first_modality(formula) is None for formula in formulas)
    return trivial if kind == "trivial" else not trivial
