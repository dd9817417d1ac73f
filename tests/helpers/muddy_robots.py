"""Robots that have to find out which of their own lamps are lit: a task with policies, but without a linear plan."""

from itertools import product

from epigym.task.formula import TRUE, Formula, believes, fluent, not_, or_
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.strategies import alike


def muddy_robots(count: int) -> Task:
    """Each robot sees all lamps but its own, some lamp is lit; the goal is that none is.

    `announce` tells all that some lamp is lit; `bell` publicly senses whether some robot knows that its lamp is lit,
    `ask_r` whether robot r does; `repair_r` is public, possible only where r knows that its lamp is lit, and turns it
    off.
    """
    robots = tuple(f"r{k}" for k in range(1, count + 1))
    lit = [fluent(f"lit_{robot}") for robot in robots]
    knows = [believes(robot, lamp) for robot, lamp in zip(robots, lit, strict=True)]
    actions = [
        _public("announce", robots, Event("some", or_(*lit))),
        _public("bell", robots, *_whether(or_(*knows))),
        *(_public(f"ask_{robot}", robots, *_whether(known)) for robot, known in zip(robots, knows, strict=True)),
        *(
            _public(f"repair_{robot}", robots, Event("off", known, (Effect(lamp.name, False),)), applicability=known)
            for robot, lamp, known in zip(robots, lit, knows, strict=True)
        ),
    ]
    worlds = list(product((False, True), repeat=count))
    initial = EState(
        tuple(frozenset(lamp.name for lamp, on in zip(lit, world, strict=True) if on) for world in worlds),
        tuple(alike([(*world[:robot], *world[robot + 1 :]) for world in worlds]) for robot in range(count)),
        tuple(range(1, len(worlds))),
    )
    goal = tuple(not_(lamp) for lamp in lit)
    return Task(f"muddy_robots_{count}", tuple(lamp.name for lamp in lit), robots, tuple(actions), initial, goal)


def _whether(formula: Formula) -> tuple[Event, Event]:
    return Event("yes", formula), Event("no", not_(formula))


def _public(name: str, agents: tuple[str, ...], *events: Event, applicability: Formula = TRUE) -> Action:
    rows = tuple(frozenset({k}) for k in range(len(events)))
    everybody = (((TRUE, "sees"),),) * len(agents)
    return Action(name, applicability, events, tuple(range(len(events))), {"sees": rows}, everybody)
