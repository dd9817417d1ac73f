"""The objects in the names of a problem in mA*, whose text does not tell them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ObjectNames:
    """The objects in names such as `tell_a_b1`, whose words are joined by underscores.

    The words that are objects are arguments, the others are the predicate or the action schema.

    Attributes:
        types: the type of each object that is no agent.
        words: what stands for several words, such as `sa` for `secret` and `a`.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)


def number_objects(kind: str, numbers: Iterable[int]) -> dict[str, str]:
    """Objects of one type that are called by their numbers."""
    return {str(number): kind for number in numbers}


def secrets(agents: Iterable[str]) -> dict[str, tuple[str, str]]:
    """`sa` is the secret of agent `a`."""
    return {f"s{agent}": ("secret", agent) for agent in agents}
