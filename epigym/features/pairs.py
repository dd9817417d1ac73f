"""Pairs of objects that actions relate, which stand in for static facts in a task that has none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

from epigym.features.description import Description, describe
from epigym.features.roles import find_uses
from epigym.features.schemas import Schemas
from epigym.task.formula import Formula
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Task


class SharedAction(NamedTuple):
    """The type of two objects that are arguments of one action.

    Attributes:
        kind: `together`.
        schema: a mention of the action's type.
        place: of the first object, as a text.
        other_place: of the second.
    """

    kind: str
    schema: Description
    place: str
    other_place: str

    def describe(self, schemas: Schemas) -> Description:
        """The text, whose hash is the colour."""
        return describe(*self)


class Consequence(NamedTuple):
    """The type of an object of an effect with one of the effect's requirements.

    Attributes:
        changed: the predicate of the effect.
        needed: the predicate of a fluent that the action or the effect requires.
        path: the modalities above that fluent, and its sign.
        value: that the effect gives to its fluent, as a text.
        place: of the first object in the effect, as a text.
        other_place: of the second in the requirement.
    """

    changed: str
    needed: str
    path: str
    value: str
    place: str
    other_place: str

    def describe(self, schemas: Schemas) -> Description:
        """The text, whose hash is the colour."""
        return describe("leads", schemas.mentions[self.changed], schemas.mentions[self.needed], *self[2:])


PairType: TypeAlias = SharedAction | Consequence
_Pair: TypeAlias = tuple[PairType, str, str]


def find_pairs(task: Task, structure: Structure, schemas: Schemas) -> Iterator[tuple[Description, str, str]]:
    """Pairs of objects, no agents, that some action relates, with the type of what relates them.

    What relates every two of its objects is left out: it tells no objects apart.
    """
    objects = structure.types.keys() - set(task.agents)
    if len(objects) < 2:
        return
    pairs: defaultdict[PairType, set[tuple[str, str]]] = defaultdict(set)
    for lifted, action in zip(structure.actions, task.actions, strict=True):
        for kind, one, other in chain(_pair_arguments(lifted, schemas), _pair_effects(action, schemas)):
            if one != other and one in objects and other in objects:
                pairs[kind].add((one, other))
    for kind, found in sorted(pairs.items()):
        first, second = ({pair[place] for pair in found} for place in (0, 1))
        if len(found) < len(first) * len(second) - len(first & second):
            text = kind.describe(schemas)
            yield from ((text, one, other) for one, other in sorted(found))


def _pair_arguments(lifted: Lifted, schemas: Schemas) -> Iterator[_Pair]:
    schema = schemas.action_mention(lifted)
    for (place, one), (other_place, other) in combinations(enumerate(lifted.arguments), 2):
        yield SharedAction("together", schema, str(place), str(other_place)), one, other


def _pair_effects(action: Action, schemas: Schemas) -> Iterator[_Pair]:
    """The objects of each effect of an action, each with those of its requirements."""
    changes = {(effect.fluent, effect.value, effect.condition) for event in action.events for effect in event.effects}
    needs = {event.precondition for event in action.events} | {action.applicability}
    needed = frozenset[tuple[str, str, str, str]]().union(*(_find_objects(need, schemas) for need in needs))
    for fluent, value, condition in changes:
        changed, arguments = schemas.symbol[fluent], schemas.lifted[fluent].arguments
        for symbol, path, other_place, second in needed | _find_objects(condition, schemas):
            for place, first in enumerate(arguments):
                yield Consequence(changed, symbol, path, str(value), str(place), other_place), first, second


def _find_objects(formula: Formula, schemas: Schemas) -> frozenset[tuple[str, str, str, str]]:
    """The objects that a formula mentions, each after its predicate, path and place."""
    return frozenset(
        (schemas.symbol[use.fluent], use.path, str(place), argument)
        for use in find_uses(formula)
        for place, argument in enumerate(schemas.lifted[use.fluent].arguments)
    )
