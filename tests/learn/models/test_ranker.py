"""Linear models of actions: their scores, what they prefer, their files, and what a training of one chooses."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from epigym.errors import CheckpointError, EpigymError, MissingError, UsageError
from epigym.features.action_features import ActionFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes, short
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from learn import train as command
from learn.data.distribution import draw
from learn.data.pairs import action_pairs_of
from learn.models.linear.model import LinearModel, Representation, read_model, write_model
from learn.models.linear.ranker import MARGIN, MOST_PREFERRED, ActionRanker, ObservedActions
from learn.models.linear.shipped import fitting, ranking
from learn.training import actions, drawing
from learn.training.actions import Chosen, observe, train_actions
from learn.training.linear.fit import fit_order
from learn.training.options import ActionOptions
from search.agents import make_agent
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics import make_heuristic
from tests.helpers.commands import composed
from tests.helpers.tasks import coin, done

DOMAIN = "selective_communication"
PROBLEM = "coin_in_the_box/pl_5"
TINY = ActionOptions(
    kind="actions", folder=None, checkpoint=None, draws=4, validation=2, expansions=10, nodes=50, features=40, l2=1e-3,
    bases=["none", "h_ff"], margins=[0.05, 1],
)  # fmt: skip


def weighed(space: StateSpace, base_weight: float = 0.0, seed: int = 0) -> LinearModel:
    """A model of random weights for what the actions of the first e-states are."""
    ids = np.arange(len(space), dtype=np.int32)
    place, number = np.nonzero(space.applicable(ids))
    colours = np.unique(ActionFeatures(space, FeatureTypes(space.task))(ids[place], number).colour)
    weights = np.random.default_rng(seed).normal(size=len(colours))
    representation = Representation(0, base="h_ff" if base_weight else "none", of="actions")
    return LinearModel("", representation, colours, weights, np.ones(len(colours), np.int64), base_weight)


def near(problem: str = PROBLEM) -> tuple[StateSpace, np.ndarray]:
    space = StateSpace(load_problem(problem))
    space.expand([0])
    return space, np.arange(len(space), dtype=np.int32)


@pytest.mark.parametrize("base_weight", [0.0, 2.5])
def test_scores_are_weighted_sums_and_what_is_not_helpful_costs(base_weight: float) -> None:
    space, ids = near()
    model, types = weighed(space, base_weight), FeatureTypes(space.task)
    place, number = np.nonzero(space.applicable(ids))
    weights = dict(zip(model.colours.tolist(), model.weights.tolist(), strict=True))
    rows = ActionFeatures(space, types)(ids[place], number)
    parts = np.split(rows.colour, rows.ptr[1:-1])
    helpful = [Relaxation(space)([state]).helpful.tolist() for state in ids]
    expected = [
        sum(weights[colour] for colour in part.tolist()) + base_weight * (action not in helpful[state])
        for part, state, action in zip(parts, place.tolist(), number.tolist(), strict=True)
    ]
    ranker = ActionRanker(space, model, types)
    found = ranker.score(ids, place, number.astype(np.int32))
    assert found == pytest.approx(expected)
    assert ranker.score(ids, place, number.astype(np.int32), Relaxation(space)(ids)).tolist() == found.tolist()
    assert any(helpful)


@pytest.mark.parametrize("scale", [0.01, 1, 100])
@pytest.mark.parametrize("base_weight", [0.0, 2.5])
def test_what_is_near_the_best_is_preferred_in_order(scale: float, base_weight: float) -> None:
    space, ids = near()
    model, types = weighed(space, base_weight), FeatureTypes(space.task)
    ranker = ActionRanker(space, replace(model, weights=model.weights * scale), types)
    ptr, preferred = ranker.preferred(ids)
    assert preferred.dtype == np.int32
    counts = []
    for state, own in zip(ids.tolist(), np.split(preferred, ptr[1:-1]), strict=True):
        can = np.flatnonzero(space.applicable([state])[0]).astype(np.int32)
        scores = ranker.score(np.array([state], np.int32), np.zeros(len(can), np.int64), can)
        ranked = sorted(zip(scores.tolist(), can.tolist(), strict=True))
        near_best = [action for score, action in ranked if score <= ranked[0][0] + MARGIN]
        assert own.tolist() == near_best[:MOST_PREFERRED]
        assert ranker.preferred(np.array([state], np.int32))[1].tolist() == own.tolist()
        counts.append(len(own))
    assert scale != 0.01 or max(counts) == MOST_PREFERRED
    assert scale != 100 or min(counts) == 1


def test_what_is_helpful_is_looked_up_for_each_e_state() -> None:
    space, ids = near("grapevine/3_pl_4")
    place, number = np.nonzero(space.applicable(ids))
    chosen = number.astype(np.int32)
    types = FeatureTypes(space.task)
    observed = ObservedActions(space, Representation(0, base="h_ff", of="actions"), types)
    helpful = [set(Relaxation(space)([state]).helpful.tolist()) for state in ids]
    expected = [float(action not in helpful[state]) for state, action in zip(place, number, strict=True)]
    assert observed.base(ids, place, chosen).tolist() == expected
    assert len(set(map(frozenset, helpful))) > 1
    blind = ObservedActions(space, Representation(0, of="actions"), types)
    assert set(blind.base(ids, place, chosen).tolist()) == {0.0}


def test_a_file_keeps_a_model_of_actions(tmp_path: Path) -> None:
    space, ids = near()
    model = weighed(space, 2.5)
    write_model(model, tmp_path / "coin_in_the_box.json")
    read = ranking(str(tmp_path / "{domain}.json"), "coin_in_the_box")
    assert read.representation == model.representation
    assert str(read.representation) == "actions+h_ff"
    types = FeatureTypes(space.task)
    one, other = (ActionRanker(space, each, types).preferred(ids) for each in (model, read))
    assert [array.tolist() for array in one] == [array.tolist() for array in other]


def test_models_of_actions_and_of_e_states_are_not_mixed_up(tmp_path: Path) -> None:
    space, _ = near()
    model = weighed(space)
    write_model(model, tmp_path / "actions.json")
    write_model(replace(model, representation=Representation(0)), tmp_path / "states.json")
    for read, name, found, wanted, kind in (
        (lambda file: fitting(file, "", frozenset()), "actions", "actions", "states", "linear"),
        (lambda file: ranking(file, ""), "states", "states", "actions", "actions"),
    ):
        file = str(tmp_path / f"{name}.json")
        message = f"{file}: scores {found}, not {wanted}: make one with `python -m learn.train model={kind} domain=…`"
        with pytest.raises(CheckpointError, match=rf"^{re.escape(message)}$"):
            read(file)
    with pytest.raises(MissingError, match=r"^there is no model gone\.json: [^\n]+$"):
        ranking("gone.json", "")


def test_what_is_learned_puts_the_actions_of_shortest_plans_first() -> None:
    tasks = [one.task for one in islice(draw(DOMAIN, "train", 0), 6)]
    pairs = [action_pairs_of(task, expansions=20, max_states=20_000, seed=0) for task in tasks]
    problems = [one for one in pairs if one is not None]
    types = [FeatureTypes(one.space.task) for one in problems]
    data = observe(problems, types, Representation(0, of="actions"))
    model = fit_order(data, 1e-3, 200)
    right = []
    for one, own in zip(problems, types, strict=True):
        scores = ActionRanker(one.space, model, own).score(one.ids, np.arange(len(one.ids)), one.actions)
        right.append(float(one.weight @ (scores[one.better] < scores[one.worse])))
    assert data.accuracy(model) == pytest.approx(np.mean(right))
    assert min(right) > 0.8
    assert np.mean(right) > 0.95


def test_of_the_coin_the_only_plan_is_followed() -> None:
    """Lift, look and shout in turn: a model that learned from it builds nothing else."""
    pairs = action_pairs_of(coin(), expansions=10, max_states=100, seed=0)
    assert pairs is not None
    types = FeatureTypes(coin())
    model = fit_order(observe([pairs], [types], Representation(0, of="actions")), 1e-3, 200)
    ranker = ActionRanker(pairs.space, model, types)
    state = 0
    for action in range(3):
        assert ranker.preferred(np.array([state], np.int32))[1][0] == action
        state = pairs.space.successor(state, action)
    assert pairs.space.is_goal([state])[0]


@pytest.fixture(scope="module")
def chosen() -> Chosen:
    return train_actions([DOMAIN], TINY, 0)


def test_candidates_are_what_was_asked_for_and_the_best_is_chosen(chosen: Chosen) -> None:
    unlearned, learned = chosen.candidates[:2], chosen.candidates[2:]
    assert [one.name for one in unlearned] == ["nothing", "helpful"]
    assert [(one.name, one.margin) for one in learned] == [
        (name, margin) for name in ("actions", "actions+h_ff") for margin in (0.05, 1)
    ]
    for one in learned:
        assert one.model is not None
        assert 0 < len(one.model.colours) <= TINY.features
        assert 0.5 < one.accuracy <= 1
    ended = [one for one in learned if not one.found.stopped]
    best = min(ended, key=lambda one: one.found.merit)
    assert best.model is not None
    assert chosen.model.weights.tolist() == best.model.weights.tolist()
    assert chosen.model.card["validation"] == {"problems": 2, "solved": best.found.solved, "built": best.found.expanded}
    assert (chosen.model.card["margin"], chosen.model.card["l2"]) == (best.margin, TINY.l2)


def test_a_margin_is_what_scores_are_divided_by(chosen: Chosen) -> None:
    narrow, wide = (one.model for one in chosen.candidates[-2:])
    assert narrow is not None
    assert wide is not None
    assert narrow.weights * 0.05 == pytest.approx(wide.weights)
    assert narrow.base_weight * 0.05 == pytest.approx(wide.base_weight)


def test_what_is_said_of_the_search_is_what_the_agent_lazy_does(chosen: Chosen, tmp_path: Path) -> None:
    write_model(chosen.model, tmp_path / "model.json")
    built, solved = 0, 0
    for one in islice(draw(DOMAIN, "validation", 0), TINY.validation):
        space = StateSpace(one.task)
        heuristic = make_heuristic("learned", space, actions=str(tmp_path / "model.json"))
        result = make_agent("lazy").search(space, heuristic, Limits(max_expanded=1000))
        solved += result.status is SearchStatus.SOLVED and result.generated <= TINY.nodes
        built += min(result.generated, TINY.nodes)
    assert chosen.model.card["validation"] == {"problems": 2, "solved": solved, "built": built}


def test_the_card_says_how_it_was_made(chosen: Chosen) -> None:
    card = chosen.model.card
    assert card.keys() == {
        "domains", "seed", "draws", "problems", "actions", "pairs", "l2", "margin", "validation", "beside", "unsolved",
        "seconds",
    }  # fmt: skip
    assert (card["domains"], card["seed"], card["draws"]) == ([DOMAIN], 0, 4)
    assert list(card["beside"]) == ["nothing", "helpful"]
    assert json.loads(json.dumps(card)) == card
    assert (chosen.model.domain, chosen.model.representation.of) == (DOMAIN, "actions")


def test_every_feature_has_a_definition_and_so_has_what_it_mentions(chosen: Chosen) -> None:
    definitions = chosen.model.definitions
    assert set(chosen.model.colours.tolist()) <= definitions.keys()
    known = {short(colour) for colour in definitions}
    inside = {digits for text in definitions.values() for digits in re.findall(r"\b[0-9a-f]{8}\b", text)}
    assert len(inside) > 3
    assert inside <= known


def test_equal_seeds_give_equal_models() -> None:
    least = replace(TINY, draws=2, validation=1, bases=["none"], margins=[1])

    def weights(seed: int) -> dict[int, float]:
        model = train_actions([DOMAIN], least, seed).model
        return dict(zip(model.colours.tolist(), model.weights.tolist(), strict=True))

    assert weights(0) == weights(0)
    assert weights(0) != weights(1)


def test_nothing_to_learn_from_or_to_choose_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"bases": []}, {"margins": []}, {"margins": [1, 0]}):
        with pytest.raises(UsageError, match=r"^model: nothing to choose from: give bases, and margins above 0$"):
            train_actions([DOMAIN], replace(TINY, **wrong), 0)
    monkeypatch.setattr(drawing, "action_pairs_of", lambda task, **options: None)
    with pytest.raises(EpigymError, match=r"^nothing to learn from in 4 problems of [^\n]+: raise model\.draws$"):
        train_actions([DOMAIN], TINY, 0)


def settings(tmp_path: Path, *overrides: str) -> command.Train:
    tiny = ["draws=2", "validation=1", "expansions=5", "nodes=20", "bases=[none]", "margins=[1]"]
    return composed(command.Train, "train", "model=actions", f"run_dir={tmp_path / 'run'}",
                    *(f"model.{one}" for one in tiny), *overrides)  # fmt: skip


def test_the_command_writes_the_model_and_the_candidates(tmp_path: Path) -> None:
    command.train(settings(tmp_path, f"domain={DOMAIN}", f"model.folder={tmp_path}", "seed=3"))
    model = read_model(tmp_path / "run" / "model.json")
    assert (model.domain, model.card["seed"], model.representation.of) == (DOMAIN, 3, "actions")
    assert (tmp_path / f"{DOMAIN}.json").read_bytes() == (tmp_path / "run" / "model.json").read_bytes()
    with (tmp_path / "run" / "candidates.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["sees"] for row in rows] == ["nothing", "helpful", "actions"]
    assert list(rows[0]) == ["sees", "margin", "features", "pairs in order", "solved", "built", "stopped"]
    assert int(rows[-1]["built"]) == model.card["validation"]["built"]


@pytest.mark.parametrize("overrides", [[], ["problem=coin_in_the_box/pl_3"], ["domain=grapevin"]])
def test_the_command_wants_domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overrides: Sequence[str]) -> None:
    def refuse(*arguments: object) -> Chosen:
        raise AssertionError("training has begun")

    monkeypatch.setattr(actions, "train_actions", refuse)
    with pytest.raises(UsageError, match=r"^(model=actions learns from distributions|unknown domain)[^\n]+$"):
        command.train(settings(tmp_path, *overrides))


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    for override in ("model.draws=0", "model.bases=[h_max]", "model.margins=[wide]"):
        with pytest.raises(UsageError, match=re.escape(override.partition("=")[0])):
            settings(tmp_path, "domain=gossip", override)


def test_a_goal_that_is_reached_has_nothing_to_rank() -> None:
    space = StateSpace(done())
    ranker = ActionRanker(space, weighed(space), FeatureTypes(space.task))
    ptr, preferred = ranker.preferred(np.empty(0, np.int32))
    assert (ptr.tolist(), preferred.tolist()) == ([0], [])
