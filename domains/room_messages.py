"""Room Messages: agents in a row of rooms look up a message or hear it from those nearby, who alone shall learn it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise, product
from string import ascii_lowercase
from typing import Any

from domains.checks import (
    MAX_EXPANDED,
    MAX_INSTANCES,
    MAX_LEVELS,
    check_at_least,
    check_between,
    check_flag,
    check_formulas,
    check_limit,
    check_one_each,
    check_subset,
    make_random,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import EStateText, atom, believes, knows_whether, not_, number_names, unsure, write
from domains.writing.mastar import agent_names

_MESSAGE = atom("message")


def problem(
    *,
    agents: int = 3,
    rooms: int = 4,
    places: Sequence[int] | None = None,
    both_ways: bool = True,
    misjudged: bool = False,
    informed: Sequence[str] | None = None,
    excluded: Sequence[str] = (),
    depth: int = 1,
    seed: int = 0,
    goals: Sequence[str] | None = None,
) -> str:
    """Agents in a row of rooms, who all see each other move, do not know whether there is a message.

    In any room but the rightmost an agent can read it; those in the same room see that it reads, but not what, the
    others notice nothing. An agent that believes the message can tell it to all who are close, that is in the same
    or an adjacent room, if all of them believe that it knows; the others notice nothing.

    Difficulty grows with the number of agents who shall learn the message, as nobody need be told what everybody can
    read, and with depth: agents then have to meet, to see each other read.

    Args:
        agents: how many, at least 2; they are called a, b, c, …
        rooms: how many, at least 2; they are called r1, r2, …
        places: the number of each agent's room.
        both_ways: whether at the start closeness counts both ways; in the competition's problems agents are close to
            those that are named after them, but not these to them, until one of the two moves.
        misjudged: whether closeness after a step to the right is that after a step to the left, as in the published
            problems.
        informed: the agents that shall believe the message, at least one; by default all but the excluded ones.
        excluded: the agents that shall not.
        depth: how deep, at least 1: at depth 2 every informed agent shall believe that the next one believes the
            message, and so on around.
        seed: draws the places when they are not given.
        goals: explicit EPDDL formulas instead, about the atoms `(message)`, `(at a r1)` and `(close a b)`.

    Source: the family *selective communication* of the epistemic track of the International Planning Competition
    2026, after F. Kominis and H. Geffner, "Beliefs in multiagent planning: from one agent to many" (ICAPS 2015).
    """
    _check_sizes(agents, rooms)
    names, row = agent_names(agents, ascii_lowercase), number_names("r", rooms)
    numbers = range(1, len(row) + 1)
    sampled = make_random(seed).choices(numbers, k=len(names))
    place = check_one_each("places", sampled if places is None else places, numbers, names)
    missing = check_subset("excluded", excluded, names)
    check_between("number of excluded agents", len(missing), 0, len(names) - 1)
    others = [name for name in names if name not in missing]
    readers = check_subset("informed", others if informed is None else informed, others, at_least=1)
    check_at_least("depth", depth, 1)
    check_limit("levels of a formula", depth, MAX_LEVELS, depth=depth)
    wanted = _goals(names, readers, missing, depth)
    near = [atom("near", f"r{one}", f"r{other}") for one, other in product(numbers, numbers) if _is_near(one, other)]
    return write(
        title=f"Room Messages: {len(names)} agents in {len(row)} rooms",
        story="""
            Agents walk along a row of rooms and read whether there is a message, in any room but the rightmost. They
            tell it to those in the same or an adjacent room.
        """,
        action_types=["public-ontic", "quasi-private-sensing", "private-announcement"],
        domain=_domain(misjudged=check_flag("misjudged", misjudged)),
        name="room_messages",
        objects={"room": row},
        agents={"agent": names},
        facts=[
            *(atom("adjacent", left, right) for left, right in pairwise(row)),
            *near,
            atom("leftmost", row[0]),
            atom("rightmost", row[-1]),
        ],
        init=_initial(names, place, both_ways=check_flag("both_ways", both_ways)),
        goals=wanted if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, rooms: int = 4, **_: Any) -> list[str]:
    """Where the agents are, who believes the message, and what the others believe about that."""
    names = agent_names(agents, ascii_lowercase)
    found = []
    for name in names:
        informed = believes(name, _MESSAGE)
        found += [informed, not_(informed), unsure(name, _MESSAGE)]
        found += [atom("at", name, room) for room in number_names("r", rooms)]
        for other in names:
            if other != name:
                knows = believes(other, knows_whether(name, _MESSAGE))
                found += [atom("close", name, other), believes(other, informed), knows, not_(knows)]
    return found


def _check_sizes(agents: int, rooms: int) -> None:
    check_at_least("agents", agents, 2)
    check_at_least("rooms", rooms, 2)
    check_limit("pairs of rooms", rooms**2, MAX_INSTANCES, rooms=rooms)
    changes = 2 * agents * (agents - 1) * rooms * (rooms - 1)
    check_limit("changes of closeness", changes, MAX_EXPANDED, agents=agents, rooms=rooms)


def _is_near(one: int, other: int) -> bool:
    return abs(one - other) <= 1


def _domain(*, misjudged: bool) -> str:
    # Deletions are stated where they are void too: the official toolkit makes an atom false that is only ever added.
    judged = "(adjacent ?to ?from)" if misjudged else "(adjacent ?from ?to)"
    return read_text("room_messages.epddl").format(judged=judged)


def _initial(names: Sequence[str], place: Mapping[str, int], *, both_ways: bool) -> EStateText:
    """Two worlds, one with the message and one without it, which nobody tells apart."""
    places = [atom("at", name, f"r{place[name]}") for name in names]
    close = [
        atom("close", name, other)
        for name, other in product(names, names)
        if _is_near(place[name], place[other]) and (both_ways or name <= other)
    ]
    worlds = ("sent", "unsent")
    return EStateText(
        worlds={"sent": [_MESSAGE, *places, *close], "unsent": [*places, *close]},
        relations={name: list(product(worlds, worlds)) for name in names},
        designated=["sent"],
    )


def _goals(names: Sequence[str], informed: Sequence[str], excluded: Sequence[str], depth: int) -> list[str]:
    ring = [*informed, *informed] * depth
    wanted = [
        reduce(lambda formula, name: believes(name, formula), reversed(ring[first : first + depth]), _MESSAGE)
        for first in range(len(informed))
    ]
    if depth == 1 and len(informed) == len(names):
        wanted = [believes("All", _MESSAGE)]
    return [*wanted, *(not_(believes(name, _MESSAGE)) for name in excluded)]


_GROWTH = (
    (6, 8), (7, 8), (7, 9), (8, 9), (8, 10), (8, 11), (9, 11), (9, 12), (9, 13), (10, 13), (10, 14), (10, 15),
    (11, 15), (11, 16), (11, 18), (12, 18), (12, 19), (12, 20),
)  # fmt: skip

DOMAIN = Domain(
    name="room_messages",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"places": [1, 1, 4]},
        plan=("read_a",),
        caption=(
            "Agent a has read the message beside b, who knows that a knows but not what; c, far away, "
            "believes that a does not know either."
        ),
    ),
    actors={"left": 0, "right": 0, "read": 0, "tell": 0},
    ranges={
        "train": ({"agents": (2, 3), "rooms": (2, 3, 4), "depth": (1, 2)},),
        "validation": ({"agents": (4,), "rooms": (4, 5), "depth": (1, 2)},),
        "test": ({"agents": (5, 6, 7), "rooms": (6, 7, 8), "depth": (1, 2)},),
    },
    growth=Growth(sizes("agents rooms", _GROWTH), walk=(40, 240), subgoals=(16, 120)),
    consistent_beliefs=False,
)
