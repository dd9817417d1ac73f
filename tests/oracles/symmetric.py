"""Exchanges of names, applied to everything by plain Python, and tasks that are symmetric by construction."""

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from epigym.task.formula import TRUE, Formula, and_, fluent, knows_whether, not_
from epigym.task.task import Action, EState, Event, Task
from tests.helpers.strategies import alike, random_estate, telling_task

Images = Mapping[str, str]  # of the names that change


def rename_formula(formula: Formula, images: Images) -> Formula:
    """The formula with agents and fluents exchanged; agents and fluents have different names."""
    children = tuple(rename_formula(child, images) for child in formula.children)
    agents = tuple(sorted(images.get(agent, agent) for agent in formula.agents))
    return Formula(formula.op, images.get(formula.name, formula.name), agents, children)


def rename_action(action: Action, images: Images, agents: tuple[str, ...], name: str) -> Action:
    """The action with agents and fluents exchanged, under another name."""
    observability = dict(zip(agents, action.observability, strict=True))
    return replace(
        action,
        name=name,
        applicability=rename_formula(action.applicability, images),
        events=tuple(
            Event(
                event.name,
                rename_formula(event.precondition, images),
                tuple(
                    replace(
                        effect,
                        fluent=images.get(effect.fluent, effect.fluent),
                        condition=rename_formula(effect.condition, images),
                    )
                    for effect in event.effects
                ),
            )
            for event in action.events
        ),
        observability=tuple(
            tuple((rename_formula(condition, images), kind) for condition, kind in conditions)
            for conditions in (observability[images.get(agent, agent)] for agent in agents)
        ),
    )


def rename_estate(estate: EState, images: Images, agents: tuple[str, ...]) -> EState:
    """The e-state with agents and fluents exchanged; an exchange is its own inverse."""
    rows = dict(zip(agents, estate.successors, strict=True))
    return replace(
        estate,
        valuations=tuple(frozenset(images.get(name, name) for name in truth) for truth in estate.valuations),
        successors=tuple(rows[images.get(agent, agent)] for agent in agents),
    )


EXCHANGE = {"x": "y", "y": "x", "p_x": "p_y", "p_y": "p_x"}
FLUENTS, AGENTS = ("p_x", "p_y", "q"), ("x", "y")


def symmetric_task(seed: int) -> Task:
    """A random task that stays as it is when x and y are exchanged, and so does its initial e-state."""
    rng = random.Random(seed)
    task = telling_task(rng, FLUENTS, AGENTS)
    images = [rename_action(action, EXCHANGE, AGENTS, f"{action.name}_too") for action in task.actions]
    goal = tuple(dict.fromkeys([*task.goal, *(rename_formula(subgoal, EXCHANGE) for subgoal in task.goal)]))
    return replace(task, actions=(*task.actions, *images), goal=goal, initial=_double(rng))


def _double(rng: random.Random) -> EState:
    """A random e-state beside its image, and a designated world that looks at both in the same way."""
    count = rng.randint(2, 3)
    one = random_estate(rng, count, FLUENTS, AGENTS)
    other = rename_estate(one, EXCHANGE, AGENTS)
    seen = rng.sample(range(2 * count + 1), rng.randint(1, 3))
    mirrored = [w if w == 2 * count else (w + count) % (2 * count) for w in seen]
    return EState(
        valuations=(*one.valuations, *other.valuations, frozenset(rng.choice([(), ("q",), ("p_x", "p_y")]))),
        successors=tuple(
            (*left, *(frozenset(w + count for w in row) for row in right), frozenset(own))
            for left, right, own in zip(one.successors, other.successors, (seen, mirrored), strict=True)
        ),
        designated=(2 * count,),
    )


def muddy_children(children: int, muddy: int, agent: str = "child{}", fluent_name: str = "muddy_child{}") -> Task:
    """Children of whom the first ones are muddy; each sees the others, all know that not all are clean.

    Any of them can be asked whether it knows about itself; the answer is heard by all. The goal is that all know.
    """
    agents = tuple(agent.format(k) for k in range(children))
    fluents = tuple(fluent_name.format(k) for k in range(children))
    knows = [knows_whether(agent, fluent(name)) for agent, name in zip(agents, fluents, strict=True)]
    worlds = [world for world in product((False, True), repeat=children) if any(world)]

    def ask(child: int) -> Action:
        return Action(
            f"ask{child}",
            TRUE,
            (Event("yes", knows[child]), Event("no", not_(knows[child]))),
            (0, 1),
            {"full": (frozenset({0}), frozenset({1}))},
            (((TRUE, "full"),),) * children,
        )

    initial = EState(
        tuple(frozenset(name for name, dirty in zip(fluents, world, strict=True) if dirty) for world in worlds),
        tuple(alike([world[:child] + world[child + 1 :] for world in worlds]) for child in range(children)),
        (worlds.index(tuple(k < muddy for k in range(children))),),
    )
    return Task("muddy", fluents, agents, tuple(map(ask, range(children))), initial, (and_(*knows),))
