"""Types, declared names, and the specification of domain, problem and libraries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from epigym.language.epddl.syntax import (
    ActionSchema,
    ActionType,
    AgentGroup,
    DomainFile,
    EventSchema,
    LibraryFile,
    Predicate,
    ProblemFile,
)
from epigym.language.epddl.terms import Item, Symbol, Typed
from epigym.language.source import SourceText
from epigym.names import unknown

BUILT_IN = {
    "entity": None,
    "object": "entity",
    "agent": "entity",
    "agent-group": "entity",
    "world": None,
    "event": None,
    "obs-type": None,
}
Declared = TypeVar("Declared", Predicate, EventSchema, ActionSchema, ActionType)
INNER = ("world", "event", "obs-type")
_EVENT = Symbol("?e")
_OBJECT = Symbol("object")
BASIC = ActionType(
    name=Symbol("basic"),
    events=(_EVENT,),
    types=(Symbol("Fully"),),
    relations=((Symbol("Fully"), Item((_EVENT, _EVENT))),),
    designated=(_EVENT,),
    conditions=(),
)


class Types(dict[str, str | None]):
    """The declared types with their parents."""

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The path from a type to its root, both included."""
        parent = self[name]
        return (str(name), *(self.ancestors(parent) if parent else ()))

    def fits(self, actual: Iterable[str], formal: Iterable[str]) -> bool:
        """Whether every type of `actual` is a subtype of a type of `formal`."""
        return all(set(self.ancestors(name)).intersection(formal) for name in actual)


@dataclass
class Specification:
    """A domain, a problem and libraries, checked for consistency.

    Attributes:
        domain: the domain.
        domain_source: its text.
        problem: the problem.
        problem_source: its text.
        libraries: names of the libraries.
        types: the tree of types.
        entities: type of every constant, object, agent and group, in entity order: domain constants first, then
            the problem's names in textual order.
        groups: named groups of agents.
        predicates: by name.
        events: by name.
        actions: in textual order.
        action_types: by name, the built-in `basic` included.
        requirements: all declared and implied requirements, sorted.
    """

    domain: DomainFile
    domain_source: SourceText
    problem: ProblemFile
    problem_source: SourceText
    libraries: tuple[str, ...] = ()
    types: Types = field(default_factory=lambda: Types(BUILT_IN))
    entities: dict[str, str] = field(default_factory=dict)
    groups: dict[str, AgentGroup] = field(default_factory=dict)
    predicates: dict[str, Predicate] = field(default_factory=dict)
    events: dict[str, EventSchema] = field(default_factory=dict)
    actions: dict[str, ActionSchema] = field(default_factory=dict)
    action_types: dict[str, ActionType] = field(default_factory=lambda: {"basic": BASIC})
    requirements: tuple[str, ...] = ()

    def members(self, types: tuple[str, ...]) -> tuple[str, ...]:
        """The entities of any of the types, in entity order."""
        return tuple(name for name, kind in self.entities.items() if self.types.fits((kind,), types))

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, in entity order."""
        return self.members(("agent",))


def types_of(variable: Typed, default: str) -> tuple[str, ...]:
    """The types of a variable, or the default if it is untyped."""
    return variable.types or (default,)


def declare_action_types(spec: Specification, library: LibraryFile, source: SourceText) -> None:
    """Enter the action types of a library.

    Raises:
        ParseError: for a duplicate name.
    """
    for action_type in library.action_types:
        if action_type.name == BASIC.name:
            raise source.error("the action type 'basic' is built in; choose another name", action_type.name)
    _enter(library.action_types, spec.action_types, "action type", source)


def declare(spec: Specification) -> None:
    """Enter the types, entities, predicates, events and actions of domain and problem.

    Raises:
        ParseError: for a duplicate name, or an unknown or unsuitable type.
    """
    _declare_types(spec)
    _declare_entities(spec)
    source = spec.domain_source
    _enter(spec.domain.predicates, spec.predicates, "predicate", source)
    _enter(spec.domain.events, spec.events, "event", source)
    _enter(spec.domain.actions, spec.actions, "action", source)


def _enter(declared: Iterable[Declared], table: dict[str, Declared], kind: str, source: SourceText) -> None:
    for entry in declared:
        if entry.name in table:
            raise source.error(f"{kind} {str(entry.name)!r} is declared twice", entry.name)
        table[entry.name] = entry


def _declare_types(spec: Specification) -> None:
    source = spec.domain_source
    for declared in spec.domain.types:
        name, (parent,) = declared.name, declared.types or (_OBJECT,)
        if name in BUILT_IN:
            raise source.error(f"the type {str(name)!r} is built in", name)
        if name in spec.types:
            raise source.error(f"type {str(name)!r} is declared twice", name)
        if parent == name:
            source.warn(f"type {str(name)!r} is its own parent: it is read as a child of 'object'", name)
            parent = _OBJECT
        if parent not in spec.types:
            if cycle := _find_cycle(spec.domain.types, name):
                message = f"types in a cycle, {' - '.join(cycle)}: give one of them another parent"
                raise source.error(message, name)
            if any(parent == other.name for other in spec.domain.types):
                raise source.error(f"type {str(parent)!r} must be declared before its subtypes", parent)
            raise source.error(unknown("type", parent, spec.types), parent)
        if parent in INNER:
            raise source.error(f"the type {str(parent)!r} cannot have subtypes", parent)
        spec.types[name] = parent


def _find_cycle(declared: Iterable[Typed], name: Symbol) -> list[Symbol]:
    """The first cycle of types from a type over its parents on; empty if there is none."""
    parents = {one.name: one.types[0] for one in declared if one.types and one.types[0] != one.name}
    path = [name]
    while (parent := parents.get(path[-1])) is not None:
        if parent in path:
            return [*path[path.index(parent) :], parent]
        path.append(parent)
    return []


def _declare_entities(spec: Specification) -> None:
    domain, problem = spec.domain, spec.problem
    for constant in domain.constants:
        _declare_entity(spec, spec.domain_source, constant, "object", "entity")
        if spec.types.fits((spec.entities[constant.name],), ("agent-group",)):
            message = f"the constant {str(constant.name)!r} cannot be a group of agents"
            raise spec.domain_source.error(
                f"{message}: the problem declares groups in :agent-groups", constant.types[0]
            )
    entries: list[tuple[Typed | AgentGroup, str]] = [(declared, "object") for declared in problem.objects]
    entries += [(declared, "agent") for declared in problem.agents]
    entries += [(group, "agent-group") for group in problem.groups]
    for entry, root in sorted(entries, key=lambda entry: (entry[0].name.line, entry[0].name.column)):
        _declare_entity(spec, spec.problem_source, entry, root, root)
    spec.groups.update((group.name, group) for group in problem.groups)
    if not spec.agents:
        raise spec.problem_source.error("no agent is declared: a problem needs at least one", problem.name)


def _declare_entity(
    spec: Specification, source: SourceText, entry: Typed | AgentGroup, default: str, root: str
) -> None:
    name, (kind,) = entry.name, entry.types or (None,)
    if name in spec.entities:
        raise source.error(f"{str(name)!r} is declared twice", name)
    if kind is not None and kind not in spec.types:
        raise source.error(unknown("type", kind, spec.types), kind)
    if kind is not None and not spec.types.fits((kind,), (root,)):
        raise source.error(f"{str(name)!r} must have a type below {root!r}, {str(kind)!r} is not", kind)
    spec.entities[name] = kind or default
