"""Relational features of actions in e-states: what an action does, to what, and what is so of that now.

A feature is a colour, as in `epigym.features.counts`, and an action has it in an e-state or has not. It is made of
types, never of names. The features of an action are

- what it does;
- each fluent that it makes true or false, tells or senses: what is so of that fluent, and whether the condition of the
  effect holds;
- each agent's belief about such a fluent: what the agent holds beside what is so, and what it sees of the action;
- each subformula of the goal that mentions such a fluent: whether it holds, and what the agent whose belief it is sees
  of the action;
- each part of the goal that names an argument of the action: whether it holds;

each by a fine and by a coarse type. What does not depend on the e-state is computed once for a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epigym.features.counts import FeatureRows, join
from epigym.features.types import FeatureTypes, short, uses
from epigym.space.signature import word
from epigym.space.space import StateSpace, as_ids
from epigym.task.formula import TRUE, Formula, Op, and_, believes, fluent, not_, parts_of
from epigym.task.task import Action, Task


class _Slot(NamedTuple):
    """Something that is looked at in e-states.

    Attributes:
        cases: formulas, of which the first that holds decides, each with the number that it stands for.
        words: what the numbers mean.
    """

    cases: tuple[tuple[Formula, int], ...]
    words: tuple[str, ...]


class _Entry(NamedTuple):
    """Features of an action that differ only in what is so in the e-state.

    Attributes:
        text: what they are about, which also says what kinds of slots it has.
        slots: what is looked at.
    """

    text: str
    slots: tuple[_Slot, _Slot, _Slot]


_SIZES = (3, 4, 3)  # numbers of an entry's slots
_STATES = 3 * 4 * 3
_ALWAYS = _Slot(((TRUE, 0),), ("",))
_OBSERVED = ("the agent misses it", "the agent sees that it happens", "the agent sees what happens")


class ActionFeatures:
    """The features of actions in the e-states of a space, under the goal of its task.

    Args:
        space: where the e-states live.
        types: of the space's task.

    Attributes:
        definitions: the texts of what features mention, by colour.
    """

    def __init__(self, space: StateSpace, types: FeatureTypes) -> None:
        about = _About(space.task, types)
        rows = [list(dict.fromkeys(about.action(number))) for number in range(len(space.task.actions))]
        entries = [entry for row in rows for entry in row]
        slots = {slot: number for number, slot in enumerate(dict.fromkeys(s for entry in entries for s in entry.slots))}
        self._kinds = {entry.text: entry for entry in entries}
        self.definitions = types.definitions | about.definitions
        self._look = _Look(space, list(slots))
        number = {text: number for number, text in enumerate(self._kinds)}
        self._ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        self._kind = np.array([number[entry.text] for entry in entries], dtype=np.int64)
        looked = [slots[slot] for entry in entries for slot in entry.slots]
        self._slots = np.array(looked, dtype=np.int64).reshape(-1, len(_SIZES))
        table = [[join(word(text), so) for so in range(_STATES)] for text in self._kinds]
        self._colours, rank = np.unique(np.array(table, dtype=np.uint64), return_inverse=True)
        self._rank = rank.reshape(-1, _STATES)

    def __call__(self, ids: ArrayLike, actions: ArrayLike) -> FeatureRows:
        """The features of actions in e-states, all of value 1.

        Args:
            ids: int32[n], the e-states.
            actions: int32[n], of each an action.

        Raises:
            IndexError: when an id or an action is unknown.
        """
        states, place = np.unique(as_ids(ids), return_inverse=True)
        chosen = as_ids(actions)
        counts = np.diff(self._ptr)[chosen]
        row = np.repeat(np.arange(len(chosen)), counts)
        entry = np.arange(len(row)) + np.repeat(self._ptr[chosen] - np.cumsum(counts) + counts, counts)
        so = self._look(states)[place[row, None], self._slots[entry]]
        rank = self._rank[self._kind[entry], np.ravel_multi_index(tuple(so.T), _SIZES)]
        row, rank = np.divmod(np.unique(row * len(self._colours) + rank), len(self._colours))
        ptr = np.searchsorted(row, np.arange(len(chosen) + 1))
        return FeatureRows(ptr, self._colours[rank], np.ones(len(rank), dtype=np.float32))

    def texts(self, wanted: Container[int]) -> dict[int, str]:
        """What features are, by colour: those of `wanted` that actions of the task can have."""
        found: dict[int, str] = {}
        for text, entry in self._kinds.items():
            for so in product(*(range(len(slot.words)) for slot in entry.slots)):
                colour = join(word(text), int(np.ravel_multi_index(so, _SIZES)))
                if colour in wanted:
                    words = (slot.words[number] for slot, number in zip(entry.slots, so, strict=True))
                    found[colour] = ": ".join(filter(None, (text, ", ".join(filter(None, words)))))
        return found


class _Look:
    """What is so of slots in e-states.

    Args:
        space: where the e-states live.
        slots: the slots.
    """

    def __init__(self, space: StateSpace, slots: list[_Slot]) -> None:
        cases = [case for slot in slots for case in slot.cases]
        column = {formula: number for number, formula in enumerate(dict.fromkeys(formula for formula, _ in cases))}
        self._query = space.query(column)
        self._columns = np.array([column[formula] for formula, _ in cases], dtype=np.int64)
        self._numbers = np.array([number for _, number in cases], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(slot.cases) for slot in slots)])[:-1]

    def __call__(self, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """int64[k, slots]: the number of every slot in every e-state."""
        holds = self._query(ids)[:, self._columns]
        place = np.where(holds, np.arange(holds.shape[1]), holds.shape[1])
        return self._numbers[np.minimum.reduceat(place, self._starts, axis=1)]


class _About:
    """What the features of each action of a task are about.

    Args:
        task: the task.
        types: of its parts.

    Attributes:
        definitions: the types of actions met so far, by colour.
    """

    def __init__(self, task: Task, types: FeatureTypes) -> None:
        self.definitions: dict[int, str] = {}
        self._task, self._types = task, types
        self._place = {name: number for number, name in enumerate(task.fluents)}
        self._truth = [_truth(name) for name in task.fluents]
        self._held = [[_held(agent, name) for name in task.fluents] for agent in task.agents]
        self._holds = [_holds(formula) for formula in types.tables.goal]
        self._mentions: defaultdict[str, list[int]] = defaultdict(list)
        self._names: defaultdict[str, list[int]] = defaultdict(list)
        parts = set(parts_of(task.goal))
        for number, formula in enumerate(types.tables.goal):
            for name in formula.fluents():
                self._mentions[name].append(number)
            for name in self._named(formula) if formula in parts else ():
                self._names[name].append(number)

    def action(self, number: int) -> Iterator[_Entry]:
        """The entries of an action, some of them several times."""
        action, text = self._task.actions[number], self._types.action(number)
        self.definitions[word(text)] = text
        own = f"action {short(word(text))}"
        yield _Entry(own, (_ALWAYS, _ALWAYS, _ALWAYS))
        observed = [_observed(action, agent) for agent in range(len(self._task.agents))]
        for role, name, condition in set(_touched(action)):
            yield from self._of_fluent(own, role, self._place[name], _fulfilled(condition))
            yield from self._of_beliefs(own, role, self._place[name], observed)
            yield from self._of_goal(own, role, self._mentions[name], observed)
        structure = self._task.structure
        for place, argument in enumerate(structure.actions[number].arguments if structure else ()):
            yield from self._of_goal(own, f"argument {place} in", self._names[argument], observed)

    def _of_fluent(self, own: str, role: str, place: int, condition: _Slot) -> Iterator[_Entry]:
        tables = self._types.tables
        slots = self._truth[place], _ALWAYS, condition
        yield from _both(own, role, tables.fluent_fine[place], tables.fluent_coarse[place], slots)

    def _of_beliefs(self, own: str, role: str, place: int, observed: list[_Slot]) -> Iterator[_Entry]:
        tables = self._types.tables
        for agent, seen in enumerate(observed):
            slots = self._truth[place], self._held[agent][place], seen
            yield from _both(own, role, tables.belief_fine[agent, place], tables.belief_coarse[agent, place], slots)

    def _of_goal(self, own: str, role: str, numbers: list[int], observed: list[_Slot]) -> Iterator[_Entry]:
        tables = self._types.tables
        for number in numbers:
            inner = tables.goal[number].unnegated
            agent = self._task.agents.index(inner.agents[0]) if inner.op is Op.BELIEVES else None
            slots = self._holds[number], _ALWAYS, _ALWAYS if agent is None else observed[agent]
            yield from _both(own, role, tables.goal_fine[number], tables.goal_coarse[number], slots)

    def _named(self, formula: Formula) -> set[str]:
        """The agents and objects that a formula names."""
        structure = self._task.structure
        lifted = (structure.fluents[self._place[name]] for name in formula.fluents() if structure)
        objects = {argument for one in lifted for argument in one.arguments}
        return objects | {agent for node in formula.subformulas() for agent in node.agents}


def _both(
    own: str, role: str, fine: np.uint64, coarse: np.uint64, slots: tuple[_Slot, _Slot, _Slot]
) -> Iterator[_Entry]:
    """By the fine and by the coarse type of what a role speaks of."""
    yield _Entry(f"{own} {role} {short(int(fine))}", slots)
    yield _Entry(f"any action {role} {short(int(coarse))}", slots)


def _touched(action: Action) -> Iterator[tuple[str, str, Formula]]:
    """What an action does to which fluents, and under which condition."""
    asks = "senses" if len(action.designated) > 1 else "tells"
    for event in (action.events[number] for number in action.designated):
        for use in uses(event.precondition):
            yield f"{asks} {use.path}", use.fluent, TRUE
        for effect in event.effects:
            yield f"makes {'true' if effect.value else 'false'}", effect.fluent, effect.condition


def _truth(name: str) -> _Slot:
    cases = (fluent(name), 1), (not_(fluent(name)), 0), (TRUE, 2)
    return _Slot(cases, ("is false", "is true", "is undetermined"))


def _held(agent: str, name: str) -> _Slot:
    yes, no = believes(agent, fluent(name)), believes(agent, not_(fluent(name)))
    cases = (and_(yes, no), 3), (yes, 1), (no, 2), (TRUE, 0)
    return _Slot(cases, ("unsure", "held true", "held false", "held true and false"))


def _holds(formula: Formula) -> _Slot:
    return _Slot(((formula, 1), (TRUE, 0)), ("does not hold", "holds"))


def _fulfilled(condition: Formula) -> _Slot:
    if condition is TRUE:
        return _ALWAYS
    return _Slot(((condition, 0), (TRUE, 1)), ("", "under a condition that does not hold"))


def _observed(action: Action, agent: int) -> _Slot:
    """What an agent sees of an action."""
    conditions = action.observability[agent]
    return _Slot(tuple((condition, _seen(action, kind)) for condition, kind in conditions), _OBSERVED)


def _seen(action: Action, kind: str) -> int:
    """What agents of an observability type see: 0 not what happens, 1 that among others, 2 that alone."""
    rows = [(event, action.relations[kind][event]) for event in action.designated]
    if not all(event in row for event, row in rows):
        return 0
    return 2 if all(len(row) == 1 for _, row in rows) else 1
