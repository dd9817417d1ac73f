"""Selective Communication Enriched: the same corridor, and many actions that lead nowhere."""

from __future__ import annotations

from itertools import chain
from typing import Any

from domains import selective_communication
from domains.checks import MAX_STATEMENTS, check_at_least, check_flag, check_limit
from domains.domain import Domain, Growth, Scene, sizes
from domains.selective_communication import Corridor, goal_formulas
from domains.writing.mastar import ActionText, always, believes, not_, write
from domains.writing.structure import ObjectNames, number_objects


def problem(*, useless: int = 1, toggles: bool = False, **corridor: Any) -> str:
    """Selective Communication with facts that do not matter, and actions about them in every room.

    The story and all parameters are those of Selective Communication. Besides, a can in every room look at a useless
    fact, which is commonly known to hold, and mutter it to itself, and it can negate and activate the fact.

    Difficulty grows as in Selective Communication; useless facts multiply the successors of an e-state
    without bringing a goal closer, and with `toggles` they multiply the e-states, too.

    Args:
        useless: number of useless facts, at least 1.
        toggles: whether negating and activating really change the fact, in a's eyes only; in the published
            problems they have no effect.
        **corridor: the parameters of Selective Communication.

    Source: an enriched replica of Selective Communication, published in mA* with a learned heuristic.
    """
    given = {**selective_communication.DOMAIN.defaults, **corridor}
    wanted = {name: given.pop(name) for name in ("informed", "depth", "excluded", "goals")}
    rooms = Corridor(**given)
    check_flag("toggles", toggles)
    check_at_least("useless", useless, 1)
    count = len(rooms.rooms)
    check_limit("statements", 6 * (useless + 1) * (count + 1), MAX_STATEMENTS, rooms=count, useless=useless)
    facts = ["useless", *(f"useless{number}" for number in range(2, useless + 1))]
    return write(
        title=f"Selective Communication Enriched: agents={len(rooms.names)}, rooms={len(rooms.rooms)}",
        story="""
            Agent a walks along a corridor, finds out about q in one of the rooms, and shouts q where the
            right agents hear it: in the same and the adjacent rooms. All else that a can do is useless.
        """,
        fluents=[*facts, "q", *(f"at_{room}" for room in rooms.rooms)],
        actions=[*rooms.actions(), *chain.from_iterable(_useless(fact, rooms, toggles) for fact in facts)],
        agents=rooms.names,
        designated=[*rooms.position, "q", *facts],
        commonly_known=[*rooms.position, *facts],
        goals=goal_formulas(rooms.names, **wanted),
    )


def structure(*, rooms: int = 4, useless: int = 1, **_: Any) -> ObjectNames:
    """Rooms have numbers, and so have useless facts but the first."""
    names = {f"useless{number}": f"useless{number}".removesuffix("1") for number in range(1, useless + 1)}
    return ObjectNames(
        number_objects("room", range(1, rooms + 1)) | dict.fromkeys(names, "fact"),
        {word: ("fact", name) for name, word in names.items()},
    )


def _useless(fact: str, corridor: Corridor, toggles: bool) -> list[ActionText]:
    walker = corridor.names[0]
    watched = always([walker]) if toggles else {}
    return [
        ActionText(f"negate_{fact}", "causes", [(not_(fact), "")] * toggles, believes(walker, fact), watched),
        ActionText(f"activate_{fact}", "causes", [(fact, "")] * toggles, believes(walker, not_(fact)), watched),
        *(
            ActionText(f"sense_{fact}_{room}", "determines", [(fact, f"at_{room}")], observes=always([walker]))
            for room in corridor.rooms
        ),
        *(
            ActionText(f"shout_{fact}_{room}", "announces", [(fact, "")], believes(walker, fact), always([walker]))
            for room in corridor.rooms
        ),
    ]


_GROWTH = (
    (9, 11, 4), (10, 13, 4), (11, 15, 4), (12, 17, 4), (13, 20, 4), (14, 23, 5), (15, 26, 5), (16, 29, 5), (17, 32, 5),
    (18, 35, 6), (19, 38, 6), (20, 41, 6), (21, 44, 6), (22, 47, 7), (23, 50, 7), (24, 54, 7), (25, 57, 8), (25, 60, 8),
)  # fmt: skip

DOMAIN = Domain(
    name="selective_communication_enriched",
    problem=problem,
    vocabulary=selective_communication.vocabulary,
    scene=Scene(
        parameters={"toggles": True},
        plan=("right", "sense", "left", "shout_1", "negate_useless"),
        caption=(
            "Agent b has heard the shout and knows q, c has not and believes that nobody knows; a has "
            "negated the useless fact, and both believe that it still holds."
        ),
    ),
    structure=structure,
    base=selective_communication.DOMAIN,
    ranges={
        "train": (
            {"agents": (3, 4, 5), "rooms": (4, 5, 6), "sense": (2, 3), "useless": (1, 2), "toggles": (False, True)},
        ),
        "validation": ({"agents": (6, 7), "rooms": (7, 8), "sense": (3,), "useless": (3,), "toggles": (True,)},),
        "test": ({"agents": (8, 9), "rooms": (9, 10, 11), "sense": (4, 5), "useless": (3, 4), "toggles": (True,)},),
    },
    growth=Growth(
        sizes(
            "agents rooms sense useless",
            [(agents, rooms, rooms // 2, useless) for agents, rooms, useless in _GROWTH],
            toggles=True,
        ),
        walk=(160, 1000),
        subgoals=(16, 60),
    ),
)
