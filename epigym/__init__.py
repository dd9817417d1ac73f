"""Multi-agent epistemic planning as Gymnasium environments.

Importing this package registers the environments `epi/Problem-v0` and `epi/<Family>-v0`, see
`epigym.env.EpistemicEnv`.

    >>> import gymnasium, epigym
    >>> env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_5")
    >>> observation, info = env.reset(seed=0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gymnasium import register

import domains
from epigym.errors import CheckpointError, EpigymError, LimitError, ParseError, TaskError

if TYPE_CHECKING:
    from epigym.encoding import to_pyg
    from epigym.env import EpistemicEnv
    from epigym.model import KripkeModel
    from epigym.problem import load_problem
    from epigym.space import StateSpace
    from epigym.task import EState, Task
    from epigym.wrappers import PaddedObservation

__all__ = [
    "CheckpointError",
    "EState",
    "EpigymError",
    "EpistemicEnv",
    "KripkeModel",
    "LimitError",
    "PaddedObservation",
    "ParseError",
    "StateSpace",
    "Task",
    "TaskError",
    "load_problem",
    "to_pyg",
]

MAX_EPISODE_STEPS = 100

# Imported when first asked for: the core and the front ends are not needed to list environments.
_HOMES = {
    "EState": "epigym.task",
    "EpistemicEnv": "epigym.env",
    "KripkeModel": "epigym.model",
    "PaddedObservation": "epigym.wrappers",
    "StateSpace": "epigym.space",
    "Task": "epigym.task",
    "load_problem": "epigym.problem",
    "to_pyg": "epigym.encoding",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'epigym' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


register("epi/Problem-v0", entry_point="epigym.env:ProblemEnv", max_episode_steps=MAX_EPISODE_STEPS)
for _family in domains.FAMILIES.values():
    register(
        f"epi/{_family.env_id_name}-v0",
        entry_point="epigym.family_env:FamilyEnv",
        max_episode_steps=MAX_EPISODE_STEPS,
        kwargs={"family": _family.name},
    )
