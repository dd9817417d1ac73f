"""Gymnasium finds the environments by itself, and what is not needed is not imported."""

from __future__ import annotations

import subprocess
import sys

import domains
from epigym.envs.registration import camel_case


def run(script: str) -> list[str]:
    """The words that a fresh process prints."""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_gymnasium_finds_the_environments_of_all_domains_without_an_import() -> None:
    found = run("import gymnasium; print(*(name for name in gymnasium.registry if name.startswith('epi/')))")
    assert set(found) == {"epi/Problem-v0", *(f"epi/{camel_case(name)}-v0" for name in domains.DOMAINS)}


def test_an_environment_is_made_without_importing_epigym_first() -> None:
    script = "import gymnasium; env = gymnasium.make('epi/CoinInTheBox-v0'); print(env.reset(seed=0)[0].nodes.shape[1])"
    assert run(script) == ["64"]


def test_importing_epigym_imports_neither_gymnasium_nor_a_parser_nor_a_domain() -> None:
    loaded = run("import sys, epigym; print(*sys.modules)")
    assert "epigym" in loaded
    assert {"gymnasium", "lark", "numpy", "domains.grapevine"}.isdisjoint(loaded)
