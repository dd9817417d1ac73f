"""Search with a learned heuristic: a network with random weights in a real checkpoint, or exported."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from epigym import StateSpace, load_problem
from epigym.encoding.relational import Relational, type_ids_of
from epigym.errors import MissingError, UsageError
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.io.checksummed import write_checksummed
from learn.models.base import Base, BaseHeuristic
from learn.models.checkpoints import load, write
from learn.models.gine.network import GineNetwork
from learn.models.scoring import open_scorer
from search.agents import make_agent, run_agent
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.trained import SMALL, content_of, random_trained, write_checkpoint

PROBLEM = "coin_in_the_box/pl_3"


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(write_checkpoint(tmp_path / "best.ckpt"))


def test_scores_are_those_of_the_scorer_in_steps(checkpoint: str) -> None:
    space = StateSpace(load_problem(PROBLEM))
    space.expand([0])
    ids = np.arange(len(space), dtype=np.int32)
    scores = make_heuristic("gnn", space, checkpoint=checkpoint).score(ids)
    assert scores.dtype == np.float64
    assert scores.tolist() == pytest.approx(open_scorer(checkpoint, space).score(ids).tolist())
    assert (scores >= 0).all()
    assert (scores <= 50).all()
    alone = make_heuristic("gnn", space, checkpoint=checkpoint)  # one by one: the order of a search is the same
    assert np.rint(1000 * scores).tolist() == [np.rint(1000 * alone.score(ids[k : k + 1]))[0] for k in range(len(ids))]


def test_the_domain_chooses_the_newest_good_run_or_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    coin = "coin_in_the_box"
    runs = (("a", 1, coin, True), ("b", 2, coin, True), ("c", 3, "grapevine", True), ("d", 4, coin, False))
    for run, day, domain, is_good in runs:
        write_checkpoint(Path("outputs/train", run, "best.ckpt"), seed=day)
        record = {"finished": f"2026-01-0{day}", "checkpoint": "best.ckpt", "domains": [domain], "is_good": is_good}
        write_checksummed(Path("outputs/train", run, "run.json"), record)
    result = find_plan(load_problem(PROBLEM), Configuration.of("hfs_star", "gnn"))
    assert (result.status, result.checkpoint) == (SearchStatus.SOLVED, "outputs/train/b/best.ckpt")
    write_checkpoint(Path(coin, "best.ckpt"))
    renamed = replace(load_problem(PROBLEM), name="grapevine/of people")
    found = find_plan(renamed, Configuration.of("hfs", {"name": "gnn", "checkpoint": "{domain}/best.ckpt"}))
    assert found.checkpoint == f"{coin}/best.ckpt"
    with pytest.raises(MissingError, match=r"gone\.onnx"):
        find_plan(renamed, Configuration.of("hfs", {"name": "gnn", "checkpoint": "gone.onnx"}))


def write_network(path: Path, encoding: str = "relational", base: Base = "none", *, is_random: bool = True) -> str:
    """Write a checkpoint of a network with the types of the problem."""
    types = type_ids_of([FeatureTypes(load_problem(PROBLEM))], Relational()) if encoding == "relational" else []
    trained = random_trained(SMALL, encoding, types=types, base=base)
    if not is_random:
        cast(GineNetwork, trained.network).start_at(0)
    write(content_of(trained, SMALL), path)
    return str(path)


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
@pytest.mark.parametrize("encoding", ["hash", "relational"])
@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world"])
def test_an_untrained_network_searches_as_its_base(problem: str, encoding: str, base: Base, tmp_path: Path) -> None:
    task = load_problem(problem)
    gnn = {"name": "gnn", "checkpoint": write_network(tmp_path / "own.ckpt", encoding, base, is_random=False)}
    own, expected = (find_plan(task, Configuration.of("hfs", heuristic)) for heuristic in (gnn, base))
    assert expected.status is SearchStatus.SOLVED
    assert (own.plan, own.expanded, own.generated) == (expected.plan, expected.expanded, expected.generated)


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
def test_a_network_corrects_its_base_and_prefers_its_preferred_actions(base: Base, tmp_path: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_6"))
    ids = np.append(space.expand([0]).target, 0)
    alone = make_heuristic("gnn", space, checkpoint=write_network(tmp_path / "alone.ckpt"))
    assert not alone.prefers
    assert not len(alone.evaluate(ids, ids, ids).preferred)
    corrected = make_heuristic("gnn", space, checkpoint=write_network(tmp_path / "corrected.ckpt", base=base))
    assert corrected.prefers
    found = corrected.evaluate(ids, ids, ids)
    assert found.scores.tolist() == BaseHeuristic(space, base).correct(ids, alone.score(ids)).tolist()
    assert len(set(alone.score(ids).round(3).tolist())) > 1
    relaxed = Relaxation(space)(ids)
    assert found.preferred_ptr.tolist() == relaxed.preferred_ptr.tolist()
    assert found.preferred.tolist() == relaxed.preferred.tolist() != []
    assert run_agent(make_agent("lazy"), space, corrected).status is SearchStatus.SOLVED
    with pytest.raises(UsageError, match="needs a heuristic that prefers actions"):
        run_agent(make_agent("lazy"), space, alone)


@pytest.fixture(scope="module", params=["paper", "relational"])
def checkpoints(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A checkpoint, and an export of the same weights."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    from learn.models.gine.export import export_onnx

    path = tmp_path_factory.mktemp("run") / "best.ckpt"
    if request.param == "paper":
        write_checkpoint(path)
    else:
        write_network(path, base="h_ff")
    export_onnx(load(path), path.with_suffix(".onnx"))
    return str(path), str(path.with_suffix(".onnx"))


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["hfs", "hfs_star", "wa_star"])
def test_an_exported_network_guides_the_same_search(agent: str, checkpoints: tuple[str, str]) -> None:
    results = [
        find_plan(load_problem(PROBLEM), Configuration.of(agent, {"name": "gnn", "checkpoint": file}))
        for file in checkpoints
    ]
    assert [result.status for result in results] == [SearchStatus.SOLVED] * 2
    assert [result.checkpoint for result in results] == list(checkpoints)
    expected, found = ((result.plan, result.expanded, result.generated) for result in results)
    assert found == expected


@pytest.mark.slow
def test_scores_of_an_export_agree_to_thousandths(checkpoints: tuple[str, str]) -> None:
    space = StateSpace(load_problem(PROBLEM))
    for state in range(20):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    first, second = (make_heuristic("gnn", space, checkpoint=file) for file in checkpoints)
    expected, scores = first.score(ids), second.score(ids)
    assert first.prefers == second.prefers
    assert scores.dtype == np.float64
    assert np.abs(scores - expected).max() < 1e-4
    assert np.ptp(scores) > 0.01
    is_near_a_step = np.abs(expected * 1000 % 1 - 0.5) < 0.1
    assert (scores.round(3) == expected.round(3))[~is_near_a_step].all()


@pytest.mark.slow
def test_an_exported_network_needs_no_torch(checkpoints: tuple[str, str]) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from epigym import StateSpace, load_problem\n"
        "from search.heuristics import make_heuristic\n"
        "space = StateSpace(load_problem(sys.argv[1]))\n"
        "assert make_heuristic('gnn', space, checkpoint=sys.argv[2]).score([space.initial]).shape == (1,)\n"
    )
    subprocess.run([sys.executable, "-c", script, PROBLEM, checkpoints[1]], check=True)
