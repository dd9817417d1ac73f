"""Tasks for policies: random ones, and scouts whose looking others notice, or do not."""

import random
from dataclasses import replace

from epigym.task.formula import TRUE, Formula, and_, believes, fluent, knows_whether, not_
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.strategies import WATCHING, sensing_task, telling_task


def random_task(seed: int) -> Task:
    """A task of sensing and telling, often with several designated worlds, and often with actions that may fail."""
    rng = random.Random(seed)
    task = sensing_task(rng) if rng.random() < 0.6 else telling_task(rng)
    if rng.random() < 0.5:
        count = rng.randint(1, len(task.initial.valuations))
        task = replace(task, initial=replace(task.initial, designated=tuple(range(count))))
    if rng.random() < 0.5:
        may_fail = (
            replace(action, designated=(*action.designated, 2)) if rng.random() < 0.5 else action
            for action in task.actions
        )
        task = replace(task, actions=tuple(may_fail))
    return task


def scouts(count: int = 2, *, noticed: bool) -> Task:
    """Scouts look what colour a flag has, and tell the others, two of whom stay in the camp; all are to know it.

    A scout looks outside and speaks inside. `noticed` is whether the others see that it looks. If they do not, they
    believe that it does not know, and nothing that it says fits that.
    """
    names = tuple(f"scout{k}" for k in range(1, count + 1))
    agents, red = (*names, "ann", "bob"), fluent("red")
    every, watchers = "sees", "notices" if noticed else "misses"
    relations = {kind: tuple(map(frozenset, WATCHING[kind])) for kind in ("sees", "notices", "misses")}
    nothing = Event("nothing")

    def public(name: str, condition: Formula, *events: Event) -> Action:
        rest = (*events, *(nothing,) * (3 - len(events)))
        seen = (((TRUE, every),),) * len(agents)
        return Action(name, condition, rest, tuple(range(len(events))), relations, seen)

    actions: list[Action] = []
    for name in names:
        out = fluent(f"out_{name}")
        looking = tuple(((TRUE, every if agent == name else watchers),) for agent in agents)
        sensing = (Event("red", red), Event("blue", not_(red)), nothing)
        actions += [
            public(f"leave_{name}", not_(out), Event("leaves", TRUE, (Effect(out.name, True),))),
            public(f"return_{name}", out, Event("returns", TRUE, (Effect(out.name, False),))),
            Action(f"look_{name}", out, sensing, (0, 1), relations, looking),
            *(
                public(f"say_{word}_{name}", and_(not_(out), believes(name, said)), Event("says", believes(name, said)))
                for word, said in (("red", red), ("blue", not_(red)))
            ),
        ]
    both = frozenset({0, 1})
    initial = EState((frozenset({"red"}), frozenset()), ((both, both),) * len(agents), (0, 1))
    goal = tuple(knows_whether(agent, red) for agent in agents)
    return Task("scouts", ("red", *(f"out_{name}" for name in names)), agents, tuple(actions), initial, goal)
