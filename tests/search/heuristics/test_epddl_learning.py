"""Learning on small EPDDL problems, searching on a larger one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from epigym.problem import load_problem
from learn.train import Train, train
from search.agents.result import SearchStatus
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import PROBLEM, write_problem

LARGER = PROBLEM.replace("Ann Bob", "Ann Bob Cid Dee").replace("coin-1", "coin-2")


OWN = ("data=published", "objective=distance", "validation=loss", "base=h_add", "model.network.width=8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "network"),
    [("hash", ["recipe=paper"]), ("bitmask", ["recipe=paper"]), ("map", ["recipe=paper"]), ("relational", OWN)],
)
def test_a_network_guides_searches_of_larger_problems(tmp_path: Path, encoding: str, network: Sequence[str]) -> None:
    spec = write_problem(tmp_path).spec
    chosen = [f"problem={spec}", f"encoding={encoding}", *network, "trainer=cpu", "trainer.max_epochs=1"]
    chosen += ["trainer.check_val_every_n_epoch=1", f"run_dir={tmp_path}/run"]
    train(compose(Train, "train", *chosen, "explorer=exhaustive"))
    (tmp_path / "larger").mkdir()
    larger = load_problem(str(write_problem(tmp_path / "larger", LARGER).spec))
    result = find_plan(larger, Configuration.of("hfs_star", {"name": "learned", "model": str(tmp_path / "run")}))
    assert (result.status, result.heuristic, result.size.actions) == (SearchStatus.SOLVED, "learned", 12)
