"""Coordinated attack: generals whose messengers may be caught agree on an attack, as far as that goes.

Source: the two generals of J. Gray, "Notes on Data Base Operating Systems" (1978), analysed by J. Y. Halpern and Y.
Moses, "Knowledge and Common Knowledge in a Distributed Environment", Journal of the ACM 37 (1990). General a wants to
attack at dawn and sends a messenger to b, who may be caught. However many messengers arrive, it never becomes common
knowledge that the attack is at dawn; each that arrives adds one level of knowledge.

Modelled: worlds say whether there is an attack at dawn. A messenger carries what the sender knows: that there is, or
that another general knows it, or knows that another one does. Either it arrives, or is caught, or was not sent: the
sender does not know whether it arrives, the receiver does not tell a messenger who was caught from none, and the
others never tell anything apart. Plans are those of a lucky day: in the linear version the messengers arrive in fact.
With three generals and more, everybody shall know that everybody knows.

Departures: the generals do not act on what they know; messages are not numbered, but carry knowledge of the first
levels. In the sensing version it is open whether there is an attack at dawn, and messengers say whether there is.
"""

from itertools import pairwise, product
from typing import Any

from tests.unknown.text import declare_action_type, write_problem

SIZES: dict[str, dict[str, Any]] = {"small": {"generals": 2}, "medium": {"generals": 3}, "large": {"generals": 5}}


def write(sensing: bool, generals: int) -> str:
    """General a knows whether the attack is at dawn.

    Args:
        sensing: whether the answer is open.
        generals: how many.
    """
    names = list("abcde"[:generals])
    know = "Kw. " if sensing else ""
    parts = []
    for level in range(3):
        others = ["?i", *("?k", "?l")[:level]]
        variables = f"?i ?j {' '.join(others[1:])}"
        distinct = " ".join(f"(/= {one} {other})" for one, other in [("?i", "?j"), *pairwise(others)])
        carried = "(dawn)"
        for knower in reversed(others[1:]):
            carried = f"([{know if knower == others[-1] else ''}{knower}] {carried})"
        parts.append(f"(:event carried{level} :parameters ({variables} - agent) :precondition ([?i] {carried}))")
        events = [f"(carried{level} {variables})"] * 2
        if sensing and level == 0:
            parts.append("(:event denied :parameters (?i ?j - agent) :precondition ([?i] (not (dawn))))")
            events += ["(denied ?i ?j)"] * 2
        parts.append(
            f"""(:action {"_".join(["send", *["that"] * level])} :parameters ({variables} - agent | (and {distinct}))
                :action-type ({"whether" if len(events) > 2 else "message"} {" ".join(events)} (nothing))
                :observability-conditions (:and (?i Sender) (?j Receiver) (default Other)))"""
        )
    return write_problem(
        "generals",
        action_types=[
            declare_action_type(
                "whether",
                "arrives lost denial lost_denial nothing",
                "arrives denial",
                Sender="arrives lost | denial lost_denial | nothing",
                Receiver="arrives | denial | lost lost_denial nothing",
                Other="arrives lost denial lost_denial nothing",
            ),
            declare_action_type(
                "message",
                "arrives lost nothing",
                "arrives",
                Sender="arrives lost | nothing",
                Receiver="arrives | lost nothing",
                Other="arrives lost nothing",
            ),
        ],
        domain="\n".join(["(:predicates (dawn)) (:event nothing)", *parts]),
        agents={"agent": names},
        init=["([C. All] ([Kw. a] (dawn)))", *([] if sensing else ["(dawn)"])],
        goals=[f"([b] ([a] ([{know}b] (dawn))))"]
        if generals == 2
        else [f"([{i}] ([{know}{j}] (dawn)))" for i, j in product(names, repeat=2) if i != j],
    )


def construct_plan(sensing: bool, generals: int) -> list[str]:
    """The news goes round from one to the next, and the last one tells all others; b and a answer each other."""
    names = "abcde"[:generals]
    if generals == 2:
        return ["send_a_b", "send_b_a", "send_that_a_b_b"]
    return [f"send_{i}_{j}" for i, j in [*pairwise(names), *((names[-1], name) for name in names[:-1])]]
