"""Types of the parts of a task without their names; they mean the same in every task of every domain.

A fluent is what actions and the goal do with it; a belief is what its fluent is, and what agent and fluent have to do
with each other; a subformula of the goal is its shape. A type is a text that says so, and its colour is a hash of that
text. Sets replace counts that grow with the size of the problem, so that models of small problems apply to larger ones.

| type of | example, in the problem `consecutive_numbers` (the last: `selective_communication`) |
| --- | --- |
| a predicate: arity, roles | `predicate(2; {needed !B+})` |
| a static fact: arity | `fact(2; {})` |
| an action schema: arity, events, effects | `action(3; {events 1 1, tells !B+ 3e177df9})` |
| an object: places as an argument | `object({3e177df9.1, 4a6d7895.2, 9b9ceb4f.0, 9b9ceb4f.1})` |
| an agent: the same | `agent({3e177df9.0, 4a6d7895.0, 4a6d7895.1, 9b9ceb4f.0})` |
| a fluent: predicate, roles, roles in the goal | `fluent(3e177df9; {needed !B+}; {goal BE+})` |
| …, coarse | `any fluent({goal BE+})` |
| a belief: agent, fluent, places and roles of the agent | `belief(agent({…}); fluent(…); {}; {needed 1 of !B+}; {})` |
| …, coarse | `any belief(True; {goal 1 of BE+, goal 2 of BE+})` |
| a subgoal: shape | `part(B(B0(3e177df9[0, ''])))` |
| …, coarse: operators, depth | `any part(BELIEVES; BELIEVES; 2)` |
| another subformula of the goal: shape | `subformula(3e177df9['', ''])` |
| …, coarse | `any subformula(FLUENT; FLUENT; 0)` |
| a pair of objects: how actions relate them | `leads(d36eee60; d36eee60; +; True; 0; 0)` |

Eight digits stand for another type: `3e177df9` is `predicate(2; {needed !B+})`. Roles are explained in
`epigym.features.roles`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from epigym.features.counts import WHO, Edges, FeatureTables, Lists
from epigym.features.description import Description, describe, join_texts, list_texts
from epigym.features.pairs import find_pairs
from epigym.features.roles import LETTERS, Roles
from epigym.features.schemas import Schemas
from epigym.task.formula import Formula, Op, split_goal
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Task

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
_LEAF = 0x100  # added to the positions of the arguments of a fluent in the goal


class FluentType(NamedTuple):
    """The type of a fluent.

    Attributes:
        predicate: a mention of its predicate's type.
        roles: its roles in actions.
        goal_roles: its roles in the goal.
    """

    predicate: Description
    roles: frozenset[str]
    goal_roles: frozenset[str]

    @property
    def fine(self) -> Description:
        """The text, whose hash is the colour."""
        return describe("fluent", self.predicate, list_texts(self.roles), list_texts(self.goal_roles))

    @property
    def coarse(self) -> Description:
        """The text of a coarser type."""
        return describe("any fluent", list_texts(self.goal_roles))


class BeliefType(NamedTuple):
    """The type of a belief of an agent about a fluent.

    Attributes:
        agent: the type of the agent.
        fluent: the fine type of the fluent.
        places: of the agent among the arguments of the fluent, counted from 0.
        roles: the agent's roles with the fluent in actions.
        goal_roles: those in the goal.
    """

    agent: Description
    fluent: Description
    places: tuple[int, ...]
    roles: frozenset[str]
    goal_roles: frozenset[str]

    @property
    def fine(self) -> Description:
        """The text, whose hash is the colour."""
        roles, goal_roles = list_texts(self.roles), list_texts(self.goal_roles)
        return describe("belief", self.agent, self.fluent, list_texts(self.places), roles, goal_roles)

    @property
    def coarse(self) -> Description:
        """The text of a coarser type."""
        return describe("any belief", bool(self.places), list_texts(self.goal_roles))


class SubformulaType(NamedTuple):
    """The type of a subformula of the goal.

    Attributes:
        formula: the subformula.
        shape: with types in place of its fluents, see `_describe_shape`.
        is_part: whether it is one of the subgoals that the goal splits into.
    """

    formula: Formula
    shape: Description
    is_part: bool

    @property
    def fine(self) -> Description:
        """The text, whose hash is the colour."""
        return describe(self._kind, self.shape)

    @property
    def coarse(self) -> Description:
        """The text of a coarser type: the operator, the one below a negation, and the depth."""
        formula = self.formula
        return describe(f"any {self._kind}", formula.op.name, formula.unnegated.op.name, formula.depth)

    @property
    def _kind(self) -> str:
        return "part" if self.is_part else "subformula"


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
        self.definitions: dict[int, Description] = {}
        self._task = task
        self._structure = task.structure or _make_structure(task)
        self._roles, self._goal_roles = Roles.of_actions(task.actions), Roles.of_goal(task.goal)
        self._schemas = Schemas(task, self._structure, self._roles)
        self._objects = {name: number for number, name in enumerate(self._structure.types)}
        self.schema = frozenset(map(self._define, self._schemas))
        self.tables = self._make_tables()

    def _define(self, description: Description) -> int:
        """Keep the description of a colour; returns the colour."""
        colour = description.colour
        self.definitions[colour] = description
        return colour

    def _define_all(self, descriptions: Iterable[Description]) -> NDArray[np.uint64]:
        return np.array(_map_distinct(self._define, list(descriptions)), dtype=np.uint64)

    def _make_tables(self) -> FeatureTables:
        task, structure = self._task, self._structure
        fluents = self._make_fluent_types()
        fine = _map_distinct(lambda one: one.fine, fluents)
        beliefs = self._define_beliefs(fine)
        subformulas = self._make_subformula_types()
        goal = tuple(one.formula for one in subformulas)
        number = {node: index for index, node in enumerate(goal)}
        facts = list(self._define_facts())
        return FeatureTables(
            agent_object=np.array([self._objects[name] for name in task.agents], dtype=np.int32),
            objects=self._define_all(map(self._schemas.object_type, self._objects)),
            fluent_fine=self._define_all(fine),
            fluent_coarse=self._define_all(one.coarse for one in fluents),
            belief_fine=beliefs[:, :, 0].copy(),
            belief_coarse=beliefs[:, :, 1].copy(),
            goal_fine=self._define_all(one.fine for one in subformulas),
            goal_coarse=self._define_all(one.coarse for one in subformulas),
            goal=goal,
            fact_fine=np.array([colour for colour, _ in facts], dtype=np.uint64),
            relevant_fluent=np.array([name in self._goal_roles.fluent for name in task.fluents], dtype=np.bool_),
            relevant_belief=np.array(
                [[(agent, name) in self._goal_roles.pair for name in task.fluents] for agent in task.agents],
                dtype=np.bool_,
            ).reshape(len(task.agents), -1),
            fluent_edges=_make_edges(self._number_arguments(lifted.arguments) for lifted in structure.fluents),
            goal_edges=_make_edges(map(self._find_named_objects, goal)),
            fact_edges=_make_edges(edges for _, edges in facts),
            goal_children=_make_lists([number[child] for child in node.children] for node in goal),
        )

    def _make_fluent_types(self) -> list[FluentType]:
        return [
            FluentType(
                self._schemas.predicate_mention(lifted),
                frozenset(self._roles.fluent.get(name, ())),
                frozenset(self._goal_roles.fluent.get(name, ())),
            )
            for name, lifted in self._schemas.lifted.items()
        ]

    def _define_beliefs(self, fluents: Sequence[Description]) -> NDArray[np.uint64]:
        """uint64[agents, fluents, 2]: the colours of the fine and the coarse type of each belief."""
        colours: dict[BeliefType, tuple[int, int]] = {}  # many are alike
        found = []
        for agent in self._task.agents:
            own = self._schemas.object_type(agent)
            for (name, lifted), fluent in zip(self._schemas.lifted.items(), fluents, strict=True):
                places = tuple(place for place, argument in enumerate(lifted.arguments) if argument == agent)
                roles, goal_roles = (of.pair.get((agent, name), ()) for of in (self._roles, self._goal_roles))
                belief = BeliefType(own, fluent, places, frozenset(roles), frozenset(goal_roles))
                if belief not in colours:
                    colours[belief] = self._define(belief.fine), self._define(belief.coarse)
                found.append(colours[belief])
        return np.array(found, dtype=np.uint64).reshape(len(self._task.agents), len(fluents), 2)

    def _make_subformula_types(self) -> list[SubformulaType]:
        parts = split_goal(self._task.goal)
        nodes = dict.fromkeys(node for part in parts for node in part.subformulas())
        return [SubformulaType(node, self._describe_shape(node, ()), node in parts) for node in nodes]

    def _describe_shape(self, node: Formula, above: tuple[tuple[str, ...], ...]) -> Description:
        """A formula with types in place of its fluents, and agents by where they stand above."""
        match node.op:
            case Op.FLUENT:
                lifted = self._schemas.lifted[node.name]
                places = [next((d for d, group in enumerate(above) if one in group), "") for one in lifted.arguments]
                return join_texts(self._schemas.predicate_mention(lifted), places)
            case Op.AND | Op.OR:
                return join_texts(
                    node.op.name, list_texts(self._describe_shape(child, above) for child in node.children)
                )
            case Op.BELIEVES | Op.EVERYBODY | Op.COMMON:
                same = next((d for d, group in enumerate(above) if group == node.agents), "")
                inner = self._describe_shape(node.children[0], (*above, node.agents))
                return describe(f"{LETTERS[node.op]}{same}", inner)
            case _:  # at most one child
                return describe(node.op.name, *(self._describe_shape(child, above) for child in node.children))

    def _define_facts(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The colour and the edges of each static fact, or of each pair of objects where there are no facts."""
        for fact in self._structure.facts:
            yield self._define(self._schemas.fact_type(fact)), self._number_arguments(fact.arguments)
        if not self._structure.facts:
            for text, *pair in find_pairs(self._task, self._structure, self._schemas):
                yield self._define(text), self._number_arguments(pair)

    def _number_arguments(self, arguments: Iterable[str]) -> list[tuple[int, int]]:
        """The objects of some arguments, each with its place, counted from 1."""
        return [(self._objects[argument], place) for place, argument in enumerate(arguments, start=1)]

    def _find_named_objects(self, node: Formula) -> list[tuple[int, int]]:
        """The objects that a subformula of the goal names itself, each with how."""
        if node.op is Op.FLUENT:
            arguments = self._schemas.lifted[node.name].arguments
            return [(number, _LEAF + label) for number, label in self._number_arguments(arguments)]
        return [(self._objects[agent], WHO) for agent in node.agents]


def _map_distinct(function: Callable[[_Item], _Value], items: Sequence[_Item]) -> list[_Value]:
    """The values of a function for items, computed once for equal ones."""
    values = {item: function(item) for item in dict.fromkeys(items)}
    return [values[item] for item in items]


def _make_structure(task: Task) -> Structure:
    """Of a task that has none: every fluent and action for itself, agents are the only objects."""
    return Structure(
        tuple(Lifted("") for _ in task.fluents),
        tuple(Lifted("") for _ in task.actions),
        dict.fromkeys(task.agents, ("agent",)),
    )


def _make_edges(lists: Iterable[Sequence[tuple[int, int]]]) -> Edges:
    rows = list(lists)
    pairs = np.array([pair for row in rows for pair in row], dtype=np.int64).reshape(-1, 2)
    ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Edges(ptr, pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.uint64))


def _make_lists(lists: Iterable[Sequence[int]]) -> Lists:
    rows = list(lists)
    members = np.array([one for row in rows for one in row], dtype=np.int32)
    return Lists(np.cumsum([0, *map(len, rows)], dtype=np.int64), members)
