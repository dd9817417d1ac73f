"""Reads mA*, the text language of the published benchmarks, into ground planning tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from epigym.language.collection import pause_collection
from epigym.language.mastar.actions import ActionStatements
from epigym.language.mastar.initial import InitialStatements
from epigym.language.mastar.syntax import BEGINNING, Names, Node, conjuncts, parse, subtrees
from epigym.language.reading import Reading
from epigym.language.source import SourceText
from epigym.task import formula
from epigym.task.formula import Formula, and_, not_
from epigym.task.structure import from_parentheses
from epigym.task.task import Task


@pause_collection()
def parse_mastar(text: str, reading: Reading = Reading(), *, file: str = "<string>") -> Task:
    """Read a planning task in mA*.

    Args:
        text: the problem.
        reading: its `semantics` and `determines` select a reading of the language, where the text does not tell it.
        file: its name in messages; its stem is the name of the task and of its instance.

    Raises:
        ParseError: when the text is wrong, with the place.
        LimitError: when the initial e-state or an event model is too large.
        UsageError: when the text tells another reading, see `Reading.settle`.
    """
    source, reading = SourceText(file, text), reading.settle(text, file)
    statements = subtrees(parse(source))
    names = _read_declarations(source, statements)
    actions = {name: ActionStatements(name, names, reading) for name in names.declared["action"]}
    initial = InitialStatements(names)
    goals: list[Formula] = []
    for statement in statements:
        parts = subtrees(statement)
        match statement.data:
            case "fluent" | "action" | "agent":
                pass
            case "initially":
                initial.add(statement)
            case "goal":
                for part in conjuncts(parts[0]):
                    goals.append(goal := names.formula(part))
                    if not_(goal) in goals:
                        source.warn(f"the goal contradicts itself: no e-state satisfies {goal} and {not_(goal)}", part)
            case "observes" | "aware_of":
                actions[names.find("action", parts[1])].add(statement)
            case _:
                actions[names.find("action", parts[0])].add(statement)
    if not any(statement.data in ("observes", "aware_of") for statement in statements):
        for statement in [one for one in statements if one.data == "action"][:1]:
            source.warn("no agent observes any action: say who does, as in 'ann observes act;'", statement)
    agents = tuple(names.declared["agent"])
    return Task(
        name=Path(file).stem,
        fluents=tuple(names.declared["fluent"]),
        agents=agents,
        actions=tuple(action.describe().build_action(agents, reading) for action in actions.values()),
        initial=initial.build_estate(closed_world=reading.semantics == "efp"),
        goal=formula.conjuncts(and_(*goals)),
        instance=Path(file).stem,
        structure=from_parentheses(*(tuple(names.declared[kind]) for kind in ("fluent", "action", "agent"))),
    )


def parse_formula(text: str, *, fluents: Iterable[str], agents: Iterable[str]) -> Formula:
    """Read a belief formula in mA*, such as `B(ann, -B(bob, tail))`.

    Args:
        text: the formula. Here names may have the form of EPDDL, too, such as `rescued-victim`.
        fluents: names of fluents.
        agents: names of agents.

    Raises:
        ParseError: when the text is wrong, with the place.
    """
    source = SourceText("<formula>", text)
    declared = {"fluent": dict.fromkeys(fluents, 0), "agent": dict.fromkeys(agents, 0)}
    return Names(source, declared).formula(parse(source, "formula", chain.from_iterable(declared.values())))


def _read_declarations(source: SourceText, statements: Sequence[Node]) -> Names:
    """The declared names of a problem, after checking that it is complete."""
    names = Names(source)
    found = {str(statement.data) for statement in statements}
    if not found:
        raise source.error(f"the text is empty; {BEGINNING}")
    for needed in ("agent", "initially", "goal"):
        if needed not in found:
            raise source.error(f"the problem has no {needed!r} statement")
    for statement in statements:
        if statement.data in names.declared:
            for name in subtrees(statement):
                names.declare(str(statement.data), name)
    return names
