"""Gossip: agents call each other to tell their secrets, noticed or not; an impostor lies and shall be lied to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

from domains.checks import (
    MAX_WORLDS,
    DomainError,
    check_at_least,
    check_formulas,
    check_limit,
    check_one_of,
    make_random,
    power,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import atom, believes, common, knows_whether, not_, unsure, write
from domains.writing.mastar import agent_names

_DETECTIVE, _IMPOSTOR = "detective", "impostor"

_ACTION_TYPES = {
    "basic": ["semi-private-announcement"],
    "private": ["private-announcement"],
    "deceived": ["private-announcement", "private-deception", "private-ontic", "private-double-deception"],
}
_STORIES = {
    "basic": "Agents call each other to tell their secret. All others notice the call and do not hear what is said.",
    "private": "Agents call each other to tell their secret. All others notice nothing.",
    "deceived": """
        Friends call each other to tell their secret, and all others notice nothing. The impostor lies about its own.
        The detective sees through the lie unnoticed, and friends with an earpiece listen in.
    """,
}


def problem(
    *,
    agents: int = 3,
    kind: str = "basic",
    goal: str = "all",
    learner: str | None = None,
    shared: Sequence[Sequence[str]] | None = None,
    seed: int | None = None,
    goals: Sequence[str] | None = None,
) -> str:
    """Agents know one secret each, and call each other, one at a time, to tell their own.

    All secrets are true, and it is common knowledge that everybody knows its own. One cannot tell a secret to an
    agent who knows it. There are three kinds of problems:

    - `basic`: the others notice who calls whom. Some agents shall know whether the secrets hold.
    - `private`: the others notice nothing. The same goals.
    - `deceived`: the others notice nothing either. The last two agents are a detective without a secret, who tells
      nothing, and an impostor, who only lies to friends: they come to believe that its secret is false. The
      detective gives friends earpieces, which those who have one notice, and catches the impostor: the impostor
      believes that it has deceived the detective too, but the detective learns the truth, and so does everyone with
      an earpiece. Either all friends shall be deceived, or the impostor itself.

    Difficulty grows with the number of agents: the initial e-state has 2^secrets worlds, all calls commute, and a
    plan has as many calls as there are secrets to learn. Where calls are not noticed, every call adds to the worlds.

    Args:
        agents: how many, detective and impostor included: at least 2, or 3 where they are among them; the others are
            called a, b, c, ….
        kind: `basic`, `private` or `deceived`.
        goal: `all`, all agents shall know all secrets, or `single`, one agent shall; where agents are deceived,
            `all`, all friends shall believe that the impostor's secret is false, or `impostor`, all but the impostor
            shall know that it is true, while the impostor believes that they believe it is false.
        learner: the agent that shall know all secrets where it is a single one, a by default.
        shared: pairs of an agent and the owner of a secret that it is commonly known to know from the start, such as
            `["ab", "ac"]`; none by default.
        seed: samples `learner` and one to `agents` - 1 pairs of `shared`, those that are not given. The goal remains
            to be reached, and there is a plan.
        goals: explicit EPDDL formulas instead, about the atoms `(secret a)`, … and `(spying a)`, ….

    Source: the families *gossip* of the epistemic track of the International Planning Competition 2026.
    """
    names, friends, owners = _agents(agents, kind)
    wanted = check_one_of("goal", goal, ("all", "impostor" if kind == "deceived" else "single"))
    draw = None if seed is None else make_random(seed)
    if learner is None:
        learner = draw.choice(friends) if draw else names[0]
    check_one_of("agent in learner", learner, friends)
    if shared is None and draw:
        pairs = _sample_goals(draw, names, friends, learner if wanted == "single" else None)
    else:
        pairs = _pairs(() if shared is None else shared, names, owners)
    deceived = kind == "deceived"
    owner = "(either friend impostor)" if deceived else "agent"
    return write(
        title=f"Gossip: {len(names)} agents, {kind}",
        story=_STORIES[kind],
        action_types=_ACTION_TYPES[kind],
        domain=read_text(f"gossip_{kind}.epddl"),
        name="gossip",
        agents=(
            {"friend": friends, "detective": [_DETECTIVE], "impostor": [_IMPOSTOR]} if deceived else {"agent": names}
        ),
        init=[
            f"(:forall (?owner - {owner}) (secret ?owner))",
            f"(:forall (?owner - {owner}) {common(knows_whether('?owner', '(secret ?owner)'))})",
            *(common(knows_whether(name, atom("secret", other))) for name, other in pairs),
            *([f"(:forall (?friend - friend) {common(not_('(spying ?friend)'))})"] if deceived else []),
        ],
        goals=_goal(wanted, names, learner, deceived=deceived) if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, kind: str = "basic", **_: Any) -> list[str]:
    """Who knows which secret, and who believes of whom to know it; who is deceived, spies, or is believed to.

    Of knowledge about a secret its owner has beliefs, and one of those that are concerned neither way.
    """
    names, friends, _owners = _agents(agents, kind)
    found = []
    for name, owner in permutations(names, 2):
        if owner in friends:
            knows = knows_whether(name, atom("secret", owner))
            found += [knows, unsure(name, atom("secret", owner))]
            after = names[names.index(name) + 1 :] + names
            third = next((other for other in after if other not in (name, owner)), owner)
            for watcher in dict.fromkeys((owner, third)):
                found += [believes(watcher, knows), not_(believes(watcher, knows))]
    if kind == "deceived":
        for name in (*friends, _DETECTIVE):
            right, wrong = (believes(name, secret) for secret in _impostors_secret())
            found += [right, wrong, believes(_IMPOSTOR, wrong), not_(believes(_IMPOSTOR, wrong))]
        for name in friends:
            spying = atom("spying", name)
            found += [spying, not_(spying)]
            for other in (*friends, _IMPOSTOR):
                if other != name:
                    found += [believes(other, spying), not_(believes(other, spying))]
    return found


def _agents(agents: int, kind: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """All agents, those that tell their secrets, and those that have one."""
    is_deceived = check_one_of("kind", kind, _STORIES) == "deceived"
    check_at_least("agents", agents, 3 if is_deceived else 2)
    check_limit("worlds", power(2, agents - is_deceived), MAX_WORLDS, agents=agents)
    if is_deceived:
        friends = agent_names(agents - 2)
        return (*friends, _DETECTIVE, _IMPOSTOR), friends, (*friends, _IMPOSTOR)
    names = agent_names(agents)
    return names, names, names


def _pairs(shared: object, names: Sequence[str], owners: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for pair in shared if isinstance(shared, Sequence) else [shared]:
        if not isinstance(pair, Sequence) or len(pair) != 2 or pair[0] == pair[1]:
            raise DomainError(f"shared must be a list of pairs of two agents, got {shared!r}")
        name = check_one_of("agent in shared", pair[0], names)
        pairs.append((name, check_one_of("owner of a secret in shared", pair[1], owners)))
    return pairs


def _sample_goals(
    draw: Random, names: Sequence[str], friends: Sequence[str], learner: str | None
) -> list[tuple[str, str]]:
    """Secrets of friends that are known, but not all of those that the learner, or anybody, has to learn."""
    pairs = [(name, owner) for name in names for owner in friends if name != owner]
    pairs.remove(draw.choice([pair for pair in pairs if learner in (None, pair[0])]))
    return sorted(draw.sample(pairs, draw.randint(1, min(len(pairs), len(names) - 1))))


def _impostors_secret() -> tuple[str, str]:
    secret = atom("secret", _IMPOSTOR)
    return secret, not_(secret)


def _goal(wanted: str, names: Sequence[str], learner: str, *, deceived: bool) -> list[str]:
    if not deceived:
        knower = "All" if wanted == "all" else learner
        return [knows_whether(knower, atom("secret", name)) for name in names]
    right, wrong = _impostors_secret()
    if wanted == "all":
        return [believes(name, wrong) for name in names[:-2]]
    return [
        formula
        for name in names[:-1]
        for formula in (believes(name, right), believes(_IMPOSTOR, believes(name, wrong)))
    ]


_GROWTH = (
    ("private", 6), ("private", 7), ("deceived", 8), ("basic", 8), ("private", 8), ("deceived", 9), ("basic", 9),
    ("private", 9), ("deceived", 10), ("basic", 10), ("private", 10), ("deceived", 11), ("basic", 11),
    ("private", 11), ("deceived", 12), ("basic", 12), ("basic", 13),
)  # fmt: skip

DOMAIN = Domain(
    name="gossip",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"kind": "deceived", "shared": [["detective", "a"], ["impostor", "a"]]},
        plan=("catch_detective_impostor",),
        caption=(
            "The impostor believes that it has made the detective believe a lie, but the detective "
            "knows the impostor's secret, and a believes that the detective does not know it."
        ),
    ),
    actors={"tell": 0, "lie": 0, "give_earpiece": 0, "catch": 0},
    ranges={
        "train": (
            {"agents": (3, 4), "kind": ("basic", "private"), "goal": ("all", "single")},
            {"agents": (3, 4), "kind": ("deceived",), "goal": ("all", "impostor")},
        ),
        "validation": (
            {"agents": (5,), "kind": ("basic", "private"), "goal": ("all", "single")},
            {"agents": (5,), "kind": ("deceived",), "goal": ("all", "impostor")},
        ),
        "test": (
            {"agents": (6, 7, 8), "kind": ("basic", "private"), "goal": ("all", "single")},
            {"agents": (7, 9), "kind": ("deceived",), "goal": ("all", "impostor")},
        ),
    },
    growth=Growth(sizes("kind agents", _GROWTH), walk=(30, 120), subgoals=(16, 200)),
)
