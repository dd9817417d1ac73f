"""Truth, update and bisimilarity in sets, world by world, as they are defined: the reference has to equal them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Event, Task


def truth(agents: Sequence[str], estate: EState, formula: Formula) -> set[int]:
    """The worlds at which a formula holds."""
    worlds = set(range(len(estate.valuations)))
    parts = [truth(agents, estate, child) for child in formula.children]
    named = [rows for agent, rows in zip(agents, estate.successors, strict=True) if agent in formula.agents]
    match formula.op:
        case Op.TRUE:
            return worlds
        case Op.FALSE:
            return set()
        case Op.FLUENT:
            return {w for w in worlds if formula.name in estate.valuations[w]}
        case Op.NOT:
            return worlds - parts[0]
        case Op.AND:
            return {w for w in worlds if all(w in part for part in parts)}
        case Op.OR:
            return {w for w in worlds if any(w in part for part in parts)}
        case Op.BELIEVES | Op.EVERYBODY:
            return {w for w in worlds if all(rows[w] <= parts[0] for rows in named)}
        case Op.COMMON:
            return {w for w in worlds if reach(named, frozenset().union(*(rows[w] for rows in named))) <= parts[0]}
        case Op.ACTUALLY:
            return {w for w in worlds if all(v in parts[0] for v in estate.designated)}


def reach(relations: Sequence[Sequence[frozenset[int]]], worlds: Iterable[int]) -> set[int]:
    """These worlds, and those to which steps of the relations lead from them."""
    found: set[int] = set()
    queue = set(worlds)
    while queue:
        found |= queue
        queue = {v for w in queue for rows in relations for v in rows[w]} - found
    return found


def applicable(task: Task, estate: EState, action: Action) -> bool:
    """Whether the action's formula and the precondition of a designated event hold at every designated world."""
    holds = truth(task.agents, estate, action.applicability)
    possible = [truth(task.agents, estate, action.events[e].precondition) for e in action.designated]
    return all(w in holds and any(w in part for part in possible) for w in estate.designated)


def observability_types(task: Task, estate: EState, action: Action) -> list[set[str]]:
    """For each agent the types of the first conditions that hold at designated worlds."""
    return [
        {next(kind for phi, kind in conditions if w in truth(task.agents, estate, phi)) for w in estate.designated}
        for conditions in action.observability
    ]


def update(task: Task, estate: EState, action: Action) -> EState:
    """The product update with an applicable action, the reachable (world, event) pairs in ascending order."""
    conditions = [effect.condition for event in action.events for effect in event.effects]
    formulas = {*conditions, *(event.precondition for event in action.events)}
    true = {formula: truth(task.agents, estate, formula) for formula in formulas}
    worlds, events = range(len(estate.valuations)), range(len(action.events))
    pairs = [(w, e) for w in worlds for e in events if w in true[action.events[e].precondition]]
    place = {pair: number for number, pair in enumerate(pairs)}
    relations = []
    for rows, (kind,) in zip(estate.successors, observability_types(task, estate, action), strict=True):
        happen = action.relations[kind]
        relations.append([[place[v, f] for v in rows[w] for f in happen[e] if (v, f) in place] for w, e in pairs])
    designated = [place[w, e] for w in estate.designated for e in action.designated if (w, e) in place]
    valuations = [_valuation(estate.valuations[w], w, action.events[e], true) for w, e in pairs]
    return reachable(
        EState(tuple(valuations), tuple(tuple(map(frozenset, rows)) for rows in relations), tuple(designated))
    )


def reachable(estate: EState) -> EState:
    """The part that designated worlds reach, in the same order."""
    kept = sorted(reach(estate.successors, estate.designated))
    number = {old: new for new, old in enumerate(kept)}
    return EState(
        tuple(estate.valuations[old] for old in kept),
        tuple(tuple(frozenset(number[v] for v in rows[old]) for old in kept) for rows in estate.successors),
        tuple(number[old] for old in estate.designated),
    )


def _valuation(before: frozenset[str], world: int, event: Event, true: Mapping[Formula, set[int]]) -> frozenset[str]:
    happening = [effect for effect in event.effects if world in true[effect.condition]]
    after = before - {effect.fluent for effect in happening if not effect.value}
    return after | {effect.fluent for effect in happening if effect.value}


def contract(estate: EState) -> EState:
    """The quotient of the reachable part by bisimilarity, its worlds by rank: see `ranks`."""
    estate = reachable(estate)
    names = sorted(frozenset[str]().union(*estate.valuations))
    rank = ranks(estate, [tuple(name in valuation for name in names) for valuation in estate.valuations])
    first = [rank.index(block) for block in range(max(rank) + 1)]
    return EState(
        tuple(estate.valuations[w] for w in first),
        tuple(tuple(frozenset(rank[v] for v in rows[w]) for w in first) for rows in estate.successors),
        tuple(sorted({rank[w] for w in estate.designated})),
    )


def ranks(estate: EState, keys: Sequence[tuple[Any, ...]]) -> list[int]:
    """Ranks of worlds by their keys, then by the sorted ranks of successors, agent by agent, until nothing changes."""
    place = {key: number for number, key in enumerate(sorted(set(keys)))}
    rank = [place[key] for key in keys]
    seen = ([tuple(sorted({rank[v] for v in row})) for row in rows] for rows in estate.successors)
    finer = list(zip(rank, *seen, strict=True))
    return rank if len(set(finer)) == len(place) else ranks(estate, finer)


def bisimilar(estate: EState) -> set[tuple[int, int]]:
    """The largest relation between worlds with equal valuations whose steps match, both ways."""
    worlds = range(len(estate.valuations))
    pairs = {(v, w) for v in worlds for w in worlds if estate.valuations[v] == estate.valuations[w]}
    while True:
        kept = {
            (v, w)
            for v, w in pairs
            if all(
                all(any((x, y) in pairs for y in rows[w]) for x in rows[v])
                and all(any((x, y) in pairs for x in rows[v]) for y in rows[w])
                for rows in estate.successors
            )
        }
        if kept == pairs:
            return kept
        pairs = kept
