"""The environments in the registry of Gymnasium; their modules are imported when an environment is made."""

from __future__ import annotations

from gymnasium import register

import domains

MAX_EPISODE_STEPS = 100


def camel_case(name: str) -> str:
    """The name of a domain in an environment id: `CoinInTheBox` of `coin_in_the_box`."""
    return name.title().replace("_", "")


def register_environments() -> None:
    """Register `epi/Problem-v0`, `epi/Text-v0` and `epi/<Domain>-v0`."""
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
