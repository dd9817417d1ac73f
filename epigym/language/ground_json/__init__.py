"""Ground tasks as JSON, in the layout that the official EPDDL toolkit exports, and in a compact layout.

Connectives have their intended meaning: a diamond over a group is the dual of the box. The official layout does not
list false facts. So atoms that no effect changes, and that have one value in all initial worlds, are no fluents:
constants replace them in all formulas.

The official layout lists the relations of the initial e-state pair by pair. The compact layout has `rows` instead of
`relations`: for each agent its distinct sets of `successors`, as numbers of worlds, and for each world the number of
its `row`. It also has applicability formulas of actions, the operator `actually`, `E.box` for everybody of a group of
one agent, the name of the task and, where it is known, its `structure`, which the official layout lacks; all its atoms
are fluents.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from epigym.errors import EpigymError, LimitError, NestingError, ProblemWarning, TaskError
from epigym.io.files import write_json
from epigym.language.ground_json.formulas import CONSTANTS, FormulaReader, FormulaWriter, format_keys
from epigym.language.specification import GroundSpecification
from epigym.names import is_one_line, unknown
from epigym.task.formula import FALSE, TRUE, Formula, Op, and_, conjuncts, fluent, not_, or_, too_deep
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Effect, EState, Event, Task

MAX_PAIRS = 50_000_000
_Json: TypeAlias = Any
Kind = TypeVar("Kind", bound=Hashable)
Chain: TypeAlias = tuple[tuple[Formula, Kind], ...]


# Writing


def make_specification(task: Task) -> GroundSpecification:
    """Make the specification of a task, with empty further content."""
    return GroundSpecification(
        task=task,
        domain=task.domain,
        problem=task.instance or task.name,
        libraries=(),
        requirements=(),
        atoms=task.fluents,
        facts=(),
        action_types=dict.fromkeys((action.name for action in task.actions), "ground"),
    )


def dump(specification: GroundSpecification, path: str | Path, *, compact: bool = False) -> None:
    """Write a ground task; the file appears complete or not at all.

    Args:
        specification: the task and its names.
        path: the file.
        compact: whether to write the compact layout instead of the official one.

    Raises:
        LimitError: if the official layout would list more than `MAX_PAIRS` pairs of relations.
        TaskError: if an atom has the name of a constant, or a formula has no counterpart in EPDDL.
        OSError: if the file cannot be written.
    """
    write_json(path, to_json(specification, compact=compact), indent=None)


def to_json(specification: GroundSpecification, *, compact: bool = False) -> dict[str, _Json]:
    """Convert a ground task to a JSON object; arguments and errors as `dump`."""
    task, formulas = specification.task, FormulaWriter(compact=compact)
    actions = task.actions if compact else map(move_to_preconditions, task.actions)
    goal = and_(*task.goal)
    for name in CONSTANTS.intersection(specification.atoms):
        raise TaskError(f"the atom {name!r} would be read as the constant: rename it")
    more = {"structure": _convert_structure(task.structure)} if compact and task.structure else {}
    return {
        "planning-task-info": {
            **({"name": task.name, "instance": task.instance} if compact else {}),
            "problem": specification.problem,
            "domain": specification.domain,
            "libraries": list(specification.libraries),
            "requirements": list(specification.requirements),
            "agents-number": len(task.agents),
            "atoms-number": len(specification.atoms),
            "facts-number": len(specification.facts),
            "actions-number": len(task.actions),
            "initial-worlds-number": len(task.initial.valuations),
            "goal-modal-depth": goal.depth,
            "goal-size": formulas.size(goal),
        },
        "language": {"atoms": list(specification.atoms), "agents": list(task.agents)},
        "facts": list(specification.facts),
        "initial-state": _convert_state(specification, compact),
        "actions": {
            action.name: _convert_action(action, specification.action_types[action.name], task.agents, formulas)
            for action in actions
        }
        or None,
        "goal": formulas(goal),
        **more,
    }


def _convert_structure(structure: Structure) -> dict[str, _Json]:
    def convert(several: Iterable[Lifted]) -> list[list[str]]:
        return [[lifted.symbol, *lifted.arguments] for lifted in several]

    return {
        "fluents": convert(structure.fluents),
        "actions": convert(structure.actions),
        "types": {name: list(types) for name, types in structure.types.items()},
        "facts": convert(structure.facts),
        "actors": list(structure.actors),
    }


def _convert_state(specification: GroundSpecification, compact: bool) -> dict[str, _Json]:
    task = specification.task
    state, facts = task.initial, frozenset(specification.facts).difference(task.fluents)
    worlds = [f"w{world}" for world in range(len(state.valuations))]
    position = {atom: index for index, atom in enumerate(specification.atoms)}
    relations = {"rows": _convert_rows(task)} if compact else {"relations": _convert_pairs(task, worlds)}
    return {
        "worlds": worlds,
        **relations,
        "labels": {
            world: sorted(valuation | facts, key=position.__getitem__)
            for world, valuation in zip(worlds, state.valuations, strict=True)
        },
        "designated": [worlds[world] for world in state.designated],
    }


def _convert_pairs(task: Task, worlds: list[str]) -> dict[str, _Json]:
    pairs = sum(len(row) for rows in task.initial.successors for row in rows)
    if pairs > MAX_PAIRS:
        raise LimitError(
            f"the layout lists all {pairs} pairs of the relations, more than {MAX_PAIRS}: format=compact lists rows"
        )
    names: dict[frozenset[int], list[str]] = {}
    for row in {row for rows in task.initial.successors for row in rows}:
        names[row] = [worlds[world] for world in sorted(row)]
    return {
        agent: {world: names[row] for world, row in zip(worlds, rows, strict=True)}
        for agent, rows in zip(task.agents, task.initial.successors, strict=True)
    }


def _convert_rows(task: Task) -> dict[str, _Json]:
    relations = {}
    for agent, rows in zip(task.agents, task.initial.successors, strict=True):
        number = {row: index for index, row in enumerate(dict.fromkeys(rows))}
        relations[agent] = {"successors": [sorted(row) for row in number], "row": [number[row] for row in rows]}
    return relations


def _convert_action(action: Action, kind: str, agents: tuple[str, ...], formulas: FormulaWriter) -> dict[str, _Json]:
    names = _prime_duplicates(event.name for event in action.events)
    events = list(zip(names, action.events, strict=True))
    applicability = {} if action.applicability is TRUE else {"applicability": formulas(action.applicability)}
    return {
        "action-type": kind,
        **applicability,
        "events": names,
        "relations": {
            observability_type: {
                name: [names[other] for other in sorted(row)] for name, row in zip(names, rows, strict=True)
            }
            for observability_type, rows in action.relations.items()
        },
        "designated": [names[event] for event in action.designated],
        "preconditions": {name: formulas(event.precondition) for name, event in events},
        "effects": {
            name: {atom: formulas(value) for atom, value in compute_values(event).items()} or None
            for name, event in events
        },
        "observability-conditions": {
            agent: {kind: formulas(condition) for kind, condition in make_exclusive(chain).items()}
            for agent, chain in zip(agents, action.observability, strict=True)
        },
    }


def move_to_preconditions(action: Action) -> Action:
    """Move the applicability formula, which the official layout lacks, to preconditions of an equivalent action.

    Each designated event has a copy that is designated instead and whose precondition includes the formula. No event
    leads to a copy, so that no agent learns that the formula held: worlds of an event and of its copy are bisimilar.
    """
    asked = set(conjuncts(action.applicability))
    events = [action.events[number] for number in action.designated]
    if all(asked.issubset(conjuncts(event.precondition)) for event in events):
        return replace(action, applicability=TRUE)
    doubles = [replace(event, precondition=and_(action.applicability, event.precondition)) for event in events]
    count = len(action.events)
    return replace(
        action,
        applicability=TRUE,
        events=(*action.events, *doubles),
        designated=tuple(range(count, count + len(doubles))),
        relations={
            kind: (*rows, *(rows[number] for number in action.designated)) for kind, rows in action.relations.items()
        },
    )


def _prime_duplicates(names: Iterable[str]) -> list[str]:
    """Add primes to repeated names of events."""
    found: dict[str, None] = {}
    for name in names:
        while name in found:
            name += "'"
        found[name] = None
    return list(found)


def compute_values(event: Event) -> dict[str, Formula]:
    """For every fluent that an event may change, the formula over the old model for its new value."""
    adding: dict[str, list[Formula]] = {}
    deleting: dict[str, list[Formula]] = {}
    for effect in event.effects:
        adding.setdefault(effect.fluent, [])
        (adding if effect.value else deleting).setdefault(effect.fluent, []).append(effect.condition)
    return {
        name: or_(*conditions, and_(fluent(name), not_(or_(*deleting.get(name, ())))))
        for name, conditions in adding.items()
    }


def make_exclusive(chain: Chain[Kind]) -> dict[Kind, Formula]:
    """Make the conditions of a chain mutually exclusive, by type."""
    conditions: dict[Kind, Formula] = {}
    before: tuple[Formula, ...] = ()
    for condition, kind in chain:
        conditions[kind] = or_(conditions.get(kind, FALSE), and_(*before, condition))
        before = (*before, not_(condition))
    return conditions


# Reading


def read_task(content: _Json, file: str, *, plank_compat: bool = False) -> Task:
    """Read the task from the JSON content of a file, in either layout.

    Args:
        content: the content.
        file: the name of the file.
        plank_compat: whether to reproduce the toolkit's reading of diamonds over groups and effects of `basic` actions.

    Raises:
        EpigymError: if the content has neither layout.
        TaskError: if the task contradicts itself.
        NestingError: if a formula is nested too deeply.
    """
    try:
        task = from_json(content, plank_compat=plank_compat)
    except (TaskError, NestingError) as error:
        raise type(error)(f"{file}: {error}") from None
    except RecursionError:
        raise NestingError(f"{file}: {too_deep()}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"missing or unknown {error}" if isinstance(error, KeyError) else str(error)
        raise EpigymError(f"{file}: not the layout of a ground EPDDL task: {what}") from None
    state = content["initial-state"]
    missing = [agent for agent in task.agents if agent not in state.get("rows", state.get("relations"))]
    if missing:
        message = f"{file}: no relation for {', '.join(missing)}: inconsistent beliefs at all worlds"
        warnings.warn(message, ProblemWarning, stacklevel=2)
    return task


def from_json(content: Mapping[str, _Json], *, plank_compat: bool = False) -> Task:
    """Read the task from a JSON object, in either layout.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: if the object has neither layout.
        TaskError: if the task contradicts itself.
    """
    actions, state, info = content["actions"] or {}, content["initial-state"], content["planning-task-info"]
    agents, atoms = (_require_names(kind, content["language"][kind]) for kind in ("agents", "atoms"))
    worlds = _require_names("worlds", state["worlds"])
    if not worlds:
        raise ValueError("worlds is empty: an e-state has at least one world")
    relations = "rows" if "rows" in state else "relations"
    _require_known("agent", state[relations], agents, "initial-state", relations)
    _require_known("world", state["labels"], worlds, "initial-state", "labels")
    touched = {atom for action in actions.values() for effects in action["effects"].values() for atom in effects or ()}
    labels = [frozenset(state["labels"][world]) for world in worlds]
    everywhere, somewhere = frozenset.intersection(*labels), frozenset[str]().union(*labels)
    constants = {
        atom: TRUE if atom in everywhere else FALSE
        for atom in atoms
        if "rows" not in state and atom not in touched and (atom in everywhere or atom not in somewhere)
    }
    reader = FormulaReader(constants, plank_compat)
    problem = _require_one_line("problem", info["problem"])
    return Task(
        name=_require_one_line("name", info.get("name", problem)),
        fluents=tuple(atom for atom in atoms if atom not in constants),
        agents=tuple(agents),
        actions=tuple(
            _read_action(_require_one_line("actions", name), action, agents, reader) for name, action in actions.items()
        ),
        initial=EState(
            valuations=tuple(label.difference(constants) for label in labels),
            successors=tuple(_read_successors(state, agent, worlds) for agent in agents),
            designated=_list_numbers(state["designated"], worlds),
        ),
        goal=conjuncts(reader(content["goal"], "goal")),
        domain=_require_one_line("domain", info.get("domain", "")),
        instance=_require_one_line("instance", info.get("instance", problem)),
        structure=_read_structure(content["structure"]) if "structure" in content else None,
    )


def _read_structure(content: Mapping[str, _Json]) -> Structure:
    def read(kind: str) -> tuple[Lifted, ...]:
        return tuple(Lifted(symbol, tuple(arguments)) for symbol, *arguments in _require_texts(kind, content[kind]))

    types = {name: tuple(_require_texts("types", [own])[0]) for name, own in content["types"].items()}
    for actor in content["actors"]:
        if not (actor is None or isinstance(actor, str)):
            raise TypeError(f"actors: expected the name of an agent or null, found {actor!r}")
    return Structure(read("fluents"), read("actions"), types, read("facts"), tuple(content["actors"]))


def _require_texts(kind: str, several: _Json) -> list[list[str]]:
    """Require lists of at least one text each."""
    if not isinstance(several, list) or not all(
        isinstance(each, list) and each and all(isinstance(text, str) for text in each) for each in several
    ):
        raise TypeError(f"structure: expected lists of texts under {kind}")
    return several


def _require_names(kind: str, names: _Json) -> list[str]:
    """Require a list of distinct names; only declarations are checked, references may repeat."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{kind} must be a list of names")
    for name in names:
        _require_one_line(kind, name)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{kind} lists {twice[0]!r} twice")
    return names


def _require_one_line(kind: str, name: str) -> str:
    """Require a name that fits into a one-line message."""
    if not isinstance(name, str):
        raise TypeError(f"{kind}: expected a name, found {name!r}")
    if not is_one_line(name):
        raise ValueError(f"{kind}: a name with a line break does not fit into messages: {name!r}")
    return name


def _require_known(kind: str, mentioned: Iterable[str], names: Iterable[str], *place: str) -> None:
    """Require declared names: a misspelt one would leave sets of successors empty."""
    known = frozenset(names)
    for name in mentioned:
        if name not in known:
            raise ValueError(f"{format_keys(place)}: {unknown(kind, name, known)}")


def _list_numbers(mentioned: Iterable[str], names: list[str]) -> tuple[int, ...]:
    return tuple(sorted(set(map(names.index, mentioned))))


def _read_successors(state: Mapping[str, _Json], agent: str, worlds: list[str]) -> tuple[frozenset[int], ...]:
    if "rows" not in state:
        return _read_rows(state["relations"].get(agent, {}), "world", worlds, "initial-state", "relations", agent)
    relation, number = state["rows"][agent], {world: world for world in range(len(worlds))}
    sets = (frozenset(map(number.__getitem__, row)) for row in relation["successors"])
    return tuple(map(dict(enumerate(sets)).__getitem__, relation["row"]))


def _read_rows(
    relation: Mapping[str, list[str]], kind: str, names: list[str], *place: str
) -> tuple[frozenset[int], ...]:
    _require_known(kind, relation, names, *place)
    number = {name: index for index, name in enumerate(names)}
    shared: dict[frozenset[int], frozenset[int]] = {}
    rows = (frozenset(map(number.__getitem__, relation.get(name, ()))) for name in names)
    return tuple(shared.setdefault(row, row) for row in rows)


def _read_action(name: str, action: Mapping[str, _Json], agents: Iterable[str], reader: FormulaReader) -> Action:
    place = "actions", name
    names = _require_names(f"events of action {name!r}", action["events"])
    for part in ("preconditions", "effects"):
        _require_known("event", action[part], names, *place, part)
    _require_known("agent", action["observability-conditions"], agents, *place, "observability-conditions")
    ignore_effects = reader.plank_compat and action["action-type"] == "basic"
    return Action(
        name=name,
        applicability=reader(action["applicability"], *place, "applicability") if "applicability" in action else TRUE,
        events=tuple(
            Event(
                name=event,
                precondition=reader(action["preconditions"][event], *place, "preconditions", event),
                effects=tuple(
                    effect
                    for atom, value in (action["effects"][event] or {}).items()
                    if not ignore_effects
                    for effect in make_effects(atom, reader(value, *place, "effects", event, atom))
                ),
            )
            for event in names
        ),
        designated=_list_numbers(action["designated"], names),
        relations={
            kind: _read_rows(relation, "event", names, *place, "relations", kind)
            for kind, relation in action["relations"].items()
        },
        observability=tuple(
            _read_chain(
                {
                    kind: reader(condition, *place, "observability-conditions", agent, kind)
                    for kind, condition in action["observability-conditions"][agent].items()
                },
                list(action["relations"]),
            )
            for agent in agents
        ),
    )


def make_effects(atom: str, value: Formula) -> list[Effect]:
    """Make effects that assign a formula to an atom; recognises the shape of additions and deletions."""
    parts = value.children if value.op is Op.OR else (value,)
    keeping = [part for part in parts if fluent(atom) in (part.children if part.op is Op.AND else (part,))]
    if keeping:
        kept = keeping[-1]
        add = or_(*(part for part in parts if part is not kept))
        rest = kept.children if kept.op is Op.AND else (kept,)
        delete = not_(and_(*(part for part in rest if part is not fluent(atom))))
    else:
        add, delete = value, not_(value) if value in (TRUE, FALSE) else TRUE
    effects = [Effect(atom, True, add), Effect(atom, False, delete)]
    return [effect for effect in effects if effect.condition is not FALSE]


def _read_chain(conditions: Mapping[str, Formula], types: list[str]) -> Chain[str]:
    """Read the conditions of an agent as a chain; if none holds, the first type applies, as in the toolkit."""
    if not types:
        raise ValueError("an action has no observability types under 'relations'")
    chain: list[tuple[Formula, str]] = []
    excluded: set[Formula] = set()
    for kind, condition in conditions.items():
        parts = condition.children if condition.op is Op.AND else (condition,)
        rest = and_(*(part for part in parts if part not in excluded))
        if rest is not FALSE:
            chain.append((rest, kind))
        if rest is TRUE:
            return tuple(chain)
        opposite = not_(rest)
        excluded.update(opposite.children if opposite.op is Op.AND else (opposite,))
    return (*chain, (TRUE, types[0]))
