"""Search agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from epigym.config.registry import maker
from epigym.errors import UsageError
from search.agents.agent import Agent
from search.agents.alternation import Alternation
from search.agents.best_first import bfws, hfs, hfs_star, wa_star
from search.agents.breadth_first import BreadthFirst
from search.agents.depth_first import DepthFirst, IterativeDeepening
from search.agents.interleaved import Interleaved
from search.agents.preferring import Lazy, Preferring
from search.heuristics import HEURISTICS, Heuristic, heuristic_maker

AGENTS: Mapping[str, Callable[..., Agent]] = {
    "interleaved": Interleaved,
    "bfs": BreadthFirst,
    "hfs": hfs,
    "hfs_star": hfs_star,
    "wa_star": wa_star,
    "bfws": bfws,
    "hfs_preferred": Preferring,
    "lazy": Lazy,
    "alternation": Alternation,
    "dfs": DepthFirst,
    "idfs": IterativeDeepening,
}


_SPACE_SETTINGS = ("symmetry", "threads")  # of every agent: those of the space that it searches


def make_agent(name: str | None = None, **settings: Any) -> Agent:
    """The agent `name`, or the one whose path is the setting `_target_`, as in `conf/agent/<name>.yaml`.

    Raises:
        UsageError: when there is no such agent or setting (close names are suggested), or a value does not fit.
    """
    own = {key: value for key, value in settings.items() if key not in _SPACE_SETTINGS}
    return maker("agent", {"name": name, **own}, AGENTS, Agent)()


def heuristic_for(agent: Agent, name: str, choice: Mapping[str, Any] | None) -> partial[Heuristic]:
    """What makes the heuristic of an informed agent, see `heuristic_maker`; errors call the agent by `name`.

    Raises:
        UsageError: as `heuristic_maker`, and when it is missing, or prefers no actions though the agent needs that.
    """
    if choice is None:
        raise UsageError(f"agent {name!r} needs a heuristic: choose one of {', '.join(HEURISTICS)}")
    made = heuristic_maker(choice)
    if agent.needs_preferences and not cast(type[Heuristic], made.func).prefers:
        remedy = "needs a heuristic that prefers actions, for example h_add"
        raise UsageError(f"agent {name!r} {remedy}, not {label_of(choice)!r}")
    return made


def label_of(choice: Mapping[str, Any]) -> str:
    """The label of an agent or a heuristic, else its name, else the name of the class of one's own."""
    return str(choice.get("label") or choice.get("name") or choice["_target_"].rpartition(".")[2])


__all__ = ["AGENTS", "Agent", "heuristic_for", "label_of", "make_agent"]
