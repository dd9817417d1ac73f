"""Active Muddy Child: children are asked whether they know whether they are muddy, until one child knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domains.checks import (
    MAX_WORLDS,
    check_at_least,
    check_flag,
    check_formulas,
    check_limit,
    check_one_of,
    check_subset,
    make_random,
    power,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import atom, believes, common, knows_whether, not_, number_names, unsure, write


def problem(
    *,
    children: int = 4,
    muddy: Sequence[str] | None = None,
    certain: bool = True,
    wise: str = "c1",
    seed: int | None = None,
    goals: Sequence[str] | None = None,
) -> str:
    """Children come home from playing; each sees who of the others is muddy, none sees itself.

    It is common knowledge that at least one of them is muddy. A child can be asked, before all, whether it knows
    whether it is muddy, and says the truth. One child shall come to know whether it is muddy itself.

    Difficulty grows with the number of children: the initial e-state has 2^children - 1 worlds, and every child that
    is muddy besides has to be asked before the answer of the next says anything.

    Args:
        children: how many, at least 2; they are called c1, c2, …
        muddy: the muddy ones, at least one if `certain`; all but the first half by default.
        certain: whether the others are clean; if not, any of them may be muddy too, and a plan has to work whichever
            are, as in the published problems. With `muddy=[]` any children may be muddy.
        wise: the child that shall know whether it is muddy.
        seed: samples who is muddy, if `muddy` is not given: at least two children, so that nobody knows it at first.
        goals: explicit EPDDL formulas instead, about the atoms `(muddy c1)`, ….

    Source: the family *active muddy child* of the epistemic track of the International Planning Competition 2026,
    after F. Kominis and H. Geffner, "Beliefs in multiagent planning: from one agent to many" (ICAPS 2015).
    """
    names = _names(children)
    at_least = int(check_flag("certain", certain))
    dirty = check_subset("muddy", _sample_muddy(names, seed) if muddy is None else muddy, names, at_least=at_least)
    check_one_of("child in wise", wise, names)
    clean = [name for name in names if name not in dirty] if certain else []
    sees = knows_whether("?child", atom("muddy", "?other"))
    return write(
        title=f"Active Muddy Child: {len(names)} children, {len(dirty)} of them muddy",
        story="Everybody sees who else is muddy. Asked one by one, children say whether they know about themselves.",
        action_types=["public-sensing"],
        domain=read_text("active_muddy_child.epddl"),
        name="active_muddy_child",
        agents={"agent": names},
        init=[
            *(atom("muddy", name) for name in dirty),
            *(not_(atom("muddy", name)) for name in clean),
            common("(exists (?child - agent) (muddy ?child))"),
            f"(:forall (?child ?other - agent | (/= ?child ?other)) {common(sees)})",
        ],
        goals=[knows_whether(wise, atom("muddy", wise))] if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, children: int = 4, **_: Any) -> list[str]:
    """Who knows whether it is muddy, who does not, and who believes that another knows it."""
    found = []
    for name in _names(children):
        own = atom("muddy", name)
        found += [knows_whether(name, own), unsure(name, own)]
        for other in _names(children):
            if other != name:
                found += [believes(other, knows_whether(name, own)), not_(believes(other, knows_whether(name, own)))]
    return found


def _names(children: int) -> tuple[str, ...]:
    check_at_least("children", children, 2)
    check_limit("worlds", power(2, children) - 1, MAX_WORLDS, children=children)
    return number_names("c", children)


def _sample_muddy(names: Sequence[str], seed: int | None) -> Sequence[str]:
    if seed is None:
        return names[len(names) // 2 :]
    draw = make_random(seed)
    return draw.sample(names, draw.randint(2, len(names)))


DOMAIN = Domain(
    name="active_muddy_child",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"children": 3},
        plan=("ask_c2",),
        caption=(
            "Asked, c2 did not know whether it is muddy: so c3, who sees that c1 is clean, knows that "
            "it is muddy itself, but c1 does not know that c3 knows."
        ),
    ),
    actors={"ask": 0},
    ranges={
        "train": ({"children": (3, 4, 5, 6, 7)},),
        "validation": ({"children": (8, 9)},),
        "test": ({"children": (10, 11, 12)},),
    },
    growth=Growth(sizes("children", [(number // 2,) for number in range(16, 32)]), walk=(6, 15), subgoals=(8, 120)),
)
