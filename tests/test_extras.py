"""What an installation without any extra can do, and what it says where it needs one."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.metadata import PathDistribution as Distribution
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from epigym.cli.codes import ExitCode
from epigym.config.packages import PLACE, extras, missing
from learn.models import open_model
from learn.models.shipped import locate_shipped
from tests.helpers.benchmark_files import ROOT
from tests.helpers.imports import PACKAGES, Tree, name_of
from tests.tools import light

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = ("all", "dev")  # extras of which the packages import nothing
IN_LEARN = {"learn.models.opening"}  # for searches
PICTURES = {"epigym.drawing.axes", "search.reports.figures", "search.reports.writing"}
AGENTS = {"epigym.envs.aec", "epigym.envs.parallel"}
SERVED = {"search.exploring.app", "search.exploring.server"}

WITHOUT_EXTRAS = """
import gymnasium, epigym
from epigym import KripkeModel, StateSpace, load_problem
from learn.models import open_model
from learn.models.shipped import locate_shipped, read_defaults
from search.heuristics import HEURISTICS
from search.planning.configuration import Configuration
from search.planning.planner import find_plan

env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
task = load_problem("coin_in_the_box/pl_3")
assert len(StateSpace(task).expand([0]).target)
for name in HEURISTICS:
    assert find_plan(task, Configuration.of("hfs", name)).status == "solved", name
assert find_plan(task, Configuration.of("interleaved")).status == "solved"
for domain in read_defaults():
    for kind in ("linear", "gine"):
        open_model(locate_shipped(kind, domain)).make_scorer(StateSpace(task)).score([0])
"""


def required(requirements: list[str]) -> set[str]:
    """The names of packages as their modules spell them, without those of the project itself."""
    names = {re.split(r"[\[<>=]", requirement)[0].replace("-", "_").lower() for requirement in requirements}
    return names - {PROJECT["name"]}


def lightly(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a module without the packages of all extras."""
    command = [sys.executable, str(Path(light.__file__)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def test_extras_are_named() -> None:
    [everything] = PROJECT["optional-dependencies"]["all"]
    assert everything == f"epigym[{','.join(sorted(PROJECT['optional-dependencies'].keys() - {*TOOLS}))}]"
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert PROJECT["optional-dependencies"].keys() - {*TOOLS} <= {*table}
    declared = required(PROJECT["dependencies"]) | light.EXTRAS
    distributions = packages_distributions()
    imported = {found.target for found in Tree.read(ROOT).imports} - sys.stdlib_module_names
    libraries = {name for name in imported if name.partition(".")[0] not in PACKAGES}
    assert {name for name in libraries if declared.isdisjoint(required(distributions.get(name, [])))} == set()


@pytest.mark.slow
def test_what_is_not_about_learning_or_pictures_is_imported_without_extras(tmp_path: Path) -> None:
    modules = {name_of(path.relative_to(ROOT)) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    commands = {name for name in modules if name.startswith("learn.") and name.count(".") == 1}
    light_modules = {name for name in modules if not name.startswith("learn.")} | commands | IN_LEARN
    needed = sorted(light_modules - PICTURES - AGENTS - SERVED)
    (tmp_path / "imports.py").write_text("\n".join(f"import {name}" for name in needed))
    ended = lightly("imports", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_environments_and_searches_need_no_extra(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WITHOUT_EXTRAS)
    ended = lightly("script", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_the_planner_of_the_competition_needs_no_extra(tmp_path: Path) -> None:
    ended = lightly("search.competition", str(ROOT / "docs/epddl/coin-1.json"), "plan.json", cwd=tmp_path)
    assert ended.returncode == ExitCode.SUCCESS
    assert (tmp_path / "plan.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        ("learn.train_linear domain=grapevine data.instances=1", "scipy", "learn"),
        ("learn.train domain=grapevine", "torch", "learn"),
        ("learn.rollouts problem=[coin_in_the_box/pl_3]", "matplotlib", "draw"),
        (f"learn.export model={locate_shipped('gine', 'gossip')}", "torch", "learn"),
        ("search.solve problem=coin_in_the_box/pl_3 agent=hfs heuristic=learned heuristic.model=paper", "torch",
         "learn"),
        ("search.solve -m problem=coin_in_the_box/pl_3 hydra/launcher=local", "hydra-joblib-launcher", "sweep"),
        ("search.solve -m problem=coin_in_the_box/pl_3 hydra/launcher=slurm", "hydra-submitit-launcher", "sweep"),
        ("search.solve -m problem=coin_in_the_box/pl_3 hydra/sweeper=optuna", "hydra-optuna-sweeper", "sweep"),
        ("search.evaluate problems=[coin_in_the_box/pl_3] cluster=local", "submitit", "sweep"),
        ("epigym show coin_in_the_box/pl_3", "pygraphviz", "draw"),
        ("search.explore problem=coin_in_the_box/pl_3", "flask", "web"),
    ],
)  # fmt: skip
def test_what_needs_an_extra_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, package: str, extra: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the command depends on it
    network = open_model(locate_shipped("gine", "gossip"))
    replace(network, kind="paper").write(tmp_path / "paper" / "model.safetensors")
    ended = lightly(*command.split(), cwd=tmp_path)
    assert ended.stderr == f"error: {missing(package)}\n"
    assert f"[{extra}]'" in ended.stderr
    assert ended.returncode == ExitCode.NO_INPUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "package", "extra"),
    [
        ("epigym.to_pyg(observation)", "torch", "learn"),
        ("env.unwrapped.space.model(0)._repr_svg_()", "pygraphviz", "draw"),
        ("env.render()", "matplotlib", "draw"),
        ("epigym.EpistemicAECEnv(env)", "pettingzoo", "agents"),
    ],
)
def test_so_do_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expression: str, package: str, extra: str
) -> None:
    monkeypatch.chdir(tmp_path)
    start = "env = gymnasium.make('epi/CoinInTheBox-v0', instance='pl_3', render_mode='rgb_array')"
    (tmp_path / "script.py").write_text(
        f"import epigym, gymnasium\n{start}\nobservation, _ = env.reset(seed=0)\n{expression}"
    )
    ended = lightly("script", cwd=tmp_path)
    assert ended.stderr.endswith(f"MissingError: {missing(package)}\n")
    assert f"[{extra}]'" in ended.stderr


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (None, "pip install 'epigym[learn]'"),
        ({"url": f"file://{PLACE}", "dir_info": {"editable": True}}, f"pip install -e '{PLACE}[learn]'"),
        ({"url": "file:///e.whl", "archive_info": {}}, "pip install 'epigym[learn] @ file:///e.whl'"),
        ({"url": "file:///e", "dir_info": {}}, "pip install 'epigym[learn] @ file:///e'"),
    ],
)
def test_the_command_fits_the_installation(
    source: dict[str, Any] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if source is None else json.dumps(source)
    monkeypatch.setattr(Distribution, "read_text", lambda *_: text)
    monkeypatch.setattr(Distribution, "requires", ['torch>=2; extra == "learn"'])
    monkeypatch.chdir(tmp_path)
    assert str(missing("torch")) == f"needs torch: {command}"
    assert missing("numpy") is None
    monkeypatch.chdir(PLACE)
    assert str(missing("torch")) == f"needs torch: {command.replace(str(PLACE) + '[', '.[')}"


def test_a_package_that_no_extra_installs_is_not_explained() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"), extras():
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401
