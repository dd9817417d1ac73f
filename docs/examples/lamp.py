"""Lamp: an agent finds out whether the lamp in the last room is lit, and the others do not."""

from collections.abc import Sequence
from typing import Any

from domains.checks import check_between, check_formulas
from domains.domain import Domain, Scene
from domains.writing.mastar import ActionText, agent_names, always, believes, ignorant, not_, write
from domains.writing.structure import ObjectNames, number_objects


def problem(*, agents: int = 2, rooms: int = 3, goals: Sequence[str] | None = None) -> str:
    """Agents walk along a row of rooms; in the last room each of them can look at a lamp.

    Args:
        agents: number of agents, 2 to 4; they are called a, b, c, …
        rooms: number of rooms, 2 to 6.
        goals: explicit mA* formulas; by default the first agent knows that the lamp is lit, and the others do not.
    """
    names = agent_names(check_between("agents", agents, 2, 4))
    numbers = range(1, check_between("rooms", rooms, 2, 6) + 1)
    places = [f"{'' if room == 1 else '-'}at_{name}_{room}" for name in names for room in numbers]
    wanted = [believes(names[0], "lit"), *(not_(believes(name, "lit")) for name in names[1:])]
    return write(
        title=f"Lamp: agents={agents}, rooms={rooms}",
        story="Agents walk along a row of rooms; there is a lamp in the last one.",
        fluents=["lit", *(place.removeprefix("-") for place in places)],
        actions=[action for name in names for action in _actions(name, names, numbers)],
        agents=names,
        designated=["lit", *places],
        commonly_known=[*places, *(ignorant(name, "lit") for name in names)],
        goals=wanted if goals is None else check_formulas("goals", goals),
    )


def _actions(name: str, names: Sequence[str], numbers: Sequence[int]) -> list[ActionText]:
    """Each agent sees all steps, and who looks at the lamp if it is in the last room, too."""
    last = numbers[-1]
    steps = [(here, to) for here in numbers for to in (here - 1, here + 1) if to in numbers]
    present = {other: f"at_{other}_{last}" for other in names if other != name}
    return [
        *(
            ActionText(
                f"go_{name}_{here}_{to}",
                "causes",
                [(f"at_{name}_{to}, -at_{name}_{here}", "")],
                executable=f"at_{name}_{here}",
                observes=always(names),
            )
            for here, to in steps
        ),
        ActionText(f"look_{name}", "determines", [("lit", "")], f"at_{name}_{last}", always([name]), aware=present),
    ]


def vocabulary(*, agents: int = 2, **_: Any) -> list[str]:
    """Who knows that the lamp is lit and who does not, and who has left the first room."""
    names = agent_names(agents)
    known = [believes(name, "lit") for name in names]
    return [*known, *map(not_, known), *(f"-at_{name}_1" for name in names)]


def structure(*, rooms: int = 3, **_: Any) -> ObjectNames:
    """Rooms have numbers."""
    return ObjectNames(number_objects("room", range(1, rooms + 1)))


DOMAIN = Domain(
    name="lamp",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={},
        plan=("go_a_1_2", "go_a_2_3", "look_a"),
        caption="Agent a has seen that the lamp is lit; b believes that nobody knows.",
    ),
    structure=structure,
    actors={"go": 0, "look": 0},
    ranges={
        "train": ({"agents": (2,), "rooms": (2, 3)},),
        "validation": ({"agents": (2, 3), "rooms": (4,)},),
        "test": ({"agents": (3, 4), "rooms": (5, 6)},),
    },
)
