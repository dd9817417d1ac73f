"""Explanations of networks: the parts of a value, what nodes matter, and their names."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from epigym import StateSpace, load_problem
from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.encoding.relational import KIND_OF, Relational, type_ids_of
from epigym.errors import UsageError
from epigym.features.types import FeatureTypes
from learn.explain import Explain
from learn.explain import explain as print_explanation
from learn.models.base import Base
from learn.models.gine.explaining import explain_network, measure_influence, name_nodes
from learn.models.gine.model import NetworkModel
from tests.helpers.commands import compose
from tests.helpers.structures import follow
from tests.helpers.trained import SMALL, random_model

PROBLEM = "coin_in_the_box/pl_5"
PLAN = ("open_a", "peek_a")
KINDS = ("object", "goal", "fact", "fluent", "belief", "world", "row")


def random_network(types: FeatureTypes, base: Base) -> NetworkModel:
    model = random_model(SMALL, "relational", types=type_ids_of([types], Relational()), base=base)
    return replace(model, encoding={"name": "relational", **asdict(Relational())})


@pytest.mark.parametrize("base", ["none", "h_ff"])
@pytest.mark.parametrize("plan", [(), PLAN])
def test_the_parts_are_the_value(base: Base, plan: tuple[str, ...]) -> None:
    space = StateSpace(load_problem(PROBLEM))
    types = FeatureTypes(space.task)
    model = random_network(types, base)
    state = follow(space, plan)[-1]
    found = explain_network(space, model, state, types)
    [expected] = model.make_scorer(space).score(np.array([state]))
    assert found.value == found.base + found.correction == pytest.approx(expected, abs=1e-4)
    assert (found.base > 0) == (base != "none")
    sizes = [abs(node.value) for node in found.nodes]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0


class Linear(nn.Module):
    """Three times the first column plus five times the second of the inputs of nodes, summed."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes = nn.Linear(2, 2, bias=False)
        with torch.no_grad():
            self.nodes.weight.copy_(torch.tensor([[1.0, 1.0], [0.0, 2.0]]))

    def forward(self, data: Any) -> Tensor:
        value: Tensor = (self.nodes(data.x) @ torch.tensor([3.0, 5.0])).sum()[None]
        return value


def test_the_influence_of_nodes_on_a_linear_network_is_what_they_add() -> None:
    network = Linear().requires_grad_(False)
    data = SimpleNamespace(x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]]))
    value, influence = measure_influence(network, data)
    # Inputs (1, 0), (1, 2), (1, -2).
    assert (value, influence.tolist()) == (9.0, [3.0, 13.0, -7.0])
    assert float(network(data)) == 9.0  # the hook is gone


@pytest.mark.parametrize(
    ("problem", "steps"), [(PROBLEM, 0), (PROBLEM, 40), ("room_messages", 40), ("active_muddy_child", 10)]
)
def test_every_node_has_a_name_of_its_kind(problem: str, steps: int) -> None:
    """Kinds are told from names, states from the reference, and worlds have the fluents that edges lead to."""
    space = StateSpace(load_problem(problem))
    task, types = space.task, FeatureTypes(space.task)
    encoder = make_encoder(space, make_encoding({"name": "relational"}))
    if steps:
        space.expand(np.unique(np.append(space.expand([0]).target, 0)))
    for state in range(min(steps + 1, len(space))):
        graph, names = encoder.graphs([state]), list(name_nodes(space, state, types))
        kinds = [KINDS[kind] for kind in KIND_OF[graph.nodes[:, 1]]]
        assert len(names) == len(kinds)
        objects = set(task.structure.types if task.structure else task.agents)
        held = [f"{agent} about {fluent}" for agent in task.agents for fluent in task.fluents]
        expected: dict[str, Callable[[str], object]] = {
            "object": objects.__contains__,
            "goal": {f"goal: {formula}" for formula in types.tables.goal}.__contains__,
            "fact": re.compile(r"\(.*\)").fullmatch,
            "fluent": set(task.fluents).__contains__,
            "belief": set(held).__contains__,
            "world": re.compile(r"world \d+").fullmatch,
            "row": re.compile(r".+: worlds \{[\d, ]*\}").fullmatch,
        }
        assert [(kind, name) for kind, name in zip(kinds, names, strict=True) if not expected[kind](name)] == []
        linked = {(names[source], names[target]) for source, target in graph.edge_index.T.tolist()}
        estate = space.model(state).state
        for name, kind in zip(names, kinds, strict=True):
            if kind == "belief":
                agent, _, fluent = name.partition(" about ")
                assert {(name, agent), (name, fluent)} <= linked
            if kind == "world":
                fluents = {end for start, end in linked if start == name and end in set(task.fluents)}
                assert fluents == set(estate.valuations[int(name.split()[1])])
            if kind == "row":
                agent, _, members = name.partition(": worlds ")
                ends = {end for start, end in linked if start == name}
                assert agent in ends
                assert {f"world {one}" for one in re.findall(r"\d+", members)} <= ends


def test_a_network_is_explained_from_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = StateSpace(load_problem(PROBLEM))
    types = FeatureTypes(space.task)
    model = random_network(types, "h_add")
    file = tmp_path / "model.safetensors"
    model.write(file)
    found = explain_network(space, model, follow(space, PLAN)[-1], types)
    print_explanation(
        compose(Explain, "explain", f"problem={PROBLEM}", f"model={tmp_path}", f"after=[{','.join(PLAN)}]", "top=4")
    )
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{PROBLEM} after {', '.join(PLAN)}, by {file} (network)"
    assert said[2:5] == [
        f"{found.value:12.4f}  value, the sum of",
        f"{found.base:12.4f}  base heuristic: h_add",
        f"{found.correction:12.4f}  correction",
    ]
    assert said[7:] == [f"{value:12.4f}  {name}" for name, value in found.nodes[:4]]


def test_nodes_without_names_are_refused() -> None:
    space = StateSpace(load_problem(PROBLEM))
    model = replace(random_model(SMALL, "hash"), path="hash.safetensors")
    with pytest.raises(UsageError, match=r"hash\.safetensors: only networks of model=gine encoding=relational"):
        explain_network(space, model, 0, FeatureTypes(space.task))
