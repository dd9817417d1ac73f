"""Epistemic Gossip: spread secrets by telephone until everybody knows what everybody knows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from domains.checks import (
    MAX_LEVELS,
    MAX_WORLDS,
    check_at_least,
    check_between,
    check_formulas,
    check_limit,
    check_one_of,
    power,
)
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, always, believes, everybody, knows_whether, not_, write
from domains.writing.structure import ObjectNames, secrets

_PROTOCOLS = ("tell", "call")


def problem(
    *,
    agents: int = 3,
    protocol: str = "tell",
    informed: int | None = None,
    secrets: int | None = None,
    depth: int = 1,
    goals: Sequence[str] | None = None,
) -> str:
    """Agents with one secret each phone each other, in private, until enough is known about who knows what.

    Every agent knows its own secret, and all agents know that. A call is noticed by the two on the line
    only, so whoever is not on the line goes on believing that nothing happened. Under the protocol `tell`
    the caller passes on its own secret to one who does not believe it yet; under `call` the caller passes
    on every secret that it believes.

    Difficulty grows with the number of agents (worlds exponentially, calls quadratically), with the
    numbers of secrets and of informed agents (longer plans), and with the depth of the goal. Only secrets
    travel, so knowledge about knowledge comes from having taken part: among two agents every depth can be
    reached, among more agents depth 2 needs the protocol `call`, and deeper goals have no plan.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        protocol: `tell` or `call`.
        informed: the goal speaks about the beliefs of this many first agents; all of them by default.
        secrets: the goal speaks about the secrets of this many first agents; all of them by default.
        depth: at least 1; 1: each informed agent believes the secrets; 2: each believes that everybody
            informed believes them; and so on.
        goals: explicit mA* formulas instead of the three parameters above.

    Source: M. C. Cooper, A. Herzig, F. Maffre, F. Maris and P. Régnier, "The epistemic gossip problem"
    (Discrete Mathematics 342, 2019); the two protocols are those of the published mA* problems.
    """
    check_at_least("agents", agents, 2)
    check_limit("worlds", power(2, agents), MAX_WORLDS, agents=agents)
    names = agent_names(agents)
    check_one_of("protocol", protocol, _PROTOCOLS)
    group = names[: check_between("informed", agents if informed is None else informed, 1, agents)]
    subjects = names[: check_between("secrets", agents if secrets is None else secrets, 1, agents)]
    check_at_least("depth", depth, 1)
    check_limit("levels of a formula", 2 * depth, MAX_LEVELS, depth=depth)
    facts = [f"s{name}" for name in names]
    return write(
        title=f"Epistemic Gossip: agents={agents}, protocol={protocol}",
        story="""
            Everybody knows one secret. Calls are private: the caller passes on its own secret (tell) or
            every secret it believes (call), and nobody else notices.
        """,
        fluents=facts,
        actions=_tells(names) if protocol == "tell" else _calls(names),
        agents=names,
        designated=facts,
        commonly_known=[knows_whether(name, f"s{name}") for name in names],
        goals=_mutual(group, subjects, depth) if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 3, **_: Any) -> list[str]:
    """Who believes which secret, who believes that another believes it, and who believes neither."""
    names = agent_names(agents)
    found = []
    for name, other in permutations(names, 2):
        learnt = believes(name, f"s{other}")
        found += [learnt, not_(learnt)]
        for watcher in names:
            if watcher != name:
                found += [believes(watcher, learnt), not_(believes(watcher, learnt))]
    return found


def structure(*, agents: int = 3, **_: Any) -> ObjectNames:
    """Each agent has a secret."""
    return ObjectNames(words=secrets(agent_names(agents)))


def _mutual(group: Sequence[str], subjects: Sequence[str], depth: int) -> list[str]:
    inner = [f"s{name}" for name in subjects]
    for _ in range(depth - 1):
        inner = [everybody(group, inner[0] if len(inner) == 1 else f"({', '.join(inner)})")]
    return [believes(name, *inner) for name in group]


def _tells(names: Sequence[str]) -> list[ActionText]:
    return [
        ActionText(
            f"tell_{teller}_{other}",
            "announces",
            [(f"s{teller}", "")],
            executable=not_(believes(other, f"s{teller}")),
            observes=always([teller, other]),
        )
        for teller, other in permutations(names, 2)
    ]


def _calls(names: Sequence[str]) -> list[ActionText]:
    # In the published order a caller's place in the list of the others is taken by the first agent.
    calls = [(caller, names[0] if other == caller else other) for caller in names for other in names[1:]]
    return [
        ActionText(
            f"call_{caller}_{other}",
            "announces",
            [(f"s{name}", believes(caller, f"s{name}")) for name in names],
            observes=always([caller, other]),
        )
        for caller, other in calls
    ]


DOMAIN = Domain(
    name="epistemic_gossip",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={},
        plan=("tell_a_b", "tell_b_a"),
        caption=(
            "Two calls have made the secrets of a and b common knowledge between them; c believes that "
            "neither knows the other's."
        ),
    ),
    structure=structure,
    actors={"tell": 0, "call": 0},
    ranges={
        "train": ({"agents": (3, 4), "protocol": ("tell", "call")},),
        "validation": ({"agents": (5,), "protocol": ("tell", "call")},),
        "test": ({"agents": (6,), "protocol": ("tell", "call")},),
    },
    growth=Growth(
        sizes("agents protocol", [(agents, way) for agents in (7, 8) for way in _PROTOCOLS * 4]),
        walk=(30, 120),
        subgoals=(16, 240),
    ),
)
