"""What learning from long goals is worth to greedy search; run by hand: `pytest tests/benchmarks/test_long_goals.py`.

The problems are validation problems of another seed than those that models are chosen by, with short goals and with
long ones. Models are read from `outputs/models/short` and `outputs/models/long`, where
`learn.train model=linear model.long_goals=false model.folder=outputs/models/short domain=…` and its like write them.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import domains
from epigym.space import StateSpace
from learn.data.distribution import draw
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic

SEED, PROBLEMS, NODES = 7, 160, 1000
HOW = {
    "h_ff": {"name": "h_ff"},
    "h_add": {"name": "h_add"},
    "short": {"name": "learned", "checkpoint": "outputs/models/short/{domain}.json"},
    "long": {"name": "learned", "checkpoint": "outputs/models/long/{domain}.json"},
}


@pytest.mark.parametrize("domain", domains.DOMAINS)
def test_hfs(domain: str, pytestconfig: pytest.Config) -> None:
    for how in HOW.values():
        if "checkpoint" in how and not Path(how["checkpoint"].replace("{domain}", domain)).exists():
            pytest.skip(f"python -m learn.train domain={domain} model=linear, see above")
    goals = {
        name: [one.task for one in islice(draw(domain, "validation", SEED, long_goals=name == "long"), PROBLEMS)]
        for name in ("short", "long")
    }
    lines = ["", f"{domain}: {PROBLEMS} problems with short goals, {PROBLEMS} with long ones: solved, expanded"]
    for label, how in HOW.items():
        found = []
        for tasks in goals.values():
            ends = [
                make_agent("hfs").search(space, make_heuristic(space=space, **how), Limits(max_expanded=NODES))
                for space in map(StateSpace, tasks)
            ]
            solved = [end.expanded for end in ends if end.status is SearchStatus.SOLVED]
            found += [len(solved), sum(solved) + NODES * (PROBLEMS - len(solved))]
        lines.append(f"    {label:6s} {found[0]:3d} {found[1]:7,d}   {found[2]:3d} {found[3]:7,d}")
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n".join(lines))
