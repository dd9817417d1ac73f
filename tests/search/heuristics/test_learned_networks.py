"""Search with a network with random weights."""

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
from learn.models import open_model
from learn.models.base import Base, BaseHeuristic
from learn.models.gine.network import GineNetwork, save_network
from search.agents import make_agent, run_agent
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan, find_plan_here
from tests.helpers.trained import SMALL, random_model, write_regressor

PROBLEM = "coin_in_the_box/pl_3"


@pytest.fixture
def regressor(tmp_path: Path) -> str:
    return str(write_regressor(tmp_path / "model.safetensors"))


def test_scores_are_those_of_the_scorer_in_steps(regressor: str) -> None:
    space = StateSpace(load_problem(PROBLEM))
    space.expand([0])
    ids = np.arange(len(space), dtype=np.int32)
    scores = make_heuristic("learned", space, model=regressor).score(ids)
    assert scores.dtype == np.float64
    assert scores.tolist() == pytest.approx(open_model(regressor).make_scorer(space).score(ids).tolist())
    assert (scores >= 0).all()
    assert (scores <= 50).all()
    alone = make_heuristic("learned", space, model=regressor)  # one by one: the order of a search is the same
    assert np.rint(1000 * scores).tolist() == [np.rint(1000 * alone.score(ids[k : k + 1]))[0] for k in range(len(ids))]


def test_the_domain_chooses_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    coin = Path("coin_in_the_box", "model.safetensors")
    write_regressor(coin)
    renamed = replace(load_problem(PROBLEM), name="grapevine/of people")
    for model in ("{domain}", "{domain}/model.safetensors"):
        found = find_plan(renamed, Configuration.of("hfs", {"name": "learned", "model": model}))
        assert (found.status, found.model) == (SearchStatus.SOLVED, str(coin))
    with pytest.raises(MissingError, match=r"gone"):
        find_plan(renamed, Configuration.of("hfs", {"name": "learned", "model": "gone"}))


def test_a_model_without_known_types_counts_as_fully_known(regressor: str) -> None:
    space = StateSpace(load_problem(PROBLEM))
    assert make_heuristic("learned", space, model=regressor, least_known=1.0).model == regressor


def test_imports_of_pytorch_have_a_time_of_their_own(regressor: str, tmp_path: Path) -> None:
    """The core evaluates the other networks: they need no PyTorch."""
    own = write_network(tmp_path / "own.safetensors")
    for model, needs_pytorch in ((regressor, True), (own, False)):
        configuration = Configuration.of("hfs", {"name": "learned", "model": model})
        costs = find_plan_here(load_problem(PROBLEM), configuration, SearchOptions()).costs
        assert (costs.import_seconds > 0) == needs_pytorch
        assert min(costs.build_seconds, costs.search_seconds) > 0


def write_network(path: Path, encoding: str = "relational", base: Base = "none", *, is_random: bool = True) -> str:
    """Write a network with the types of the problem."""
    types = type_ids_of([FeatureTypes(load_problem(PROBLEM))], Relational()) if encoding == "relational" else []
    model = random_model(SMALL, encoding, types=types, base=base)
    if not is_random:
        network = cast(GineNetwork, model.network)
        network.start_at(0)
        model = replace(model, weights=save_network(network))
    model.write(path)
    return str(path)


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
@pytest.mark.parametrize("encoding", ["hash", "relational"])
@pytest.mark.parametrize("problem", ["coin_in_the_box/pl_6", "grapevine/3_pl_4", "blocks_world"])
def test_an_untrained_network_searches_as_its_base(problem: str, encoding: str, base: Base, tmp_path: Path) -> None:
    task = load_problem(problem)
    chosen = {"name": "learned", "model": write_network(tmp_path / "own.safetensors", encoding, base, is_random=False)}
    own, expected = (find_plan(task, Configuration.of("hfs", heuristic)) for heuristic in (chosen, base))
    assert expected.status is SearchStatus.SOLVED
    assert (own.plan, own.expanded, own.generated) == (expected.plan, expected.expanded, expected.generated)


@pytest.mark.parametrize("base", ["h_ff", "h_add"])
def test_a_network_corrects_its_base_and_prefers_its_preferred_actions(base: Base, tmp_path: Path) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_6"))
    ids = np.append(space.expand([0]).target, 0)
    alone = make_heuristic("learned", space, model=write_network(tmp_path / "alone.safetensors"))
    assert not alone.prefers
    assert not len(alone.evaluate(ids, ids, ids).preferred)
    corrected = make_heuristic("learned", space, model=write_network(tmp_path / "corrected.safetensors", base=base))
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
