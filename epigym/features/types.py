"""Types of the parts of a task without their names; they mean the same in every task of every domain.

A fluent is what actions and the goal do with it; a belief is what its fluent is, and what agent and fluent have to do
with each other; a subformula of the goal is its shape. A type is a `Description` that says so, and its colour is a hash
of that text. Sets replace counts that grow with the size of the problem, so that models of small problems apply to
larger ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from epigym.features.counts import WHO, Edges, FeatureTables, Lists
from epigym.space.signature import word
from epigym.task.formula import TRUE, Formula, Op, split_goal
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Task

_LONGEST = 3  # modalities of a path that are distinguished
_LETTER = {Op.BELIEVES: "B", Op.EVERYBODY: "E", Op.COMMON: "C", Op.ACTUALLY: ""}
_TOGETHER = "together"
_NOTHING = frozenset[int]()
_LEAF = 0x100  # added to the positions of the arguments of a fluent in the goal


@dataclass(frozen=True, slots=True, order=True)
class Description:
    """The meaning of a colour.

    Attributes:
        text: where other colours are named by their first digits.
        mentions: these colours.
    """

    text: str
    mentions: frozenset[int] = _NOTHING

    def __str__(self) -> str:
        """The text."""
        return self.text

    @property
    def reference(self) -> Description:
        """A mention of the colour that is the hash of the text."""
        return refer_to(word(self.text))


def refer_to(colour: int) -> Description:
    """A mention of a colour: its first digits."""
    return Description(short(colour), frozenset([colour]))


def short(colour: int) -> str:
    """The digits that stand for a colour in texts."""
    return f"{colour:016x}"[:8]


def join_texts(*parts: object, by: str = "") -> Description:
    """Join texts to one that mentions all colours that they mention."""
    return Description(by.join(map(str, parts)), _find_mentions(parts))


def list_texts(items: Iterable[object]) -> Description:
    """The different ones of some texts, sorted, in braces."""
    parts = list(items)
    return Description("{" + ", ".join(sorted({*map(str, parts)})) + "}", _find_mentions(parts))


def _text(kind: str, *parts: object) -> Description:
    return Description(f"{kind}({'; '.join(map(str, parts))})", _find_mentions(parts))


def _find_mentions(parts: Iterable[object]) -> frozenset[int]:
    mentions = [part.mentions for part in parts if type(part) is Description and part.mentions]
    return mentions[0].union(*mentions[1:]) if mentions else _NOTHING


_Types: TypeAlias = tuple[Description, Description]
"""A fine and a coarse type."""

_Way: TypeAlias = tuple[tuple[str | Description, ...], str, str]
"""What two objects have to do with each other, and the objects."""


class Use(NamedTuple):
    """An occurrence of a fluent in a formula.

    Attributes:
        fluent: its name.
        path: the modalities above it, with `!` where negated, then its sign; `|` where some disjunction is above.
        groups: the agents of each modality, the outermost first.
    """

    fluent: str
    path: str
    groups: tuple[tuple[str, ...], ...]


@cache
def uses(formula: Formula) -> frozenset[Use]:
    """The occurrences of fluents in a formula."""
    return frozenset(_walk(formula.negation_normal_form(), "", (), False))


def _walk(node: Formula, path: str, groups: tuple[tuple[str, ...], ...], either: bool) -> Iterator[Use]:
    inner = node.unnegated
    sign = "!" if node.op is Op.NOT else ""
    if inner.op is Op.FLUENT:
        yield Use(inner.name, ("|" if either else "") + path + ("-" if sign else "+"), groups)
    elif inner.op in _LETTER:
        longer = path + sign + _LETTER[inner.op] if len(groups) < _LONGEST else path
        below = groups if inner.op is Op.ACTUALLY else (*groups, inner.agents)
        yield from _walk(inner.children[0], longer, below, either)
    else:
        for child in inner.children:
            yield from _walk(child, path, groups, either or inner.op is Op.OR)


@dataclass(slots=True)
class _Roles:
    """The roles of each fluent, and of each pair of fluent and agent, in a task."""

    fluent: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    pair: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, role: str, formula: Formula) -> None:
        for use in uses(formula):
            self.fluent[use.fluent].add(f"{role} {use.path}")
            for depth, group in enumerate(use.groups[:_LONGEST], start=1):
                for agent in group:
                    self.pair[agent, use.fluent].add(f"{role} {depth} of {use.path}")


def _actions_roles(actions: Iterable[Action]) -> _Roles:
    """The roles of fluents in actions; equal formulas in equal places are read once."""
    roles = _Roles()
    met: set[tuple[str, Formula]] = set()

    def add(role: str, formula: Formula) -> None:
        if formula is not TRUE and (role, formula) not in met:
            met.add((role, formula))
            roles.add(role, formula)

    for action in actions:
        add("needed", action.applicability)
        told = "sensed" if len(action.designated) > 1 else "needed"
        for number, event in enumerate(action.events):
            happens = number in action.designated
            add(told if happens else "imagined", event.precondition)
            for effect in event.effects:
                changed = ("added" if effect.value else "deleted") + ("" if effect.condition is TRUE else " if")
                roles.fluent[effect.fluent].add(changed if happens else f"imagined {changed}")
                add("decides", effect.condition)
        for conditions in action.observability:
            for condition, _ in conditions:
                add("observed", condition)
    return roles


class FeatureTypes:
    """The types of everything in a task under its goal.

    Args:
        task: with its structure, where it has one.

    Attributes:
        tables: what evaluates the features, see `epigym.features.counts`.
        definitions: the description of each type by its colour.
        schema: the colours of the predicates and the action schemas, independent of the goal.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self.definitions: dict[int, Description] = {}
        self._structure = task.structure or _make_structure(task)
        self._roles = _actions_roles(task.actions)
        self._wanted = _Roles()
        for subgoal in task.goal:
            self._wanted.add("goal", subgoal)
        self._kinds = _Kinds(task, self._structure, self._roles)
        self._known_beliefs: dict[Hashable, tuple[int, int]] = {}
        self.schema = frozenset(map(self._colour, self._kinds.types()))
        self.tables = self._make_tables()

    def _colour(self, description: Description) -> int:
        number = word(description.text)
        self.definitions[number] = description
        return number

    def _make_tables(self) -> FeatureTables:
        task, structure = self._task, self._structure
        objects = {name: number for number, name in enumerate(structure.types)}
        fluents = [self._fluent(name, lifted) for name, lifted in zip(task.fluents, structure.fluents, strict=True)]
        beliefs = np.array([list(self._beliefs(agent, fluents)) for agent in task.agents], dtype=np.uint64)
        beliefs = beliefs.reshape(len(task.agents), len(fluents), 2)
        parts = split_goal(task.goal)
        goal = tuple(dict.fromkeys(node for part in parts for node in part.subformulas()))
        shapes = [self._subformula(node, node in parts) for node in goal]
        number = {node: index for index, node in enumerate(goal)}
        facts = [
            (self._colour(self._kinds.fact(fact)), _number_places(fact.arguments, objects)) for fact in structure.facts
        ] or [(self._colour(text), places) for text, places in self._together(objects)]
        lifted_of = dict(zip(task.fluents, structure.fluents, strict=True))
        return FeatureTables(
            agent_object=np.array([objects[name] for name in task.agents], dtype=np.int32),
            objects=_colours(self._colour(self._kinds.object_type(name)) for name in objects),
            fluent_fine=_colours(self._colour(fine) for fine, _ in fluents),
            fluent_coarse=_colours(self._colour(coarse) for _, coarse in fluents),
            belief_fine=beliefs[:, :, 0].copy(),
            belief_coarse=beliefs[:, :, 1].copy(),
            goal_fine=_colours(self._colour(fine) for fine, _ in shapes),
            goal_coarse=_colours(self._colour(coarse) for _, coarse in shapes),
            goal=goal,
            fact_fine=_colours(colour for colour, _ in facts),
            relevant_fluent=np.array([name in self._wanted.fluent for name in task.fluents], dtype=np.bool_),
            relevant_belief=np.array(
                [[(agent, name) in self._wanted.pair for name in task.fluents] for agent in task.agents],
                dtype=np.bool_,
            ).reshape(len(task.agents), -1),
            fluent_edges=_make_ragged(_number_places(lifted.arguments, objects) for lifted in structure.fluents),
            goal_edges=_make_ragged(self._who_and_what(node, lifted_of, objects) for node in goal),
            fact_edges=_make_ragged(places for _, places in facts),
            goal_children=_lists([number[child] for child in node.children] for node in goal),
        )

    def _fluent(self, name: str, lifted: Lifted) -> _Types:
        """The fine and the coarse type of a fluent."""
        wanted = list_texts(self._wanted.fluent.get(name, ()))
        fine = _text("fluent", self._kinds.predicate(lifted), list_texts(self._roles.fluent.get(name, ())), wanted)
        return fine, _text("any fluent", wanted)

    def _beliefs(self, agent: str, fluents: Iterable[_Types]) -> Iterator[tuple[int, int]]:
        """The colours of the fine and the coarse type of an agent's belief about each fluent."""
        own = self._kinds.object_type(agent)
        for name, lifted, (fluent, _) in zip(self._task.fluents, self._structure.fluents, fluents, strict=True):
            places = tuple(place for place, argument in enumerate(lifted.arguments) if argument == agent)
            roles = [frozenset(of.pair.get((agent, name), ())) for of in (self._roles, self._wanted)]
            key = (own, fluent, places, *roles)
            if key not in self._known_beliefs:  # many are alike
                needed, wanted = map(list_texts, roles)
                fine = _text("belief", own, fluent, list_texts(places), needed, wanted)
                coarse = _text("any belief", bool(places), wanted)
                self._known_beliefs[key] = self._colour(fine), self._colour(coarse)
            yield self._known_beliefs[key]

    def _subformula(self, node: Formula, is_part: bool) -> _Types:
        """The fine and the coarse type of a subformula of the goal."""
        kind = "part" if is_part else "subformula"
        return _text(kind, self._shape(node, ())), _text(
            f"any {kind}", node.op.name, node.unnegated.op.name, node.depth
        )

    def _shape(self, node: Formula, above: tuple[tuple[str, ...], ...]) -> Description:
        """A formula with types in place of its fluents, and agents by where they stand above."""
        match node.op:
            case Op.FLUENT:
                lifted = self._kinds.lifted[node.name]
                places = [next((d for d, group in enumerate(above) if one in group), "") for one in lifted.arguments]
                return join_texts(self._kinds.predicate(lifted), places)
            case Op.AND | Op.OR:
                return join_texts(node.op.name, list_texts(self._shape(child, above) for child in node.children))
            case Op.BELIEVES | Op.EVERYBODY | Op.COMMON:
                same = next((d for d, group in enumerate(above) if group == node.agents), "")
                return _text(f"{_LETTER[node.op]}{same}", self._shape(node.children[0], (*above, node.agents)))
            case _:  # at most one child
                return _text(node.op.name, *(self._shape(child, above) for child in node.children))

    def _who_and_what(
        self, node: Formula, lifted_of: dict[str, Lifted], objects: dict[str, int]
    ) -> list[tuple[int, int]]:
        """The objects that a subformula of the goal names itself, each with how."""
        if node.op is Op.FLUENT:
            return [
                (number, _LEAF + label) for number, label in _number_places(lifted_of[node.name].arguments, objects)
            ]
        return [(objects[agent], WHO) for agent in node.agents]

    def _together(self, objects: dict[str, int]) -> Iterator[tuple[Description, list[tuple[int, int]]]]:
        """In place of static facts: which objects have to do with each other in some action, unless all have."""
        agents = set(self._task.agents)
        pairs: defaultdict[tuple[str | Description, ...], set[tuple[str, str]]] = defaultdict(set)
        for lifted, action in zip(self._structure.actions, self._task.actions, strict=True):
            for way, one, other in chain(self._by_arguments(lifted), self._by_effects(action)):
                if one != other and one not in agents and other not in agents:
                    pairs[way].add((one, other))
        for way, found in sorted(pairs.items()):
            first, second = ({pair[place] for pair in found} for place in (0, 1))
            if len(found) < len(first) * len(second) - len(first & second):
                text = self._way(way)
                yield from ((text, [(objects[one], 1), (objects[other], 2)]) for one, other in sorted(found))

    def _way(self, way: tuple[str | Description, ...]) -> Description:
        """What two objects have to do with each other, without names."""
        if way[0] == _TOGETHER:
            return _text(_TOGETHER, *way[1:])
        return _text("leads", *(self._kinds.mention[str(symbol)] for symbol in way[:2]), *way[2:])

    def _by_arguments(self, lifted: Lifted) -> Iterator[_Way]:
        schema = self._kinds.schema(lifted)
        for (place, one), (other_place, other) in combinations(enumerate(lifted.arguments), 2):
            yield (_TOGETHER, schema, str(place), str(other_place)), one, other

    def _by_effects(self, action: Action) -> Iterator[_Way]:
        """The ways from the preconditions of an action to its effects."""
        changes = {
            (effect.fluent, effect.value, effect.condition) for event in action.events for effect in event.effects
        }
        needs = {event.precondition for event in action.events} | {action.applicability}
        needed = frozenset[tuple[str, str, str, str]]().union(*map(self._find_uses, needs))
        for fluent, value, condition in changes:
            one = self._kinds.lifted[fluent]
            for symbol, path, other_place, second in needed | self._find_uses(condition):
                for place, first in enumerate(one.arguments):
                    yield (self._kinds.symbol[fluent], symbol, path, str(value), str(place), other_place), first, second

    def _find_uses(self, formula: Formula) -> frozenset[tuple[str, str, str, str]]:
        """The objects that a formula speaks of, each after its predicate, path and place."""
        return frozenset(
            (self._kinds.symbol[use.fluent], use.path, str(place), argument)
            for use in uses(formula)
            for place, argument in enumerate(self._kinds.lifted[use.fluent].arguments)
        )


class _Kinds:
    """Predicates, action schemas and kinds of objects, by the roles of their instances."""

    def __init__(self, task: Task, structure: Structure, roles: _Roles) -> None:
        self.lifted = dict(zip(task.fluents, structure.fluents, strict=True))
        self.symbol = {name: _symbol(lifted) for name, lifted in self.lifted.items()}
        self._agents = frozenset(task.agents)
        self._types = structure.types
        done: defaultdict[str, set[str]] = defaultdict(set)
        for name, symbol in self.symbol.items():
            done[symbol] |= roles.fluent.get(name, set())
        arity = {_symbol(one): len(one.arguments) for one in (*structure.fluents, *structure.facts)}
        self.rough = {
            symbol: _text("predicate" if symbol in done else "fact", count, list_texts(done.get(symbol, ())))
            for symbol, count in arity.items()
        }
        self.mention = {symbol: kind.reference for symbol, kind in self.rough.items()}
        self._schemas = self._describe_schemas(task, structure)
        self._schema_mention = {symbol: kind.reference for symbol, kind in self._schemas.items()}
        places: defaultdict[str, set[Description]] = defaultdict(set)  # of the objects of a type
        for mention, things in (
            (self.mention, (*structure.fluents, *structure.facts)),
            (self._schema_mention, structure.actions),
        ):
            for symbol, place, kind in {
                (_symbol(one), place, self._type(argument))
                for one in things
                for place, argument in enumerate(one.arguments)
            }:
                places[kind].add(join_texts(mention[symbol], ".", place))
        self._places = {kind: list_texts(found) for kind, found in places.items()}

    def object_type(self, name: str) -> Description:
        """The type of an object: where objects of its type occur."""
        return _text("agent" if name in self._agents else "object", self._places.get(self._type(name), "{}"))

    def predicate(self, lifted: Lifted) -> Description:
        """A mention of the type of a fluent's predicate."""
        return self.mention[_symbol(lifted)]

    def schema(self, lifted: Lifted) -> Description:
        """A mention of the type of an action's schema."""
        return self._schema_mention[_symbol(lifted)]

    def fact(self, lifted: Lifted) -> Description:
        """The type of a static fact."""
        return self.rough[_symbol(lifted)]

    def types(self) -> Iterator[Description]:
        """The types of all predicates and schemas."""
        yield from (self.rough[symbol] for symbol in self.symbol.values())
        yield from self._schemas.values()

    def _type(self, name: str) -> str:
        return self._types[name][0]

    def _describe_schemas(self, task: Task, structure: Structure) -> dict[str, Description]:
        """The effects of the actions of each schema, by predicate."""
        deeds: defaultdict[tuple[str, int], set[tuple[str, object, str]]] = defaultdict(set)
        for lifted, action in zip(structure.actions, task.actions, strict=True):
            deeds[_symbol(lifted), len(lifted.arguments)].update(self._deeds(action))
        return {
            symbol: _text("action", count, list_texts(self._describe_deed(*one) for one in found))
            for (symbol, count), found in deeds.items()
        }

    def _deeds(self, action: Action) -> Iterator[tuple[str, object, str]]:
        """The deeds of an action: a verb, a manner, and a predicate."""
        yield "events", len(action.events), str(len(action.designated))
        yield from (("needs", use.path, self.symbol[use.fluent]) for use in uses(action.applicability))
        for event in map(action.events.__getitem__, action.designated):
            yield from (("tells", use.path, self.symbol[use.fluent]) for use in uses(event.precondition))
            yield from (("makes", effect.value, self.symbol[effect.fluent]) for effect in event.effects)

    def _describe_deed(self, verb: str, how: object, what: str) -> Description:
        mentioned = what if verb == "events" else self.rough[what] if verb == "needs" else self.mention[what]
        return join_texts(verb, how, mentioned, by=" ")


def _symbol(lifted: Lifted) -> str:
    """A predicate or schema with its number of arguments."""
    return f"{lifted.symbol}/{len(lifted.arguments)}"


def _make_structure(task: Task) -> Structure:
    """Of a task that has none: every fluent and action for itself, agents are the only objects."""
    return Structure(
        tuple(Lifted("") for _ in task.fluents),
        tuple(Lifted("") for _ in task.actions),
        dict.fromkeys(task.agents, ("agent",)),
    )


def _number_places(arguments: Sequence[str], objects: dict[str, int]) -> list[tuple[int, int]]:
    """Objects with their places, counted from 1."""
    return [(objects[argument], place) for place, argument in enumerate(arguments, start=1)]


def _colours(values: Iterable[int]) -> NDArray[np.uint64]:
    return np.array(list(values), dtype=np.uint64)


def _make_ragged(lists: Iterable[Sequence[tuple[int, int]]]) -> Edges:
    rows = list(lists)
    pairs = np.array([pair for row in rows for pair in row], dtype=np.int64).reshape(-1, 2)
    ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Edges(ptr, pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.uint64))


def _lists(lists: Iterable[Sequence[int]]) -> Lists:
    rows = list(lists)
    members = np.array([one for row in rows for one in row], dtype=np.int32)
    return Lists(np.cumsum([0, *map(len, rows)], dtype=np.int64), members)
