"""One hundred prisoners and a light bulb: one of them finds out that all have been in the room.

Source: P.-M. Dehaye, D. Ford and H. Segerman, "One Hundred Prisoners and a Lightbulb", The Mathematical Intelligencer
25 (2003); H. van Ditmarsch, J. van Eijck and W. Wu, "One Hundred Prisoners and a Lightbulb: Logic and Computation",
KR 2010. Prisoners are taken one at a time, unseen by the others, into a room with a light that they may switch. They
are free when one of them rightly says that all have been there. The protocol: the counter switches the light off
whenever it finds it on; each other prisoner switches it on once, the first time it finds it off. The counter knows
that all have been there when it has found the light on as often as there are others.

Modelled: worlds say whether the light is on, who has been in the room and who has switched it on. The protocol is
common knowledge; a plan says whom the warder takes into the room. The counter, when it is there, notices whether the
light is on. It notices nothing else, and knows that at any time somebody may be taken there, or nobody. A clerk keeps
a record of who is there, and does not see the light. The counter shall know that all have been there, the clerk that
the counter does.

Departures: few prisoners, and what those besides the counter believe is left out, as it multiplies the worlds by the
number of prisoners with every visit; the clerk takes their place as a second agent. In the sensing version nobody
knows whether the light is on in the beginning: the counter has to be there first.
"""

from typing import Any

from tests.unknown.text import declare_action_type, number_names, write_problem

SIZES: dict[str, dict[str, Any]] = {"small": {"prisoners": 3}, "medium": {"prisoners": 5}, "large": {"prisoners": 10}}


def write(sensing: bool, prisoners: int) -> str:
    """Prisoner p1 counts.

    Args:
        sensing: whether it is open whether the light is on; else it is commonly known to be off.
        prisoners: how many.
    """
    names = number_names("p", prisoners)
    events = {
        "p1": {"on_p1": ("(light)", "(:and (been p1) (not (light)))"), "off_p1": ("(not (light))", "(been p1)")},
        **{
            name: {
                f"on_{name}": ("(light)", f"(been {name})"),
                f"off_{name}": (
                    f"(and (not (light)) (not (used {name})))",
                    f"(:and (been {name}) (used {name}) (light))",
                ),
                f"again_{name}": (f"(and (not (light)) (used {name}))", f"(been {name})"),
            }
            for name in names[1:]
        },
    }
    every = [event for own in events.values() for event in own]
    others = " ".join(["nothing", *(event for event in every if event not in events["p1"])])
    views = {
        "Counter": " | ".join([*events["p1"], others]),
        "Clerk": " | ".join([*(" ".join(own) for own in events.values()), "nothing"]),
    }
    declared = [
        f"(:event {event} :precondition {condition} :effects {effects})"
        for own in events.values()
        for event, (condition, effects) in own.items()
    ]
    calls = " ".join(f"({event})" for event in [*every, "nothing"])
    anybody = "?i - (either counter prisoner)"
    all_been = f"(forall ({anybody}) (been ?i))"
    actions = [
        f"(:action enter{name[1:]} :parameters ({anybody} | (= ?i {name})) :action-type (room_{name} {calls})"
        " :observability-conditions (:and (p1 Counter) (clerk Clerk)))"
        for name in names
    ]
    return write_problem(
        "light_bulb",
        action_types=[
            declare_action_type(f"room_{name}", " ".join([*every, "nothing"]), " ".join(own), **views)
            for name, own in events.items()
        ],
        domain="\n".join(
            [
                "(:types counter - agent prisoner)",
                f"(:predicates (light) (been {anybody}) (used ?i - prisoner))",
                "(:event nothing)",
                *declared,
                *actions,
            ]
        ),
        objects={"prisoner": names[1:]},
        agents={"counter": ["p1"], "agent": ["clerk"]},
        init=[
            *([] if sensing else ["([C. All] (not (light)))"]),
            f"(:forall ({anybody}) ([C. All] (not (been ?i))))",
            "(:forall (?i - prisoner) ([C. All] (not (used ?i))))",
        ],
        goals=[f"([p1] {all_been})", f"([clerk] ([p1] {all_been}))"],
    )


def construct_plan(sensing: bool, prisoners: int) -> list[str]:
    """The counter enters after each of the others, and before if the light may be on."""
    turns = [f"enter{number}_p{number}" for other in range(2, prisoners + 1) for number in (other, 1)]
    return ["enter1_p1"] * sensing + turns
