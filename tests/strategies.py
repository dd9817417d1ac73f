"""Hypothesis strategies for small e-states on any frame, formulas, actions and tasks."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from epigym.formula import (
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
    literal,
    not_,
    or_,
)
from epigym.task import Action, Effect, EState, Event, Task

FLUENTS = ("p", "q", "r")
AGENTS = ("a", "b")


def subsets(count: int) -> st.SearchStrategy[frozenset[int]]:
    """Any set of numbers below `count`."""
    return st.integers(0, (1 << count) - 1).map(lambda mask: frozenset(k for k in range(count) if mask >> k & 1))


@st.composite
def estates(
    draw: st.DrawFn,
    *,
    fluents: Sequence[str] = FLUENTS,
    agents: Sequence[str] = AGENTS,
    max_worlds: int = 5,
    max_designated: int = 2,
) -> EState:
    """An e-state on any frame: rows may be empty, valuations repeated, worlds unreachable or bisimilar."""
    count = draw(st.integers(1, max_worlds))
    worlds = st.integers(0, count - 1)
    valuations = st.sets(st.sampled_from(fluents)).map(frozenset)
    rows = st.lists(subsets(count), min_size=count, max_size=count).map(tuple)
    return EState(
        valuations=tuple(draw(st.lists(valuations, min_size=count, max_size=count))),
        successors=tuple(draw(rows) for _ in agents),
        designated=tuple(sorted(draw(st.sets(worlds, min_size=1, max_size=max_designated)))),
    )


@st.composite
def formulas(
    draw: st.DrawFn,
    *,
    depth: int = 3,
    fluents: Sequence[str] = FLUENTS,
    agents: Sequence[str] = AGENTS,
    with_actually: bool = True,
) -> Formula:
    """A formula of modal depth up to `depth` with every operator."""
    smaller = formulas(depth=depth - 1, fluents=fluents, agents=agents, with_actually=with_actually)
    kinds = ["fluent", "fluent", "constant"] if depth <= 0 else ["fluent", "not", "and", "or", "B", "B", "M", "E", "C"]
    if with_actually and depth > 0:
        kinds.append("actually")
    groups = st.sets(st.sampled_from(agents), min_size=1)
    match draw(st.sampled_from(kinds)):
        case "fluent":
            return fluent(draw(st.sampled_from(fluents)))
        case "constant":
            return draw(st.sampled_from([TRUE, FALSE]))
        case "not":
            return not_(draw(smaller))
        case "and":
            return and_(draw(smaller), draw(smaller))
        case "or":
            return or_(draw(smaller), draw(smaller))
        case "B":
            return believes(draw(st.sampled_from(agents)), draw(smaller))
        case "M":
            return considers_possible(draw(st.sampled_from(agents)), draw(smaller))
        case "E":
            return everybody(draw(groups), draw(smaller))
        case "C":
            return common(draw(groups), draw(smaller))
        case _:
            return actually(draw(smaller))


@st.composite
def actions(
    draw: st.DrawFn,
    *,
    name: str = "act",
    fluents: Sequence[str] = FLUENTS,
    agents: Sequence[str] = AGENTS,
    max_events: int = 3,
    max_designated: int = 2,
) -> Action:
    """An action with any event model: preconditions and conditions are formulas, relations may be empty."""
    condition = st.one_of(st.just(TRUE), formulas(depth=1, fluents=fluents, agents=agents))
    effect = st.builds(Effect, st.sampled_from(fluents), st.booleans(), condition)
    count = draw(st.integers(1, max_events))
    events = tuple(Event(f"e{k}", draw(condition), tuple(draw(st.lists(effect, max_size=3)))) for k in range(count))
    relation = st.lists(subsets(count), min_size=count, max_size=count).map(tuple)
    kinds = draw(st.sampled_from([("x",), ("x", "y")]))
    choice = st.tuples(condition.filter(lambda formula: formula is not TRUE), st.sampled_from(kinds))
    observability = tuple((*draw(st.lists(choice, max_size=2)), (TRUE, draw(st.sampled_from(kinds)))) for _ in agents)
    designated = draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=max_designated))
    return Action(
        name=name,
        applicability=draw(condition),
        events=events,
        designated=tuple(sorted(designated)),
        relations={kind: draw(relation) for kind in kinds},
        observability=observability,
    )


@st.composite
def tasks(
    draw: st.DrawFn,
    *,
    fluents: Sequence[str] = FLUENTS,
    agents: Sequence[str] = AGENTS,
    max_actions: int = 3,
    max_worlds: int = 4,
    max_designated: int = 2,
) -> Task:
    """A task of any actions from any e-state."""
    count = draw(st.integers(1, max_actions))
    goal = st.lists(formulas(depth=2, fluents=fluents, agents=agents), min_size=1, max_size=3)
    return Task(
        name="random",
        fluents=tuple(fluents),
        agents=tuple(agents),
        actions=tuple(
            draw(actions(name=f"act{k}", fluents=fluents, agents=agents, max_designated=max_designated))
            for k in range(count)
        ),
        initial=draw(estates(fluents=fluents, agents=agents, max_worlds=max_worlds, max_designated=max_designated)),
        goal=tuple(draw(goal)),
    )


def renumbered(estate: EState, seed: int) -> EState:
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
