"""Graphs of EPDDL tasks: several designated worlds, thousands of fluents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from epigym.encoding.encoder import Encoder
from epigym.encoding.goal_graph import FIRST_AGENT_LABEL
from epigym.errors import LimitError
from epigym.space.space import StateSpace
from tests.helpers.epddl_files import competition_cases, toolkit_cases

pytestmark = pytest.mark.reference

TOOLKIT = {case.name: case for case in toolkit_cases()}
COMPETITION = {case.problem.stem: case for case in competition_cases()}
TO_DESIGNATED = 2


@pytest.mark.parametrize("encoding", ["hash", "map", "bitmask"])
def test_graphs_hold_the_e_states(encoding: str) -> None:
    task = TOOLKIT["Consecutive-Numbers/cn5"].ground().task
    assert len(task.initial.designated) == 2
    space = StateSpace(task)
    space.expand([space.initial])
    ids = list(range(len(space)))
    way = Encoder(space, encoding)
    graphs = way.graphs(ids)
    goal_nodes = len(way.goal.bits)
    for state, (begin, end) in zip(ids, itertools.pairwise(graphs.node_ptr), strict=True):
        found = space.model(state).state
        assert end - begin == goal_nodes + len(found.valuations)
        inside = (graphs.edge_index[0] >= begin) & (graphs.edge_index[0] < end)
        edges = set(
            zip(*(graphs.edge_index[:, inside] - begin).tolist(), graphs.edge_label[inside].tolist(), strict=True)
        )
        worlds = {edge for edge in edges if edge[1] >= goal_nodes}
        assert worlds == {(0, goal_nodes + world, TO_DESIGNATED) for world in found.designated} | {
            (goal_nodes + world, goal_nodes + successor, FIRST_AGENT_LABEL + agent)
            for agent, rows in enumerate(found.successors)
            for world, row in enumerate(rows)
            for successor in row
        }
        identifiers = graphs.nodes[begin:end]
        assert len(np.unique(identifiers, axis=0)) == len(identifiers)


@pytest.mark.parametrize("name", ["bw-50", "gos-13-all", "sc-12-13", "cn-5-20"])
def test_large_tasks_fit_two_encodings_and_the_third_says_why_not(name: str) -> None:
    task = COMPETITION[name].ground().task
    space = StateSpace(task)
    for encoding in ("hash", "map"):
        assert Encoder(space, encoding).identifiers.shape[1] == 64
    if len(task.fluents) > 32:
        with pytest.raises(LimitError, match=rf"{len(task.fluents)} fluents.*fluent_bits.*hash"):
            Encoder(space, "bitmask")
