"""Search and Rescue: drones find a victim, firefighters put out the fire there, and an ambulance brings help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from domains.checks import (
    MAX_INSTANCES,
    MAX_WORLDS,
    DomainError,
    check_at_least,
    check_flag,
    check_formulas,
    check_limit,
    check_one_each,
    check_one_of,
    check_subset,
    make_random,
    power,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import atom, believes, common, knows_whether, not_, number_names, unsure, write

_UNNOTICED = """
    (:event unseen)
    (:action look_for_victim
        :parameters (?drone - drone ?place - location)
        :action-type (private-sensing (sees_victim ?drone ?place) (sees_nobody ?drone ?place) (unseen))
        :observability-conditions (:and (?drone Fully) (default Oblivious)))
"""
_NOTICED = """
    (:action look_for_victim
        :parameters (?drone - drone ?place - location)
        :action-type (semi-private-sensing (sees_victim ?drone ?place) (sees_nobody ?drone ?place))
        :observability-conditions (:and (?drone Fully) (default Partially)))
"""
_SHAPES = ("line", "ring", "star")


def problem(
    *,
    locations: int = 3,
    shape: str = "line",
    drones: int = 1,
    firefighters: int = 1,
    ambulances: int = 1,
    starts: Sequence[str] | None = None,
    victim: str | None = None,
    fires: Sequence[str] | None = None,
    noticed: bool = True,
    unknown: bool = False,
    goal: str = "rescue",
    seed: int = 0,
    goals: Sequence[str] | None = None,
) -> str:
    """Drones, firefighters and ambulances search for a victim at an unknown location and rescue it.

    All agents observe all moves. A drone can sense a victim or a fire at its own location, and every agent can publicly
    report its beliefs about them. A firefighter puts out a fire that it knows of. An ambulance rescues a victim that it
    knows of, at a location that it knows not to burn. All agents know which locations may burn.

    Difficulty grows with the number of locations and of agents, whose moves can be ordered in any way, and with fires:
    each doubles the worlds, and a fire at the victim's location has to be reported and put out first.

    Args:
        locations: how many, at least 2; they are called l1, l2, …
        shape: how they are linked: in a `line`, in a `ring`, or in a `star` around the first.
        drones: how many, at least 1; they are called d1, d2, …
        firefighters: how many, at least 1; they are called f1, f2, …
        ambulances: how many, at least 1; they are called a1, a2, …
        starts: the location where each drone, then each firefighter, then each ambulance starts.
        victim: the victim's location.
        fires: the burning locations; no agent knows whether they burn. All agents know that the others do
            not burn. By default it is sampled whether the victim's location burns.
        noticed: whether all agents observe that a drone senses for a victim. In the published problems no other agent
            does; then a report contradicts the beliefs of an agent that takes the drone to know nothing, and makes
            them inconsistent.
        unknown: whether the victim may be at any location, so that a policy depends on the observations of drones. By
            default its location is fixed but unknown to the agents, and a plan goes straight there.
        goal: `rescue` the victim, or `find` it, so that everybody knows its location.
        seed: samples the starts, the victim's location and the fires that are not given.
        goals: explicit EPDDL formulas instead, about the atoms `(at d1 l2)`, `(victim l3)`, `(rescued)`, ….

    Source: the family *search and rescue* of the epistemic track of the International Planning Competition 2026.
    """
    places = _places(locations)
    agents = _agents(locations, drones, firefighters, ambulances)
    names = [name for members in agents.values() for name in members]
    draw = make_random(seed)
    drawn_starts, drawn_victim, burns = draw.choices(places, k=len(names)), draw.choice(places), draw.random() < 0.5
    start = check_one_each("starts", drawn_starts if starts is None else starts, places, names)
    found = drawn_victim if victim is None else check_one_of("location in victim", victim, places)
    burning = check_subset("fires", [found] * burns if fires is None else fires, places)
    worlds = (len(places) + 1) * power(2, len(burning))
    check_limit("worlds", worlds, MAX_WORLDS, locations=len(places), fires=len(burning))
    check_one_of("goal", goal, ("rescue", "find"))
    if check_flag("unknown", unknown):
        if victim is not None:
            raise DomainError("victim cannot be given where its location is unknown: leave it out")
        somewhere = "(exists (?place - location) (victim ?place))"
        everywhere = [knows_whether(name, atom("victim", place)) for name in names for place in places]
    else:
        somewhere = atom("victim", found)
        everywhere = [believes(name, atom("victim", found)) for name in names]
    wanted = ["(rescued)"] if goal == "rescue" else everywhere
    looking = _NOTICED if check_flag("noticed", noticed) else _UNNOTICED
    return write(
        title=f"Search and Rescue: {len(places)} locations, {len(names)} agents, {len(burning)} fires",
        story="""
            Drones look for a victim and for fires and report what they see. Firefighters put out fires that they know
            of; ambulances rescue the victim when they know where it is and that it does not burn there.
        """,
        action_types=[
            "public-ontic",
            *([] if noticed else ["private-sensing"]),
            "semi-private-sensing",
            "public-answer",
        ],
        domain=read_text("search_and_rescue.epddl").format(look_for_victim=looking.strip()),
        name="search_and_rescue",
        objects={"location": places},
        agents=agents,
        facts=[atom("linked", *link) for one, other in _links(shape, places) for link in ((one, other), (other, one))],
        init=[
            somewhere,
            *(atom("fire", place) for place in burning),
            *(common(_only_at(name, place)) for name, place in start.items()),
            common("(forall (?p ?q - location | (/= ?p ?q)) (imply (victim ?p) (not (victim ?q))))"),
            *(common(not_(atom("fire", place))) for place in places if place not in burning),
            common("(not (rescued))"),
        ],
        goals=wanted if goals is None else check_formulas("goals", goals),
    )


def vocabulary(
    *, locations: int = 3, drones: int = 1, firefighters: int = 1, ambulances: int = 1, **_: Any
) -> list[str]:
    """The locations of agents, their knowledge about victim and fires, and their beliefs about drones' knowledge."""
    agents = _agents(locations, drones, firefighters, ambulances)
    names = [name for members in agents.values() for name in members]
    found = ["(rescued)"]
    for place in _places(locations):
        victim, fire = atom("victim", place), atom("fire", place)
        found.append(not_(fire))
        for name in names:
            found.append(atom("at", name, place))
            found += [knows_whether(name, victim), unsure(name, victim)]
            found += [knows_whether(name, fire), unsure(name, fire)]
        for drone in agents["drone"]:
            for name in names:
                if name != drone:
                    seen = knows_whether(drone, victim)
                    found += [believes(name, seen), not_(believes(name, seen))]
    return found


def _places(locations: int) -> tuple[str, ...]:
    check_at_least("locations", locations, 2)
    check_limit("pairs of locations", locations**2, MAX_INSTANCES, locations=locations)
    return number_names("l", locations)


def _agents(locations: int, drones: int, firefighters: int, ambulances: int) -> dict[str, tuple[str, ...]]:
    counts = {"drones": drones, "firefighters": firefighters, "ambulances": ambulances}
    for kind, count in counts.items():
        check_at_least(kind, count, 1)
    check_limit("places of agents", locations * sum(counts.values()), MAX_INSTANCES, locations=locations, **counts)
    return {kind.removesuffix("s"): number_names(kind[0], count) for kind, count in counts.items()}


def _links(shape: str, places: Sequence[str]) -> list[tuple[str, str]]:
    if check_one_of("shape", shape, _SHAPES) == "star":
        return [(places[0], place) for place in places[1:]]
    closing = [(places[-1], places[0])] if shape == "ring" and len(places) > 2 else []
    return [*pairwise(places), *closing]


def _only_at(name: str, place: str) -> str:
    return f"(and (at {name} {place}) (forall (?p - location | (/= ?p {place})) (not (at {name} ?p))))"


_GROWTH = (
    (7, 2, 2, 2), (8, 2, 2, 2), (7, 2, 1, 1), (9, 2, 2, 2), (8, 2, 1, 1), (9, 3, 2, 2), (10, 2, 2, 2), (10, 3, 2, 2),
    (11, 3, 2, 2), (10, 3, 3, 3), (11, 3, 3, 3), (11, 4, 3, 3), (12, 3, 3, 3), (12, 4, 3, 3), (11, 4, 4, 4),
    (12, 4, 4, 4),
)  # fmt: skip

DOMAIN = Domain(
    name="search_and_rescue",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"drones": 2, "starts": ["l2", "l3", "l1", "l1"], "victim": "l2", "fires": []},
        plan=("look_for_victim_d1_l2", "look_for_victim_d2_l3"),
        caption=(
            "Before all, d1 has looked for the victim at l2 and d2 at l3: d1 knows that it is at l2, d2 "
            "that it is not at l3, and the others know that each drone knows about its place."
        ),
    ),
    actors=dict.fromkeys(
        ("move", "look_for_victim", "look_for_fire", "report_victim", "report_fire", "extinguish", "rescue"), 0
    ),
    ranges={
        "train": ({"locations": (2, 3, 4), "shape": _SHAPES, "goal": ("rescue", "find"), "noticed": (True, False)},),
        "validation": ({"locations": (5, 6), "shape": _SHAPES, "drones": (1, 2), "noticed": (True, False)},),
        "test": ({"locations": (7, 8), "shape": _SHAPES, "drones": (1, 2), "ambulances": (1, 2)},),
    },
    growth=Growth(
        sizes("locations drones firefighters ambulances", _GROWTH, shape="ring"), walk=(40, 240), subgoals=(16, 240)
    ),
)
