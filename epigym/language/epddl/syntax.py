"""Abstract syntax of EPDDL, part two: domains, libraries and problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from epigym.language.epddl.terms import Atom, Binder, Formula, Group, List, Symbol, Typed

# Domains.


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom or its negation."""

    atom: Atom
    positive: bool


@dataclass(frozen=True, slots=True)
class Conditional:
    """`(when condition literals)` or `(iff condition literals)`."""

    place: Symbol
    condition: Formula
    literals: List[Literal]


Effect: TypeAlias = Literal | Conditional


@dataclass(frozen=True, slots=True)
class Predicate:
    """A declared predicate; `fact` is the word `:fact` of a static predicate."""

    fact: Symbol | None
    name: Symbol
    parameters: tuple[Typed, ...]

    @property
    def is_fact(self) -> bool:
        """Whether it is declared as a fact."""
        return self.fact is not None


@dataclass(frozen=True, slots=True)
class EventSchema:
    """A declared event."""

    name: Symbol
    parameters: tuple[Typed, ...]
    precondition: Formula | None
    effects: List[Effect] | None


@dataclass(frozen=True, slots=True)
class EventCall:
    """An event of an action, with its arguments."""

    name: Symbol
    arguments: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Observer:
    """An agent's observability.

    Attributes:
        agent: a term.
        branches: (condition, observability type) of the if-chain, empty when unconditional.
        otherwise: the type when no branch applies, if given.
    """

    agent: Symbol
    branches: tuple[tuple[Formula, Symbol], ...]
    otherwise: Symbol | None


@dataclass(frozen=True, slots=True)
class DefaultObserver:
    """The observability type of all other agents."""

    place: Symbol
    type: Symbol


Observability: TypeAlias = Observer | DefaultObserver


@dataclass(frozen=True, slots=True)
class ActionSchema:
    """A declared action."""

    name: Symbol
    binder: Binder
    action_type: Symbol
    events: tuple[EventCall, ...]
    observability: List[Observability] | None


@dataclass(frozen=True, slots=True)
class DomainFile:
    """A domain file."""

    name: Symbol
    requirements: tuple[Symbol, ...] = ()
    libraries: tuple[Symbol, ...] = ()
    types: tuple[Typed, ...] = ()
    constants: tuple[Typed, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    events: tuple[EventSchema, ...] = ()
    actions: tuple[ActionSchema, ...] = ()


# Libraries.

EventPair: TypeAlias = tuple[Symbol, Symbol]


@dataclass(frozen=True, slots=True)
class ActionType:
    """A declared action type.

    Attributes:
        name: its name.
        events: its event variables.
        types: its observability types.
        relations: (observability type, pairs of event variables), in textual order.
        designated: designated event variables.
        conditions: (event variable, names of conditions on the event bound to it).
    """

    name: Symbol
    events: tuple[Symbol, ...]
    types: tuple[Symbol, ...]
    relations: tuple[tuple[Symbol, List[EventPair]], ...]
    designated: tuple[Symbol, ...]
    conditions: tuple[tuple[Symbol, tuple[Symbol, ...]], ...]


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """An action-type library file."""

    name: Symbol
    requirements: tuple[Symbol, ...] = ()
    action_types: tuple[ActionType, ...] = ()


# Problems.


@dataclass(frozen=True, slots=True)
class AgentGroup:
    """A named group of agents."""

    name: Symbol
    types: tuple[Symbol, ...]
    members: List[Group]


@dataclass(frozen=True, slots=True)
class ExplicitModel:
    """An explicit initial state; relations and labels are in textual order."""

    worlds: tuple[Symbol, ...]
    relations: tuple[tuple[Symbol, List[EventPair]], ...]
    labels: tuple[tuple[Symbol, List[Atom]], ...]
    designated: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Init:
    """The `:init` section: a model, or the formulas of a finitary S5 theory."""

    place: Symbol
    model: ExplicitModel | List[Formula]


@dataclass(frozen=True, slots=True)
class Goal:
    """A `:goal` section."""

    place: Symbol
    formula: Formula


@dataclass(frozen=True, slots=True)
class FactsInit:
    """A `:facts-init` section."""

    place: Symbol
    atoms: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class ProblemFile:
    """A problem file."""

    name: Symbol
    domain: Symbol
    requirements: tuple[Symbol, ...] = ()
    objects: tuple[Typed, ...] = ()
    agents: tuple[Typed, ...] = ()
    groups: tuple[AgentGroup, ...] = ()
    facts: tuple[FactsInit, ...] = ()
    inits: tuple[Init, ...] = ()
    goals: tuple[Goal, ...] = ()
