"""Hats in a line: persons find out the colours of their own hats from what those behind them say.

Source: P. Winkler, "Mathematical Puzzles: A Connoisseur's Collection" (2004), after the wise men of J. McCarthy,
"Formalization of Two Puzzles Involving Knowledge" (1978). Persons stand in a line, each with a white or a black hat,
and see the hats of those before them only. The last one says whether the number of white hats that it sees is even;
then everybody from the back to the front finds out the colour of its own hat.

Modelled: worlds are colourings, all say true sentences before all: whether the number of white hats that they see is
even, whether they see a white hat, whether two hats that they see are alike, which colour their own hat has, if they
know it, and whether they know it. All but the last one shall know the colour of their own hat, and the last one shall
not.

Departures: sentences are not tied to a turn, and nobody agreed before on what they mean. In the sensing version the
colours are open, and persons are asked.
"""

from typing import Any

from tests.unknown.text import declare_sentence, declare_spoken_type, number_names, write_parity, write_problem

SIZES: dict[str, dict[str, Any]] = {"small": {"persons": 4}, "medium": {"persons": 6}, "large": {"persons": 11}}


def write(sensing: bool, persons: int) -> str:
    """Person p1 stands in front; persons with odd numbers wear white hats.

    Args:
        sensing: whether the colours are open.
        persons: how many.
    """
    names = number_names("p", persons)
    hats = [f"(white {name})" for name in names]
    parts = []
    for index, (name, own) in enumerate(zip(names, hats, strict=True)):
        before = hats[:index]
        sentences = {
            "white black": (f"([{name}] {own})", f"([{name}] (not {own}))"),
            "knows doubts": (f"([Kw. {name}] {own})",),
        }
        if before:
            sentences["even odd"] = (write_parity(False, before), write_parity(True, before))
            sentences["some none"] = (f"(or {' '.join(before)})",)
        for words, formulas in sentences.items():
            numbered = " ".join(f"{word}{index + 1}" for word in words.split())
            parts.append(declare_sentence(sensing, numbered, "?i - agent", *formulas, condition=f"(= ?i {name})"))
    alike = "(or (and (white ?j) (white ?k)) (not (or (white ?j) (white ?k))))"
    seen = "(and (behind ?i ?j) (behind ?j ?k))"
    parts.append(declare_sentence(sensing, "alike unlike", "?i ?j ?k - agent", alike, condition=seen))
    return write_problem(
        "hats",
        action_types=[declare_spoken_type(sensing)],
        domain="\n".join(["(:predicates (white ?i - agent) (:fact behind ?i ?j - agent))", *parts]),
        agents={"agent": names},
        facts=[f"(behind {name} {other})" for index, name in enumerate(names) for other in names[:index]],
        init=[
            *(hat if index % 2 == 0 else f"(not {hat})" for index, hat in enumerate(hats) if not sensing),
            "(:forall (?i ?j - agent | (behind ?i ?j)) ([C. All] ([Kw. ?i] (white ?j))))",
        ],
        goals=[
            *(f"([Kw. {name}] {hat})" for name, hat in zip(names[:-1], hats, strict=False)),
            f"(<Kw. {names[-1]}> {hats[-1]})",
        ],
    )


def construct_plan(sensing: bool, persons: int) -> list[str]:
    """The last one says whether it sees an even number; the others but the first say the colour of their hats."""
    if sensing:
        return [f"ask_even{persons}_p{persons}", *(f"ask_white{n}_p{n}" for n in range(persons - 1, 1, -1))]
    seen = "odd" if persons // 2 % 2 else "even"
    own = {n: "white" if n % 2 else "black" for n in range(persons - 1, 1, -1)}
    return [f"{seen}{persons}_p{persons}", *(f"{colour}{n}_p{n}" for n, colour in own.items())]
