"""Problems to sample goals for and tables of instances, shared by both suites."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from epigym import EpigymError, StateSpace
from epigym.io.files import read_rows, write_rows
from epigym.problem import domain_problem, vocabulary
from epigym.space.sampling import RandomGoal

R = TypeVar("R")


class Source:
    """A problem without a goal, to sample goals for.

    Args:
        domain: name of the domain.
        parameters: the size of the problem.
        consistent_beliefs: whether no walk makes an agent believe everything.
    """

    def __init__(self, domain: str, parameters: Mapping[str, Any], *, consistent_beliefs: bool = False) -> None:
        self.domain = domain
        self.parameters = parameters
        self.space = StateSpace(domain_problem(domain, **parameters), consistent_beliefs=consistent_beliefs)
        self.texts, self.vocabulary = vocabulary(domain, **parameters)
        self.holds = self.space.query(self.vocabulary)

    def formulas(self, goal: RandomGoal) -> list[str]:
        """The subgoals as text."""
        return [self.texts[index] for index in goal.subgoals]

    def names(self, goal: RandomGoal) -> list[str]:
        """Names of the actions of the walk that reaches the goal."""
        return [self.space.task.actions[index].name for index in goal.plan]


def read_instances(path: Path, read: Callable[[dict[str, str]], R]) -> list[R]:
    """The instances of a table; none where there is no table.

    Args:
        path: the table.
        read: the instance of a row, which tells what is wrong by a TypeError or ValueError.

    Raises:
        EpigymError: when it is no such table.
    """
    if not path.exists():
        return []
    try:
        return [read(row) for row in read_rows(path, ("domain", "instance"))]
    except (KeyError, TypeError, ValueError) as error:
        raise EpigymError(f"{path} is no table of instances: {error}: give another --out") from None


def store(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Put instances into a table, replacing those of the same name; readers see the old table or all of the new."""
    known = {(row["domain"], row["instance"]): row for row in (*read_instances(path, dict), *rows)}
    ordered = [known[key] for key in sorted(known)]
    write_rows(path, list(ordered[0]), ordered)
