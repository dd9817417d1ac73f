"""Assembly Line: check parts, report the results, and assemble once everybody knows that all is well."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice, permutations
from typing import Any

from domains.checks import (
    MAX_LEVELS,
    MAX_WORLDS,
    check_at_least,
    check_flag,
    check_formulas,
    check_limit,
    check_one_of,
    power,
)
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.mastar import ActionText, agent_names, always, and_, believes, common, not_, or_, write
from domains.writing.structure import ObjectNames, number_objects

_COMMON = "common"


def problem(
    *,
    agents: int = 2,
    parts: int = 1,
    depth: int | str = 2,
    clear_start: bool = False,
    goals: Sequence[str] | None = None,
) -> str:
    """Workers each check their own parts, tell each other the results, and assemble the product.

    Every agent is responsible for some parts of the product. It can check one of them, unseen by the
    others, and then tell another agent, in private, that the part qualifies. The product can be assembled
    once for every part the one who checked it and every other agent share the knowledge that it qualifies,
    to the given depth; if two agents share the knowledge that a part failed, the line can be restarted.
    Assembling and restarting are seen by all. All parts qualify.

    Difficulty grows with the numbers of agents and parts: with n agents and m parts each, n·m checks and
    n·(n−1)·m reports can be made in almost any order, and 2 to the power of n·m outcomes are possible.
    The depth makes formulas larger, but neither the space of e-states nor the plan.

    Args:
        agents: number of agents, at least 2; they are called a, b, c, …
        parts: number of parts that each agent checks, at least 1.
        depth: how often beliefs about each other are nested in the condition for assembling, at least 1, or
            `common` for common knowledge.
        clear_start: whether it is common knowledge at the start that nothing has been assembled and the
            line has not been restarted; otherwise the agents do not know.
        goals: explicit mA* formulas; by default everybody believes that the product is assembled.

    Source: X. Huang, B. Fang, H. Wan and Y. Liu, "A general multi-agent epistemic planner based on
    higher-order belief change" (IJCAI 2017), in the form published in mA* with the EFP planners, there with
    two agents and one part each; more agents and parts are our generalisation.
    """
    check_at_least("agents", agents, 2)
    check_at_least("parts", parts, 1)
    open_facts = agents * parts + (0 if check_flag("clear_start", clear_start) else 2)
    check_limit("worlds", power(2, open_facts), MAX_WORLDS, agents=agents, parts=parts)
    names = agent_names(agents)
    if isinstance(depth, str):
        check_one_of("depth", depth, [_COMMON])
    else:
        check_at_least("depth", depth, 1)
        check_limit("levels of a formula", depth + 1, MAX_LEVELS, depth=depth)
    owned = [(name, fact) for name in names for fact in _facts(name, parts)]
    facts = [fact for _, fact in owned]
    return write(
        title=f"Assembly Line: agents={agents}, parts={parts}",
        story="""
            Every agent checks its own parts and tells the others, one by one, which of them qualify. The
            product is assembled once it is known, and known to be known, that all parts qualify.
        """,
        fluents=[*facts, "assemble", "restart"],
        actions=[
            *(_sense(name, fact) for name, fact in owned),
            *(_tell(name, other, fact) for name, fact in owned for other in names if other != name),
            _assemble(names, owned, depth),
            _restart(names, owned),
        ],
        agents=names,
        designated=[*facts, "-assemble", "-restart"],
        commonly_known=["-assemble", "-restart"] if clear_start else [],
        goals=[believes(name, "assemble") for name in names] if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, agents: int = 2, parts: int = 1, **_: Any) -> list[str]:
    """Who believes that which part qualifies, who believes that another does, and who does not."""
    names = agent_names(agents)
    found = []
    for owner in names:
        for fact in _facts(owner, parts):
            for name in names:
                found += [believes(name, fact), not_(believes(name, fact))]
            for name, other in permutations(names, 2):
                if owner in (name, other):
                    found += [believes(name, believes(other, fact)), not_(believes(name, believes(other, fact)))]
    return [*found, *(believes(name, "assemble") for name in names)]


def structure(*, parts: int = 1, **_: Any) -> ObjectNames:
    """Parts have numbers where there are several."""
    return ObjectNames(number_objects("part", range(1, parts + 1)) if parts > 1 else {})


def _facts(owner: str, parts: int) -> list[str]:
    return [f"qualify_{owner}_{number}" for number in range(1, parts + 1)] if parts > 1 else [f"qualify_{owner}"]


def _sense(agent: str, fact: str) -> ActionText:
    return ActionText(
        fact.replace("qualify", "sense"),
        "determines",
        [(fact, "")],
        executable=and_(not_(believes(agent, fact)), not_(believes(agent, not_(fact)))),
        observes=always([agent]),
    )


def _tell(agent: str, other: str, fact: str) -> ActionText:
    return ActionText(
        f"{fact.replace('qualify', 'tell')}_{other}",
        "announces",
        [(fact, "")],
        executable=believes(agent, fact),
        observes=always([agent, other]),
    )


def _assemble(names: Sequence[str], owned: Sequence[tuple[str, str]], depth: int | str) -> ActionText:
    shared = [_write_shared(owner, other, fact, depth) for owner, fact in owned for other in names if other != owner]
    return ActionText("act_assemble", "causes", [("assemble", "")], executable=and_(*shared), observes=always(names))


def _restart(names: Sequence[str], owned: Sequence[tuple[str, str]]) -> ActionText:
    failed = [
        believes(owner, believes(other, not_(fact))) for owner, fact in owned for other in names if other != owner
    ]
    return ActionText("act_res", "causes", [("restart", "")], executable=or_(*failed), observes=always(names))


def _write_shared(owner: str, other: str, fact: str, depth: int | str) -> str:
    """The two agents believe of each other, in turns, that the owner believes the fact."""
    if not isinstance(depth, int):
        return common([owner, other], fact)
    formula = fact
    for agent in islice(cycle((owner, other)), depth):
        formula = believes(agent, formula)
    return formula


DOMAIN = Domain(
    name="assembly_line",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"clear_start": True},
        plan=("sense_a", "sense_b", "tell_a_b"),
        caption=(
            "Each has checked its part and a has told b that its own qualifies; a believes that b does "
            "not know about the other part yet, but b does."
        ),
    ),
    structure=structure,
    actors={"sense": 0, "tell": 0},
    ranges={
        "train": ({"agents": (2, 3), "parts": (1, 2), "clear_start": (False, True), "depth": (2, 2, 3)},),
        "validation": ({"agents": (4, 5), "parts": (1,), "clear_start": (True,), "depth": (2, 2, 3)},),
        "test": ({"agents": (6, 7, 8), "parts": (1,), "clear_start": (True,)},),
    },
    growth=Growth(
        sizes("agents parts", [*[(8, 1)] * 4, *[(5, 2)] * 4, *[(4, 3)] * 3, *[(6, 2)] * 4], clear_start=True),
        walk=(30, 120),
        subgoals=(16, 120),
    ),
)
