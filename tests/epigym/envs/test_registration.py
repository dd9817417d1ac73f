"""Importing epigym registers the environments and imports little else."""

import subprocess
import sys

import domains
from epigym.envs.registration import camel_case


def run(script: str) -> list[str]:
    """The words that a fresh process prints."""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_importing_epigym_registers_the_environments_of_all_domains() -> None:
    found = run("import epigym, gymnasium; print(*(name for name in gymnasium.registry if name.startswith('epi/')))")
    assert set(found) == {"epi/Problem-v0", "epi/Text-v0", *(f"epi/{camel_case(name)}-v0" for name in domains.DOMAINS)}


def test_an_environment_is_made_by_an_id_that_names_the_package() -> None:
    script = (
        "import gymnasium as gym; env = gym.make('epigym:epi/CoinInTheBox-v0'); print(env.reset()[0].nodes.shape[1])"
    )
    assert run(script) == ["64"]


def test_importing_epigym_imports_neither_a_parser_nor_the_core_nor_a_domain() -> None:
    loaded = run("import sys, epigym; print(*sys.modules)")
    assert "epigym" in loaded
    assert {"lark", "epigym._core", "epigym.envs.env", "domains.grapevine"}.isdisjoint(loaded)
