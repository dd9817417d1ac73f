"""The configuration files: every option works and has the defaults of the code."""

import inspect
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from epigym.cli.words import hydra_words
from epigym.config.registry import default_settings
from epigym.config.targets import find
from epigym.errors import UsageError
from epigym.problem import domain_problem
from epigym.space.space import StateSpace
from search.agents import AGENTS
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.evaluate import Evaluate, records
from search.evaluation.record import Record
from search.explore import Explore
from search.heuristics import HEURISTICS
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from search.planning.single_search import search_in_process
from search.solve import Solve
from tests.helpers.benchmark_files import ROOT, SHARED
from tests.helpers.commands import compose
from tests.helpers.marks import slow_but
from tests.helpers.tasks import coin

CONF = ROOT / "conf"


def grid(*overrides: str) -> list[Record]:
    return records(compose(Evaluate, "evaluate", *overrides))


def options(group: str) -> set[str]:
    return {file.stem for file in (CONF / group).glob("*.yaml")}


@pytest.mark.parametrize(("group", "registry"), [("agent", AGENTS), ("heuristic", HEURISTICS)])
def test_options_name_every_setting_with_its_default(group: str, registry: dict[str, str]) -> None:
    assert options(group) <= set(registry)
    for name, path in registry.items():
        settings = default_settings(group, name, path)
        parameters = {key: value for key, value in inspect.signature(find(path)).parameters.items() if key != "space"}
        chosen = {"agent": name, "heuristic": "h_add"} if group == "agent" else {"agent": "hfs", "heuristic": name}
        assert getattr(Configuration.of(**chosen), group) in (settings, None)  # what the name alone stands for
        values = compose(Solve, "solve", "problem=x", *(f"{key}={value}" for key, value in chosen.items()))
        assert getattr(values, group) == settings
        assert settings.pop("name") == name
        assert group != "agent" or (settings.pop("symmetry", False), settings.pop("threads", 1)) == (False, 1)
        assert set(settings) == set(parameters)
        for key, parameter in parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                default = parameter.default
                assert settings[key] == (list(default) if isinstance(default, tuple) else default)


def test_a_class_of_a_registry_needs_no_configuration_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast(dict[str, str], HEURISTICS), "mistakes", "docs.examples.mistakes.Mistakes")
    values = compose(Solve, "solve", "problem=x", "agent=hfs", "heuristic=mistakes", "heuristic.weight=2")
    assert values.heuristic == {"name": "mistakes", "weight": 2}
    assert Configuration.parse("hfs/mistakes").heuristic == {"name": "mistakes", "weight": 1.0}


def test_configurations_of_the_command() -> None:
    values = compose(Solve, "solve", "problem=x")
    assert Limits(values.max_expanded, values.time_limit, values.memory_limit) == Limits()
    assert Configuration.parse("bfs").label == "bfs"
    assert Configuration.parse("hfs/l_pg") == Configuration.of("hfs", {"name": "l_pg"})
    assert Configuration.of("wa_star", "l_pg").agent["weight"] == 3.0
    assert Configuration.of({"name": "wa_star", "weight": 7}, "l_pg").agent["weight"] == 7
    assert Configuration.of("bfs", "l_pg").heuristic is None


HEFP = ("gnn", "goal_count", "c_pg", "l_pg", "s_pg")


@pytest.mark.parametrize(
    ("experiment", "configurations", "problems"),
    [
        ("standard", ["bfs", "hfs_star/gnn"], 66),
        ("encodings", ["hfs_star/map", "hfs_star/hash", "hfs_star/bitmask"], 95),
        ("searches", ["hfs/gnn", "hfs_star/gnn"], 95),
        ("transfer", ["bfs", "hfs_star/gnn"], 75),
        ("planning_graph", [f"hfs/{name}" for name in HEFP], 75),
    ],
)
def test_experiments_are_the_grids_of_the_paper(experiment: str, configurations: list[str], problems: int) -> None:
    found = grid(f"experiment={experiment}")
    assert list(dict.fromkeys(record.configuration.label for record in found)) == configurations
    assert len({record.problem.name for record in found}) == problems
    assert len(found) == problems * len(configurations)
    assert {record.options.limits.time_limit for record in found} == {600}


def test_the_competition_has_learned_and_other_heuristics() -> None:
    found = grid("experiment=competition", "per_domain=1")
    assert len(found) == 3 * 11
    agents = {record.configuration.label: record.configuration.agent for record in found}
    assert list(agents) == ["bfs", "default", "default_unlearned"]
    comparison = grid("experiment=comparison", "per_domain=1")
    compared = {record.configuration.label: record.configuration.agent for record in comparison}
    assert agents.items() <= compared.items()
    unlearned = {"label": "default_unlearned", "default_heuristic": "h_ff"}
    assert agents["default_unlearned"] == agents["default"] | unlearned
    learned, plain = (Configuration.of(agents[name]).choices[2:] for name in ("default", "default_unlearned"))
    assert learned[2:4] == [{"name": "alternation"}, {"name": "learned", "least_known": 0.15}]
    assert plain == [*learned[:2], *learned[4:]]
    assert {(record.options.limits.time_limit, record.options.limits.memory_limit) for record in found} == {(60, 2**33)}


@pytest.mark.reference
def test_the_competition_takes_the_problems_of_the_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    toolkit = grid("experiment=competition", "suite=epddl", "time_limit=600")
    assert (len(toolkit), {record.options.limits.time_limit for record in toolkit}) == (3 * 19, {600})


def test_the_default_is_compared_with_itself_but_for_the_model() -> None:
    agents = {
        record.configuration.label: record.configuration.agent for record in grid("experiment=default", "per_domain=1")
    }
    assert list(agents) == ["default", "networks", "linear_models", "unlearned"]
    assert all(agent["components"] == Configuration.of("interleaved").agent["components"] for agent in agents.values())
    assert agents.pop("default") == Configuration.of({"name": "interleaved", "label": "default"}).agent
    assert [agent["default_heuristic"] for agent in agents.values()] == [
        *({"name": "learned", "least_known": 0.15, "model": f"learn/models/shipped/{kind}/{{domain}}.safetensors"}
          for kind in ("gine", "linear")),
        "h_ff",
    ]  # fmt: skip


@pytest.mark.parametrize("agent", ["bfs", "hfs", "lazy", "alternation"])
def test_agents_find_the_same_with_two_threads(agent: str) -> None:
    task = domain_problem("gossip", agents=7)  # of 128 worlds
    choices = (Configuration.of({"name": agent, "threads": threads}, "h_add") for threads in (1, 2))
    found = [search_in_process(task, choice, SearchOptions(Limits(max_expanded=30))).result for choice in choices]
    alone, shared = ((one.status, one.plan, one.expanded, one.generated, one.distinct) for one in found)
    assert alone == shared


LARGE = {"comparison", "competition", "default"}
EXPERIMENTS = {*options("experiment")} - {"paper"}  # which is one of trainings


@pytest.mark.parametrize("experiment", slow_but(sorted(EXPERIMENTS), *EXPERIMENTS - LARGE))
def test_experiments_can_be_small(experiment: str) -> None:
    whole, small = (
        compose(Evaluate, "evaluate", f"experiment={experiment}", f"size={size}") for size in ("full", "small")
    )
    assert str(small.folder) == f"{whole.folder}_small"
    found = records(small)
    assert {record.options.limits.time_limit for record in found} <= {10}
    assert len(found) <= len(records(whole))
    domains = {record.problem.domain for record in found}
    assert all(len({one.problem.name for one in found if one.problem.domain == domain}) <= 2 for domain in domains)


@pytest.mark.parametrize(
    ("agent", "heuristic", "message"),
    [
        ({"nmae": "hfs"}, "l_pg", "agent: {'nmae': 'hfs'} has no name: add name=…"),
        (3, None, "agent=3 must be a name, a mapping of name and settings, or a class"),
        ("lazy", "goal_count", "agent 'lazy' needs a heuristic that prefers actions, for example h_add"),
        ({"name": "bfs", "threads": 0}, None, "agent 'bfs': threads=0: expected at least 1"),
        ({"name": "bfs", "symmetry": "much"}, None, "agent 'bfs': symmetry=much: expected true or false"),
        ({"name": "bfs", "wait": 1}, None, "unknown setting of agent 'bfs' 'wait': there is none"),
        ({"name": "hfs", "expansion_per_batch": 2}, "l_pg", "did you mean 'expansions_per_batch'?"),
        ({"name": "hfs", "expansions_per_batch": "abc"}, "l_pg", "=abc: expected a whole number"),
        ({"name": "hfs", "expansions_per_batch": 0}, "l_pg", "=0: expected at least 1"),
        ({"name": "bfws", "by": "scores"}, "l_pg", "unknown agent 'bfws': by 'scores': did you mean 'score'?"),
        ("hfs", {"name": "learned", "model": [3]}, "heuristic 'learned': model=[3]: expected text"),
        ("hfs", {"name": "learned", "device": "gpu"}, "unknown heuristic 'learned': device 'gpu': did you mean 'cpu'?"),
        ("hfs", {"name": "learned", "modle": "x"}, "'modle': did you mean 'model'?"),
        ({"_target_": "os.getcwd"}, None, "'os.getcwd' is no class that derives from search.agents.agent.Agent"),
        ("hfs", {"_target_": "decimal.Decimal"}, "derives from search.heuristics.heuristic.Heuristic"),
    ],
)
def test_wrong_choices_and_settings_are_one_line(agent: Any, heuristic: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        Configuration.of(agent, heuristic)
    assert "\n" not in str(caught.value)


OWN = """
from __future__ import annotations
from typing import TYPE_CHECKING
import numpy as np
from search.agents.depth_first import DepthFirst
from search.heuristics import Heuristic
if TYPE_CHECKING:
    from epigym.space.space import StateSpace

class Mine(Heuristic):
    def __init__(self, space: StateSpace, scale: int, **more: float):
        self._truth, self._scale = space.query(space.task.goal), scale
    def score(self, ids):
        return self._scale * np.sum(~self._truth(ids), axis=1, dtype=np.float64)

class Deep(DepthFirst):
    def __init__(self, least: float = 0):
        pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of a module outside the project."""
    (tmp_path / "foreign.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("own")
def test_agents_and_heuristics_can_be_classes_of_ones_own() -> None:
    informed = Configuration.of("hfs", {"_target_": "foreign.Mine", "scale": 2, "more": 0.5})
    assert informed.label == "hfs/Mine"
    space = StateSpace(coin())
    assert informed.make_heuristic(space).score(np.array([0], dtype=np.int32)).tolist() == [4]
    result = find_plan(coin(), informed)
    assert (result.status, result.label) == (SearchStatus.SOLVED, "hfs/Mine")
    member = {"agent": "hfs", "heuristic": informed.heuristic}
    for agent, label in (
        ({"_target_": "foreign.Deep", "label": "deep"}, "deep"),
        ({"name": "interleaved", "components": [member]}, "interleaved"),
    ):
        assert find_plan(coin(), Configuration.of(agent)).label == label
    words = ("problem=x", "agent={_target_: foreign.Deep, least: 1}", "heuristic={_target_: foreign.Mine, scale: 2}")
    for kind, name in ((Solve, "solve"), (Explore, "explore")):
        values = compose(kind, name, *hydra_words(words, kind, is_sweep=False))
        assert (values.agent, values.heuristic) == (
            {"_target_": "foreign.Deep", "least": 1},
            {"_target_": "foreign.Mine", "scale": 2},
        )
    by_path = hydra_words(["problem=x", "agent._target_=foreign.Deep", "agent.least=1"], Solve, is_sweep=False)
    assert compose(Solve, "solve", *by_path).agent == values.agent
    named = hydra_words(["problem=x", "agent={name: lazy, boost: 9}"], Solve, is_sweep=False)
    assert compose(Solve, "solve", *named).agent == {"name": "lazy", "boost": 9}
    assert Configuration.of(values.agent, values.heuristic).label == "Deep"
    assert Configuration.of("hfs", values.heuristic).heuristic == {"_target_": "foreign.Mine", "scale": 2}
    for wrong, message in (
        ({"_target_": "foreign.Mine"}, "heuristic 'foreign.Mine' needs the setting scale"),
        ({"_target_": "foreign.Mni", "scale": 2}, "has no attribute 'Mni'"),
    ):
        with pytest.raises(UsageError, match=message):
            Configuration.of("hfs", wrong)
    with pytest.raises(UsageError, match=r"agent 'foreign\.Deep': least=x: expected a number"):
        Configuration.of({"_target_": "foreign.Deep", "least": "x"})
