"""What the README shows works: its Python runs, its commands exist and compose."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from epigym.packages import PLACE
from tests.helpers.benchmark_files import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = sorted(set(re.findall(r"^    python (-m [^\n#|]+)|`python (-m [^`]+)`", README, flags=re.MULTILINE)))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_python_blocks_run(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("command", ["".join(groups).strip() for groups in COMMANDS])
def test_commands_exist_and_compose(command: str) -> None:
    _, module, *arguments = shlex.split(command)
    importlib.import_module(module)
    if module.startswith(("learn.", "search.")):
        overrides = [argument for argument in arguments if "=" in argument and not argument.startswith("hydra/")]
        if "-m" in arguments:  # a sweep: its first job
            overrides = [override.split(",")[0] for override in overrides]
        with initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
            assert compose(module.partition(".")[2], overrides=overrides)  # refuses what it does not know


def test_demo_runs_the_two_commands_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^DEMO_\w+ = (.+)$", makefile, flags=re.MULTILINE)
    assert len(recipes) == 2
    assert all(f"`{recipe}`" in README for recipe in recipes)


def test_linked_files_exist() -> None:
    links = re.findall(r'(?:src="|\]\()((?!http)[^")#]+)', README)
    assert links, "the README shows pictures"
    assert [link for link in links if not Path(ROOT, link).exists()] == []
