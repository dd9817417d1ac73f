"""An agent with its heuristic and their settings, as configuration files and command lines name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from epigym.errors import EpigymError
from epigym.space import StateSpace
from search.agents import AGENTS, Agent, make_agent
from search.heuristics import HEURISTICS, Heuristic, make_heuristic
from search.heuristics.registry import suggestion

_CONF = Path(__file__).parents[2] / "conf"

Choice = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What to search with; plain data that travels between processes.

    Attributes:
        agent: the agent's name and settings, as in `conf/agent/<name>.yaml`.
        heuristic: the same of the heuristic, or None for a blind agent.

    Both may have a `label`, which stands for the name in tables: it tells apart what differs in settings only.
    """

    agent: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, agent: Choice, heuristic: Choice | None = None) -> Configuration:
        """The configuration of an agent and a heuristic, each a name or a mapping of name and settings.

        Settings that are not given come from the configuration files. A blind agent gets no heuristic.

        Raises:
            EpigymError: when a name or a setting is unknown, or an informed agent has no heuristic.
        """
        agent = _settings("agent", agent, AGENTS)
        if not _agent(agent).is_informed:
            return cls(agent)
        if heuristic is None or _name(heuristic) == "none":
            raise EpigymError(f"agent {agent['name']!r} needs a heuristic; {suggestion('', HEURISTICS)}")
        return cls(agent, _settings("heuristic", heuristic, HEURISTICS))

    @classmethod
    def parse(cls, text: str) -> Configuration:
        """The configuration written as `agent` or `agent/heuristic`, such as `bfs` or `hfs/open_goals`."""
        agent, _, heuristic = text.partition("/")
        return cls.of(agent, heuristic or None)

    @property
    def label(self) -> str:
        """A name for tables and files, such as `hfs/open_goals`."""
        chosen = [self.agent] if self.heuristic is None else [self.agent, self.heuristic]
        return "/".join(choice.get("label", choice["name"]) for choice in chosen)

    def make_agent(self) -> Agent:
        """The agent."""
        return _agent(self.agent)

    def make_heuristic(self, space: StateSpace) -> Heuristic | None:
        """The heuristic bound to `space`, or None for a blind agent."""
        return None if self.heuristic is None else make_heuristic(space=space, **_unlabelled(self.heuristic))


def _settings(kind: str, choice: Choice, registry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name and settings: those of the configuration file, overridden by those of `choice`."""
    name = _name(choice)
    if name not in registry:
        raise EpigymError(f"there is no {kind} {name!r}; {suggestion(name, registry)}")
    settings = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(_CONF / kind / f"{name}.yaml")))
    return settings if isinstance(choice, str) else {**settings, **choice}


def _name(choice: Choice) -> str:
    return choice if isinstance(choice, str) else str(choice.get("name", ""))


def _agent(settings: Mapping[str, Any]) -> Agent:
    return make_agent(**_unlabelled(settings))


def _unlabelled(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != "label"}
