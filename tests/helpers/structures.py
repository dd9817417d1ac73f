"""Tasks with a random structure, random walks in their spaces, and distances."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from random import Random

import numpy as np

from epigym import StateSpace, Task, TaskError
from epigym.space.sampling import sample_walk
from epigym.task.structure import Lifted, Structure
from learn.data.labels import UNREACHABLE
from tests.helpers.renaming import rename_task


def add_structure(task: Task, seed: int) -> Task:
    """The task with a structure of no meaning: symbols of any number of arguments, objects of several types."""
    random = Random(seed)
    objects = [*task.agents, *(f"o{number}" for number in range(random.randint(0, 3)))]
    types = {name: ("agent",) if name in task.agents else (f"k{random.randint(0, 1)}", "any") for name in objects}

    def draw_lifted(kind: str) -> Lifted:
        return Lifted(f"{kind}{random.randint(0, 1)}", tuple(random.choices(objects, k=random.choice([0, 1, 2, 2]))))

    return replace(
        task,
        structure=Structure(
            fluents=tuple(draw_lifted("p") for _ in task.fluents),
            actions=tuple(draw_lifted("act") for _ in task.actions),
            types=types,
            facts=tuple(draw_lifted(random.choice("fp")) for _ in range(random.choice([0, 0, 1, 3]))),
        ),
    )


def walk_by_other_names(task: Task, seed: int) -> tuple[tuple[StateSpace, StateSpace], list[list[int]]]:
    """Spaces of a task and of the same under other names, and the e-states of the same random walk in both."""
    other, names = rename_task(task, seed)
    spaces = StateSpace(task), StateSpace(other)
    numbers = {action.name: number for number, action in enumerate(other.actions)}
    states = [[0], [0]]
    for action in walk(spaces[0], seed):
        same = numbers[names[task.actions[action].name]]
        for space, own, step in zip(spaces, states, (action, same), strict=True):
            own.append(space.successor(own[-1], step))
    return spaces, states


def walk(space: StateSpace, seed: int, steps: int = 4) -> list[int]:
    """The actions of a random walk."""
    try:
        return sample_walk(space, np.random.default_rng(seed), steps=steps)[1]
    except TaskError:  # designated worlds disagree
        return []


def follow(space: StateSpace, plan: Iterable[str]) -> list[int]:
    """The e-states that a plan (names of actions) visits, from the initial one to the last."""
    number = {action.name: place for place, action in enumerate(space.task.actions)}
    return list(accumulate(map(number.__getitem__, plan), space.successor, initial=space.initial))


def walk_states(space: StateSpace, seed: int = 0) -> list[int]:
    """The e-states of a random walk."""
    states = [space.initial]
    for action in walk(space, seed):
        states.append(space.successor(states[-1], action))
    return states


def steps_to_a_goal(space: StateSpace, start: int) -> int:
    """The distance of an e-state by plain breadth-first search from it."""
    depth = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if space.is_goal([state])[0]:
            return depth[state]
        for after in space.expand([state]).target.tolist():
            if after not in depth:
                depth[after] = depth[state] + 1
                queue.append(after)
    return UNREACHABLE
