"""What a search reports: its status, the plan, the counts, the costs and the size of the task."""

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
        """Whether the problem is settled: a plan was found, or there is none."""
        return self in (SearchStatus.SOLVED, SearchStatus.UNSOLVABLE)

    @property
    def is_limit(self) -> bool:
        """Whether a limit ended the search."""
        return self in (SearchStatus.EXPANSION_LIMIT, SearchStatus.TIME_LIMIT, SearchStatus.MEMORY_LIMIT)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a search took; it differs from run to run.

    Attributes:
        load_seconds: to read and ground the problem.
        build_seconds: to build the state space and to load the heuristic.
        search_seconds: from the built state space to the end of the search.
        validation_seconds: to re-execute the plan with the reference, or to look again that there is none.
        cpu_seconds: of the process and its children, where it was watched from outside.
        peak_bytes: peak resident memory of the process, its children's included where it was watched from outside.
    """

    load_seconds: float = 0.0
    build_seconds: float = 0.0
    search_seconds: float = 0.0
    validation_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def total_seconds(self) -> float:
        """Seconds spent on loading, building, searching and re-executing the plan."""
        return self.load_seconds + self.build_seconds + self.search_seconds + self.validation_seconds


@dataclass(frozen=True, slots=True)
class TaskSize:
    """Ground actions and fluents of a task, and worlds of its initial e-state before contraction; 0 when not read."""

    actions: int = 0
    fluents: int = 0
    initial_worlds: int = 0

    @classmethod
    def of(cls, task: Task) -> TaskSize:
        """The size of a task."""
        return cls(len(task.actions), len(task.fluents), len(task.initial.valuations))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of one agent on one problem; counts are those of the specification, section 7.

    Attributes:
        status: how the search ended.
        agent: label or name of the agent.
        problem: name of the task.
        plan: names of the actions, or None when no plan was found; with the status `error` it is not valid.
        expanded: nodes popped and expanded; one whose expansion was cut at a goal counts.
        generated: successors generated, up to and including the one that reached the goal.
        distinct: e-states that this agent saw, the initial one included.
        heuristic: label or name of the heuristic, or None for a blind agent.
        checkpoint: file of a learned heuristic, empty for any other.
        inconsistent_agents: agents that believe everything in the plan's final e-state.
        consistent_beliefs: whether plans were left out that make an agent believe everything; `unsolvable` then means
            that there is no other.
        message: why, when the status is `error`; else which component of `interleaved` decided, and why the check that
            there is no plan stopped at a single successor.
        optimal: whether it is proved that no plan is shorter, of those that were not left out.
        proof: how much the reference checked again when there is no plan, `confirmed: all n e-states` or
            `checked m of n e-states`; empty when it did not.
        history: of each plan that was re-executed, the length and the seconds from the start of the first search on.
        costs: time and memory.
        size: of the task.
    """

    status: SearchStatus
    agent: str
    problem: str
    plan: tuple[str, ...] | None = None
    expanded: int = 0
    generated: int = 0
    distinct: int = 0
    heuristic: str | None = None
    checkpoint: str = ""
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
        """Agent and heuristic as tables name them, such as `hfs/goal_count`."""
        return join_label(self.agent, self.heuristic)

    @property
    def verdict(self) -> str:
        """The status with the question that it answers, such as `unsolvable (with consistent beliefs)`."""
        question = " (with consistent beliefs)" if self.consistent_beliefs and self.status.is_decided else ""
        return f"{self.status}{question}"

    @property
    def plan_length(self) -> int | None:
        """Number of actions of the plan; None when there is none, or it is not valid."""
        return len(self.plan) if self.plan is not None and self.status is SearchStatus.SOLVED else None

    def spending(self, **costs: Any) -> Self:
        """The result with other costs, by their names."""
        return replace(self, costs=replace(self.costs, **costs))

    def to_dict(self) -> dict[str, Any]:
        """All attributes and the plan length, as JSON knows them."""
        return asdict(self) | {"plan_length": self.plan_length}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SearchResult:
        """The result that `to_dict` was called on."""
        values = {name: value for name, value in data.items() if name != "plan_length"}
        values["status"] = SearchStatus(values["status"])
        values["plan"] = None if values["plan"] is None else tuple(values["plan"])
        values["inconsistent_agents"] = tuple(values["inconsistent_agents"])
        values["history"] = tuple((length, seconds) for length, seconds in values["history"])
        values["costs"], values["size"] = Costs(**values["costs"]), TaskSize(**values["size"])
        return cls(**values)


def join_label(agent: str, heuristic: str | None) -> str:
    """An agent with its heuristic as tables name them, such as `hfs/goal_count`."""
    return agent if heuristic is None else f"{agent}/{heuristic}"
