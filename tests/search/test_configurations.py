"""The configuration files: every option works and says what the code means by it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from epigym.errors import EpigymError
from search.agents import AGENTS
from search.agents.limits import Limits
from search.evaluate import Evaluate, cells
from search.evaluation.grid import Cell
from search.heuristics import HEURISTICS
from search.planning.configuration import Configuration
from search.solve import Solve
from tests.helpers.benchmark_files import SHARED
from tests.helpers.commands import composed

CONF = Path(__file__).parents[2] / "conf"


def grid(*overrides: str) -> list[Cell]:
    return cells(composed(Evaluate, "evaluate", *overrides))


def options(group: str) -> set[str]:
    return {file.stem for file in (CONF / group).glob("*.yaml")}


def test_every_agent_and_heuristic_is_an_option() -> None:
    assert options("agent") == set(AGENTS)
    assert options("heuristic") == {*HEURISTICS, "none"}


@pytest.mark.parametrize(("group", "registry"), [("agent", AGENTS), ("heuristic", HEURISTICS)])
def test_options_name_every_setting_with_its_default(group: str, registry: dict[str, Any]) -> None:
    for name, make in registry.items():
        settings = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
        parameters = {key: value for key, value in inspect.signature(make).parameters.items() if key != "space"}
        assert settings.pop("name") == name
        assert set(settings) == set(parameters)
        for key, parameter in parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                assert settings[key] == parameter.default


def test_the_defaults_of_the_command_are_those_of_the_library() -> None:
    values = composed(Solve, "solve", "problem=x")
    assert Limits(values.max_expanded, values.time_limit, values.memory_limit) == Limits()


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_agent_can_be_chosen(agent: str) -> None:
    values = composed(Solve, "solve", "problem=x", f"agent={agent}", "heuristic=l_pg")
    assert Configuration.of(values.agent, values.heuristic).make_agent().name == agent


@pytest.mark.parametrize(
    ("experiment", "configurations", "problems"),
    [
        ("standard", ["bfs", "hfs_star/gnn"], 66),
        ("encodings", ["hfs_star/map", "hfs_star/hash", "hfs_star/bitmask"], 95),
        ("searches", ["hfs/gnn", "hfs_star/gnn"], 95),
        ("transfer", ["bfs", "hfs_star/gnn"], 75),
    ],
)
def test_experiments_are_the_grids_of_the_paper(experiment: str, configurations: list[str], problems: int) -> None:
    found = grid(f"experiment={experiment}")
    assert list(dict.fromkeys(cell.configuration.label for cell in found)) == configurations
    assert len({cell.problem for cell in found}) == problems
    assert len(found) == problems * len(configurations)
    assert {cell.time_limit for cell in found} == {600}


def test_the_planning_graph_experiment_has_every_heuristic_of_hefp() -> None:
    found = grid("experiment=planning_graph")
    labels = {cell.configuration.label for cell in found}
    assert {f"hfs/{name}" for name in ("gnn", "open_goals", "c_pg", "l_pg", "s_pg")} < labels
    assert len({cell.problem for cell in found}) == 75


@pytest.mark.reference
def test_the_competition_is_planned_without_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    found = grid("experiment=competition")
    assert len(found) == 2 * 100
    assert {cell.configuration.label for cell in found} == {"bfs", "portfolio"}
    assert {(cell.time_limit, cell.memory_limit) for cell in found} == {(60, 2**33)}
    assert not any("gnn" in str(cell.configuration) for cell in found)
    toolkit = grid("experiment=competition", "suite=epddl", "time_limit=600")
    assert (len(toolkit), {cell.time_limit for cell in toolkit}) == (2 * 19, {600})


OF_FILES = {"competition"}  # experiments on the public EPDDL problems


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(name, marks=pytest.mark.reference if name in OF_FILES else ())
        for name in sorted(options("experiment"))
    ],
)
def test_experiments_can_be_small(experiment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    whole, small = (
        composed(Evaluate, "evaluate", f"experiment={experiment}", f"size={size}") for size in ("full", "small")
    )
    assert str(small.folder) == f"{whole.folder}_small"
    found = cells(small)
    assert {cell.time_limit for cell in found} <= {10}
    assert len(found) <= len(cells(whole))
    domains = {cell.domain for cell in found}
    assert all(len({cell.problem for cell in found if cell.domain == domain}) <= 2 for domain in domains)


def test_configurations_are_read_from_text_and_mappings() -> None:
    assert Configuration.parse("bfs").label == "bfs"
    assert Configuration.parse("hfs/l_pg") == Configuration.of("hfs", {"name": "l_pg"})
    assert Configuration.of("wa_star", "l_pg").agent["weight"] == 3.0
    assert Configuration.of({"name": "wa_star", "weight": 7}, "l_pg").agent["weight"] == 7
    assert Configuration.of("bfs", "l_pg").heuristic is None
    with pytest.raises(EpigymError, match="no heuristic 'l_gp'; did you mean 'l_pg'"):
        Configuration.parse("hfs/l_gp")
    with pytest.raises(EpigymError, match="no agent 'hsf'; did you mean 'hfs'"):
        Configuration.parse("hsf/l_pg")
    with pytest.raises(EpigymError, match="agent 'hfs' needs a heuristic"):
        Configuration.parse("hfs")
    with pytest.raises(EpigymError, match="agent 'bfs': got an unexpected keyword argument 'wait'"):
        Configuration.of({"name": "bfs", "wait": 1})
