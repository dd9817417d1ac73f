"""Grapevine: spread secrets among friends in several rooms, past those who must not learn them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations, product
from typing import Any

from domains.checks import (
    MAX_STATEMENTS,
    MAX_WORLDS,
    check_at_least,
    check_between,
    check_flag,
    check_formulas,
    check_limit,
    check_subset,
    power,
)
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, and_, believes, knows_whether, not_, or_, write
from domains.writing.structure import ObjectNames, number_objects, secrets


def problem(
    *,
    agents: int = 3,
    rooms: int = 2,
    noticed: bool = True,
    ring: int = 3,
    learn: Sequence[str] = ("a", "b"),
    miss: Sequence[str] = (),
    unsure: Sequence[str] = (),
    home: bool = False,
    goals: Sequence[str] | None = None,
) -> str:
    """Agents with one secret each walk between rooms and share secrets with whoever is in the same room.

    Every agent knows its own secret, and all agents know that. All start in the first of a row of rooms. An
    agent that leaves a room is seen by those it leaves; those in other rooms notice nothing and keep
    believing that it is where they saw it last. A secret that an agent believes can be shared, aloud, with
    everybody in the same room.

    Difficulty grows with the number of agents (worlds and actions), with the number of rooms, and above all
    with goals that tell the agents apart: a secret then has to be shared behind the back of those who must
    miss it, and long plans follow.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        rooms: number of rooms, at least 2.
        noticed: whether a step is noticed by the agents in the room that is left, the walker included; in
            the published problems with four agents nobody notices steps, and all believe that everybody
            still is where they started.
        ring: the goal speaks about a ring of this many first agents, 2 to `agents`; each has a next one, and
            the last one's next is the first.
        learn: the agents of the ring that shall learn the secret of the next one.
        miss: the agents of the ring that shall not learn the secret of the one after the next.
        unsure: the agents of the ring that shall not know whether the next one has learnt its secret.
        home: whether the agents of the ring shall be in the first room at the end.
        goals: explicit mA* formulas instead of the five parameters above.

    Source: the Grapevine domain of C. Muise et al., "Planning over multi-agent epistemic states: a classical
    planning approach" (AAAI 2015), in the form published in mA* with the EFP planners.
    """
    check_at_least("agents", agents, 2)
    check_at_least("rooms", rooms, 2)
    check_limit("worlds", power(2, agents), MAX_WORLDS, agents=agents)
    statements = agents**2 * rooms * (agents + 2) + 2 * agents * (agents + rooms)
    check_limit("statements", statements, MAX_STATEMENTS, agents=agents, rooms=rooms)
    names = agent_names(agents)
    numbers = range(1, rooms + 1)
    members = names[: check_between("ring", ring, 2, agents)]
    wanted = _ring_goals(
        members,
        learn=check_subset("learn", learn, members),
        miss=check_subset("miss", miss, members),
        unsure=check_subset("unsure", unsure, members),
        home=check_flag("home", home),
    )
    if goals is None and not wanted:
        wanted = [f"at_{name}_1" for name in names]
    here = [f"at_{name}_1" for name in names]
    elsewhere = [f"-at_{name}_{room}" for room in numbers[1:] for name in names]
    return write(
        title=f"Grapevine: agents={agents}, rooms={rooms}",
        story="""
            Everybody knows one secret. Agents walk from room to room, seen by those they leave, and share
            the secrets they believe with everybody in the same room.
        """,
        fluents=[*(f"at_{name}_{room}" for name in names for room in numbers), *(f"s{name}" for name in names)],
        actions=_actions(names, numbers, check_flag("noticed", noticed)),
        agents=names,
        designated=[*here, *elsewhere, *(f"s{name}" for name in names)],
        commonly_known=[*here, *elsewhere, *(knows_whether(name, f"s{name}") for name in names)],
        goals=wanted if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, **_: Any) -> list[str]:
    """Who believes which secret, who believes that another believes it, and who believes neither."""
    names = agent_names(agents)
    found = []
    for name, other in permutations(names, 2):
        learnt = believes(name, f"s{other}")
        found += [learnt, not_(learnt), f"at_{name}_1" if other == names[0] else f"-at_{name}_1"]
        for watcher in names:
            if watcher != name:
                found += [believes(watcher, learnt), not_(believes(watcher, learnt))]
    return list(dict.fromkeys(found))


def structure(*, agents: int = 3, rooms: int = 2, **_: Any) -> ObjectNames:
    """Rooms have numbers, and each agent has a secret."""
    return ObjectNames(number_objects("room", range(1, rooms + 1)), secrets(agent_names(agents)))


def _ring_goals(
    members: Sequence[str], *, learn: Iterable[str], miss: Iterable[str], unsure: Iterable[str], home: bool
) -> list[str]:
    def after(name: str, steps: int) -> str:
        return members[(members.index(name) + steps) % len(members)]

    return [
        *(believes(name, f"s{after(name, 1)}") for name in learn),
        *(not_(believes(name, f"s{after(name, 2)}")) for name in miss),
        *(not_(believes(name, knows_whether(after(name, 1), f"s{after(name, 2)}"))) for name in unsure),
        *(f"at_{name}_1" for name in members if home),
    ]


def _actions(names: Sequence[str], rooms: Sequence[int], noticed: bool) -> list[ActionText]:
    right = list(pairwise(rooms))
    left = [(to, here) for here, to in right]
    watching = names if noticed else ()
    return [
        *(_move("right", name, watching, right) for name in names),
        *(_move("left", name, watching, left) for name in names),
        *(_share(name, owner, room, names) for name, owner, room in product(names, names, rooms)),
    ]


def _move(direction: str, mover: str, names: Sequence[str], steps: Sequence[tuple[int, int]]) -> ActionText:
    """One step along the row of rooms, noticed by those of `names` who are in the room that is left."""
    return ActionText(
        f"{direction}_{mover}",
        "causes",
        [
            (f"at_{mover}_{to}, -at_{mover}_{here}", f"at_{mover}_{here}" if len(steps) > 1 else "")
            for here, to in steps
        ],
        executable=or_(*(f"at_{mover}_{here}" for here, _ in steps)),
        observes={
            name: or_(*(and_(*dict.fromkeys((f"at_{mover}_{here}", f"at_{name}_{here}"))) for here, _ in steps))
            for name in names
        },
    )


def _share(speaker: str, owner: str, room: int, names: Sequence[str]) -> ActionText:
    return ActionText(
        f"share_{speaker}_s{owner}_{room}",
        "announces",
        [(f"s{owner}", "")],
        executable=and_(believes(speaker, f"s{owner}"), f"at_{speaker}_{room}"),
        observes={name: f"at_{name}_{room}" for name in names},
    )


_GROWTH = (
    (5, 4), (6, 3), (6, 4), (6, 4), (6, 5), (6, 5), (6, 6), (7, 4), (7, 4), (7, 5), (7, 5), (7, 6), (8, 4), (8, 4),
    (8, 5), (8, 5), (8, 6), (8, 6),
)  # fmt: skip

DOMAIN = Domain(
    name="grapevine",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={},
        plan=("share_b_sb_1", "share_c_sc_1", "right_c", "share_a_sa_1", "right_b", "right_a"),
        caption=(
            "All three have come to room 2 one after the other, and b has learnt a's secret on the way: "
            "c believes that a and b are in room 1 and that b does not know it, b believes that a is "
            "there, and only a knows."
        ),
    ),
    structure=structure,
    actors=dict.fromkeys(("right", "left", "share_secret"), 0),
    ranges={
        "train": ({"agents": (2, 3), "rooms": (2, 3), "noticed": (False, True), "ring": (2,)},),
        "validation": ({"agents": (4,), "rooms": (2, 3), "noticed": (True,)},),
        "test": ({"agents": (5, 6), "rooms": (3, 4), "noticed": (True,)},),
    },
    growth=Growth(sizes("agents rooms", _GROWTH), walk=(40, 200), subgoals=(16, 160)),
)
