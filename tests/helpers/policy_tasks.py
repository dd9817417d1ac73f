"""Tasks for policies: random ones, and scouts whose looking others notice, or do not."""

import random
from dataclasses import replace

from epigym.task.formula import TRUE, Formula, and_, believes, common, fluent, knows_whether, not_
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


def couriers(*, tosses: bool = True, prepares: bool = False) -> Task:
    """Two agents who can send letters without end, of which each may get lost, so that e-states grow.

    Ann knows that it is dawn. Either can tell the other so, and can confirm that the other knows it. The goal is that a
    coin shows heads: a toss shows that or not, and with `prepares` the coin can be turned by one of two actions, after
    a preparation that shows by which one. Without `tosses`, Bob has to know that Ann knows that he knows of the dawn.
    """
    agents, dawn = ("ann", "bob"), fluent("dawn")
    letter = {
        "sends": tuple(map(frozenset, ({0, 1}, {0, 1}, {2}))),
        "receives": tuple(map(frozenset, ({0}, {1, 2}, {1, 2}))),
    }

    def send(name: str, sender: str, content: Formula) -> Action:
        observing = tuple(((TRUE, "sends" if agent == sender else "receives"),) for agent in agents)
        events = (Event("arrives", content), Event("is lost", content), Event("none"))
        return Action(name, content, events, (0, 1), letter, observing)

    def show(name: str, condition: Formula, *effects: tuple[Effect, ...]) -> Action:
        events = tuple(Event(f"outcome{k}", TRUE, one) for k, one in enumerate(effects))
        sees = {"sees": tuple(frozenset({k}) for k in range(len(events)))}
        return Action(name, condition, events, tuple(range(len(events))), sees, (((TRUE, "sees"),),) * 2)

    heads, ready, red = (Effect(name, True) for name in ("heads", "ready", "red"))
    coin = [show("toss", TRUE, (heads,), (Effect("heads", False),))]
    if prepares:
        coin += [
            show("prepare", TRUE, (ready,), (ready, red)),
            show("turn", and_(fluent("ready"), not_(fluent("red"))), (heads,)),
            show("turn_red", fluent("red"), (heads,)),
        ]
    letters = [
        send(f"{kind}_{sender}", sender, content)
        for sender, other in (agents, agents[::-1])
        for kind, content in (("tell", believes(sender, dawn)), ("confirm", believes(sender, believes(other, dawn))))
    ]
    both = frozenset({0, 1})
    knows, guesses = (frozenset({0}), frozenset({1})), (both, both)
    initial = EState((frozenset({"dawn"}), frozenset()), (knows, guesses), (0,))
    goal = fluent("heads") if tosses else believes("bob", believes("ann", believes("bob", dawn)))
    actions = (*letters, *(coin if tosses else ()))
    return Task("couriers", ("dawn", "heads", "ready", "red"), agents, actions, initial, (goal,))


def loose_switch() -> Task:
    """A switch may turn a lamp off or not, which only its user notices; that it is dark is to be common knowledge."""
    agents, lit = ("ann", "bob"), fluent("lit")
    alone = (frozenset({0}), frozenset({1}))
    relations = {"acts": alone, "watches": (frozenset({0, 1}),) * 2}

    def act(name: str, agent: str, *events: Event) -> Action:
        observing = tuple(((TRUE, "acts" if other == agent else "watches"),) for other in agents)
        return Action(f"{name}_{agent}", TRUE, events, (0, 1), relations, observing)

    actions = [
        action
        for agent in agents
        for action in (
            act("switch", agent, Event("works", TRUE, (Effect("lit", False),)), Event("fails")),
            act("look", agent, Event("is lit", lit), Event("is dark", not_(lit))),
        )
    ]
    initial = EState((frozenset({"lit"}),), ((frozenset({0}),),) * 2, (0,))
    return Task("loose_switch", ("lit",), agents, tuple(actions), initial, (common(agents, not_(lit)),))
