"""The environments that Gymnasium finds through the entry point `gymnasium.envs`."""

from __future__ import annotations

from gymnasium import register

import domains

MAX_EPISODE_STEPS = 100


def camel_case(name: str) -> str:
    """The name of a domain in an environment id: `CoinInTheBox` of `coin_in_the_box`."""
    return name.title().replace("_", "")


def register_environments() -> None:
    """Register `Problem-v0` and `<Domain>-v0`; Gymnasium calls this in the namespace `epi`."""
    register(
        "Problem-v0",
        entry_point="epigym.envs.env:ProblemEnv",
        vector_entry_point="epigym.envs.vector:problem_envs",
        max_episode_steps=MAX_EPISODE_STEPS,
    )
    for name in domains.DOMAINS:
        register(
            f"{camel_case(name)}-v0",
            entry_point="epigym.envs.domain_env:DomainEnv",
            vector_entry_point="epigym.envs.vector:domain_envs",
            max_episode_steps=MAX_EPISODE_STEPS,
            kwargs={"domain": name},
        )
