"""Coin in the Box: find out how a coin lies in a locked box, and control who else finds out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

from domains.checks import MAX_STATEMENTS, check_at_least, check_formulas, check_limit, check_one_of, check_subset
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, always, and_, believes, common, ignorant, not_, write

_GOALS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "first": lambda names: [believes(names[0], "tail")],
    "last": lambda names: [believes(names[-1], "tail")],
    "common": lambda names: [common(names, "tail")],
    "others": lambda names: [
        *(believes(name, ignorant(names[0], "tail")) for name in names[1:]),
        common(names[1:], "tail"),
    ],
}


def problem(
    *,
    agents: int = 3,
    keys: Sequence[str] = ("a",),
    looking: Sequence[str] = ("a",),
    unlocked_for: Sequence[str] = (),
    goal: str = "common",
    goals: Sequence[str] | None = None,
) -> str:
    """Agents around a box with a coin peek, shout, and win or divert each other's attention.

    A coin lies tail up in a locked box. Whoever has the key can open it; whoever then looks can peek at the
    coin and so learn how it lies. Agents who look see who opens and that someone peeks, but not what is
    seen. An agent who looks can signal to another one to look, or distract one that does. Who knows how the
    coin lies can shout it to everybody who looks.

    Difficulty grows with the number of agents (fluents linearly, actions quadratically) and with goals that
    tell agents apart: the attention of those who must not learn has to be diverted in time, and what an
    agent believes about the knowledge of others depends on who was looking when.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        keys: the agents who have a key.
        looking: the agents who look at the box at the start.
        unlocked_for: agents who can open the box without a key.
        goal: `first` or `last` (that agent learns how the coin lies), `common` (it becomes common knowledge)
            or `others` (common knowledge among all but the first, who stays ignorant in their eyes).
        goals: explicit mA* formulas instead of a kind of goal.

    Source: the running example of C. Baral, G. Gelfond, E. Pontelli and T. C. Son, "An action language for
    multi-agent domains" (Artificial Intelligence 302, 2022), as published with the EFP planners.
    """
    check_at_least("agents", agents, 2)
    check_limit("statements", 11 * agents**2 - 2 * agents, MAX_STATEMENTS, agents=agents)
    names = agent_names(agents)
    keys = check_subset("keys", keys, names)
    looking = check_subset("looking", looking, names)
    unlocked_for = check_subset("unlocked_for", unlocked_for, names)
    check_one_of("goal", goal, _GOALS)
    facts = [*(f"has_key_{name}" for name in names), "opened", *(f"looking_{name}" for name in names)]
    true = {f"has_key_{name}" for name in keys} | {f"looking_{name}" for name in looking}
    literals = [fact if fact in true else not_(fact) for fact in facts]
    return write(
        title=f"Coin in the Box: agents={agents}",
        story="""
            A coin lies tail up in a locked box. An agent with a key can open the box, one who looks into the
            open box can peek, and one who knows can shout. Agents who look notice all that; attention is won
            by a signal and lost by a distraction.
        """,
        fluents=["tail", *facts],
        actions=_actions(names, unlocked_for),
        agents=names,
        designated=["tail", *literals],
        commonly_known=literals,
        goals=_GOALS[goal](names) if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, **_: Any) -> list[str]:
    """What agents believe about the coin and about each other's beliefs about it."""
    names = agent_names(agents)
    found = [believes(name, "tail") for name in names]
    for one, other in permutations(names, 2):
        found += [
            believes(one, believes(other, "tail")),
            believes(one, ignorant(other, "tail")),
            not_(believes(one, believes(other, "tail"))),
        ]
    found += [f"looking_{name}" for name in names]
    return found + [not_(formula) for formula in found[: len(names)]]


def _actions(names: Sequence[str], unlocked_for: Sequence[str]) -> list[ActionText]:
    pairs = list(permutations(names, 2))
    return [
        *(_open(name, names, locked=name not in unlocked_for) for name in names),
        *(_peek(name, names) for name in names),
        *(_divert("signal", one, other, to=f"looking_{other}", since=f"-looking_{other}") for one, other in pairs),
        *(_divert("distract", one, other, to=f"-looking_{other}", since=f"looking_{other}") for one, other in pairs),
        *(_shout(name, names) for name in names),
    ]


def _audience(actor: str, names: Sequence[str]) -> dict[str, str]:
    """Whoever looks, the actor apart."""
    return {name: f"looking_{name}" for name in names if name != actor}


def _sure(agent: str, *literals: str) -> str:
    """The literals hold and the agent believes them."""
    return and_(*(believes(agent, literal) for literal in literals), *literals)


def _open(actor: str, names: Sequence[str], *, locked: bool) -> ActionText:
    return ActionText(
        f"open_{actor}",
        "causes",
        [("opened", "")],
        executable=_sure(actor, f"has_key_{actor}") if locked else "",
        observes={actor: "", **_audience(actor, names)},
    )


def _peek(actor: str, names: Sequence[str]) -> ActionText:
    return ActionText(
        f"peek_{actor}",
        "determines",
        [("tail", "")],
        executable=_sure(actor, "opened", f"looking_{actor}"),
        observes=always([actor]),
        aware=_audience(actor, names),
    )


def _divert(verb: str, actor: str, other: str, *, to: str, since: str) -> ActionText:
    """The actor, who looks, changes whether the other one does."""
    return ActionText(
        f"{verb}_{actor}_{other}",
        "causes",
        [(to, "")],
        executable=_sure(actor, f"looking_{actor}", since),
        observes=always([actor, other]),
    )


def _shout(actor: str, names: Sequence[str]) -> ActionText:
    return ActionText(
        f"shout_tail_{actor}",
        "announces",
        [("tail", "")],
        executable=_sure(actor, "tail"),
        observes={actor: "", **_audience(actor, names)},
    )


DOMAIN = Domain(
    name="coin_in_the_box",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"looking": "ab"},
        plan=("open_a", "peek_a", "distract_b_a", "peek_b"),
        caption=(
            "Both a and b have peeked; b knows that a knows how the coin lies, a was distracted and "
            "believes that b does not know, and c believes that the box is closed."
        ),
    ),
    actors=dict.fromkeys(("open", "peek", "signal", "distract", "shout_tail"), 0),
    ranges={
        "train": ({"agents": (2, 3), "keys": ("a", "ab"), "looking": ("a", "b", "ab")},),
        "validation": ({"agents": (4,), "keys": ("a", "ab", "abc"), "looking": ("a", "bc", "abcd")},),
        "test": ({"agents": (5, 6, 7), "keys": ("a", "ab", "abc"), "looking": ("a", "bc", "abcde")},),
    },
    growth=Growth(sizes("agents", [(number // 3,) for number in range(21, 39)]), walk=(40, 240), subgoals=(16, 120)),
)
