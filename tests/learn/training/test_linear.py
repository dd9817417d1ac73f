"""Linear models from distributions: which model is chosen, what is written about it, and the command."""

import csv
import json
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym import StateSpace, Task
from epigym.errors import EpigymError, UsageError
from epigym.features.description import short
from epigym.features.types import FeatureTypes
from epigym.problem import domain_problem
from learn import train_linear as command
from learn.data import making
from learn.data.distribution import sample_problems
from learn.data.pairs import join_pairs
from learn.models import open_model
from learn.models.linear.model import LinearModel, LinearScorer
from learn.training.linear.options import LinearOptions
from learn.training.linear.training import Selection, train_linear
from learn.training.linear.trials import Trial, select_model
from learn.training.validation import ValidationResult
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from search.heuristics.heuristic import Heuristic
from tests.helpers.benchmark_files import ROOT
from tests.helpers.commands import compose
from tests.helpers.runs import make_data_set

DOMAIN = "collaboration_communication"
TINY = LinearOptions(
    validation_instances=2, nodes=50, features=40, iterations=[0, 1], worlds=[False], losses=["ranking", "regression"],
    l2=[1e-3], bases=["h_ff"], residual_l2=[1e-1], aggregation=0, larger_instances=2,
)  # fmt: skip
INSTANCES = 4
LEAST = replace(TINY, validation_instances=1, iterations=[0], losses=["ranking"], bases=[])


@pytest.fixture(scope="module")
def selection(workdir: Path) -> Selection:
    return train_linear(make_data_set(workdir, [DOMAIN], INSTANCES, 1), TINY, 1)


def test_candidates_are_what_was_asked_for(selection: Selection) -> None:
    unlearned, learned = selection.trials[:3], selection.trials[3:]
    assert [one.name for one in unlearned] == ["split_goal_count", "h_ff", "h_add"]
    assert all(one.model is None and not one.validation.stopped for one in unlearned)
    assert [(one.name, one.loss, one.l2) for one in learned] == [
        (name, loss, l2)
        for name, l2 in (("wl0", 1e-3), ("wl1", 1e-3), ("wl0+h_ff", 1e-1), ("wl1+h_ff", 1e-1))
        for loss in ("ranking", "regression")
    ]
    for one in learned:
        assert 0 < len(one.model.colours) <= TINY.features
        assert str(one.model.representation) == one.name
        assert 0 < one.accuracy <= 1


def test_the_simplest_of_the_best_by_search_is_chosen(selection: Selection) -> None:
    ended = [one for one in selection.trials if one.model and not one.validation.stopped]
    most = max(one.validation.solved for one in ended)
    fewest = min(one.validation.expanded for one in ended if one.validation.solved == most)
    first = next(one for one in ended if one.validation.solved == most and one.validation.expanded <= 1.1 * fewest)
    assert selection.model.weights.tolist() == first.model.weights.tolist()
    assert selection.model.representation == first.model.representation
    assert selection.model.card["validation"] == {"problems": 2, "solved": most, "expanded": first.validation.expanded}


@pytest.mark.slow
def test_what_falls_behind_is_stopped(workdir: Path) -> None:
    data = make_data_set(workdir, [DOMAIN], INSTANCES, 1)
    found = train_linear(data, replace(TINY, iterations=[0], l2=[1e-3, 1e9], bases=[]), 1)  # 1e9 learns nothing
    best = (2, 2 * TINY.nodes)
    stopped = 0
    for one in found.trials[3:]:
        is_clear = len(one.validation.unsolved) > best[0] or (
            len(one.validation.unsolved) == best[0] and one.validation.expanded > 2 * best[1]
        )
        assert one.validation.solved == 2 - len(one.validation.unsolved), "a bound where it was cut short"
        assert is_clear or not one.validation.stopped
        best = min(best, (len(one.validation.unsolved), one.validation.expanded))
        stopped += one.validation.stopped
    assert 0 < stopped < 4


class Scored(Heuristic):
    """The scores of a model."""

    def __init__(self, space: StateSpace, model: LinearModel) -> None:
        self._scorer = LinearScorer(space, model)

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._scorer.score(ids)


def run_greedy(task: Task, scores: str | LinearModel) -> tuple[bool, int]:
    """How greedy search of the agents ends."""
    space = StateSpace(task)
    heuristic = make_heuristic(scores, space) if isinstance(scores, str) else Scored(space, scores)
    result = run_agent(make_agent("hfs"), space, heuristic, Limits(max_expanded=TINY.nodes))
    return result.status is SearchStatus.SOLVED, result.expanded


def test_what_is_said_of_the_search_is_what_the_agent_hfs_does(selection: Selection) -> None:
    validation = [one.task for one in islice(sample_problems(DOMAIN, "validation", 1), TINY.validation_instances)]
    card = selection.model.card
    for heuristic, said in (*card["baselines"].items(), (selection.model, card["validation"])):
        ends = [run_greedy(task, heuristic) for task in validation]
        assert said["problems"] == len(validation)
        assert said["solved"] == sum(solved for solved, _ in ends)
        assert said["expanded"] == sum(expanded for _, expanded in ends)


def test_the_card_says_how_it_was_made(selection: Selection, workdir: Path) -> None:
    card, model = selection.model.card, selection.model
    [best] = [one for one in selection.trials if one.model and one.model.weights.tolist() == model.weights.tolist()]
    assert card.keys() == {
        "domains", "seed", "data", "problems", "states", "pairs", "aggregation", "loss", "l2", "validation",
        "baselines", "unsolved", "seconds",
    }  # fmt: skip
    assert (card["domains"], card["seed"], card["problems"]) == ([DOMAIN], 1, INSTANCES)
    data = make_data_set(workdir, [DOMAIN], INSTANCES, 1)
    assert card["data"] == json.loads(json.dumps({**data.settings, "key": data.key}))
    assert (card["loss"], card["l2"], card["unsolved"]) == (best.loss, best.l2, list(best.validation.unsolved))
    assert list(card["baselines"]) == ["split_goal_count", "h_ff", "h_add"]
    assert 0 < card["states"] <= card["pairs"] * 2
    assert json.loads(json.dumps(card)) == card
    assert model.domain == DOMAIN
    tasks = [one.task for one in islice(sample_problems(DOMAIN, "train", 1), INSTANCES)]
    assert model.schema == frozenset[int]().union(*(FeatureTypes(task).schema for task in tasks))


def test_every_feature_has_a_definition_and_so_has_what_it_mentions(selection: Selection) -> None:
    definitions = selection.model.definitions
    assert set(selection.model.colours.tolist()) <= definitions.keys()
    assert all(definitions.values())
    known = {short(colour) for colour in definitions}
    inside = {digits for text in definitions.values() for digits in re.findall(r"\b[0-9a-f]{8}\b", text)}
    types = FeatureTypes(domain_problem(DOMAIN))
    assert {digits for digits in inside if digits in map(short, types.definitions)} <= known


@pytest.mark.slow
def test_equal_seeds_give_equal_models(workdir: Path, tmp_path: Path) -> None:
    def weights(seed: int, folder: Path = workdir) -> dict[int, float]:
        model = train_linear(make_data_set(folder, ["epistemic_gossip"], seed=seed), LEAST, seed).model
        return dict(zip(model.colours.tolist(), model.weights.tolist(), strict=True))

    assert weights(0) == weights(0, tmp_path)
    assert weights(0) != weights(1)


@pytest.mark.slow
def test_a_model_of_several_domains_is_general(workdir: Path) -> None:
    names = ["epistemic_gossip", "gossip"]
    model = train_linear(make_data_set(workdir, names), LEAST, 0).model
    tasks = [one.task for name in names for one in islice(sample_problems(name, "train", 0), 2)]
    assert model.domain == "general"
    assert model.schema == frozenset[int]().union(*(FeatureTypes(task).schema for task in tasks))
    assert (model.card["domains"], model.card["problems"]) == (names, 4)


@pytest.mark.slow
def test_a_model_is_chosen_even_where_what_is_not_learned_does_better(workdir: Path) -> None:
    data = make_data_set(workdir, [DOMAIN], INSTANCES, 1)
    found = train_linear(data, replace(TINY, iterations=[0], bases=[]), 1)
    first, *others = found.trials[3:]
    assert not first.validation.stopped
    assert found.model.card["validation"]["expanded"] in [
        one.validation.expanded for one in (first, *others) if not one.validation.stopped
    ]
    assert (
        found.model.card["validation"]["expanded"] > 2 * found.trials[1].validation.expanded
    )  # h_ff solves it in no time


def make_trial(unsolved: int, expanded: int, name: str = "", *, stopped: bool = False) -> Trial:
    return Trial(name, ValidationResult(9 - unsolved, expanded, ("x",) * unsolved, stopped), "ranking", 0.0, 1.0)


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([make_trial(1, 10), make_trial(0, 900), make_trial(2, 5)], 1),  # what solves more comes first
        ([make_trial(0, 300), make_trial(0, 100), make_trial(0, 200)], 1),  # then what expands less
        ([make_trial(0, 111), make_trial(0, 110), make_trial(0, 100)], 1),  # unless it is about as little
        ([make_trial(0, 5, stopped=True), make_trial(1, 100), make_trial(1, 100)], 1),  # and what was stopped never
    ],
)
def test_what_decides(trials: list[Trial], expected: int) -> None:
    assert select_model(trials) is trials[expected]


def test_nothing_to_learn_from_or_to_choose_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^nothing to fit: give iterations, [^\n]+$"):
        command.train(settings(tmp_path, "iterations=[]", f"outputs={tmp_path}"))
    with pytest.raises(UsageError, match=r"^unknown domain 'grapes'"):
        command.train(settings(tmp_path, "domain=grapes", f"outputs={tmp_path}"))
    assert not [*tmp_path.iterdir()]
    monkeypatch.setattr(making, "choose_pairs", lambda *_: join_pairs([]))
    message = r"^nothing to learn from in 2 problems of epistemic_gossip: there are no pairs$"
    with pytest.raises(EpigymError, match=message):
        train_linear(make_data_set(tmp_path, ["epistemic_gossip"]), LEAST, 0)


FEW = ("data.instances=2", "data.expansions=5", "validation_instances=1", "nodes=20", "iterations=[0]",
       "worlds=[false]", "bases=[]", "aggregation=0")  # fmt: skip


def settings(tmp_path: Path, *overrides: str) -> command.TrainLinear:
    return compose(command.TrainLinear, "train_linear", f"run_dir={tmp_path / 'run'}", *FEW, *overrides)


@pytest.mark.slow
def test_the_command_writes_the_model_and_the_candidates(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", command.logger.name):
        command.train(settings(tmp_path, "domain=epistemic_gossip", "seed=3"))
    model = open_model(tmp_path / "run")
    assert isinstance(model, LinearModel)
    assert (model.domain, model.card["seed"], model.card["problems"]) == ("epistemic_gossip", 3, 2)
    with (tmp_path / "run" / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "feature set", "loss", "l2", "aggregation", "features", "pairs in order", "solved", "expanded", "stopped",
    ]  # fmt: skip
    assert [(row["feature set"], row["loss"]) for row in rows] == [
        ("split_goal_count", ""), ("h_ff", ""), ("h_add", ""), ("wl0", "ranking"), ("wl0", "regression"),
    ]  # fmt: skip
    [own] = [
        row for row in rows if (row["feature set"], row["loss"]) == (str(model.representation), model.card["loss"])
    ]
    kept = f"kept is {own['feature set']}, {own['loss']}, l2 {float(own['l2']):g}, aggregation {own['aggregation']}: "
    assert caplog.messages[-1] == f"{kept}{tmp_path / 'run' / 'model.safetensors'}"
    assert (int(own["features"]), int(own["solved"]), int(own["expanded"]), own["stopped"]) == (
        len(model.colours), model.card["validation"]["solved"], model.card["validation"]["expanded"], "",
    )  # fmt: skip
    space = StateSpace(domain_problem("epistemic_gossip"))
    heuristic = make_heuristic("learned", space, model=str(tmp_path / "run"))
    space.expand(space.expand([0]).target)
    ids = np.arange(len(space), dtype=np.int32)
    assert heuristic.score(ids).tolist() == LinearScorer(space, model).score(ids).tolist()
    assert len(set(heuristic.score(ids).tolist())) > 1


def test_files_of_an_unknown_domain_are_validated_by_those_held_out(tmp_path: Path) -> None:
    """There are no larger problems for an aggregation."""
    own = (f"problem={ROOT / 'docs/epddl/coin-1.json'}", "data.held_out=2", "aggregation=1", f"outputs={tmp_path}")
    command.train(settings(tmp_path, *own))
    model = open_model(tmp_path / "run")
    assert (model.card["aggregation"], model.card["validation"]["problems"]) == (0, 1)
