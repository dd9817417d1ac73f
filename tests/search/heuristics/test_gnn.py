"""Search with a learned heuristic: a regressor with random weights in a real checkpoint."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym.errors import EpigymError, MissingError
from epigym.io.sealed import write_sealed
from epigym.problem import load_problem
from epigym.reference.semantics import validate
from epigym.space.space import StateSpace
from learn.models.checkpoints import load
from learn.models.scoring import open_scorer
from search.agents import make_agent
from search.agents.result import SearchStatus
from search.heuristics import Heuristic, make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.tasks import SOLVABLE, hopeless
from tests.helpers.trained import write_checkpoint

PROBLEM = "coin_in_the_box/pl_3"


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
    assert scores.tolist() == pytest.approx(open_scorer(checkpoint, space).score(ids).tolist())
    assert (scores >= 0).all()
    assert (scores <= 50).all()


class OneByOne(Heuristic):
    """Scores every e-state in a batch of its own."""

    name = "one by one"

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


def test_the_domain_of_the_task_chooses_the_checkpoint(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "coin_in_the_box" / "best.ckpt")
    heuristic = {"name": "gnn", "checkpoint": str(tmp_path / "{domain}" / "best.ckpt")}
    task = replace(load_problem(PROBLEM), name="grapevine/of people")
    assert find_plan(task, Configuration.of("hfs", heuristic)).checkpoint == str(path)


def test_without_a_name_the_newest_good_run_of_the_domain_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    coin = "coin_in_the_box"
    for run, day, domain, error in (
        ("a", 1, coin, 1.0),
        ("b", 2, coin, 1.0),
        ("c", 3, "grapevine", 1.0),
        ("d", 4, coin, 3),
    ):
        write_checkpoint(Path("outputs/train", run, "best.ckpt"), seed=day)
        metrics = {"val/mae": error, "median/mae": 2.0}
        record = {"finished": f"2026-01-0{day}", "checkpoint": "best.ckpt", "domains": [domain], "metrics": metrics}
        write_sealed(Path("outputs/train", run, "run.json"), record)
    result = find_plan(load_problem(PROBLEM), Configuration.of("hfs_star", "gnn"))
    assert (result.status, result.checkpoint) == (SearchStatus.SOLVED, "outputs/train/b/best.ckpt")


def test_a_missing_checkpoint_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        MissingError, match=r"trained on 'coin_in_the_box': run `python -m learn\.train domain=coin_in_the"
    ):
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", "gnn"))
    with pytest.raises(MissingError, match=r"gone\.onnx"):
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", {"name": "gnn", "checkpoint": "gone.onnx"}))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A checkpoint, and the same weights exported beside it."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    from learn.models.gine.export import export_onnx

    checkpoint = write_checkpoint(tmp_path_factory.mktemp("run") / "best.ckpt")
    export_onnx(load(checkpoint), checkpoint.with_suffix(".onnx"))
    return str(checkpoint), str(checkpoint.with_suffix(".onnx"))


@pytest.mark.parametrize("agent", ["hfs", "hfs_star", "wa_star"])
def test_an_exported_regressor_guides_the_same_search(agent: str, exported: tuple[str, str]) -> None:
    results = [
        find_plan(load_problem(PROBLEM), Configuration.of(agent, {"name": "gnn", "checkpoint": file}))
        for file in exported
    ]
    assert [result.status for result in results] == [SearchStatus.SOLVED] * 2
    assert [result.checkpoint for result in results] == list(exported)
    expected, found = ((result.plan, result.expanded, result.generated) for result in results)
    assert found == expected


def test_scores_of_an_export_agree_to_what_decides_the_order(exported: tuple[str, str]) -> None:
    space = StateSpace(load_problem(PROBLEM))
    for state in range(20):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    expected, scores = (make_heuristic("gnn", space, checkpoint=file).score(ids) for file in exported)
    assert scores.dtype == np.float64
    assert np.abs(scores - expected).max() < 1e-4
    assert np.ptp(scores) > 0.01
    assert scores.round(3).tolist() == expected.round(3).tolist()


def test_a_missing_package_is_one_clear_error(exported: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EpigymError, match=r"pip install 'epigym\[export\]'"):
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", {"name": "gnn", "checkpoint": exported[1]}))


def test_an_exported_regressor_needs_no_torch(exported: tuple[str, str]) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from epigym import StateSpace, load_problem\n"
        "from search.heuristics import make_heuristic\n"
        "space = StateSpace(load_problem(sys.argv[1]))\n"
        "assert make_heuristic('gnn', space, checkpoint=sys.argv[2]).score([space.initial]).shape == (1,)\n"
    )
    subprocess.run([sys.executable, "-c", script, PROBLEM, exported[1]], check=True)
