"""What a domain is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from domains.checks import DomainError, check_one_of
from domains.instances import Instances, Parameters, load_published
from domains.names import unknown
from domains.writing.structure import ObjectNames

SPLITS = ("train", "validation", "test")
SEEDS = 1_000_000
"""The seeds of sampled problems are below this number."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A typical e-state of a domain, for its picture.

    Attributes:
        parameters: of the problem.
        plan: names of the actions that lead to the e-state.
        caption: one sentence that describes the picture.
    """

    parameters: Parameters
    plan: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Growth:
    """Sizes of problems from the largest of the split `test` on; goals are sampled.

    Attributes:
        sizes: the values of the parameters at each step.
        walk: the maximum number of actions of the random walk to a goal, at the first and at the last step.
        subgoals: the maximum number of subgoals, at the first and at the last step.
    """

    sizes: Sequence[Parameters]
    walk: tuple[int, int]
    subgoals: tuple[int, int]

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.sizes)

    def at(self, step: int) -> tuple[dict[str, Any], int, int]:
        """Parameters, maximum number of actions of the walk and of subgoals at a step, counted from 1."""
        share = (step - 1) / max(len(self) - 1, 1)
        walk, subgoals = (round(low + share * (high - low)) for low, high in (self.walk, self.subgoals))
        return dict(self.sizes[step - 1]), walk, subgoals

    def sample(self, share: float, random: Random) -> tuple[dict[str, Any], int, int]:
        """As `at`, at a random step of a share of the steps, from the first on."""
        return self.at(random.randint(1, max(1, int(share * len(self)))))


def sizes(names: str, values: Iterable[Sequence[Any]], **others: Any) -> list[Parameters]:
    """Parameters of these names, separated by blanks, one set for each sequence of values; the others are constant."""
    return [{**dict(zip(names.split(), chosen, strict=True)), **others} for chosen in values]


@dataclass(frozen=True, slots=True)
class Domain:
    """A parametric domain of planning problems.

    Attributes:
        name: the name of its module or package, such as `coin_in_the_box`.
        problem: writes the text of a problem. Its parameters are keywords; one of them is `goals`, formulas that
            replace the goal.
        vocabulary: the formulas of random goals, one subgoal each, for the parameters of `problem`; it ignores those
            that it does not need.
        scene: the e-state that the picture of the domain shows.
        ranges: for each of the `SPLITS`, kinds of problems with the values of their parameters. Sampling chooses a
            kind, each parameter independently, and a `seed` if there is that parameter. Sizes grow from split to split.
        language: of the text: mA*, or EPDDL with the domain and its library in the same text.
        structure: in mA*, the objects in the names of a problem with the given parameters; by default its agents.
        actors: by action schema, the position (from 0) of the acting agent among the arguments. Other actions, and
            those with another object in that position, have no actor.
        growth: larger problems for the suites `hard` and `hard_control`; without it the domain is not in these suites.
        consistent_beliefs: whether no sequence of actions makes beliefs inconsistent in the default problem.
        base: a domain whose parameters this domain has, too; `problem` takes them as further keywords.
    """

    name: str
    problem: Callable[..., str]
    vocabulary: Callable[..., Sequence[str]]
    scene: Scene
    ranges: Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]
    language: Literal["mA*", "EPDDL"] = "mA*"
    structure: Callable[..., ObjectNames] = lambda **_: ObjectNames()
    actors: Mapping[str, int] = field(default_factory=dict)
    growth: Growth | None = None
    consistent_beliefs: bool = True
    base: Domain | None = None

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters of the domain with their default values."""
        own = inspect.signature(self.problem).parameters.values()
        named = {parameter.name: parameter.default for parameter in own if parameter.kind is parameter.KEYWORD_ONLY}
        return (self.base.defaults if self.base else {}) | named

    @property
    def documentation(self) -> str:
        """What the domain is about and what its parameters mean."""
        return inspect.getdoc(self.problem) or ""

    @property
    def instances(self) -> Mapping[str, Parameters]:
        """Named parameter sets: the published instances and those of the tables of suites."""
        return Instances(self.name)

    @property
    def train(self) -> tuple[str, ...]:
        """Names of the published instances that a heuristic for the domain is trained on."""
        return tuple(load_published(self.name)["train"])

    @property
    def test(self) -> tuple[str, ...]:
        """Names of the published instances that it is tested on."""
        return tuple(load_published(self.name)["test"])

    def write(self, parameters: Parameters) -> str:
        """The text of the problem with these parameters; the others have their default values.

        Raises:
            DomainError: when a parameter does not exist or is out of range.
        """
        for parameter in parameters:
            check_one_of(f"parameter of {self.name}", parameter, self.defaults)
        return self.problem(**parameters)

    def sample(self, split: str, random: Random) -> dict[str, Any]:
        """Parameters of a problem of a split.

        Raises:
            DomainError: when there is no such split.
        """
        check_one_of("split", split, SPLITS)
        kind = random.choice(self.ranges[split])
        sampled = {name: random.choice(values) for name, values in kind.items()}
        return sampled | ({"seed": random.randrange(SEEDS)} if "seed" in self.defaults else {})

    def instance(self, name: str) -> Parameters:
        """The parameters of a named instance.

        Raises:
            DomainError: when there is no such instance.
        """
        try:
            return self.instances[name]
        except KeyError:
            raise DomainError(unknown(f"instance of {self.name}", name, self.instances)) from None
