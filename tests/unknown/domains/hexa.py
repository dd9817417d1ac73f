"""Hexa: players with one card each show their cards to each other while the others look on.

Source: H. van Ditmarsch, "Knowledge Games" (ILLC dissertation, 2000) and "Descriptions of Game Actions", Journal of
Logic, Language and Information 11 (2002). Three players hold one card each and see their own only, six deals: hence
the name. A player can *show* its card to one player while the others see that but not the card, or *whisper* to one
player the name of a card that it does not hold, while the others see that it whispers.

Modelled: worlds are deals; a card is shown, or named, with one event for each card, which bystanders do not tell
apart. The first two players shall know the whole deal, and it shall be common knowledge that none of the others knows
the card of another player.

Departures: more than three players; in the paper a game ends when a player knows the deal, nobody has secrets to
keep. In the sensing version only the first player's card is given, and a player shows whatever card it holds, or is
asked in a whisper whether it holds a card.
"""

from typing import Any

from tests.unknown.text import declare_action_type, number_names, state_count, write_problem

SIZES: dict[str, dict[str, Any]] = {"small": {"players": 3}, "medium": {"players": 4}, "large": {"players": 6}}


def write(sensing: bool, players: int) -> str:
    """Player p1 holds c1, p2 holds c2, and so on.

    Args:
        sensing: whether the cards of all but p1 are open.
        players: how many, with as many cards.
    """
    names, cards = number_names("p", players), number_names("c", players)
    owned = [[f"(has {name} {card})" for card in cards] for name in names]
    every, apart = " ".join(cards), " | ".join(cards)
    seen = ":observability-conditions (:and (?i Full) (?j Full) (default Half))"
    holds, lacks = (" ".join(f"({word}_{card} ?i)" for card in cards) for word in ("holds", "lacks"))
    if sensing:
        types = [
            declare_action_type("showing", every, every, Full=apart, Half=every),
            declare_action_type("whispering", "yes no", "yes no", Full="yes | no", Half="yes no"),
        ]
        actions = [
            f"(:action show :parameters (?i ?j - agent | (/= ?i ?j)) :action-type (showing {holds}) {seen})",
            *(
                f"(:action whisper_{card} :parameters (?i ?j - agent | (/= ?i ?j))"
                f" :action-type (whispering (holds_{card} ?i) (lacks_{card} ?i)) {seen})"
                for card in cards
            ),
        ]
    else:
        types = [declare_action_type(f"naming_{card}", every, card, Full=apart, Half=every) for card in cards]
        actions = [
            f"(:action {word}_{card} :parameters (?i ?j - agent | (/= ?i ?j))"
            f" :action-type (naming_{card} {events}) {seen})"
            for word, events in (("show", holds), ("whisper", lacks))
            for card in cards
        ]
    return write_problem(
        "hexa",
        action_types=types,
        domain="\n".join(
            [
                "(:types card)",
                "(:predicates (has ?i - agent ?c - card))",
                *(f"(:event holds_{card} :parameters (?i - agent) :precondition (has ?i {card}))" for card in cards),
                *(
                    f"(:event lacks_{card} :parameters (?i - agent) :precondition (not (has ?i {card})))"
                    for card in cards
                ),
                *actions,
            ]
        ),
        objects={"card": cards},
        agents={"agent": names},
        init=[
            *(cells[index] for index, cells in enumerate(owned) if index == 0 or not sensing),
            *(line for cells in (*owned, *zip(*owned, strict=True)) for line in state_count(1, cells)),
            "(:forall (?i - agent ?c - card) ([C. All] ([Kw. ?i] (has ?i ?c))))",
        ],
        goals=[
            *(f"(forall (?i - agent ?c - card) ([Kw. {name}] (has ?i ?c)))" for name in names[:2]),
            *(
                f"([C. All] (forall (?i - agent ?c - card | (/= ?i {name})) (not ([{name}] (has ?i ?c)))))"
                for name in names[2:]
            ),
        ],
    )


def construct_plan(sensing: bool, players: int) -> list[str]:
    """The first two players show each other their cards, and all but the last one show theirs to both."""
    shown = [(1, 2), (2, 1), *((giver, learner) for giver in range(3, players) for learner in (1, 2))]
    return [f"show{'' if sensing else f'_c{giver}'}_p{giver}_p{learner}" for giver, learner in shown]
