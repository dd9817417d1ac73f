"""Agents and heuristics that search the e-states of a task for a plan.

    >>> import search
    >>> search.plan("grapevine/3_pl_4", agent="hfs", heuristic="goal_count").plan

`plan` also takes an environment, a task or a state space instead of a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from search.policies.planner import plan

__all__ = ["plan"]


def __getattr__(name: str) -> Any:
    """Import `plan` at its first use."""
    if name == "plan":
        from search.policies.planner import plan

        return plan
    raise AttributeError(f"module 'search' has no attribute {name!r}")
