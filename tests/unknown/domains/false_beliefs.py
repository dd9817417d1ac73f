"""False beliefs: things are moved while somebody is out of the room, or looks in through the window.

Source: S. Baron-Cohen, A. M. Leslie and U. Frith, "Does the Autistic Child Have a 'Theory of Mind'?", Cognition 21
(1985), and J. Perner and H. Wimmer, "John Thinks That Mary Thinks That", Journal of Experimental Child Psychology 39
(1985); in dynamic epistemic logic T. Bolander, "Seeing is Believing", in "Jaakko Hintikka on Knowledge and
Game-Theoretical Semantics" (2018). Sally puts her marble into the basket and leaves; Anne moves it to the box. Sally,
back again, believes that it is in the basket. In the second story Sally sees through the window how Anne moves it:
Anne believes that Sally believes that it is in the basket.

Modelled: worlds say where things are and who is in the room, which is always common knowledge. Those in the room see
what is moved. The others believe that nothing happens, unless one of them looks in unseen.

Departures: more agents, things and places. In the sensing version (not of the source) nobody but Sally knows where
she put her marble; an agent that looks into a place finds out whether it is there, and the others in the room see
that it looks. Sally shall believe that it is where she put it, and be wrong. No linear plan does that; looking for it
first does.
"""

from typing import Any

from tests.unknown.text import declare_action_type, state_count, write_problem

SIZES: dict[str, dict[str, Any]] = {
    "small": {"agents": 2, "things": 1, "places": 2},
    "medium": {"agents": 3, "things": 1, "places": 3},
    "large": {"agents": 4, "things": 2, "places": 5},
}
_AGENTS = ("sally", "anne", "mary", "john")
_THINGS = ("marble", "coin")
_PLACES = ("basket", "box", "chest", "drawer", "pocket")


def write(sensing: bool, agents: int, things: int, places: int) -> str:
    """Everybody is in the room; all things are in the basket.

    Args:
        sensing: whether only Sally knows where things are.
        agents: how many.
        things: how many.
        places: how many.
    """
    names, objects, where = _AGENTS[:agents], _THINGS[:things], _PLACES[:places]
    present = "(:forall (?x - agent{but}) (?x (if (here ?x) {kind} else Blind)))"
    there = [[f"(in {thing} {place})" for place in where] for thing in objects]
    if sensing:
        extra = "(was ?o - thing ?c - place)"
        init = [
            *(line for cells in there for line in state_count(1, cells)),
            "(:forall (?o - thing ?c - place) ([C. All] (imply (in ?o ?c) (was ?o ?c))))",
            "(:forall (?o - thing ?c - place) ([C. All] (imply (was ?o ?c) (in ?o ?c))))",
            "(:forall (?o - thing ?c - place) ([C. All] ([Kw. sally] (in ?o ?c))))",
        ]
        goals = [
            "(here sally)",
            "(forall (?o - thing ?c - place) (imply (was ?o ?c) (and ([sally] (in ?o ?c)) (not (in ?o ?c)))))",
        ]
    else:
        extra = ""
        init = [
            f"([C. All] {one})" for basket, *others in there for one in (basket, *(f"(not {atom})" for atom in others))
        ]
        goals = _GOALS[agents].split("\n")
    return write_problem(
        "false_beliefs",
        action_types=[
            declare_action_type("public", "happens", "happens", Full="happens"),
            declare_action_type("hidden", "happens nothing", "happens", Full="happens | nothing", Blind="> nothing"),
            declare_action_type(
                "sensing",
                "yes no nothing",
                "yes no",
                Full="yes | no | nothing",
                Half="yes no | nothing",
                Blind="> nothing",
            ),
            _SPIED,
        ],
        domain=f"""
        (:types thing place)
        (:predicates (here ?i - agent) (in ?o - thing ?c - place) {extra})
        (:event nothing)
        (:event goes :parameters (?i - agent) :precondition (here ?i) :effects (not (here ?i)))
        (:event comes :parameters (?i - agent) :precondition (not (here ?i)) :effects (here ?i))
        (:event moves :parameters (?i - agent ?o - thing ?c ?d - place)
            :precondition (and (here ?i) (in ?o ?c)) :effects (:and (in ?o ?d) (not (in ?o ?c))))
        (:event is_spied :parameters (?i ?j - agent ?o - thing ?c ?d - place)
            :precondition (and (here ?i) (not (here ?j)) (in ?o ?c)) :effects (:and (in ?o ?d) (not (in ?o ?c))))
        (:event is_there :parameters (?i - agent ?o - thing ?c - place) :precondition (and (here ?i) (in ?o ?c)))
        (:event is_gone :parameters (?i - agent ?o - thing ?c - place) :precondition (and (here ?i) (not (in ?o ?c))))
        (:action leave :parameters (?i - agent)
            :action-type (public (goes ?i)) :observability-conditions (default Full))
        (:action enter :parameters (?i - agent)
            :action-type (public (comes ?i)) :observability-conditions (default Full))
        (:action move :parameters (?i - agent ?o - thing ?c ?d - place | (/= ?c ?d))
            :action-type (hidden (moves ?i ?o ?c ?d) (nothing))
            :observability-conditions {present.format(but="", kind="Full")})
        (:action move_spied :parameters (?i ?j - agent ?o - thing ?c ?d - place | (and (/= ?i ?j) (/= ?c ?d)))
            :action-type (spied (is_spied ?i ?j ?o ?c ?d) (moves ?i ?o ?c ?d) (nothing))
            :observability-conditions (:and (?j Spy) {present.format(but=" | (/= ?x ?j)", kind="Full")}))
        (:action look :parameters (?i - agent ?o - thing ?c - place)
            :action-type (sensing (is_there ?i ?o ?c) (is_gone ?i ?o ?c) (nothing))
            :observability-conditions (:and (?i Full) {present.format(but=" | (/= ?x ?i)", kind="Half")}))
        """,
        objects={"thing": objects, "place": where},
        agents={"agent": names},
        init=["(:forall (?i - agent) ([C. All] (here ?i)))", *init],
        goals=goals,
    )


# Who is in the room when something is moved takes the spy for somebody who notices nothing.
_SPIED = """(:action-type spied :events (?spied ?plain ?nothing) :observability-types (Spy Full Blind)
    :relations (Spy (:and (?spied ?spied) (?plain ?nothing) (?nothing ?nothing))
        Full (:and (?spied ?plain) (?plain ?plain) (?nothing ?nothing))
        Blind (:and (?spied ?nothing) (?plain ?nothing) (?nothing ?nothing)))
    :designated (?spied) :conditions ())"""
# By the number of agents.
_GOALS = {
    2: """(in marble box)
([sally] (in marble basket))
([anne] ([sally] (in marble basket)))""",
    3: """([sally] (in marble box))
([anne] (in marble box))
([anne] ([sally] (in marble basket)))
([mary] ([anne] (in marble basket)))""",
    4: """(forall (?i - agent) (here ?i))
(in marble drawer)
([sally] (in marble basket))
([mary] (in marble box))
([mary] ([sally] (in marble basket)))
([john] (in marble drawer))
([anne] ([john] (in marble chest)))
([anne] ([mary] (in marble box)))
(in coin pocket)
([sally] (in coin basket))
([mary] (in coin pocket))""",
}


def construct_plan(sensing: bool, agents: int, things: int, places: int) -> list[str] | None:
    """Things are moved when those have left who are not to see it."""
    if sensing:
        return None
    if agents == 2:
        return ["leave_sally", "move_anne_marble_basket_box"]
    if agents == 3:
        return ["leave_mary", "leave_sally", "move_spied_anne_sally_marble_basket_box"]
    return [
        "leave_sally",
        "move_anne_marble_basket_box",
        "move_anne_coin_basket_pocket",
        "leave_mary",
        "move_anne_marble_box_chest",
        "leave_john",
        "move_spied_anne_john_marble_chest_drawer",
        *(f"enter_{name}" for name in ("sally", "mary", "john")),
    ]
