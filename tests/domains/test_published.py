"""Every published mA* file is an instance: the same names, start and goal, and the same search, step by step."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import domains
from domains.suites import SUITES
from epigym.language import parse_mastar
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, Op, and_, fluent, or_
from epigym.task.task import Task
from tests.helpers.benchmark_files import mastar_files, table

# The folder of the published files and the start of their names, for each domain.
PUBLISHED = {
    "Assemble": ("assembly_line", "Assemble_"),
    "CC": ("collaboration_communication", "CC_"),
    "CoinBox": ("coin_in_the_box", "Coin_in_the_Box__"),
    "Gossip": ("epistemic_gossip", "gossip_"),
    "Grapevine": ("grapevine", "Grapevine_"),
    "SC": ("selective_communication", "SC_"),
    "SCRich": ("selective_communication_enriched", "SC_R_"),
}
# Where the published files name things differently from file to file.
RENAMED = {"epistemic_gossip", "assembly_line"}

pytestmark = pytest.mark.reference


def instance_name(path: Path) -> str:
    domain, start = PUBLISHED[path.parts[-3]]
    return f"{domain}/{path.stem.removeprefix(start).lower().replace('__', '_')}"


@dataclass
class Search:
    """A breadth-first search: its trace, and what it counted."""

    transitions: NDArray[np.int32]  # int32[3, generated]: source, action and target, in order
    worlds: list[int]
    plan_length: int | None
    expanded: int

    @property
    def generated(self) -> int:
        return self.transitions.shape[1]

    @property
    def distinct(self) -> int:
        return int(self.transitions[2].max(initial=0)) + 1  # e-states are numbered as they are met


def breadth_first(task: Task) -> Search:
    space = StateSpace(task)
    parts: list[NDArray[np.int32]] = [np.zeros((3, 0), dtype=np.int32)]
    goal = 0 if space.is_goal([0])[0] else None
    state = 0
    while goal is None and state < len(space):
        end = min(state + 256, len(space))
        found = space.expand(np.arange(state, end, dtype=np.int32), stop_at_goal=True)
        parts.append(np.stack([found.source, found.action, found.target]))
        if len(found.target) and space.is_goal(found.target[-1:])[0]:
            goal, end = int(found.target[-1]), int(found.source[-1]) + 1
        state = end
    transitions = np.concatenate(parts, axis=1)
    return Search(
        transitions=transitions,
        worlds=space.world_counts(np.arange(len(space), dtype=np.int32)).tolist(),
        plan_length=None if goal is None else depth(transitions, goal),
        expanded=state,
    )


def depth(transitions: NDArray[np.int32], goal: int) -> int:
    """The number of first visits between the initial e-state and the goal."""
    met, first = np.unique(transitions[2], return_index=True)
    parent = dict(zip(met.tolist(), transitions[0, first].tolist(), strict=True))
    steps = 0
    while goal != 0:
        goal, steps = parent[goal], steps + 1
    return steps


def renamed(formula: Formula, fluents: dict[str, str], agents: dict[str, str]) -> Formula:
    """The formula under other names."""
    if formula.op is Op.FLUENT:
        return fluent(fluents[formula.name])
    children = tuple(renamed(child, fluents, agents) for child in formula.children)
    if formula.op in (Op.AND, Op.OR):
        return (and_ if formula.op is Op.AND else or_)(*children)
    return Formula(formula.op, formula.name, tuple(sorted(agents[name] for name in formula.agents)), children)


def published_task(path: Path) -> Task:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slip in some published files, reported as such
        return parse_mastar(path.read_text(encoding="utf-8"), file=path.name)


@cache
def expected(stem: str) -> dict[str, str]:
    return next(row for row in table("expected_mastar") if row["instance"] == stem)


@pytest.mark.parametrize("path", mastar_files(), ids=lambda path: path.stem)
def test_instance_is_the_published_task(path: Path) -> None:
    name = instance_name(path)
    ours, theirs = parse_mastar(domains.text(name)), published_task(path)

    assert len(ours.fluents) == len(theirs.fluents)
    assert len(ours.agents) == len(theirs.agents)
    assert len(ours.actions) == len(theirs.actions)
    if domains.find(name)[0].name not in RENAMED:
        assert ours.fluents == theirs.fluents
        assert ours.agents == theirs.agents
        assert [action.name for action in ours.actions] == [action.name for action in theirs.actions]
    fluents = dict(zip(ours.fluents, theirs.fluents, strict=True))
    agents = dict(zip(ours.agents, theirs.agents, strict=True))
    assert [renamed(goal, fluents, agents) for goal in ours.goal] == list(theirs.goal)
    worlds = [frozenset(fluents[name] for name in valuation) for valuation in ours.initial.valuations]
    assert worlds == list(theirs.initial.valuations)
    assert ours.initial.successors == theirs.initial.successors
    assert ours.initial.designated == theirs.initial.designated

    search = breadth_first(ours)
    published = breadth_first(theirs)
    assert np.array_equal(search.transitions, published.transitions)  # every step leads to the same e-state
    assert search.worlds == published.worlds
    row = expected(path.stem)
    assert (search.plan_length is None) == (row["status"] == "exhausted")
    assert search.plan_length == (int(row["plan_length"]) if row["plan_length"] else None)
    assert (search.expanded, search.generated, search.distinct) == tuple(
        int(row[column]) for column in ("expanded", "generated", "distinct_states")
    )


def test_every_published_file_has_its_own_instance_and_split() -> None:
    files = mastar_files()
    assert len(files) == 105
    by_split: dict[str, set[str]] = {"Training": set(), "Test": set()}
    for path in files:
        by_split[path.parent.name].add(instance_name(path))
    assert len(by_split["Training"] | by_split["Test"]) == 105
    for domain in (domains.DOMAINS[name] for name, _ in PUBLISHED.values()):
        for split, names in (("Training", domain.train), ("Test", domain.test)):
            assert {f"{domain.name}/{name}" for name in names} == {
                name for name in by_split[split] if name.startswith(f"{domain.name}/")
            }


@pytest.mark.parametrize(("suite", "source"), [("standard", "batch1"), ("transfer", "batch2")])
def test_suites_hold_what_was_published(suite: str, source: str) -> None:
    rows = [row for row in table("published") if row["source"] == source]
    names = {instance_name(Path(row["domain"]) / "x" / row["instance"]) + f":{row['mode']}" for row in rows}
    ours = {f"{name}:Training" for name in SUITES[suite].train} | {f"{name}:Test" for name in SUITES[suite].test}
    if suite == "standard":
        assert ours == names
    else:  # published without Assembly Line and Epistemic Gossip, which "all other domains" takes in
        extra = ("assembly_line/", "epistemic_gossip/")
        assert {name for name in ours if not name.startswith(extra)} == names
