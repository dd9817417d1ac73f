"""Search with a linear model: scores, preferred actions of the relaxation, and imports."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from epigym import StateSpace, load_problem
from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.errors import MissingError, ModelError, UsageError
from epigym.features.counts import join
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.reference.semantics import validate
from epigym.task.formula import split_formula
from learn.models import shipped
from learn.models.base import Base
from learn.models.linear.model import LinearModel, LinearScorer, Observed, Representation
from learn.models.scoring import list_identifiers
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.tasks import SOLVABLE, hopeless
from tests.helpers.trained import PAPER, random_model

PROBLEM = "coin_in_the_box/pl_5"


def write_random_model(path: Path, base: Base, seed: int = 0, *, base_weight: float = 1.0) -> LinearModel:
    """Write a model with random weights for the features near the initial e-state."""
    space = StateSpace(load_problem(PROBLEM))
    space.expand([0])
    representation, types = Representation(1, True, base), FeatureTypes(space.task)
    rows = Observed(space, representation, types).features(np.arange(len(space), dtype=np.int32))
    colours, seen = np.unique(rows.colour, return_counts=True)
    weights = np.random.default_rng(seed).normal(size=len(colours)) / 10
    model = LinearModel(
        domain="coin_in_the_box",
        representation=representation,
        colours=colours,
        weights=weights,
        seen=seen,
        base_weight=base_weight,
        constant=0.25,
        schema=types.schema,
    )
    model.write(path)
    return replace(model, path=str(path))


@pytest.fixture(params=["none", "h_ff", "h_add"])
def base(request: pytest.FixtureRequest) -> Base:
    found: Base = request.param
    return found


def near(space: StateSpace) -> np.ndarray:
    space.expand(space.expand([0]).target)
    return np.arange(len(space), dtype=np.int32)


def test_scores_are_those_of_the_model(base: Base, tmp_path: Path) -> None:
    model = write_random_model(tmp_path / "model.safetensors", base)
    space = StateSpace(load_problem(PROBLEM))
    ids = near(space)
    heuristic = make_heuristic("learned", space, model=str(tmp_path / "model.safetensors"))
    expected = LinearScorer(space, model).score(ids)
    assert heuristic.score(ids).dtype == np.float64
    assert heuristic.score(ids).tolist() == expected.tolist()
    assert len(set(expected.tolist())) > 5
    ways = np.full(len(ids), -1)
    found = heuristic.evaluate(ids, ways, ways)
    assert found.scores.tolist() == expected.tolist()
    # What corrects the relaxation prefers its preferred actions.
    relaxed = Relaxation(space)(ids)
    preferred = (
        ([0] * (len(ids) + 1), []) if base == "none" else (relaxed.preferred_ptr.tolist(), relaxed.preferred.tolist())
    )
    assert (found.preferred_ptr.tolist(), found.preferred.tolist()) == preferred
    assert heuristic.prefers == bool(preferred[1])
    for agent in ("hfs_preferred", "lazy"):
        if heuristic.prefers:
            assert run_agent(make_agent(agent), space, heuristic).status is SearchStatus.SOLVED
        else:
            with pytest.raises(UsageError, match="needs a heuristic that prefers actions"):
                run_agent(make_agent(agent), space, heuristic)


@pytest.mark.parametrize("agent", ["hfs", "alternation"])
@pytest.mark.parametrize("name", [PROBLEM, *sorted(SOLVABLE)])
def test_plans_are_valid(agent: str, name: str, base: Base, tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.safetensors", base)
    task = SOLVABLE[name]() if name in SOLVABLE else load_problem(name)
    file = str(tmp_path / "model.safetensors")
    result = find_plan(task, Configuration.of(agent, {"name": "learned", "model": file}))
    assert result.status is SearchStatus.SOLVED
    assert validate(task, result.plan).valid
    assert (result.heuristic, result.model) == ("learned", file)
    hopeless_one = find_plan(hopeless(), Configuration.of(agent, {"name": "learned", "model": file}))
    assert hopeless_one.status is SearchStatus.UNSOLVABLE


@pytest.mark.parametrize("encoding", ["hash", "bitmask", "relational"])
def test_a_model_of_another_domain_says_so(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    trained = StateSpace(load_problem(PROBLEM))
    types: tuple[int, ...] = ()
    if encoding == "relational":
        made = make_encoder(trained, make_encoding("relational"))
        types = tuple(sorted({*made.graphs(np.array([0])).nodes[:, 2:].flatten().tolist()} - {0}))
    model = random_model({} if encoding == "relational" else PAPER, encoding, types=types)
    if encoding == "hash":
        identifiers = list_identifiers(make_encoder(trained, make_encoding("hash")), np.array([0]))
        model = replace(model, identifiers=identifiers)
    replace(model, card={"domains": ["coin_in_the_box"]}).write(file)
    found = {}
    for name in (PROBLEM, "coin_in_the_box", "grapevine"):
        heuristic = make_heuristic("learned", StateSpace(load_problem(name)), model=str(file))
        found[name] = heuristic.note
    inputs = "types" if encoding == "relational" else "identifiers"
    bits = ", its bits stand for other facts" if encoding == "bitmask" else ""
    said = rf"its model is of coin_in_the_box, not of grapevine, it knows \d+% of the {inputs} in the initial e-state"
    assert found.pop("grapevine", "").endswith(bits)
    assert not any(found.values())
    result = find_plan(load_problem("grapevine"), Configuration.of("hfs", {"name": "learned", "model": str(file)}))
    assert re.fullmatch(said + bits, result.message)


def test_weights_decide_what_is_expanded(tmp_path: Path) -> None:
    """A model that counts split subgoals searches like `split_goal_count`; with opposite weights it does not."""
    task = load_problem("cloud_scheduling")
    types, space = FeatureTypes(task), StateSpace(task)
    parts = {part for goal in task.goal for part in split_formula(goal.negation_normal_form())}
    kinds = zip(types.tables.goal_fine.tolist(), types.tables.goal, strict=True)
    colours = np.unique(np.array([join(colour, 0) for colour, node in kinds if node in parts], dtype=np.uint64))
    ones = np.ones(len(colours))
    counts = []
    for sign in (1, -1):
        model = LinearModel(
            domain="",
            representation=Representation(0),
            colours=colours,
            weights=sign * ones,
            seen=ones.astype(np.int64),
            constant=3,
        )
        model.write(tmp_path / f"{sign}.safetensors")
        heuristic = make_heuristic("learned", space, model=str(tmp_path / f"{sign}.safetensors"))
        counts.append(run_agent(make_agent("hfs"), space, heuristic, Limits(max_expanded=5000)).expanded)
    assert (
        counts[0] == run_agent(make_agent("hfs"), space, make_heuristic("split_goal_count", space)).expanded < counts[1]
    )


def test_without_a_file_it_is_a_model_that_comes_with_epigym(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path)
    (tmp_path / "choice.json").write_text('{"coin_in_the_box": "linear", "general": "linear"}')
    model = write_random_model(tmp_path / "linear" / "coin_in_the_box.safetensors", "none", 1)
    general = write_random_model(tmp_path / "linear" / "general.safetensors", "h_add", 2)
    own, other = StateSpace(load_problem(PROBLEM)), StateSpace(hopeless())
    for space, expected, file in ((own, model, "coin_in_the_box"), (other, general, "general")):
        heuristic = make_heuristic("learned", space)
        ids = near(space)
        assert heuristic.model == str(tmp_path / "linear" / f"{file}.safetensors")
        assert heuristic.score(ids).tolist() == LinearScorer(space, expected).score(ids).tolist()


def test_a_missing_or_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    def plan(file: str) -> None:
        find_plan(load_problem(PROBLEM), Configuration.of("hfs", {"name": "learned", "model": file}))

    with pytest.raises(MissingError, match=r"^there is no model gone: train one with [^\n]+$"):
        plan("gone")
    (tmp_path / "text.json").write_text("{}")
    with pytest.raises(ModelError, match=r"^[^\n]+text\.json is no model of learn\.train: [^\n]+$"):
        plan(str(tmp_path / "text.json"))


def test_it_needs_neither_torch_nor_scipy(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.safetensors", "h_ff")
    script = (
        "import sys; sys.modules['torch'] = sys.modules['scipy'] = None\n"
        "from epigym import load_problem\n"
        "from search.planning.configuration import Configuration\n"
        "from search.planning.planner import find_plan\n"
        "heuristic = {'name': 'learned', 'model': sys.argv[2]}\n"
        "for agent in ('alternation', 'lazy'):\n"
        "    assert find_plan(load_problem(sys.argv[1]), Configuration.of(agent, heuristic)).plan\n"
        "print(*{'torch', 'scipy', 'lightning'} & {name for name, found in sys.modules.items() if found})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, PROBLEM, str(tmp_path / "model.safetensors")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "\n"
