"""Consecutive Numbers: agents who hold consecutive numbers find them out from what others do not know."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from domains.checks import (
    MAX_EXPANDED,
    DomainError,
    check_at_least,
    check_between,
    check_formulas,
    check_limit,
    check_one_of,
    make_random,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import atom, believes, not_, write
from domains.writing.mastar import agent_names

_COMMONLY_KNOWN = (
    """(:forall (?agent - agent ?number - number | (not (may_have ?agent ?number)))
    ([C. All] (not (has ?agent ?number))))""",
    """(:forall (?agent - agent ?number ?other - number | (/= ?number ?other))
    ([C. All] (imply (has ?agent ?number) (not (has ?agent ?other)))))""",
    """(:forall (?agent - agent ?number - number)
    ([C. All] ([Kw. ?agent] (has ?agent ?number))))""",
)


def problem(
    *,
    agents: int = 3,
    highest: int = 6,
    zero: str = "a",
    run: int | None = None,
    numbers: Mapping[str, int] | None = None,
    learn: Mapping[str, int] | None = None,
    seed: int | None = None,
    goals: Sequence[str] | None = None,
) -> str:
    """Agents draw consecutive numbers, and everybody sees its own only.

    The numbers go round: the first agent may hold 0, `agents`, 2 `agents`, …, the next one 1, `agents` + 1, …; this
    and that the numbers are consecutive is common knowledge. An agent may say, before all, that it does not know
    that another one holds a certain number, if so. Some agents shall know that everybody knows which number they
    hold.

    Difficulty grows with the highest number: who holds it, or 0, knows all numbers, so that doubts exclude the
    extremes, then their neighbours, and so on; plans have almost as many steps as there are numbers that are not
    held. The numbers next to those that are held can only be excluded as long as those on the other side are not.

    There is a plan, and the goal does not hold at the start, if all numbers are consecutive (`run` = `agents`) and
    stated, the highest possible one is not held, and all agents shall succeed but the one with the lowest number:
    so are the problems that `seed` samples. With two agents it is enough that one number from 1 to `highest` - 1 is
    stated, for its agent to succeed, and that `highest` is 3 at least. Several of the published problems have no
    plan: they ask for numbers that nobody holds, or let only `run` of the agents have consecutive numbers.

    Args:
        agents: how many, at least 2; they are called a, b, c, ….
        highest: the highest number, at least `agents` + 1; the lowest one is 0.
        zero: the agent that may hold 0; the next numbers may be held by the agents after it, in turns.
        run: of so many agents it is known that they hold consecutive numbers, 2 to `agents`, all by default; of the
            others, that they hold one number at most.
        numbers: the numbers that agents do hold, such as `{"a": 3, "b": 4}`; a plan has to work whatever the other
            agents hold. By default consecutive ones, from the middle.
        learn: the agents that shall know that everybody knows which number they hold, with their numbers; by default
            all in `numbers`, without the one with the lowest number if `numbers` names all agents.
        seed: draws the consecutive `numbers`, if they are not given.
        goals: explicit EPDDL formulas instead, about the atoms `(has a n0)`, ….

    Source: the family *consecutive numbers* of the epistemic track of the International Planning Competition 2026, a
    version of the puzzle of the consecutive numbers.
    """
    names, turns = _agents(agents, highest, zero)
    held = check_between("run", len(names) if run is None else run, 2, len(names))
    stated = _sample_numbers(turns, highest, seed) if numbers is None else _check_numbers(numbers, turns, highest, held)
    wanted = _default_goal(stated, names) if learn is None else _numbers("learn", learn, names, highest)
    values = [f"n{number}" for number in range(highest + 1)]
    return write(
        title=f"Consecutive Numbers: {len(names)} agents, numbers up to {highest}",
        story="Everybody knows its own number only, and that the numbers are consecutive. Doubts tell the others more.",
        action_types=["public-announcement"],
        domain=read_text("consecutive_numbers.epddl"),
        name="consecutive_numbers",
        objects={"number": values},
        agents={"agent": names},
        facts=[
            *(atom("next", *pair) for pair in pairwise(values)),
            *(
                atom("may_have", name, value)
                for name in names
                for number, value in enumerate(values)
                if turns[number % len(turns)] == name
            ),
        ],
        init=[
            *(atom("has", name, f"n{number}") for name, number in stated.items()),
            _some_are_consecutive(held),
            *_COMMONLY_KNOWN,
        ],
        goals=_goal(wanted, names) if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, highest: int = 6, zero: str = "a", **_: Any) -> list[str]:
    """Who knows which number, and who knows that its own number is known."""
    names, turns = _agents(agents, highest, zero)
    found = []
    for number in range(highest + 1):
        owner = turns[number % len(turns)]
        for name in names:
            if name != owner:
                knows = believes(name, atom("has", owner, f"n{number}"))
                found += [knows, not_(knows), believes(owner, knows), not_(believes(owner, knows))]
    return found


def _agents(agents: int, highest: int, zero: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The agents, and the same in the order of the numbers they may hold."""
    check_at_least("agents", agents, 2)
    check_at_least("highest", highest, agents + 1)
    pairs = agents * (highest + 1) * highest
    check_limit("pairs of numbers of an agent", pairs, MAX_EXPANDED, agents=agents, highest=highest)
    names = agent_names(agents)
    start = names.index(check_one_of("agent in zero", zero, names))
    return names, names[start:] + names[:start]


def _numbers(parameter: str, given: object, names: Sequence[str], highest: int) -> dict[str, int]:
    if not isinstance(given, Mapping) or not given:
        raise DomainError(f"{parameter} must map agents to numbers, got {given!r}")
    return {
        check_one_of(f"agent in {parameter}", name, names): check_between(
            f"the number of {name} in {parameter}", number, 0, highest
        )
        for name, number in given.items()
    }


def _check_numbers(given: object, turns: Sequence[str], highest: int, run: int) -> dict[str, int]:
    """The numbers that are given, if agents can have them while `run` agents hold consecutive numbers."""
    stated = _numbers("numbers", given, sorted(turns), highest)
    for name, number in stated.items():
        if turns[number % len(turns)] != name:
            raise DomainError(
                f"numbers gives {name} a number that only {turns[number % len(turns)]} may hold: {number}"
            )
    for lowest in range(highest + 2 - run):
        held = {turns[number % len(turns)]: number for number in range(lowest, lowest + run)}
        if all(stated.get(name, number) == number for name, number in held.items()):
            return stated
    raise DomainError(f"numbers leaves no {run} agents with consecutive numbers: {stated}")


def _sample_numbers(turns: Sequence[str], highest: int, seed: int | None) -> dict[str, int]:
    """Consecutive numbers for all agents, none of them the highest possible."""
    most = highest - len(turns)
    lowest = most // 2 if seed is None else make_random(seed).randint(0, most)
    held = {turns[number % len(turns)]: number for number in range(lowest, lowest + len(turns))}
    return dict(sorted(held.items()))


def _default_goal(stated: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    lowest = min(stated.values()) if len(stated) == len(names) else -1
    return {name: number for name, number in stated.items() if number != lowest}


def _goal(wanted: Mapping[str, int], names: Sequence[str]) -> list[str]:
    """Everybody's knowledge is that of the other agent if there is only one."""
    found = []
    for name, number in wanted.items():
        knower = "All" if len(names) > 2 else next(other for other in names if other != name)
        found.append(believes(name, believes(knower, atom("has", name, f"n{number}"))))
    return found


def _some_are_consecutive(run: int) -> str:
    """It is common knowledge that some `run` consecutive numbers are all held."""
    lines = []
    for index in range(1, run + 1):
        number = f"?n{index}"
        follows = f" | {atom('next', f'?n{index - 1}', number)}" if index > 1 else ""
        lines += [
            f"(exists ({number} - number{follows}) (and",
            f"    (exists (?agent - agent | (may_have ?agent {number})) (has ?agent {number}))",
        ]
    return "([C. All]\n" + textwrap.indent("\n".join(lines), " " * 4) + "))" * run + ")"


_GROWTH = (
    (3, 18), (3, 20), (3, 22), (3, 24), (4, 20), (3, 28), (4, 22), (4, 24), (4, 28), (5, 24), (4, 32), (5, 28),
    (5, 32), (5, 36), (6, 32), (6, 36), (6, 40), (7, 36), (7, 40), (8, 40),
)  # fmt: skip

DOMAIN = Domain(
    name="consecutive_numbers",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"agents": 2, "highest": 5},
        plan=("doubt_a_b_n1",),
        caption=(
            "Agent a has said that it does not know that b holds 1, so it does not hold 0: b knows now "
            "that a holds 2, but a does not know that b does."
        ),
    ),
    actors={"doubt": 0},
    ranges={
        "train": ({"agents": (2, 3), "highest": (4, 5, 6, 7, 8)},),
        "validation": ({"agents": (2, 3), "highest": (10, 12)}, {"agents": (4,), "highest": (8,)}),
        "test": ({"agents": (2, 3), "highest": (16, 18, 22)}, {"agents": (4, 5), "highest": (12, 14)}),
    },
    growth=Growth(sizes("agents highest", _GROWTH), walk=(15, 40), subgoals=(16, 200)),
)
