"""Search with an exported regressor: the same search as with its checkpoint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_gnn import write_checkpoint

from epigym.errors import CheckpointError, EpigymError
from epigym.problem import load_problem
from epigym.space import StateSpace
from learn.model.checkpoints import load
from search.agents.result import SearchResult, SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

PROBLEM = "coin_in_the_box/pl_3"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A checkpoint, and the same weights exported beside it."""
    from learn.model.export import export_onnx

    checkpoint = write_checkpoint(tmp_path_factory.mktemp("run") / "best.ckpt")
    export_onnx(load(checkpoint), checkpoint.with_suffix(".onnx"))
    return str(checkpoint), str(checkpoint.with_suffix(".onnx"))


def solve(agent: str, **heuristic: str) -> SearchResult:
    return find_plan(load_problem(PROBLEM), Configuration.of(agent, heuristic))


@pytest.mark.parametrize("agent", ["hfs", "hfs_star", "wa_star"])
def test_the_search_is_that_of_the_checkpoint(agent: str, files: tuple[str, str]) -> None:
    checkpoint, exported = files
    expected = solve(agent, name="gnn", checkpoint=checkpoint)
    found = solve(agent, name="onnx", path=exported)
    assert found.status is SearchStatus.SOLVED
    assert (found.plan, found.expanded, found.generated) == (expected.plan, expected.expanded, expected.generated)
    assert (found.heuristic, found.checkpoint) == ("onnx", exported)


def test_scores_agree_to_what_decides_the_order(files: tuple[str, str]) -> None:
    checkpoint, exported = files
    space = StateSpace(load_problem(PROBLEM))
    for state in range(20):
        space.expand([state])
    ids = np.arange(len(space), dtype=np.int32)
    expected = make_heuristic("gnn", space, checkpoint=checkpoint).score(ids)
    scores = make_heuristic("onnx", space, path=exported).score(ids)
    assert scores.dtype == np.float64
    assert np.abs(scores - expected).max() < 1e-4
    assert np.ptp(scores) > 0.01
    assert scores.round(3).tolist() == expected.round(3).tolist()


def test_the_domain_of_the_problem_chooses_the_file(tmp_path: Path, files: tuple[str, str]) -> None:
    path = tmp_path / "coin_in_the_box" / "best.onnx"
    path.parent.mkdir()
    path.write_bytes(Path(files[1]).read_bytes())
    assert solve("hfs", name="onnx", path=str(tmp_path / "{domain}" / "best.onnx")).checkpoint == str(path)


def test_without_a_name_the_export_of_the_newest_run_is_taken(
    tmp_path: Path, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path("outputs/train/a")
    write_checkpoint(run / "best.ckpt")
    record = {"finished": "2026-01-01", "checkpoint": "best.ckpt", "domains": ["coin_in_the_box"]}
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(CheckpointError, match=r"no exported regressor .*a/best\.onnx.*learn\.export"):
        solve("hfs", name="onnx")
    (run / "best.onnx").write_bytes(Path(files[1]).read_bytes())
    assert solve("hfs", name="onnx").checkpoint == "outputs/train/a/best.onnx"


def test_a_missing_package_is_one_clear_error(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EpigymError, match=r"pip install 'epigym\[export\]'"):
        solve("hfs", name="onnx", path=files[1])


def test_no_torch_is_needed(files: tuple[str, str]) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from epigym import StateSpace, load_problem\n"
        "from search.heuristics import make_heuristic\n"
        "space = StateSpace(load_problem(sys.argv[1]))\n"
        "assert make_heuristic('onnx', space, path=sys.argv[2]).score([space.initial]).shape == (1,)\n"
    )
    subprocess.run([sys.executable, "-c", script, PROBLEM, files[1]], check=True)
