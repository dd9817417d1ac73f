"""The lifted structure of a ground task: schemas, arguments and types, as far as the problem tells them.

Two tasks that differ in nothing else are the same task: structure is no part of a task's identity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from epigym.errors import TaskError

Types: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lifted:
    """A ground fluent or action as a symbol with arguments.

    Attributes:
        symbol: the predicate or the action schema.
        arguments: the objects, agents among them.
    """

    symbol: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """The objects, predicates and schemas behind the names of a task.

    Attributes:
        fluents: for each fluent of the task.
        actions: for each action of the task.
        types: for each object, agents among them, its types from its own to the most general.
        facts: the static facts that are true.
        actors: for each action the agent that acts; None where there is none or it is not known. Empty when no actor
            is known.
    """

    fluents: tuple[Lifted, ...]
    actions: tuple[Lifted, ...]
    types: Types
    facts: tuple[Lifted, ...] = ()
    actors: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        """Check that every object has a type.

        Raises:
            TaskError: naming an object that has none.
        """
        for lifted in (*self.fluents, *self.actions, *self.facts):
            for argument in lifted.arguments:
                if argument not in self.types:
                    raise TaskError(f"the object {argument!r} of {lifted.symbol!r} has no type")


def actors(actions: Iterable[Lifted], places: Mapping[str, int], agents: Collection[str]) -> tuple[str | None, ...]:
    """The agent that acts in each action, where one of its arguments says so.

    Args:
        actions: the actions.
        places: by schema, which argument acts, counted from 0.
        agents: names of the agents.
    """
    named = (action.arguments[places[action.symbol]] if action.symbol in places else None for action in actions)
    return tuple(name if name in agents else None for name in named)


def from_parentheses(fluents: Sequence[str], actions: Sequence[str], agents: Sequence[str]) -> Structure | None:
    """The structure that names such as `at(a,1)` tell; None when no name has arguments."""
    lifted = [[_parse_name(name) for name in names] for names in (fluents, actions)]
    objects = [argument for one in (*lifted[0], *lifted[1]) for argument in one.arguments]
    return (
        Structure(tuple(lifted[0]), tuple(lifted[1]), _types(agents, dict.fromkeys(objects, "object")))
        if objects
        else None
    )


def from_words(
    fluents: Sequence[str],
    actions: Sequence[str],
    agents: Sequence[str],
    types: Mapping[str, str],
    words: Mapping[str, Sequence[str]],
) -> Structure:
    """The structure that names such as `tell_a_b` tell, whose words are joined by underscores.

    The words that are objects are arguments, the others are the symbol.

    Args:
        fluents: names of the fluents.
        actions: names of the actions.
        agents: names of the agents.
        types: the type of each object that is no agent.
        words: what stands for several words, such as `sa` for `secret` and `a`.
    """
    known = _types(agents, types)

    def split(name: str) -> Lifted:
        parts = [part for word in name.split("_") for part in words.get(word, (word,))]
        symbol = "_".join(part for part in parts if part not in known)
        return Lifted(symbol, tuple(part for part in parts if part in known)) if symbol else Lifted(name)

    return Structure(tuple(map(split, fluents)), tuple(map(split, actions)), known)


def _types(agents: Sequence[str], objects: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    others = {name: (kind,) if kind == "object" else (kind, "object") for name, kind in objects.items()}
    return {
        **dict.fromkeys(agents, ("agent",)),
        **{name: kind for name, kind in others.items() if name not in agents},
    }


def _parse_name(name: str) -> Lifted:
    symbol, _, arguments = name.partition("(")
    return Lifted(symbol, tuple(arguments.removesuffix(")").split(",")) if arguments else ())
