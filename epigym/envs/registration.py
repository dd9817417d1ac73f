"""The environments in the registry of Gymnasium; their modules are imported when an environment is made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

MAX_EPISODE_STEPS = 100


def camel_case(name: str) -> str:
    """The name of a domain in an environment id: `CoinInTheBox` of `coin_in_the_box`."""
    return name.title().replace("_", "")


def register_with_gymnasium() -> None:
    """Register the environments, or let the first import of Gymnasium do so: it takes longer than a short search."""
    if "gymnasium" in sys.modules:
        register_environments()
    else:
        sys.meta_path.insert(0, _Finder())


def register_environments() -> None:
    """Register `epi/Problem-v0`, `epi/Text-v0` and `epi/<Domain>-v0`."""
    from gymnasium import register

    import domains

    register(
        "epi/Problem-v0",
        entry_point="epigym.envs.env:ProblemEnv",
        vector_entry_point="epigym.envs.vector:problem_envs",
        max_episode_steps=MAX_EPISODE_STEPS,
    )
    register("epi/Text-v0", entry_point="epigym.envs.text:TextEnv", max_episode_steps=MAX_EPISODE_STEPS)
    for name in domains.DOMAINS:
        register(
            f"epi/{camel_case(name)}-v0",
            entry_point="epigym.envs.domain_env:DomainEnv",
            vector_entry_point="epigym.envs.vector:domain_envs",
            max_episode_steps=MAX_EPISODE_STEPS,
            kwargs={"domain": name},
        )


class _Finder:
    """Finds Gymnasium as the other finders do, with a loader that also registers the environments."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            spec.loader = cast(Any, _Loader(spec.loader))
        return spec


class _Loader:
    """Executes a module with its own loader, then registers the environments."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._own
        self._own.exec_module(module)
        register_environments()
