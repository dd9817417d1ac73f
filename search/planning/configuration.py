"""Configurations: an agent and a heuristic with their settings."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from epigym.config.registry import default_settings
from epigym.config.targets import TARGET, full_name, is_importable
from epigym.config.values import convert
from epigym.errors import UsageError
from epigym.names import unknown
from epigym.space.space import StateSpace, Threads, count_threads
from epigym.task.task import Task
from search.agents import AGENTS, Agent, choose_heuristic_for, get_label, make_agent, to_settings
from search.agents.result import join_label
from search.heuristics import HEURISTICS, Heuristic, choose_heuristic

DEFAULT = "interleaved"
"""The default agent."""

Choice = str | Mapping[str, Any] | type
"""A name, a mapping of name and settings, or a user-defined class, with its default settings."""
_SPACE_SETTINGS = ("symmetry", "threads")


@dataclass(frozen=True)
class Configuration:
    """An agent and its heuristic, as plain data that can be pickled.

    Attributes:
        agent: the name and settings of the agent, as in `conf/agent/<name>.yaml`, with `symmetry` and `threads` for the
            state space; instead of the name, `_target_` is the path of a class that derives from `search.agents.Agent`,
            or the class itself if it cannot be imported.
        heuristic: the same of the heuristic, or None for an uninformed agent; a user-defined class derives from
            `search.heuristics.Heuristic`.

    A `label` replaces the name in tables, to distinguish settings of one agent or heuristic. Classes of a script, a
    notebook or a function are pickled by value.
    """

    agent: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, agent: Choice, heuristic: Choice | None = None) -> Configuration:
        """Make a configuration of an agent and a heuristic; the heuristic of an uninformed agent is ignored.

        Other settings than those of the arguments have their defaults.

        Raises:
            UsageError: when a name or a setting is unknown, a value does not fit, or a heuristic is missing or prefers
                no actions though the agent needs that.
        """
        agent = _settings("agent", agent, AGENTS)
        convert(agent.get("symmetry", False), bool, f"agent {get_label(agent)!r}: symmetry")
        convert(agent.get("threads", 1), Threads, f"agent {get_label(agent)!r}: threads")
        made = cls(agent).make_agent()
        if not made.is_informed:
            return cls(agent)
        settings = None if heuristic is None else _settings("heuristic", heuristic, HEURISTICS)
        choose_heuristic_for(made, get_label(agent), settings)
        return cls(agent, settings)

    @classmethod
    def parse(cls, text: str) -> Configuration:
        """Parse `agent` or `agent/heuristic`, such as `bfs` or `hfs/goal_count`."""
        agent, _, heuristic = text.partition("/")
        return cls.of(agent, heuristic or None)

    def __reduce__(self) -> tuple[Any, ...]:
        """How to pickle: by cloudpickle, if a class cannot be imported by its name."""
        if all(isinstance(choice.get(TARGET, ""), str) for choice in self.choices):
            return Configuration, (self.agent, self.heuristic)
        import cloudpickle

        return _unpickle, (cloudpickle.dumps((self.agent, self.heuristic)),)

    @property
    def names(self) -> tuple[str, str | None]:
        """The labels, or else names, of the agent and of the heuristic."""
        return get_label(self.agent), None if self.heuristic is None else get_label(self.heuristic)

    @property
    def label(self) -> str:
        """A name for tables and files, such as `hfs/goal_count`."""
        return join_label(*self.names)

    @cached_property
    def choices(self) -> list[Mapping[str, Any]]:
        """The agent and the heuristic, then those of the components of `interleaved`."""
        return [self.agent, self.heuristic or {}, *self.make_agent().component_choices]

    @property
    def symmetry(self) -> bool:
        """Whether the state space uses symmetries, see `StateSpace`."""
        return bool(self.agent.get("symmetry", False))

    @property
    def threads(self) -> int:
        """The number of threads of the state space."""
        return count_threads(self.agent.get("threads", 1))

    def adapt_to(self, space: StateSpace) -> Configuration:
        """The configuration with at least the symmetries and threads of `space`."""
        threads = max(self.threads, space.threads)
        agent = {**self.agent, "symmetry": self.symmetry or space.symmetry, "threads": threads}
        return replace(self, agent=agent)

    def make_space(self, task: Task, *, consistent_beliefs: bool = False) -> StateSpace:
        """Make the state space for the agent."""
        return StateSpace(task, consistent_beliefs=consistent_beliefs, symmetry=self.symmetry, threads=self.threads)

    def make_agent(self) -> Agent:
        """Make the agent."""
        return make_agent(**{name: value for name, value in self.agent.items() if name not in _SPACE_SETTINGS})

    def make_heuristic(self, space: StateSpace) -> Heuristic | None:
        """Make the heuristic for `space`; None for an uninformed agent."""
        return None if self.heuristic is None else choose_heuristic(self.heuristic)(space)


def _unpickle(choices: bytes) -> Configuration:
    return Configuration(*pickle.loads(choices))


def _settings(kind: str, choice: Choice, known: Mapping[str, str]) -> dict[str, Any]:
    """The default settings, overridden by those of `choice`."""
    if not isinstance(choice, (str, Mapping, type)):
        raise UsageError(f"{kind}={choice!r} must be a name, a mapping of name and settings, or a class")
    given = to_settings({TARGET: choice} if isinstance(choice, type) else choice)
    if TARGET in given:
        own = given[TARGET]
        return {**given, TARGET: full_name(own)} if isinstance(own, type) and is_importable(own) else given
    if "name" not in given:
        raise UsageError(f"{kind}: {given} has no name: add name=…")
    name = str(given["name"])
    if name not in known:
        raise UsageError(unknown(kind, name, known))
    return default_settings(kind, name, known[name]) | given
