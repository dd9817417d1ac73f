"""What a domain is, and finding domains and instances by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from domains.checks import DomainError, known
from domains.writing.structure import Structure

Parameters = Mapping[str, Any]
SPLITS = ("train", "validation", "test")
_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Scene:
    """An e-state that shows what a domain is about.

    Attributes:
        parameters: of the problem.
        plan: names of the actions after which it is reached.
        caption: one sentence that says what is to be seen there.
    """

    parameters: Parameters
    plan: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Domain:
    """A parametric domain of planning problems.

    Attributes:
        name: the name of its module or package, such as `coin_in_the_box`.
        problem: writes the text of the problem with the given parameters, all of them keywords; one of them is
            `goals`, a list of formulas that replace the goal.
        vocabulary: formulas about a problem with the given parameters, which random goals are made of, each of them
            one subgoal; it takes the parameters of `problem` and ignores those that do not matter to it.
        scene: what its picture shows.
        instances: named parameter sets.
        train: names of the instances that a heuristic for the domain is trained on.
        test: names of the instances that it is tested on.
        ranges: for each of the `SPLITS` kinds of problems, one of which is drawn: the values of parameters, which are
            drawn each by itself; a parameter `seed` is drawn besides. Sizes grow from split to split.
        language: of the problem's text: mA*, or EPDDL with the domain and its library in the same text.
        structure: in mA*, the objects in the names of a problem with the given parameters.
        actors: which argument of an action (counted from 0) is the agent that acts, by the action's schema; where that
            argument is no agent, nobody is named.
    """

    name: str
    problem: Callable[..., str]
    vocabulary: Callable[..., Sequence[str]]
    scene: Scene
    instances: Mapping[str, Parameters]
    train: tuple[str, ...]
    test: tuple[str, ...]
    ranges: Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]
    language: Literal["mA*", "EPDDL"] = "mA*"
    structure: Callable[..., Structure] | None = None
    actors: Mapping[str, int] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters of the domain with their default values."""
        return {name: parameter.default for name, parameter in inspect.signature(self.problem).parameters.items()}

    @property
    def documentation(self) -> str:
        """What the domain is about and what its parameters mean."""
        return inspect.getdoc(self.problem) or ""

    def text(self, parameters: Parameters) -> str:
        """The text of the problem with these parameters; the others have their default values.

        Raises:
            DomainError: when a parameter does not exist or is out of range.
        """
        for parameter in parameters:
            known(f"parameter of {self.name}", parameter, self.defaults)
        return self.problem(**parameters)

    def draw(self, split: str, random: Random) -> dict[str, Any]:
        """Parameters of a problem of a split.

        Raises:
            DomainError: when there is no such split.
        """
        known("split", split, SPLITS)
        kind = random.choice(self.ranges[split])
        drawn = {name: random.choice(values) for name, values in kind.items()}
        return drawn | ({"seed": random.randrange(_SEEDS)} if "seed" in self.defaults else {})

    def instance(self, name: str) -> Parameters:
        """The parameters of a named instance.

        Raises:
            DomainError: when there is no such instance.
        """
        if name not in self.instances:
            known(f"instance of {self.name}", name, self.instances)
        return self.instances[name]


def resolve(name: str, domains: Mapping[str, Domain]) -> tuple[Domain, Parameters]:
    """The domain and the parameters that `domain` or `domain/instance` names.

    Raises:
        DomainError: when there is no such domain or instance.
    """
    if not isinstance(name, str):
        raise DomainError(f"a problem is named domain or domain/instance, got {name!r}")
    domain_name, slash, instance = name.partition("/")
    domain = domains[known("domain", domain_name, domains)]
    return domain, domain.instance(instance) if slash else {}
