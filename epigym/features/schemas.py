"""The types of predicates, static facts, action schemas and objects, by what their instances do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from epigym.features.description import Description, describe, join_texts, list_texts
from epigym.features.roles import Roles, find_uses
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Task


class PredicateType(NamedTuple):
    """The type of a predicate.

    Attributes:
        arity: the number of its arguments.
        roles: those of its fluents in actions; None when it has no fluents, only static facts.
    """

    arity: int
    roles: frozenset[str] | None

    @property
    def text(self) -> Description:
        """The text, whose hash is the colour."""
        return describe("fact" if self.roles is None else "predicate", self.arity, list_texts(self.roles or ()))


class SchemaType(NamedTuple):
    """The type of an action schema.

    Attributes:
        arity: the number of its arguments.
        parts: the number of events of its actions, and the predicates in their preconditions and effects.
    """

    arity: int
    parts: tuple[Description, ...]

    @property
    def text(self) -> Description:
        """The text, whose hash is the colour."""
        return describe("action", self.arity, list_texts(self.parts))


class ObjectType(NamedTuple):
    """The type of an object.

    Attributes:
        is_agent: whether it is an agent.
        places: where objects of its declared type occur, as a list in braces.
    """

    is_agent: bool
    places: Description

    @property
    def text(self) -> Description:
        """The text, whose hash is the colour."""
        return describe("agent" if self.is_agent else "object", self.places)


class Schemas:
    """The types of a task's predicates, action schemas and objects.

    Args:
        task: the task.
        structure: its structure.
        roles: the roles of its fluents in actions.

    Attributes:
        lifted: the predicate and arguments of each fluent.
        symbol: the predicate of each fluent, see `name_symbol`.
        mentions: a mention of the type of each predicate.
    """

    def __init__(self, task: Task, structure: Structure, roles: Roles) -> None:
        self.lifted = dict(zip(task.fluents, structure.fluents, strict=True))
        self.symbol = {name: name_symbol(lifted) for name, lifted in self.lifted.items()}
        self._predicates = self._describe_predicates(structure, roles)
        self.mentions = {symbol: text.reference for symbol, text in self._predicates.items()}
        self._actions = self._describe_actions(task, structure)
        self._action_mentions = {symbol: text.reference for symbol, text in self._actions.items()}
        self._objects = self._describe_objects(task, structure)

    def object_type(self, name: str) -> Description:
        """The type of an object."""
        return self._objects[name]

    def predicate_mention(self, lifted: Lifted) -> Description:
        """A mention of the type of a fluent's predicate."""
        return self.mentions[name_symbol(lifted)]

    def action_mention(self, lifted: Lifted) -> Description:
        """A mention of the type of an action's schema."""
        return self._action_mentions[name_symbol(lifted)]

    def fact_type(self, lifted: Lifted) -> Description:
        """The type of a static fact."""
        return self._predicates[name_symbol(lifted)]

    def __iter__(self) -> Iterator[Description]:
        """The types of the predicates of all fluents and of all action schemas."""
        yield from (self._predicates[symbol] for symbol in self.symbol.values())
        yield from self._actions.values()

    def _describe_predicates(self, structure: Structure, roles: Roles) -> dict[str, Description]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name, symbol in self.symbol.items():
            found[symbol] |= roles.fluent.get(name, set())
        arity = {name_symbol(one): len(one.arguments) for one in (*structure.fluents, *structure.facts)}
        return {
            symbol: PredicateType(count, frozenset(found[symbol]) if symbol in found else None).text
            for symbol, count in arity.items()
        }

    def _describe_actions(self, task: Task, structure: Structure) -> dict[str, Description]:
        parts: defaultdict[tuple[str, int], set[tuple[str, object, str]]] = defaultdict(set)
        for lifted, action in zip(structure.actions, task.actions, strict=True):
            parts[name_symbol(lifted), len(lifted.arguments)].update(self._list_parts(action))
        return {
            symbol: SchemaType(count, tuple(self._describe_part(*part) for part in found)).text
            for (symbol, count), found in parts.items()
        }

    def _list_parts(self, action: Action) -> Iterator[tuple[str, object, str]]:
        """The parts of an action: a verb, a manner, and a predicate."""
        yield "events", len(action.events), str(len(action.designated))
        yield from (("needs", use.path, self.symbol[use.fluent]) for use in find_uses(action.applicability))
        for event in map(action.events.__getitem__, action.designated):
            yield from (("tells", use.path, self.symbol[use.fluent]) for use in find_uses(event.precondition))
            yield from (("makes", effect.value, self.symbol[effect.fluent]) for effect in event.effects)

    def _describe_part(self, verb: str, how: object, what: str) -> Description:
        of = what if verb == "events" else self._predicates[what] if verb == "needs" else self.mentions[what]
        return join_texts(verb, how, of, by=" ")

    def _describe_objects(self, task: Task, structure: Structure) -> dict[str, Description]:
        own = {name: types[0] for name, types in structure.types.items()}
        places: defaultdict[str, set[Description]] = defaultdict(set)  # of the objects of a declared type
        for mention, things in (
            (self.mentions, (*structure.fluents, *structure.facts)),
            (self._action_mentions, structure.actions),
        ):
            for symbol, place, kind in {
                (name_symbol(one), place, own[argument])
                for one in things
                for place, argument in enumerate(one.arguments)
            }:
                places[kind].add(join_texts(mention[symbol], ".", place))
        listed = {kind: list_texts(places.get(kind, ())) for kind in set(own.values())}
        agents = frozenset(task.agents)
        return {name: ObjectType(name in agents, listed[kind]).text for name, kind in own.items()}


def name_symbol(lifted: Lifted) -> str:
    """A predicate or schema with its number of arguments, such as `at/2`."""
    return f"{lifted.symbol}/{len(lifted.arguments)}"
