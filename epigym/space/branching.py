"""The outcomes of one action, each with the event and the observability types that distinguish it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
from epigym.task.task import Event


class Outcome(NamedTuple):
    """A possible outcome of an action; as text the event and the types, such as `heads (b notices)`.

    Attributes:
        event: the index in the action's events of the event that happens.
        assignment: the number of the observability assignment, see `epigym.space.space.Outcomes`.
        name: the name of the event, with its index where another event of the action has that name.
        types: the observability types of those agents, by name, on which outcomes with this event differ.
    """

    event: int
    assignment: int
    name: str
    types: Mapping[str, str]

    def __str__(self) -> str:
        """The name of the event and the types."""
        types = ", ".join(f"{agent} {kind}" for agent, kind in self.types.items())
        return f"{self.name} ({types})" if types else self.name


def outcomes_of(space: StateSpace, state: int, action: int) -> list[tuple[Outcome, int]]:
    """List the outcomes of an action by event and assignment, each with the id of the e-state that it leads to.

    The list is empty where the action is not allowed, and where the space omits it because of a symmetry.
    """
    found, task = space.outcomes([state]), space.task
    rows = np.stack([found.event, found.assignment, found.target], axis=1)[found.action == action].tolist()
    types: dict[tuple[int, int], Mapping[str, str]] = {}
    if any(assignment for _, assignment, _ in rows):
        every = reference.outcomes(task, space.model(state).state, task.actions[action])
        for one in every:
            kinds = zip(*(other.types for other in every if other.event == one.event), strict=True)
            mentioned = zip(task.agents, one.types, kinds, strict=True)
            types[one[:2]] = {agent: kind for agent, kind, all_ in mentioned if len(set(all_)) > 1}
    name = partial(event_name, task.actions[action].events)
    return [(Outcome(event, k, name(event), types.get((event, k), {})), target) for event, k, target in rows]


def event_name(events: Sequence[Event], event: int) -> str:
    """The name of one of an action's events, with its index where another event has that name or gets it so."""
    names = [one.name for one in events]
    numbered = [f"{name} {number}" for number, name in enumerate(names)]
    found = [one if names.count(one) == 1 else other for one, other in zip(names, numbered, strict=True)]
    return (found if len(set(found)) == len(found) else numbered)[event]
