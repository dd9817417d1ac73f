"""Dining cryptographers: they find out whether one of them paid, and not who.

Source: D. Chaum, "The Dining Cryptographers Problem: Unconditional Sender and Recipient Untraceability", Journal of
Cryptology 1 (1988); in dynamic epistemic logic J. van Eijck and S. Orzan, "Epistemic Verification of Anonymity",
VODCA 2006. Cryptographers sit round a table; one of them may have paid for the dinner, or else their agency has. Each
two neighbours toss a coin that only they see. Everybody says whether its two coins fell alike, and who paid says the
opposite. The number of those who say that they did not is odd iff one of them paid.

Modelled: worlds say how the coins fell and who paid. Looking at a coin is seen by all, how it fell only by who looks;
to say something about coins one has to have looked at them. All shall know whether one of them paid, and it shall be
common knowledge that nobody knows of another one that it paid.

Departures: there are sentences that spoil it: how a coin fell, and whether oneself paid. In the sensing version coins
and payer are open, and cryptographers are asked.
"""

from typing import Any

from tests.unknown.text import (
    declare_action_type,
    declare_sentence,
    declare_spoken_type,
    limit_count,
    number_names,
    write_parity,
    write_problem,
)

SIZES: dict[str, dict[str, Any]] = {
    "small": {"cryptographers": 3},
    "medium": {"cryptographers": 4},
    "large": {"cryptographers": 7},
}


def write(sensing: bool, cryptographers: int) -> str:
    """Cryptographer p1 paid; coins with odd numbers show heads; coin k lies between pk and the next one.

    Args:
        sensing: whether coins and payer are open.
        cryptographers: how many, at least 3.
    """
    names, coins = number_names("p", cryptographers), number_names("k", cryptographers)
    bits = ["(heads ?k)", "(heads ?l)", "(paid ?i)"]
    sentences = [
        declare_sentence(
            sensing,
            "differ agree",
            "?i - agent ?k ?l - coin",
            *(f"([?i] {write_parity(odd, bits)})" for odd in (True, False)),
            condition="(between ?i ?k ?l)",
        ),
        declare_sentence(
            sensing,
            "heads tails",
            "?i - agent ?k - coin",
            "([?i] (heads ?k))",
            "([?i] (not (heads ?k)))",
            condition="(near ?i ?k)",
        ),
        declare_sentence(sensing, "paid unpaid", "?i - agent", "(paid ?i)"),
    ]
    paid, heads = ([f"({word} {name})" for name in group] for word, group in (("paid", names), ("heads", coins)))
    neighbours = [(name, coins[index - 1], coins[index]) for index, name in enumerate(names)]
    return write_problem(
        "cryptographers",
        action_types=[
            declare_spoken_type(sensing),
            declare_action_type("look", "yes no", "yes no", Full="yes | no", Half="yes no"),
        ],
        domain="\n".join(
            [
                "(:types coin)",
                "(:predicates (heads ?k - coin) (paid ?i - agent)",
                "    (:fact near ?i - agent ?k - coin) (:fact between ?i - agent ?k ?l - coin))",
                "(:event is_heads :parameters (?k - coin) :precondition (heads ?k))",
                "(:event is_tails :parameters (?k - coin) :precondition (not (heads ?k)))",
                "(:action look :parameters (?i - agent ?k - coin | (near ?i ?k))",
                "    :action-type (look (is_heads ?k) (is_tails ?k))",
                "    :observability-conditions (:and (?i Full) (default Half)))",
                *sentences,
            ]
        ),
        objects={"coin": coins},
        agents={"agent": names},
        facts=[
            *(f"(near {name} {coin})" for name, *own in neighbours for coin in own),
            *(f"(between {' '.join(line)})" for line in neighbours),
        ],
        init=[
            *([] if sensing else ["(paid p1)"]),
            *(coin if index % 2 == 0 else f"(not {coin})" for index, coin in enumerate(heads) if not sensing),
            *limit_count(1, paid),
            "(:forall (?i - agent) ([C. All] ([Kw. ?i] (paid ?i))))",
        ],
        goals=[
            "(forall (?i - agent) ([Kw. ?i] (exists (?j - agent) (paid ?j))))",
            "([C. All] (forall (?i ?j - agent | (/= ?i ?j)) (not ([?i] (paid ?j)))))",
        ],
    )


def construct_plan(sensing: bool, cryptographers: int) -> list[str]:
    """All look at their coins, and say whether they fell alike."""
    looked, said = [], []
    for number in range(1, cryptographers + 1):
        name, left, right = f"p{number}", f"k{(number - 2) % cryptographers + 1}", f"k{number}"
        looked += [f"look_{name}_{left}", f"look_{name}_{right}"]
        odd = (int(left[1:]) + int(right[1:]) + (number == 1)) % 2
        said.append(f"{'ask_differ' if sensing else 'differ' if odd else 'agree'}_{name}_{left}_{right}")
    return looked + said
