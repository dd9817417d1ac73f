"""Agents and heuristics that search the e-states of a task for a plan.

    >>> import search
    >>> search.plan("grapevine/3_pl_4", agent="hfs", heuristic="goal_count").plan

`plan` takes an environment in place of the name, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from search.policies.planner import plan

__all__ = ["plan"]


def __getattr__(name: str) -> Any:
    """Import `plan` when it is first asked for."""
    if name == "plan":
        from search.policies.planner import plan

        return plan
    raise AttributeError(f"module 'search' has no attribute {name!r}")
