"""Search agents by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from epigym.config.registry import maker
from epigym.errors import UsageError
from search.agents.agent import Agent, run_agent
from search.heuristics import HEURISTICS, choose_heuristic
from search.heuristics.heuristic import Heuristic

AGENTS: Mapping[str, str] = {
    "interleaved": "search.agents.interleaved.Interleaved",
    "bfs": "search.agents.breadth_first.BreadthFirst",
    "hfs": "search.agents.best_first.GreedyBestFirst",
    "hfs_star": "search.agents.best_first.HFSStar",
    "wa_star": "search.agents.best_first.WeightedAStar",
    "bfws": "search.agents.best_first.BestFirstWidth",
    "hfs_preferred": "search.agents.preferred.PreferredBestFirst",
    "lazy": "search.agents.preferred.LazyBestFirst",
    "alternation": "search.agents.alternation.Alternation",
    "dfs": "search.agents.depth_first.DepthFirst",
    "idfs": "search.agents.depth_first.IterativeDeepening",
}
"""The class of each agent; its module is imported when the agent is chosen."""


def make_agent(name: str | None = None, **settings: Any) -> Agent:
    """Make the agent `name` with settings as in `conf/agent/<name>.yaml`; or with `_target_`, a class or its path.

    The settings `symmetry` and `threads` are those of a `search.planning.configuration.Configuration`.

    Raises:
        UsageError: when there is no such agent or setting (close names are suggested), or a value does not fit.
    """
    agent: Agent = maker("agent", {"name": name, **settings}, AGENTS, Agent)()
    return agent


def choose_heuristic_for(agent: Agent, name: str, choice: Mapping[str, Any] | None) -> partial[Heuristic]:
    """Choose the heuristic of an informed agent, see `choose_heuristic`; `name` is the agent in errors.

    Raises:
        UsageError: as `choose_heuristic`, and when the heuristic is missing, or prefers no actions as the agent needs.
    """
    if choice is None:
        raise UsageError(f"agent {name!r} needs a heuristic: choose one of {', '.join(HEURISTICS)}")
    made = choose_heuristic(choice)
    if agent.needs_preferences and not cast(type[Heuristic], made.func).prefers:
        remedy = "needs a heuristic that prefers actions, for example h_add"
        raise UsageError(f"agent {name!r} {remedy}, not {get_label(choice)!r}")
    return made


def to_settings(choice: str | Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an agent or a heuristic; a name is one setting."""
    return {"name": choice} if isinstance(choice, str) else dict(choice)


def get_label(choice: Mapping[str, Any]) -> str:
    """The label of an agent or a heuristic, or else its name, or else the name of its class."""
    own = choice.get("_target_")
    return str(choice.get("label") or choice.get("name") or getattr(own, "__name__", str(own).rpartition(".")[2]))


__all__ = ["AGENTS", "Agent", "choose_heuristic_for", "get_label", "make_agent", "run_agent", "to_settings"]
