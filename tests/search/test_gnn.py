"""Search with a learned heuristic: a regressor with random weights in a real checkpoint."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from epigym.errors import CheckpointError, EpigymError
from epigym.problem import load_problem
from epigym.reference import validate
from epigym.space import StateSpace
from learn.model.regressor import Regressor
from learn.model.scorer import Scorer
from learn.model.target import Target
from learn.training.module import HYPERPARAMETER_VERSION
from search.agents import make_agent
from search.agents.result import SearchStatus
from search.heuristics import Heuristic, make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.tasks import SOLVABLE, hopeless

PROBLEM = "coin_in_the_box/pl_3"


def write_checkpoint(path: Path, seed: int = 0) -> Path:
    """A checkpoint in the form that training writes."""
    torch.manual_seed(seed)
    regressor = Regressor()
    torch.nn.init.normal_(regressor.head[-1].weight, std=0.5)
    content = {
        "hyper_parameters": {
            "version": HYPERPARAMETER_VERSION,
            "target": asdict(Target.between(50, 1e-3)),
            "encoding": {"name": "hash", "width": 64},
            "network": {},
            "domains": ["coin_in_the_box"],
        },
        "state_dict": {f"regressor.{key}": value for key, value in regressor.state_dict().items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path)
    return path


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(write_checkpoint(tmp_path / "best.ckpt"))


@pytest.mark.parametrize("task", sorted(SOLVABLE))
@pytest.mark.parametrize("agent", ["hfs", "hfs_star", "wa_star"])
def test_plans_found_with_the_regressor_are_valid(agent: str, task: str, checkpoint: str) -> None:
    problem = SOLVABLE[task]()
    result = find_plan(problem, Configuration.of(agent, {"name": "gnn", "checkpoint": checkpoint}))
    assert result.status is SearchStatus.SOLVED
    assert validate(problem, result.plan).valid
    assert (result.heuristic, result.checkpoint) == ("gnn", checkpoint)


def test_the_regressor_never_gives_up_on_a_task_by_itself(checkpoint: str) -> None:
    result = find_plan(hopeless(), Configuration.of("hfs", {"name": "gnn", "checkpoint": checkpoint}))
    assert (result.status, result.distinct) == (SearchStatus.UNSOLVABLE, 3)


def test_scores_are_those_of_the_scorer_in_steps(checkpoint: str) -> None:
    space = StateSpace(load_problem(PROBLEM))
    space.expand([0])
    ids = np.arange(len(space), dtype=np.int32)
    scores = make_heuristic("gnn", space, checkpoint=checkpoint).score(ids)
    assert scores.dtype == np.float64
    assert scores.tolist() == pytest.approx(Scorer(checkpoint).bind(space).score(ids).tolist())
    assert (scores >= 0).all()
    assert (scores <= 50).all()


class OneByOne:
    """Scores every e-state in a batch of its own."""

    name, checkpoint = "one by one", ""

    def __init__(self, heuristic: Heuristic) -> None:
        self.heuristic = heuristic

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.concatenate([self.heuristic.score(ids[row : row + 1]) for row in range(len(ids))])


@pytest.mark.parametrize("agent", ["hfs", "hfs_star"])
def test_the_search_does_not_depend_on_batches(agent: str, checkpoint: str) -> None:
    found = []
    for wrap in (lambda heuristic: heuristic, OneByOne):
        space = StateSpace(load_problem("coin_in_the_box/pl_5"))
        result = make_agent(agent).search(space, wrap(make_heuristic("gnn", space, checkpoint=checkpoint)))
        found.append((result.plan, result.expanded, result.generated, result.distinct))
    assert found[0] == found[1]
    assert found[0][0]


def test_the_domain_of_the_problem_chooses_the_checkpoint(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "coin_in_the_box" / "best.ckpt")
    heuristic = {"name": "gnn", "checkpoint": str(tmp_path / "{domain}" / "best.ckpt")}
    assert find_plan(load_problem(PROBLEM), Configuration.of("hfs", heuristic)).checkpoint == str(path)


def test_without_a_name_the_newest_run_of_the_domain_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for run, day, domains in (("a", 1, ["coin_in_the_box"]), ("b", 2, ["coin_in_the_box"]), ("c", 3, ["grapevine"])):
        write_checkpoint(Path("outputs/train", run, "best.ckpt"), seed=day)
        record = {"finished": f"2026-01-0{day}", "checkpoint": "best.ckpt", "domains": domains}
        Path("outputs/train", run, "run.json").write_text(json.dumps(record))
    result = find_plan(load_problem(PROBLEM), Configuration.of("hfs_star", "gnn"))
    assert (result.status, result.checkpoint) == (SearchStatus.SOLVED, "outputs/train/b/best.ckpt")


def test_a_missing_checkpoint_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="'coin_in_the_box'"):
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", "gnn"))
    with pytest.raises(EpigymError, match=r"gone\.ckpt"):
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", {"name": "gnn", "checkpoint": "gone.ckpt"}))
