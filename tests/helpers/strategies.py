"""Hypothesis strategies for small e-states on any frame, formulas, actions and tasks."""

import random
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    actually,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    knows_whether,
    literal,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task

FLUENTS = ("p", "q", "r")
AGENTS = ("a", "b")
Names = tuple[str, ...]


@cache
def relations(count: int) -> st.SearchStrategy[tuple[frozenset[int], ...]]:
    """Any relation on `count` worlds or events, as rows of successors; few draws, to be fast."""

    def rows(absent: int) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(v for v in range(count) if not absent >> (w * count + v) & 1) for w in range(count))

    mask = st.integers(0, (1 << count * count) - 1)
    sparse, dense = mask, st.builds(int.__and__, mask, mask)
    return st.one_of(sparse, dense).map(rows)


def sizes(most: int) -> st.SearchStrategy[int]:
    """A number from 1 to `most`, often close to it."""
    return st.sampled_from([size for size in range(1, most + 1) for _ in range(size)])


@st.composite
def estates(
    draw: st.DrawFn, *, fluents: Names = FLUENTS, agents: Names = AGENTS, max_worlds: int = 5, max_designated: int = 2
) -> EState:
    """An e-state on any frame: rows may be empty, valuations repeated, worlds unreachable or bisimilar."""
    count = draw(sizes(max_worlds))
    truth = draw(st.integers(0, (1 << count * len(fluents)) - 1))
    return EState(
        valuations=tuple(
            frozenset(name for k, name in enumerate(fluents) if truth >> (world * len(fluents) + k) & 1)
            for world in range(count)
        ),
        successors=tuple(draw(relations(count)) for _ in agents),
        designated=draw(_some(count, max_designated)),
    )


@cache
def formulas(
    depth: int = 3, fluents: Names = FLUENTS, agents: Names = AGENTS, *, with_actually: bool = True
) -> st.SearchStrategy[Formula]:
    """A formula of modal depth up to `depth`, with every operator."""
    atoms = st.sampled_from([fluent(name) for name in fluents])
    if depth == 0:
        return atoms | st.sampled_from([TRUE, FALSE])
    smaller = formulas(depth - 1, fluents, agents, with_actually=with_actually)
    agent = st.sampled_from(agents)
    groups = st.sets(agent, min_size=1)
    kinds = [
        atoms,
        st.builds(not_, smaller),
        st.builds(and_, smaller, smaller),
        st.builds(or_, smaller, smaller),
        st.builds(believes, agent, smaller),
        st.builds(considers_possible, agent, smaller),
        st.builds(everybody, groups, smaller),
        st.builds(common, groups, smaller),
    ]
    return st.one_of(*kinds, *([st.builds(actually, smaller)] if with_actually else []))


@st.composite
def tasks(
    draw: st.DrawFn, *, agents: Names = AGENTS, max_actions: int = 3, max_worlds: int = 4, max_designated: int = 2
) -> Task:
    """A task of any actions from any e-state; some actions have one event model and differ in their observers."""
    found: list[Action] = []
    for k in range(draw(sizes(max_actions))):
        action = draw(st.sampled_from([None, None, *found])) or draw(_event_models(agents, max_designated))
        found.append(
            replace(
                action,
                name=f"act{k}",
                applicability=draw(_conditions(agents)),
                observability=tuple(draw(_observability(agents, tuple(action.relations))) for _ in agents),
            )
        )
    return Task(
        name="random",
        fluents=FLUENTS,
        agents=agents,
        actions=tuple(found),
        initial=draw(estates(agents=agents, max_worlds=max_worlds, max_designated=max_designated)),
        goal=tuple(draw(st.lists(formulas(2, FLUENTS, agents), min_size=1, max_size=3))),
    )


@st.composite
def _event_models(draw: st.DrawFn, agents: Names, max_designated: int) -> Action:
    """An action with any event model and no observers: preconditions are any formulas, relations may be empty."""
    count, kinds = draw(sizes(3)), draw(st.sampled_from([("x",), ("x", "y")]))
    effect = st.builds(Effect, st.sampled_from(FLUENTS), st.booleans(), _conditions(agents))
    effects = st.lists(effect, max_size=2).map(tuple)
    return Action(
        name="",
        applicability=TRUE,
        events=tuple(Event(f"e{k}", draw(_conditions(agents)), draw(effects)) for k in range(count)),
        designated=draw(_some(count, max_designated)),
        relations={kind: draw(relations(count)) for kind in kinds},
        observability=(),
    )


@cache
def _some(count: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    """One to `most` numbers below `count`, ascending."""
    return st.sets(st.integers(0, count - 1), min_size=1, max_size=most).map(sorted).map(tuple)


@cache
def _conditions(agents: Names) -> st.SearchStrategy[Formula]:
    return st.booleans().flatmap(lambda always: st.just(TRUE) if always else formulas(1, FLUENTS, agents))


@cache
def _observability(agents: Names, kinds: Names) -> st.SearchStrategy[tuple[tuple[Formula, str], ...]]:
    kind = st.sampled_from(kinds)
    conditional = st.lists(st.tuples(formulas(1, FLUENTS, agents), kind), max_size=2)
    return st.builds(lambda first, last: (*first, (TRUE, last)), conditional, kind)


def renumber(estate: EState, seed: int) -> EState:
    """The same e-state with its worlds in random order."""
    order = list(range(len(estate.valuations)))
    random.Random(seed).shuffle(order)  # order[new] = old
    place = {old: new for new, old in enumerate(order)}
    return EState(
        valuations=tuple(estate.valuations[old] for old in order),
        successors=tuple(tuple(frozenset(place[v] for v in rows[old]) for old in order) for rows in estate.successors),
        designated=tuple(sorted(place[world] for world in estate.designated)),
    )


def characteristic(estate: EState, fluents: Sequence[str], agents: Sequence[str], *, rounds: int) -> Formula:
    """A formula that holds in an e-state iff its designated worlds all match one of `estate`.

    Two worlds match when no formula of modal depth `rounds` tells them apart; with as many rounds as both
    e-states have worlds together, that is bisimilarity.
    """
    worlds = range(len(estate.valuations))
    facts = [and_(*(literal(name, name in estate.valuations[world]) for name in fluents)) for world in worlds]
    formulas = facts
    for _ in range(rounds):
        rows = [[[formulas[v] for v in successors[world]] for successors in estate.successors] for world in worlds]
        formulas = [
            and_(
                facts[world],
                *(
                    considers_possible(agent, seen)
                    for agent, row in zip(agents, rows[world], strict=True)
                    for seen in row
                ),
                *(believes(agent, or_(*row)) for agent, row in zip(agents, rows[world], strict=True)),
            )
            for world in worlds
        ]
    return or_(*(formulas[world] for world in estate.designated))


def random_formula(rng: random.Random, depth: int, fluents: Sequence[str], agents: Sequence[str]) -> Formula:
    """A formula of modal depth up to `depth`, for walks that hypothesis does not drive."""
    if depth == 0:
        return literal(rng.choice(fluents), rng.random() < 0.5)
    first, second = (random_formula(rng, depth - 1, fluents, agents) for _ in range(2))
    group = rng.sample(agents, rng.randint(1, len(agents)))
    return rng.choice(
        [
            and_(first, not_(second)),
            or_(first, second),
            believes(group[0], first),
            considers_possible(group[0], and_(first, second)),
            everybody(group, or_(first, second)),
            common(group, or_(first, second)),
            not_(common(group, first)),
            actually(first),
        ]
    )


def random_estate(
    rng: random.Random, worlds: int, fluents: Sequence[str], agents: Sequence[str], relations: str = "any"
) -> EState:
    """An e-state of many worlds; agents have few rows shared by many worlds, or many short ones, or know their row."""

    def relation() -> tuple[frozenset[int], ...]:
        if relations == "equivalences":
            return partition(rng, worlds)
        if relations == "introspective":
            return introspective(rng, worlds)
        if rng.random() < 0.5:
            shared = [frozenset(rng.sample(range(worlds), rng.randint(0, worlds))) for _ in range(3)]
            return tuple(rng.choice(shared) for _ in range(worlds))
        return tuple(frozenset(rng.choices(range(worlds), k=rng.randint(0, 4))) for _ in range(worlds))

    return EState(
        valuations=tuple(frozenset(name for name in fluents if rng.random() < 0.5) for _ in range(worlds)),
        successors=tuple(relation() for _ in agents),
        designated=tuple(sorted(rng.sample(range(worlds), rng.randint(1, 2)))),
    )


def partition(rng: random.Random, worlds: int) -> tuple[frozenset[int], ...]:
    """The row of each world under an equivalence of few or many classes."""
    most = rng.choice([2, 3, worlds])
    return alike([rng.randrange(most) for _ in range(worlds)])


def alike(keys: Sequence[Hashable]) -> tuple[frozenset[int], ...]:
    """For each world those with the same key, the row of an equivalence."""
    members: dict[Hashable, list[int]] = {}
    for world, key in enumerate(keys):
        members.setdefault(key, []).append(world)
    rows = {key: frozenset(found) for key, found in members.items()}
    return tuple(rows[key] for key in keys)


def introspective(rng: random.Random, worlds: int) -> tuple[frozenset[int], ...]:
    """Rows of a transitive and Euclidean relation: worlds of a class see some of it, or nothing."""
    share = rng.choice([0.1, 0.5, 0.9])
    seen = frozenset(world for world in range(worlds) if rng.random() < share)
    rows = partition(rng, worlds)
    kept = {row: row & seen for row in set(rows)}
    return tuple(kept[row] for row in rows)


# An event that happens, another one instead, and nothing: who sees, notices, suspects or misses what happens.
WATCHING = {
    "sees": ({0}, {1}, {2}),
    "notices": ({0, 1}, {0, 1}, {2}),
    "suspects": ({0, 2}, {1, 2}, {2}),
    "misses": ({2}, {2}, {2}),
}


def telling_task(rng: random.Random, fluents: Sequence[str] = FLUENTS, agents: Sequence[str] = AGENTS) -> Task:
    """A task of actions as people write them, whose goal is often some steps away; hypothesis finds few of those."""
    count = rng.randint(3, 10)
    return Task(
        name="telling",
        fluents=tuple(fluents),
        agents=tuple(agents),
        actions=tuple(_telling_action(rng, f"act{k}", fluents, agents) for k in range(count)),
        initial=random_estate(rng, rng.randint(2, 5), fluents, agents),
        goal=tuple(_belief(rng, rng.randint(0, 2), fluents, agents) for _ in range(rng.randint(1, 2))),
    )


def sensing_task(rng: random.Random, fluents: Sequence[str] = FLUENTS, agents: Sequence[str] = AGENTS) -> Task:
    """A task in which either of two e-states may be actual, to be told apart by sensing; the goal is to know which."""
    count = rng.randint(2, 4)
    unknown, *others = fluents
    changing = [_telling_action(rng, f"act{k}", others, agents) for k in range(rng.randint(1, 4))]
    sensing = [_sensing_action(rng, f"sense{k}", unknown, others, agents) for k in range(rng.randint(1, 3))]
    initial = random_estate(rng, count, others, agents, "equivalences")
    valuations = (valuation | {unknown} if k % 2 else valuation for k, valuation in enumerate(initial.valuations))
    return Task(
        name="sensing",
        fluents=tuple(fluents),
        agents=tuple(agents),
        actions=(*changing, *sensing),
        initial=replace(initial, valuations=tuple(valuations), designated=(0, 1)),
        goal=tuple(_whether(rng, unknown, others, agents) for _ in range(rng.randint(1, 2))),
    )


def _sensing_action(
    rng: random.Random, name: str, unknown: str, others: Sequence[str], agents: Sequence[str]
) -> Action:
    """What is unknown is found to be the case, or not to be, where something else is."""
    sensed, needed = fluent(unknown), rng.choice([TRUE, _belief(rng, rng.choice([0, 0, 1]), others, agents)])
    yes, no = (and_(needed, content) for content in (sensed, not_(sensed)))
    kinds = tuple(((TRUE, rng.choice(["sees", "sees", "notices", "misses"])),) for _ in agents)
    events = (Event("yes", yes), Event("no", no), Event("nothing"))
    action = _telling_action(rng, name, others, agents)
    return replace(action, events=events, designated=(0, 1), observability=kinds)


def _whether(rng: random.Random, unknown: str, others: Sequence[str], agents: Sequence[str]) -> Formula:
    """An agent knows whether something is the case, or another one knows that; now and then something else will do."""
    whether = knows_whether(rng.choice(agents), fluent(unknown))
    return rng.choice(
        [whether, whether, believes(rng.choice(agents), whether), or_(_belief(rng, 1, others, agents), whether)]
    )


def _telling_action(rng: random.Random, name: str, fluents: Sequence[str], agents: Sequence[str]) -> Action:
    """A change, something sensed or announced, or both at once."""

    def draw_belief() -> Formula:
        return _belief(rng, rng.choice([0, 0, 1]), fluents, agents)

    def condition() -> Formula:
        return TRUE if rng.random() < 0.6 else draw_belief()

    def effects() -> tuple[Effect, ...]:
        changes = rng.choices(fluents, k=rng.choice([0, 1, 1, 2, 3]))
        return tuple(Effect(changed, rng.random() < 0.5, condition()) for changed in changes)

    contents = [
        TRUE,
        TRUE,
        draw_belief(),
        and_(draw_belief(), draw_belief()),
        or_(draw_belief(), and_(draw_belief(), draw_belief())),
        or_(actually(draw_belief()), draw_belief()),
    ]
    content = rng.choice(contents)
    kinds = ["sees", "sees", *WATCHING]
    return Action(
        name=name,
        applicability=condition(),
        events=(Event("yes", content, effects()), Event("no", not_(content), effects()), Event("nothing")),
        designated=rng.choice([(0,), (0, 1)]),
        relations={kind: tuple(map(frozenset, rows)) for kind, rows in WATCHING.items()},
        observability=tuple(
            (*((draw_belief(), rng.choice(kinds)) for _ in range(rng.choice([0, 0, 1, 2]))), (TRUE, rng.choice(kinds)))
            for _ in agents
        ),
    )


def _belief(rng: random.Random, depth: int, fluents: Sequence[str], agents: Sequence[str]) -> Formula:
    """A literal below beliefs, now and then a doubt, common, of everybody, or of a disjunction."""
    if depth == 0:
        return literal(rng.choice(fluents), rng.random() < 0.5)
    inner = _belief(rng, depth - 1, fluents, agents)
    agent = rng.choice(agents)
    return rng.choice(
        [
            believes(agent, inner),
            believes(agent, inner),
            believes(agent, inner),
            believes(agent, or_(inner, _belief(rng, depth - 1, fluents, agents))),
            not_(believes(agent, inner)),
            common(agents, inner),
            everybody(agents, inner),
            not_(common(agents, inner)),
        ]
    )


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """A content that is cut off, or in which up to four bits are flipped."""
    found = bytearray(content)
    if draw(st.booleans()):
        del found[draw(st.integers(0, len(found) - 1)) :]
    else:
        for place in draw(st.lists(st.integers(0, 8 * len(found) - 1), min_size=1, max_size=4, unique=True)):
            found[place // 8] ^= 1 << place % 8
    return bytes(found)
