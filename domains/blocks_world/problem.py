"""Blocks World: rearrange towers of blocks, alone or among agents that watch, are deceived, tell and drop blocks.

As in the competition, a block stays clear when it is picked up, but not when it is unstacked; clumsy agents come with
the action to unstack a block from itself, which is never applicable. Agents that act must keep their eyes on
themselves, and all who watch them must consider it possible that they can do so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, permutations, product
from math import comb, factorial
from random import Random
from string import ascii_lowercase
from typing import Any

from domains.blocks_world.towers import (
    Arrangement,
    atoms,
    changes,
    on_table,
    read,
    read_start,
    read_target,
    sample_starts,
    sample_target,
    supports,
)
from domains.checks import (
    MAX_INSTANCES,
    DomainError,
    check_at_least,
    check_between,
    check_formulas,
    check_limit,
    check_one_of,
    check_subset,
    make_random,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import EStateText, atom, believes, common, not_, number_names, unsure, write
from domains.writing.mastar import agent_names


def problem(
    *,
    tier: str = "single",
    blocks: int = 4,
    tables: int = 2,
    agents: int = 3,
    clumsy: int = 1,
    onlookers: int = 0,
    worlds: int = 2,
    start: str | Sequence[str] | None = None,
    ignorant: Sequence[str] = ("a",),
    places: Sequence[str] | None = None,
    focus: Sequence[str] | None = None,
    movers: Sequence[str] | None = None,
    zones: Sequence[str] | None = None,
    target: str | None = None,
    deceived: Sequence[str] | None = None,
    wanted: int = 1,
    seed: int = 0,
    goals: Sequence[str] | None = None,
) -> str:
    """Blocks stand in towers and shall stand otherwise; who moves them holds one at a time, and only clear ones.

    In the tier `single` a robot that knows everything rearranges the blocks on one table. In the tier `several` there
    are several tables. Agents pick up and put down blocks at their own tables, stack and unstack the blocks that they
    can move at any table, and hand blocks over. What an agent does is seen by those who focus on it, and it acts only
    while it focuses on itself; in private it may tell another that a block is on another. In the tier `clumsy` precise
    agents do all that, except that they hand blocks over to clumsy agents, which alone stack them. A clumsy agent may
    drop the block on one of its tables instead, and a plan has to work whether it does or not.

    The sampled goal of the single robot is a whole arrangement. Those of several agents ask for blocks at new places
    and for beliefs: the deceived go on to believe in a place that a block has left (the ignorant among them just do not
    learn of a new one), and the others believe in a new one; if nobody is deceived, the new places become common
    knowledge. A block that a clumsy agent has to stack may also be on the table of the tower that it should be on.
    There is a plan as long as `start`, `places`, `movers`, `zones` and `target` have their default values.

    Difficulty grows with the numbers of blocks, agents and worlds, with `wanted`, and with agents that are deceived,
    as something has to be done behind their backs.

    Args:
        tier: `single`, `several` or `clumsy`. For the single robot only `blocks`, `start`, `target`, `seed` and
            `goals` matter.
        blocks: how many, at least 2, or 3 for several agents; they are called b1, b2, …
        tables: how many, 2 to `blocks`; they are called t1, t2, …
        agents: how many, at least 2; they are called a, b, c, …
        clumsy: how many of them are clumsy in the tier `clumsy`: those after the precise ones.
        onlookers: how many of them can only focus and tell in the tier `clumsy`: the last ones.
        worlds: how many arrangements are possible at first, at least 1.
        start: these arrangements, the actual one first, instead of sampled ones. In `b1 b3, b2 | b4` b3 is on b1 and b2
            stands beside it on the first table, b4 on the second.
        ignorant: the agents that do not know which arrangement is the actual one.
        places: for each agent the numbers of its tables, such as `12`; by default clumsy agents are at all tables and
            the others at one, in turn.
        focus: for each agent the one that it focuses on at first; by default itself.
        movers: the agents that can move the blocks; by default the first one and the clumsy ones.
        zones: instead of `movers` for each arrangement the blocks that those at a table can move, written as in
            `start`.
        target: the arrangement that the goal is about instead of a sampled one; it need not have all blocks.
        deceived: which agents are, other than the first one and the first clumsy one; sampled by default.
        wanted: how many blocks shall be at new places, 1 to `blocks`; all of them, if there are fewer.
        seed: a whole number from 0, of the sampling.
        goals: explicit EPDDL formulas instead, about `(on b1 b2)`, `(on_table b1 t1)`, …; the single robot's table has
            no name: `(on_table b1)`.

    Source: the family *blocks world* of the epistemic track of the International Planning Competition 2026. Its basic
    domain is the tier `single` (the classical Blocks World), the intermediate one `several`, the hard one `clumsy`.
    """
    check_one_of("tier", tier, ("single", "several", "clumsy"))
    random = make_random(seed)
    if tier == "single":
        return _one_robot(blocks, start, target, random, goals)
    names = _block_names(blocks, at_least=3)
    desks = number_names("t", check_between("tables", tables, 2, len(names)))
    _check_sizes(len(names), len(desks), check_at_least("agents", agents, 2), check_at_least("worlds", worlds, 1))
    team = _team(tier, agents, clumsy, onlookers, at_least=0 if goals is not None else 1)
    at = _places(places, team, desks)
    possible = _starts(start, names, desks, worlds, random)
    site = _Site(names, desks, team, at, possible, check_subset("ignorant", ignorant, team.names))
    chosen = _goals(site, target, deceived, wanted, goals, random)
    return write(
        title=f"Blocks World: {len(names)} blocks on {len(desks)} tables, {len(team.names)} agents",
        story="Agents rearrange blocks. Only those who focus on an agent see what it does."
        + (" Clumsy agents may drop what they stack." if tier == "clumsy" else ""),
        action_types=[
            *("public-ontic", "private-ontic", "private-announcement"),
            *(["private-nondeterministic-ontic"] if tier == "clumsy" else []),
        ],
        domain=read_text(f"blocks_world_{tier}.epddl"),
        name="blocks_world",
        objects={"block": names, "table": desks},
        agents={"precise": team.precise, "clumsy": team.clumsy, "agent": team.onlookers},
        facts=[atom("at", name, table) for name in team.names for table in at[name]],
        init=_initial(site, _focus(focus, team), _moves(site, movers, zones)),
        goals=chosen,
    )


def vocabulary(*, tier: str = "single", blocks: int = 4, tables: int = 2, agents: int = 3, **_: Any) -> list[str]:
    """Where blocks are and are not; among agents who believes it, who is unsure, and whose belief the first believes.

    The single robot knows everything: nothing is said about its beliefs, but about what is clear or held.
    """
    single = tier == "single"
    names = number_names("b", blocks)
    desks = ("",) if single else number_names("t", tables)
    places = [atom("on", *pair) for pair in permutations(names, 2)]
    places += [on_table(block, table) for block in names for table in desks]
    if single:
        free = [atom(state, block) for state in ("clear", "holding") for block in names]
        return [*places, *free, *map(not_, places[-blocks:]), *map(not_, free)]
    found = [*places, *map(not_, places)]
    for name in agent_names(agents, ascii_lowercase):
        found += [believes(name, place) for place in places] + [unsure(name, place) for place in places]
        if name != "a":
            found += [believes("a", believes(name, place)) for place in places]
    return found


@dataclass(frozen=True, slots=True)
class _Team:
    """The agents, grouped by skill. Sampled goals need actions of the first agent."""

    precise: tuple[str, ...]
    clumsy: tuple[str, ...]
    onlookers: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.precise + self.clumsy + self.onlookers

    @property
    def deceivable(self) -> tuple[str, ...]:
        """Those whom a plan for a sampled goal does not need; it needs the first clumsy agent."""
        return tuple(name for name in self.names[1:] if name not in self.clumsy[:1])


@dataclass(frozen=True, slots=True)
class _Site:
    """What there is in problems of several agents: `at` are the tables of each, `ignorant` those who are unsure."""

    blocks: tuple[str, ...]
    tables: tuple[str, ...]
    team: _Team
    at: Mapping[str, Sequence[str]]
    possible: Sequence[Arrangement]
    ignorant: Sequence[str]


def _one_robot(
    blocks: int, start: str | Sequence[str] | None, target: str | None, random: Random, goals: Sequence[str] | None
) -> str:
    names = _block_names(blocks, at_least=2)
    (first,) = _starts(start, names, ("",), 1, random)
    aim = None if target is None else read_target(target, names, ("",))
    if goals is None:
        goals = [*supports(aim or sample_target(first, ("",), clumsy=False, random=random)).values()]
    return write(
        title=f"Blocks World: {len(names)} blocks, one robot",
        story="A robot that knows everything rearranges the blocks on a table.",
        action_types=["public-ontic"],
        domain=read_text("blocks_world_single.epddl"),
        name="blocks_world",
        objects={"block": names},
        agents={"agent": ["robot"]},
        init=EStateText({"w1": ["(arm_empty)", *atoms(first)]}, {"robot": [("w1", "w1")]}, ["w1"]),
        goals=check_formulas("goals", goals),
    )


def _block_names(blocks: int, *, at_least: int) -> tuple[str, ...]:
    check_at_least("blocks", blocks, at_least)
    check_limit("pairs of blocks", blocks**2, MAX_INSTANCES, blocks=blocks)
    return number_names("b", blocks)


def _check_sizes(blocks: int, tables: int, agents: int, worlds: int) -> None:
    """Refuse too many instances of the actions `tell_block` and `clumsy_stack`, and pairs of arrangements."""
    instances = agents * blocks**2 * max(agents, tables)
    sizes = {"blocks": blocks, "tables": tables, "agents": agents}
    check_limit("actions of a kind", instances, MAX_INSTANCES, **sizes)
    check_limit("pairs of worlds", worlds**2, MAX_INSTANCES, worlds=worlds)
    arrangements = factorial(blocks) * comb(blocks - 1, tables - 1)  # towers on all tables
    check_between("worlds", worlds, 1, arrangements)


def _team(tier: str, agents: int, clumsy: int, onlookers: int, *, at_least: int) -> _Team:
    """The agents, at least so many precise ones and in the tier `clumsy` so many clumsy ones among them."""
    names = agent_names(agents, ascii_lowercase)
    if tier == "several":
        return _Team(names, (), ())
    dropping = check_between("clumsy", clumsy, at_least, len(names) - at_least)
    acting = len(names) - check_between("onlookers", onlookers, 0, len(names) - dropping - at_least)
    return _Team(names[: acting - dropping], names[acting - dropping : acting], names[acting:])


def _starts(
    start: str | Sequence[str] | None, blocks: Sequence[str], tables: Sequence[str], worlds: int, random: Random
) -> list[Arrangement]:
    if start is None:
        return sample_starts(worlds, blocks, tables, random)
    texts = [start] if isinstance(start, str) else start
    if not isinstance(texts, Sequence) or not texts or len(texts) > 1 == len(tables):
        raise DomainError(f"start must give {'one arrangement' if len(tables) == 1 else 'arrangements'}, got {start!r}")
    return [read_start(text, blocks, tables) for text in texts]


def _places(places: Sequence[str] | None, team: _Team, tables: Sequence[str]) -> dict[str, list[str]]:
    """For each agent the tables that it is at."""
    numbers = [table.removeprefix("t") for table in tables]
    if places is None:
        places = [
            "".join(numbers) if name in team.clumsy else numbers[turn % len(numbers)]
            for turn, name in enumerate(team.names)
        ]
    listed = _one_each("places", places, len(team.names), "agents")
    return {
        name: [f"t{number}" for number in check_subset("places", chosen, numbers, at_least=1)]
        for name, chosen in zip(team.names, listed, strict=True)
    }


def _focus(focus: Sequence[str] | None, team: _Team) -> dict[str, str]:
    """For each agent the one that it focuses on."""
    seen = team.names if focus is None else _one_each("focus", focus, len(team.names), "agents")
    return dict(zip(team.names, (check_one_of("name in focus", other, team.names) for other in seen), strict=True))


def _moves(site: _Site, movers: Sequence[str] | None, zones: Sequence[str] | None) -> list[list[str]]:
    """For each arrangement the atoms that say who can move which block."""
    team = site.team
    able = check_subset("movers", team.names[:1] + team.clumsy if movers is None else movers, team.names)
    if zones is None:
        return [[atom("can_move", *pair) for pair in product(able, site.blocks)]] * len(site.possible)
    listed = _one_each("zones", zones, len(site.possible), "worlds")
    return [
        [
            atom("can_move", name, block)
            for name in team.names
            for block in chain.from_iterable(part for table, part in zone if table in site.at[name])
        ]
        for zone in (read("zones", text, site.blocks, site.tables) for text in listed)
    ]


def _one_each(parameter: str, listed: object, count: int, of: str) -> Sequence[Any]:
    if not isinstance(listed, Sequence) or len(listed) != count:
        raise DomainError(f"{parameter} must list one text for each of {count} {of}, got {listed!r}")
    return listed


def _initial(site: _Site, focus: Mapping[str, str], moves: Sequence[Sequence[str]]) -> EStateText:
    """One world for each possible arrangement; the ignorant agents do not tell them apart."""
    alike = [
        *(atom("focused_on", name, seen) for name, seen in focus.items()),
        *(atom("arm_empty", name) for name in site.team.names),
    ]
    ids = number_names("w", len(site.possible))
    every, same = [*product(ids, ids)], [(world, world) for world in ids]
    return EStateText(
        {
            world: [*alike, *able, *atoms(arrangement)]
            for world, able, arrangement in zip(ids, moves, site.possible, strict=True)
        },
        {name: every if name in site.ignorant else same for name in site.team.names},
        ["w1"],
    )


def _goals(
    site: _Site,
    target: str | None,
    deceived: Sequence[str] | None,
    wanted: int,
    goals: Sequence[str] | None,
    random: Random,
) -> Sequence[str]:
    """The given goals, or new places of blocks and who believes in one."""
    team, start, clumsy = site.team, site.possible[0], bool(site.team.clumsy)
    aim = None if target is None else read_target(target, site.blocks, site.tables)
    sampled = [name for name in team.deceivable if random.randrange(2)] if deceived is None else deceived
    fooled = check_subset("deceived", sampled, team.deceivable)
    most = check_between("wanted", wanted, 1, len(site.blocks))
    if goals is not None:
        return check_formulas("goals", goals)
    aim = aim or sample_target(start, site.at[team.names[0]], clumsy=clumsy, random=random)
    new = changes(start, aim, clumsy=clumsy)
    if not new:
        raise DomainError("start and target leave nothing to do: change one of them, or give goals")
    places = [place for _, place in random.sample(new, min(most, len(new)))]
    if not fooled:
        return [common(place) for place in places]
    for name in team.names[1:]:
        left, reached = random.choice(new)
        if name not in fooled:
            places.append(believes(name, reached))
        elif name in site.ignorant:
            places.append(not_(believes(name, reached)))
        else:
            places.append(believes(name, left))
    return places


DOMAIN = Domain(
    name="blocks_world",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"tier": "several", "blocks": 3, "start": "b1 b2, b3 |", "focus": "aac"},
        plan=("unstack_a_b2_b1", "put_down_a_b2_t1", "focus_b_b", "pick_up_a_b2_t1", "stack_a_b2_b3"),
        caption=(
            "Agent a has moved b2 from b1 to the table and on to b3: b looked away after the first move "
            "and believes that b2 is on the table, c never looked and believes that it is on b1."
        ),
    ),
    actors=dict.fromkeys(("pick_up", "put_down", "give", "stack", "clumsy_stack", "unstack", "focus", "tell_block"), 0),
    ranges={
        "train": (
            {"blocks": (3, 4, 5, 6)},
            {"tier": ("several",), "blocks": (3,), "agents": (2,), "worlds": (1, 2)},
            {"tier": ("clumsy",), "blocks": (3,), "agents": (2,), "worlds": (1, 2)},
        ),
        "validation": (
            {"blocks": (8, 10, 12)},
            {"tier": ("several", "clumsy"), "blocks": (3, 4), "agents": (3,), "worlds": (2, 3)},
        ),
        "test": (
            {"blocks": (15, 20, 25, 30)},
            {"tier": ("several", "clumsy"), "blocks": (5, 6), "agents": (3, 4), "tables": (2, 3), "worlds": (2, 3)},
        ),
    },
    growth=Growth(sizes("blocks", zip(range(30, 62, 2)), tier="single"), walk=(60, 300), subgoals=(16, 120)),
)
