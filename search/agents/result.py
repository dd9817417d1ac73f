"""The result of a search: status, plan, counts, costs and task size."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from epigym.task.task import Task


class SearchStatus(enum.StrEnum):
    """How a search ended."""

    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    EXPANSION_LIMIT = "expansion_limit"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    ERROR = "error"

    @property
    def is_decided(self) -> bool:
        """Whether the search decided the problem: it found a plan, or proved that there is none."""
        return self in (SearchStatus.SOLVED, SearchStatus.UNSOLVABLE)

    @property
    def is_limit(self) -> bool:
        """Whether a limit ended the search."""
        return self in (SearchStatus.EXPANSION_LIMIT, SearchStatus.TIME_LIMIT, SearchStatus.MEMORY_LIMIT)


PARTS = {
    "reading": "load_seconds",
    "PyTorch import": "import_seconds",
    "set-up": "build_seconds",
    "search": "search_seconds",
    "shortening": "shortening_seconds",
    "validation": "validation_seconds",
}
"""The parts of the total time of a search, in their order, and their names in `Costs`."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The time and memory of a search, which differ from run to run.

    Attributes:
        load_seconds: time to read and ground the problem.
        import_seconds: time to import PyTorch and PyTorch Geometric, for models that need them.
        build_seconds: time to build the state space and to load the heuristic.
        search_seconds: time of the search itself.
        shortening_seconds: time to shorten its plan, see `search.planning.shortening`.
        validation_seconds: time of the reference to validate plans, or to check that there is none.
        cpu_seconds: CPU time of a separate process and its children; else 0.
        peak_bytes: peak resident memory of the process; of a separate process, with its children's.
    """

    load_seconds: float = 0.0
    import_seconds: float = 0.0
    build_seconds: float = 0.0
    search_seconds: float = 0.0
    shortening_seconds: float = 0.0
    validation_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def total_seconds(self) -> float:
        """The sum of the six times above, which do not overlap; the start of Python is in none of them."""
        return self.load_seconds + self.active_seconds + self.validation_seconds

    @property
    def active_seconds(self) -> float:
        """The seconds that count towards the time limit of a search: imports, building, searching and shortening."""
        return self.import_seconds + self.build_seconds + self.search_seconds + self.shortening_seconds


@dataclass(frozen=True, slots=True)
class TaskSize:
    """Ground actions and fluents of a task, and worlds of its initial e-state before contraction; 0 if unread."""

    actions: int = 0
    fluents: int = 0
    initial_worlds: int = 0

    @classmethod
    def of(cls, task: Task) -> TaskSize:
        """The size of a task."""
        return cls(len(task.actions), len(task.fluents), len(task.initial.valuations))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of one agent on one problem.

    Attributes:
        status: how the search ended.
        agent: the label or name of the agent.
        problem: the name of the task.
        plan: the names of the actions, or None when no plan was found; with the status `error` it is not valid.
        expanded: e-states expanded, with one whose expansion ended at a goal.
        generated: successors generated, up to and with the goal.
        distinct: e-states reached, with the initial one.
        heuristic: the label or name of the heuristic, or None for an uninformed agent.
        model: the file of a learned heuristic; else empty.
        inconsistent_agents: the agents with inconsistent beliefs in the plan's final e-state.
        consistent_beliefs: whether plans after which an agent has inconsistent beliefs were excluded.
        message: the reason of the status `error`; else the component of `interleaved` that decided, and the limit that
            stopped shortening.
        optimal: whether the plan is proved to be a shortest one.
        proof: the extent of the check of unsolvability, `confirmed: all n e-states`, or such as
            `checked m of n e-states, stopped after 1.0 s`; empty without a check.
        history: for each validated plan its length, and the seconds since the start of the first search; before them
            the same of the first plan, if it was shortened.
        costs: time and memory.
        size: the size of the task.
    """

    status: SearchStatus
    agent: str
    problem: str
    plan: tuple[str, ...] | None = None
    expanded: int = 0
    generated: int = 0
    distinct: int = 0
    heuristic: str | None = None
    model: str = ""
    inconsistent_agents: tuple[str, ...] = ()
    consistent_beliefs: bool = False
    message: str = ""
    optimal: bool = False
    proof: str = ""
    history: tuple[tuple[int, float], ...] = ()
    costs: Costs = Costs()
    size: TaskSize = TaskSize()

    @property
    def label(self) -> str:
        """Agent and heuristic for tables, such as `hfs/goal_count`."""
        return join_label(self.agent, self.heuristic)

    @property
    def verdict(self) -> str:
        """The status with the question that it answers, such as `unsolvable (with consistent beliefs)`."""
        question = " (with consistent beliefs)" if self.consistent_beliefs and self.status.is_decided else ""
        return f"{self.status}{question}"

    @property
    def is_partly_checked(self) -> bool:
        """Whether the reference has checked only a part of the space for the result that there is no plan."""
        return self.proof.startswith("checked ")

    @property
    def plan_length(self) -> int | None:
        """The number of actions of a valid plan; else None."""
        return len(self.plan) if self.plan is not None and self.status is SearchStatus.SOLVED else None

    @property
    def first_length(self) -> int | None:
        """The number of actions of the first plan, before it was shortened, where `plan_length` is known."""
        return self.history[0][0] if self.plan_length is not None and self.history else self.plan_length

    def with_costs(self, **costs: Any) -> Self:
        """The result with some costs replaced, by their names."""
        return replace(self, costs=replace(self.costs, **costs))

    def to_dict(self) -> dict[str, Any]:
        """All attributes and the plan length, as JSON values."""
        return asdict(self) | {"plan_length": self.plan_length}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SearchResult:
        """The inverse of `to_dict`."""
        values = {name: value for name, value in data.items() if name != "plan_length"}
        values["status"] = SearchStatus(values["status"])
        values["plan"] = None if values["plan"] is None else tuple(values["plan"])
        values["inconsistent_agents"] = tuple(values["inconsistent_agents"])
        values["history"] = tuple((length, seconds) for length, seconds in values["history"])
        values["costs"], values["size"] = Costs(**values["costs"]), TaskSize(**values["size"])
        return cls(**values)


def join_label(agent: str, heuristic: str | None) -> str:
    """Join the names of an agent and its heuristic, such as `hfs/goal_count`."""
    return agent if heuristic is None else f"{agent}/{heuristic}"
