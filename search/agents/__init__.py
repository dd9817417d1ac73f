"""Search agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epigym.config.registry import maker
from search.agents.agent import Agent
from search.agents.best_first import bfws, hfs, hfs_star, wa_star
from search.agents.breadth_first import BreadthFirst
from search.agents.depth_first import DepthFirst, IterativeDeepening
from search.agents.mix import Mix
from search.agents.preferring import Lazy, Preferring

AGENTS: Mapping[str, Callable[..., Agent]] = {
    "bfs": BreadthFirst,
    "hfs": hfs,
    "hfs_star": hfs_star,
    "wa_star": wa_star,
    "bfws": bfws,
    "hfs_preferred": Preferring,
    "lazy": Lazy,
    "mix": Mix,
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


__all__ = ["AGENTS", "Agent", "make_agent"]
