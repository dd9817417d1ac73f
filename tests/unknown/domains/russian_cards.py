"""Russian cards: two players tell each other their hands before a third one, who is to learn nothing.

Source: H. van Ditmarsch, "The Russian Cards Problem", Studia Logica 75 (2003). From a pack of seven known cards Anne
and Bill draw three each and Cath the last. Anne and Bill shall inform each other of their hands by public
announcements, so that it is common knowledge that Cath knows of no card but her own who holds it.

Modelled: worlds are deals, all announcements are public and what the speaker knows. An announcement in the paper is a
set of possible hands; here it is put together from sentences "I hold an even (odd) number of these cards". Three
sentences about four cards each are the parity checks of the Hamming code, whose words of weight three are the seven
lines of the Fano plane: the paper's announcement of seven hands. With the same sentences Bill tells which card Cath
holds.

Departures: secrecy is asked for in the end only, not after every announcement. The small deal is 2, 3 and 1 cards,
where Anne has no announcement from which Bill learns her hand and Cath nothing: there Cath may learn that Bill holds
a card, but not that Anne does. The large deal is 4, 3 and 1 cards, where the sentences are the checks of the extended
Hamming code, and Anne's hands the 14 planes of a Steiner quadruple system. In the sensing version only Anne's hand is
given, and players are asked whether they hold an even number of these cards.
"""

from itertools import combinations, pairwise
from typing import Any

from tests.unknown.text import declare_sentence, declare_spoken_type, state_count, write_parity, write_problem

_SMALL = {"hands": (2, 3), "counts": (2, 3), "strict": False}
_MEDIUM = {"hands": (3, 3), "counts": (4,), "strict": True}
_LARGE = {"hands": (4, 3), "counts": (3, 4), "strict": True}
SIZES: dict[str, dict[str, Any]] = {"small": _SMALL, "medium": _MEDIUM, "large": _LARGE}
# The cards of the sentences that both say, by the number of cards.
_CHECKS = {7: ("0134", "0235", "1236"), 8: ("0123", "0145", "0246")}


def write(sensing: bool, hands: tuple[int, int], counts: tuple[int, ...], strict: bool) -> str:
    """Anne holds the first cards, Bill the next ones, Cath the last one.

    Args:
        sensing: whether the hands of Bill and Cath are open.
        hands: number of cards of Anne and of Bill.
        counts: of how many cards sentences may speak.
        strict: whether Cath is not to know who holds a card either way.
    """
    cards = [f"c{number}" for number in range(sum(hands) + 1)]
    holds = {player: [f"(has {player} {card})" for card in cards] for player in ("anne", "bill", "cath")}
    secret = "(imply (not (has cath ?c)) (<Kw. cath> (has anne ?c)))" if strict else "(not ([cath] (has anne ?c)))"
    return write_problem(
        "russian_cards",
        action_types=[declare_spoken_type(sensing)],
        domain="\n".join(
            [
                "(:types speaker - agent card)",
                "(:predicates (has ?i - agent ?c - card) (:fact before ?c ?d - card))",
                *(_declare_sentences(sensing, count) for count in counts),
            ]
        ),
        objects={"card": cards},
        agents={"speaker": ["anne", "bill"], "agent": ["cath"]},
        facts=[f"(before {a} {b})" for a, b in combinations(cards, 2)],
        init=[
            *holds["anne"][: hands[0]],
            *(atom for atom in holds["bill"][hands[0] : -1] if not sensing),
            *(line for owners in zip(*holds.values(), strict=True) for line in state_count(1, owners)),
            *(line for name, count in zip(holds, (*hands, 1), strict=True) for line in state_count(count, holds[name])),
            "(:forall (?i - agent ?c - card) ([C. All] ([Kw. ?i] (has ?i ?c))))",
        ],
        goals=[
            "([C. All] (forall (?c - card) ([Kw. bill] (has anne ?c))))",
            "([C. All] (forall (?c - card) ([Kw. anne] (has bill ?c))))",
            f"([C. All] (forall (?c - card) {secret}))",
        ],
    )


def _declare_sentences(sensing: bool, count: int) -> str:
    """The sentences about so many cards."""
    cards = [f"?{name}" for name in "wxyz"[:count]]
    held = [f"(has ?i {card})" for card in cards]
    return declare_sentence(
        sensing,
        f"even{count} odd{count}",
        f"?i - speaker {' '.join(cards)} - card",
        *(f"([?i] {write_parity(odd, held)})" for odd in (False, True)),
        condition=f"(and {' '.join(f'(before {a} {b})' for a, b in pairwise(cards))})",
    )


def construct_plan(sensing: bool, hands: tuple[int, int], counts: tuple[int, ...], strict: bool) -> list[str] | None:
    """Both say of the checks of the code whether they hold an even number of their cards."""
    if sum(hands) + 1 not in _CHECKS:
        return None
    said = []
    for player, own in (("anne", range(hands[0])), ("bill", range(hands[0], sum(hands)))):
        for check in _CHECKS[sum(hands) + 1]:
            odd = len({*own} & {*map(int, check)}) % 2
            word = "ask_even" if sensing else ("even", "odd")[odd]
            said.append("_".join([f"{word}4", player, *(f"c{card}" for card in check)]))
    return said
