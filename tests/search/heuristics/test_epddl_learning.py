"""Learning on small EPDDL problems, searching on a larger one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from epigym.errors import UsageError
from epigym.problem import load_problem
from learn.train import Train, train
from search.agents.result import SearchStatus
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.commands import compose
from tests.helpers.epddl_problem import PROBLEM, write_problem

LARGER = PROBLEM.replace("Ann Bob", "Ann Bob Cid Dee").replace("coin-1", "coin-2")

PAPER = ("experiment=paper",)
OWN = ("data=published", "objective=distance", "model.network.width=8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "network"),
    [("hash", PAPER), ("bitmask", PAPER), ("map", PAPER), ("relational", OWN)],
)
def test_a_network_guides_searches_of_larger_problems(tmp_path: Path, encoding: str, network: Sequence[str]) -> None:
    spec = write_problem(tmp_path).spec
    chosen = (f"problem={spec}", f"encoding={encoding}", *network, "trainer.accelerator=cpu", "trainer.max_epochs=1")
    train(compose(Train, "train", *chosen, "explorer=exhaustive", f"run_dir={tmp_path}/run"))
    (tmp_path / "larger").mkdir()
    larger = load_problem(str(write_problem(tmp_path / "larger", LARGER).spec))
    result = find_plan(larger, Configuration.of("hfs_star", {"name": "learned", "model": str(tmp_path / "run")}))
    assert (result.status, result.heuristic, result.size.actions) == (SearchStatus.SOLVED, "learned", 12)


@pytest.mark.slow
def test_problems_of_a_domain_that_cannot_be_sampled_are_refused_before_exploring(tmp_path: Path) -> None:
    chosen = (f"problem={write_problem(tmp_path).spec}", "encoding=relational", "data=published")
    folders = (f"run_dir={tmp_path}/run", f"outputs={tmp_path}/outputs")
    with pytest.raises(UsageError, match="samples problems of the domains of problem=, but these belong to none"):
        train(compose(Train, "train", *chosen, *folders))
    assert not (tmp_path / "outputs").exists()
