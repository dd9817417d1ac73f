"""Cheryl's birthday: persons who know one part of a date each find it out from what the others do not know.

Source: J. Yeo, problem 24 of the Singapore and Asian Schools Math Olympiad (2015), and its sequel "Denise's birthday"
(2015); H. van Ditmarsch, M. I. Hartley, B. Kooi, J. Welton and J. Yeo, "Cheryl's Birthday", TARK 2017. Cheryl names
ten dates and tells Albert the month and Bernard the day. Albert: "I don't know when her birthday is, but I know that
Bernard doesn't know." Bernard: "At first I didn't know, but now I know." Albert: "Then I also know." It is 16 July.
The sequel has twenty dates and a third person, who knows the year: 14 May 2002.

Modelled: worlds are dates. Sentences are public and true: somebody knows the date or does not, and knows that
somebody else does, that it does not, or cannot tell. A reader, who knows no part of the date, shall know it in the
end.

Departures: sentences are not tied to a turn, and may be left out. The large problems have sampled dates of more parts,
each of which one person knows. In the linear one thirty persons only say whether they know the date; in the sensing one
five persons are also asked what they know about what another one knows about a third one. In the sensing version the
date is open, as far as it can be found out when all are asked in turn whether they know it; the persons shall know
it, the reader need not.
"""

import random
from collections import Counter
from itertools import cycle
from typing import Any

from tests.unknown.text import declare_sentence, declare_spoken_type, write_problem

_CHERYL = "may15 may16 may19 jun17 jun18 jul14 jul16 aug14 aug15 aug17"
_DENISE = """feb17_01 mar16_02 jan13_03 jan19_04 mar13_01 apr15_02 feb16_03 feb18_04 apr13_01 may14_02 mar14_03 may19_04
    may15_01 jun12_02 apr11_03 jul14_04 jun17_01 aug16_02 jul16_03 aug18_04"""
Date = tuple[str, ...]


def _read_dates(names: str) -> dict[str, Date]:
    """Dates by name with month, day and, where it is given, year."""
    return {name: (name[:3], name[3:5], *name[6:].split()) for name in names.split()}


def _sample_dates(parts: int, values: int, count: int, seed: int) -> dict[str, Date]:
    draw = random.Random(seed)
    dates = sorted({tuple(f"{draw.randrange(values)}" for _ in range(parts)) for _ in range(count)})
    return {f"d{number}": date for number, date in enumerate(dates)}


_SMALL = {"dates": _read_dates(_CHERYL), "birthday": "jul16", "depth": 2}
_MEDIUM = {"dates": _read_dates(_DENISE), "birthday": "may14_02", "depth": 2}
SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "linear": {
        "small": _SMALL,
        "medium": _MEDIUM,
        "large": {"dates": _sample_dates(30, 30, 150, seed=13), "birthday": "d56", "depth": 1},
    },
    "sensing": {
        "small": _SMALL,
        "medium": _MEDIUM,
        "large": {"dates": _sample_dates(5, 10, 30, seed=108), "birthday": "d0", "depth": 3},
    },
}
_PERSONS = ("albert", "bernard", "charlie", *(f"p{number}" for number in range(4, 31)))


def write(sensing: bool, dates: dict[str, Date], birthday: str, depth: int) -> str:
    """As many persons as dates have parts, and the reader.

    Args:
        sensing: whether the birthday is open.
        dates: the possible dates, by name their parts.
        birthday: which it is.
        depth: of how many persons' knowledge a sentence may speak, 1 to 3.
    """
    persons = _PERSONS[: len(dates[birthday])]
    _, final = _ask_in_turn(dates)
    found = [name for name, all_know in final.items() if all_know]
    parts = sorted({(index, date[index]) for date in dates.values() for index in range(len(persons))})
    sharing = {
        (at, value): [f"(is {name})" for name, date in dates.items() if date[at] == value] for at, value in parts
    }
    return write_problem(
        "cheryls_birthday",
        action_types=[declare_spoken_type(sensing)],
        domain="\n".join(
            ["(:types person - agent date)", "(:predicates (is ?d - date))", *_declare_sentences(sensing, depth)]
        ),
        objects={"date": list(dates)},
        agents={"person": persons, "agent": ["reader"]},
        init=[
            f"(or {' '.join(f'(is {name})' for name in found)})" if sensing else f"(is {birthday})",
            "([C. All] (exists (?d - date) (is ?d)))",
            "(:forall (?d ?e - date | (/= ?d ?e)) ([C. All] (imply (is ?d) (not (is ?e)))))",
            *(f"([C. All] ([Kw. {persons[index]}] (or {' '.join(atoms)})))" for (index, _), atoms in sharing.items()),
        ],
        goals=[_say_knows(person) for person in (*persons, *(() if sensing else ("reader",)))],
    )


def _say_knows(person: str) -> str:
    return f"(exists (?d - date) ([{person}] (is ?d)))"


def _declare_sentences(sensing: bool, depth: int) -> list[str]:
    """The sentences that speak of the knowledge of so many persons."""

    def nest(what: str, *persons: str) -> str:
        for person in reversed(persons):
            what = f"([{person}] {what})"
        return what

    def opinions(*persons: str) -> dict[str, str]:
        """What a person may know of what another one knows."""
        *believers, last = persons
        knows, doubts = nest(_say_knows(last), *believers), nest(f"(not {_say_knows(last)})", *believers)
        return {"sure_knows": knows, "sure_doubts": doubts, "unsure": f"(and (not {knows}) (not {doubts}))"}

    first = {"knows doubts": _say_knows("?i")}
    second = opinions("?i", "?j")
    about = opinions("?j", "?k")
    third = {f"sure_{name}": nest(formula, "?i") for name, formula in about.items()}
    third |= {f"sure_not_{name}": nest(f"(not {about[name]})", "?i") for name in ("sure_knows", "sure_doubts")}
    variables = ("?i", "?i ?j", "?i ?j ?k")
    distinct = ("", "(/= ?i ?j)", "(and (/= ?i ?j) (/= ?j ?k))")
    return [
        declare_sentence(sensing, names, f"{persons} - person", formula, condition=condition)
        for sentences, persons, condition in list(zip((first, second, third), variables, distinct, strict=True))[:depth]
        for names, formula in sentences.items()
    ]


def construct_plan(sensing: bool, dates: dict[str, Date], birthday: str, depth: int) -> list[str] | None:
    """The sentences of the sources; for sampled dates and in the sensing version, who knows the date, in turn."""
    if not sensing and len(dates) == 10:
        return ["sure_doubts_albert_bernard", "knows_bernard", "knows_albert"]
    if not sensing and len(dates) == 20:
        first = ["sure_doubts_albert_bernard", "doubts_bernard", "sure_doubts_bernard_charlie", "doubts_charlie"]
        return [*first, "sure_doubts_charlie_albert", "knows_albert", "knows_bernard", "knows_charlie"]
    asked, _ = _ask_in_turn(dates)
    if sensing:
        return [f"ask_knows_{_PERSONS[person]}" for person, _ in asked]
    return [f"{'knows' if answers[birthday] else 'doubts'}_{_PERSONS[person]}" for person, answers in asked]


def _ask_in_turn(dates: dict[str, Date]) -> tuple[list[tuple[int, dict[str, bool]]], dict[str, bool]]:
    """Ask all in turn whether they know the date, until no answer says anything new.

    Returns:
        Who was asked, with the answer for each date; and for each date whether all know it in the end.
    """
    parts = len(next(iter(dates.values())))
    said = dict.fromkeys(dates, 0)  # numbers that dates share iff all answers are the same

    def knowing(person: int) -> dict[str, bool]:
        count = Counter((said[name], date[person]) for name, date in dates.items())
        return {name: count[said[name], date[person]] == 1 for name, date in dates.items()}

    asked: list[tuple[int, dict[str, bool]]] = []
    silent = 0
    for person in cycle(range(parts)):
        answers = knowing(person)
        numbers = {pair: number for number, pair in enumerate(sorted({(said[name], answers[name]) for name in dates}))}
        silent = silent + 1 if len(numbers) == len(set(said.values())) else 0
        said = {name: numbers[said[name], answers[name]] for name in dates}
        asked.append((person, answers))
        if silent == parts:
            break
    final = [knowing(person) for person in range(parts)]
    return asked[: len(asked) - parts], {name: all(known[name] for known in final) for name in dates}
