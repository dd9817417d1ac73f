"""Multi-agent epistemic planning as Gymnasium environments.

Importing this package registers the environments `epi/Problem-v0` and `epi/<Domain>-v0`, see
`epigym.envs.env.EpistemicEnv`.

    >>> import gymnasium, epigym
    >>> env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_5")
    >>> observation, info = env.reset(seed=0)
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from epigym.interrupts import is_command, say_briefly

if is_command(sys.orig_argv[1:]):
    sys.excepthook = say_briefly  # before slow imports
    gc.disable()  # imports leave no garbage; enabled by the command once they are over
from epigym.config.packages import check_place
from epigym.errors import EpigymError, LimitError, ModelError, ParseError, TaskError

check_place("domains")
from epigym.envs.registration import register_with_gymnasium  # noqa: E402

if TYPE_CHECKING:
    from epigym.encoding.pyg import to_pyg
    from epigym.envs.aec import EpistemicAECEnv
    from epigym.envs.env import EpistemicEnv
    from epigym.envs.parallel import EpistemicParallelEnv
    from epigym.envs.wrappers import PaddedObservation, PaddedVectorObservation
    from epigym.language import Reading
    from epigym.problem import load_problem
    from epigym.space.kripke_model import KripkeModel
    from epigym.space.search_problem import SearchProblem
    from epigym.space.space import StateSpace
    from epigym.task.task import EState, Task

    __version__: str

__all__ = [
    "EState",
    "EpigymError",
    "EpistemicAECEnv",
    "EpistemicEnv",
    "EpistemicParallelEnv",
    "KripkeModel",
    "LimitError",
    "ModelError",
    "PaddedObservation",
    "PaddedVectorObservation",
    "ParseError",
    "Reading",
    "SearchProblem",
    "StateSpace",
    "Task",
    "TaskError",
    "load_problem",
    "to_pyg",
]

# Imported when first asked for: the core and the front ends are not needed to list environments.
_HOMES = {
    "EState": "epigym.task.task",
    "EpistemicAECEnv": "epigym.envs.aec",
    "EpistemicEnv": "epigym.envs.env",
    "EpistemicParallelEnv": "epigym.envs.parallel",
    "KripkeModel": "epigym.space.kripke_model",
    "PaddedObservation": "epigym.envs.wrappers",
    "PaddedVectorObservation": "epigym.envs.wrappers",
    "Reading": "epigym.language",
    "SearchProblem": "epigym.space.search_problem",
    "StateSpace": "epigym.space.space",
    "Task": "epigym.task.task",
    "load_problem": "epigym.problem",
    "to_pyg": "epigym.encoding.pyg",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name == "__version__":
        from importlib.metadata import version  # takes longer to import than this package

        return version("epigym")
    if name not in _HOMES:
        raise AttributeError(f"module 'epigym' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


register_with_gymnasium()
