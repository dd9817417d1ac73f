"""Two tasks that are the same, up to names or up to what a notation loses."""

from collections.abc import Hashable, Mapping
from math import inf
from types import MappingProxyType

from epigym import StateSpace, TaskError
from epigym.reference.semantics import canonical
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Task

Names = Mapping[str, Hashable]
SAME: Names = MappingProxyType({})


def assert_same_task(
    ours: Task, theirs: Task, *, most_expanded: int, most_worlds: int, same_actions: bool = True
) -> None:
    """Check that names apart, which correspond in their order, both tasks are one and are searched alike.

    Args:
        ours: a task.
        theirs: another one.
        most_expanded: e-states that breadth-first search expands in both.
        most_worlds: worlds of successors, after which it is cut earlier.
        same_actions: whether actions also have the same events; else they do the same in the e-states that are met.
    """
    for one, other in ((ours.fluents, theirs.fluents), (ours.agents, theirs.agents), (ours.actions, theirs.actions)):
        assert len(one) == len(other)
    first, second = _numbers(ours), _numbers(theirs)
    assert {meaning(goal, first) for goal in ours.goal} == {meaning(goal, second) for goal in theirs.goal}
    for mine, other in zip(ours.actions, theirs.actions, strict=True) if same_actions else ():
        assert _action(mine, first) == _action(other, second), f"{mine.name} is not {other.name}"
    states = [StateSpace(task).model(0).state for task in (ours, theirs)]
    assert _estate(states[0], first) == _estate(states[1], second)
    found = explore(ours, most_expanded, most_worlds)
    assert explore(theirs, len(found[0])) == found


def assert_read_back(task: Task, again: Task, most: int = 60) -> None:
    """Check that both have the same names, constants apart, and that the first expansions find the same e-states."""
    assert set(again.fluents) <= set(task.fluents)
    assert again.agents == task.agents
    assert [action.name for action in again.actions] == [action.name for action in task.actions]
    assert canonical(again.initial, again.fluents) == canonical(task.initial, again.fluents)
    assert explore(again, most) == explore(task, most)


def explore(task: Task, most: int, most_worlds: float = inf) -> tuple[list[object], list[bool], list[int]]:
    """The transitions of breadth-first search, however it is cut; which e-states are goals, and their worlds."""
    space, transitions = StateSpace(task), list[object]()
    while len(transitions) < min(most, len(space)) and space.generated[1] < most_worlds:
        try:
            found = space.expand([len(transitions)])
            transitions.append((found.action.tolist(), found.target.tolist()))
        except TaskError as error:  # designated worlds disagree
            transitions.append(str(error))
    ids = range(len(space))
    return transitions, space.is_goal(ids).tolist(), space.world_counts(ids).tolist()


def meaning(formula: Formula, names: Names = SAME) -> Hashable:
    """The formula with other names, and no order where there is none to a reader."""
    parts = [meaning(child, names) for child in formula.children]
    ordered = frozenset(parts) if formula.op in (Op.AND, Op.OR) else tuple(parts)
    agents = frozenset(names.get(agent, agent) for agent in formula.agents)
    return formula.op, names.get(formula.name, formula.name), agents, ordered


def _numbers(task: Task) -> Names:
    return {name: index for names in (task.fluents, task.agents) for index, name in enumerate(names)}


def _action(action: Action, numbers: Names) -> Hashable:
    """What an action does: events by number, and for each agent the relations instead of names of types."""
    events = tuple(
        (
            meaning(event.precondition, numbers),
            frozenset((numbers[e.fluent], e.value, meaning(e.condition, numbers)) for e in event.effects),
        )
        for event in action.events
    )
    observability = tuple(
        tuple((meaning(condition, numbers), action.relations[kind]) for condition, kind in chain)
        for chain in action.observability
    )
    return meaning(action.applicability, numbers), action.designated, events, observability


def _estate(state: EState, numbers: Names) -> Hashable:
    valuations = tuple(frozenset(map(numbers.get, valuation)) for valuation in state.valuations)
    return valuations, state.successors, state.designated
