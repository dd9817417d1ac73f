"""The features of actions in plain Python, written from their definition to be obviously right."""

from __future__ import annotations

from collections.abc import Iterator

from epigym.features.types import FeatureTypes, short, uses
from epigym.reference.semantics import Evaluation
from epigym.space.signature import word
from epigym.task.formula import TRUE, Formula, Op, parts_of
from epigym.task.task import Action, EState, Task
from tests.oracles.features import Atoms, join

MISSES, SEES_THAT, SEES_WHAT = range(3)


def action_features(task: Task, types: FeatureTypes, estate: EState, number: int) -> set[int]:
    """The colours of an action in an e-state."""
    return set(colours(task, types, estate, number))


def colours(task: Task, types: FeatureTypes, estate: EState, number: int) -> Iterator[int]:
    action, tables = task.actions[number], types.tables
    own = f"action {short(word(types.action(number)))}"
    atoms, evaluation = Atoms(task, tables, estate), Evaluation(task.agents, estate)
    sees = [observation(action, agent, evaluation) for agent in range(len(task.agents))]

    def both(role: str, fine: int, coarse: int, first: int, second: int, third: int) -> Iterator[int]:
        for who, kind in ((own, fine), ("any action", coarse)):
            yield join(word(f"{who} {role} {short(int(kind))}"), 12 * first + 3 * second + third)

    def of_goal(role: str, g: int) -> Iterator[int]:
        inner = tables.goal[g].unnegated
        seen = sees[task.agents.index(inner.agents[0])] if inner.op is Op.BELIEVES else 0
        yield from both(role, tables.goal_fine[g], tables.goal_coarse[g], atoms.true[g], 0, seen)

    yield join(word(own), 0)
    for role, name, condition in touched(action):
        f = task.fluents.index(name)
        unfulfilled = not evaluation.holds(condition)
        yield from both(role, tables.fluent_fine[f], tables.fluent_coarse[f], atoms.truth[f], 0, int(unfulfilled))
        for i, seen in enumerate(sees):
            fine, coarse = tables.belief_fine[i, f], tables.belief_coarse[i, f]
            yield from both(role, fine, coarse, atoms.truth[f], atoms.held[i][f], seen)
        for g, formula in enumerate(tables.goal):
            if name in formula.fluents():
                yield from of_goal(role, g)
    if task.structure is not None:
        for place, argument in enumerate(task.structure.actions[number].arguments):
            for g, formula in enumerate(tables.goal):
                if formula in parts_of(task.goal) and argument in named(task, formula):
                    yield from of_goal(f"argument {place} in", g)


def touched(action: Action) -> Iterator[tuple[str, str, Formula]]:
    for number in action.designated:
        event = action.events[number]
        for effect in event.effects:
            yield f"makes {str(effect.value).lower()}", effect.fluent, effect.condition
        for use in uses(event.precondition):
            yield f"{'tells' if len(action.designated) == 1 else 'senses'} {use.path}", use.fluent, TRUE


def named(task: Task, formula: Formula) -> set[str]:
    assert task.structure is not None
    found = {agent for node in formula.subformulas() for agent in node.agents}
    for name in formula.fluents():
        found.update(task.structure.fluents[task.fluents.index(name)].arguments)
    return found


def observation(action: Action, agent: int, evaluation: Evaluation) -> int:
    """What an agent sees: by the first condition that holds."""
    kind = next(kind for condition, kind in action.observability[agent] if evaluation.holds(condition))
    rows = {event: action.relations[kind][event] for event in action.designated}
    if any(event not in row for event, row in rows.items()):
        return MISSES
    return SEES_WHAT if all(row == {event} for event, row in rows.items()) else SEES_THAT
