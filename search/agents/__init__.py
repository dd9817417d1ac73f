"""Search agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search.agents.agent import Agent
from search.agents.best_first import bfws, hfs, hfs_star, wa_star
from search.agents.breadth_first import BreadthFirst
from search.agents.depth_first import DepthFirst, IterativeDeepening
from search.heuristics.registry import lookup
from search.planning.portfolio import Portfolio

AGENTS: Mapping[str, Callable[..., Agent]] = {
    "bfs": BreadthFirst,
    "hfs": hfs,
    "hfs_star": hfs_star,
    "wa_star": wa_star,
    "bfws": bfws,
    "dfs": DepthFirst,
    "idfs": IterativeDeepening,
    "portfolio": Portfolio,
}


def make_agent(name: str, **settings: Any) -> Agent:
    """The agent `name` with its settings, as in `conf/agent/<name>.yaml`.

    Raises:
        EpigymError: when there is no such agent or setting; the message suggests close names.
    """
    return lookup(AGENTS, "agent", name, **settings)


__all__ = ["AGENTS", "Agent", "make_agent"]
