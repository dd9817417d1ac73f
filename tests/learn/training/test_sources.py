"""What networks learn from: sampled problems, published ones, or files."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import domains
from epigym.errors import EpigymError, UsageError
from epigym.task.task import Task
from learn.data import distribution
from learn.data.distribution import GOALS, sample_problems
from learn.data.labels import UNREACHABLE
from learn.train import Train, train
from learn.training import sources
from learn.training.options import LinearOptions
from learn.training.sources import TrainingProblems
from tests.helpers.commands import compose
from tests.helpers.runs import PROBLEM

NAMES = ("consecutive_numbers", "selective_communication")
FEW = (f"domain=[{','.join(NAMES)}]", "data.instances=3", "data.expansions=5", "validation.problems=2")


def source_of(folder: Path, *overrides: str) -> TrainingProblems:
    settings = compose(Train, "train", f"run_dir={folder}", *overrides)
    return TrainingProblems(settings, [] if settings.problem else settings.domain, settings.problem, settings.reading)


def names_of(tasks: Sequence[Task]) -> list[str]:
    return [task.name for task in tasks]


def test_sampled_problems_are_those_of_the_domains(tmp_path: Path) -> None:
    """Of each so many, with the seed of the training; those that validate have long goals, half are larger."""
    source = source_of(tmp_path, *FEW, "data.goals=2", "seed=5")
    expected = [
        one.task for name in NAMES for one in islice(sample_problems(name, "train", 5, 2, partially_explored=True), 3)
    ]
    labelled = source.labelled
    assert names_of([pairs.space.task for pairs in labelled]) == names_of(expected)
    assert [pairs.space.task.goal for pairs in labelled] == [task.goal for task in expected]
    validating = [
        one.task
        for split in ("validation", "test")
        for name in NAMES
        for one in islice(sample_problems(name, split, 5, long_goals=True), 1)
    ]
    assert names_of(source.to_validate) == names_of(validating)
    assert source.first_task.name == expected[0].name
    assert (source.learned_domains, source.names) == (list(NAMES), [])
    for pairs in labelled:
        better, worse = (np.where(d == UNREACHABLE, 10**6, d)
                         for d in (pairs.distance[pairs.better], pairs.distance[pairs.worse]))  # fmt: skip
        assert (better < worse).all()


@pytest.mark.parametrize("objective", ["ranking", "distance"])
def test_both_objectives_learn_from_the_same_e_states_of_sampled_problems(tmp_path: Path, objective: str) -> None:
    pairs = source_of(tmp_path, *FEW, f"objective={objective}").labelled
    again = source_of(tmp_path, *FEW).labelled
    assert [one.ids.tolist() for one in pairs] == [one.ids.tolist() for one in again]
    assert all(len(one.better) for one in pairs)


def test_published_problems_are_explored_for_distances_and_compared_for_an_order(tmp_path: Path) -> None:
    chosen = ("data=published", f"problem={PROBLEM}")
    (explored,) = source_of(tmp_path, *chosen, "objective=distance", "explorer=exhaustive").labelled
    assert (len(explored.ids), len(explored.better)) == (225, 0)
    (kept,) = source_of(tmp_path, *chosen, "objective=distance", "explorer=exhaustive", "explorer.max_kept=30").labelled
    assert len(kept.ids) == 30
    (compared,) = source_of(tmp_path, *chosen, "data.expansions=3").labelled
    assert len(compared.better) > 0
    assert len(compared.ids) < 225
    source = source_of(tmp_path, *chosen, "validation.problems=2")
    assert (source.names, source.learned_domains) == ([PROBLEM], ["collaboration_communication"])
    validating = [
        next(sample_problems("collaboration_communication", split, 42, long_goals=True)).task
        for split in ("validation", "test")
    ]
    assert names_of(source.to_validate) == names_of(validating)


def test_published_problems_of_domains_are_those_to_train_on(tmp_path: Path) -> None:
    source = source_of(tmp_path, "data=published", "domain=[coin_in_the_box,grapevine]", "recipe=paper")
    assert source.names == [f"{name}/{one}" for name in ("coin_in_the_box", "grapevine")
                            for one in domains.DOMAINS[name].train]  # fmt: skip
    assert source.to_validate == []


def test_files_of_no_domain_are_validated_with_their_own(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text(domains.write("collaboration_communication/2_2_3_pl_4"))
    source = source_of(tmp_path, f"problem={file}", "data.instances=2", "validation.problems=2")
    assert len(source.labelled) > 0
    assert len(source.to_validate) > 0
    assert source.card == {"kind": "files", "instances": 2, "goals": 4, "seed": 42}
    assert (source.names, source.learned_domains) == ([str(file)], [])
    with pytest.raises(UsageError, match=r"^validation=search samples problems of the domains of problem=, but these "
                                         r"belong to none: give data=sampled or validation=loss$"):  # fmt: skip
        _ = source_of(tmp_path, f"problem={file}", "data=published").labelled


def test_the_first_problem_may_be_too_large_to_explore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As all others that are sampled: a domain of large problems alone has no other one."""
    monkeypatch.setattr(distribution, "MAX_STATES", 10)
    assert source_of(tmp_path, f"domain={NAMES[1]}").first_task.domain == NAMES[1]


class Asked(NamedTuple):
    """What would have been sampled."""

    names: Sequence[str]
    split: str
    instances: int
    seed: int
    goals: int


@pytest.fixture
def sampling_calls(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """What would have been sampled; sampling ends the training."""
    calls: list[Asked] = []

    def record(
        names: Sequence[str], split: str, instances: int, seed: int, goals: int = GOALS, *, partially_explored: bool
    ) -> list[Task]:
        assert partially_explored
        calls.append(Asked(names, split, instances, seed, goals))
        raise InterruptedError

    monkeypatch.setattr(sources, "sample_tasks", record)
    return calls


@pytest.mark.parametrize("model", ["gine", "paper"])
def test_all_are_all_domains_but_those_left_out(sampling_calls: list[Asked], tmp_path: Path, model: str) -> None:
    chosen = ("domain=all", "without=gossip", f"model={model}", "data.instances=9", "data.goals=3", "seed=3")
    with pytest.raises(InterruptedError):
        train(compose(Train, "train", *chosen, "trainer=cpu", f"run_dir={tmp_path}/run"))
    names = [name for name in domains.DOMAINS if name != "gossip"]
    assert sampling_calls == [Asked(names, "train", 9, 3, 3)]


def test_linear_models_have_settings_of_their_own() -> None:
    linear = compose(Train, "train", "domain=grapevine", "model=linear").model
    assert isinstance(linear, LinearOptions)
    assert linear.goals == GOALS


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["domain=all", "without=gosip"], "unknown domain 'gosip': did you mean 'gossip'?"),
        (["domain=gossip", "without=gossip"], "no domain is left to learn from: give domain="),
        (["domain=[]"], "no domain is left to learn from: give domain="),
        (["domain=grapevin"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (["domain=grapevin", "data=published"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (["+model.optimizer.momentum=1"], "unknown setting 'model.optimizer.momentum': did you mean "),
        (["problem=nowhere/pl_1"], "no such file as 'nowhere/pl_1', and unknown domain 'nowhere': "),
    ],
)
def test_wrong_settings(sampling_calls: list[Asked], tmp_path: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(EpigymError, match=rf"^{re.escape(message)}[^\n]*$"):
        train(compose(Train, "train", *overrides, "trainer=cpu", f"run_dir={tmp_path}/run"))
    assert sampling_calls == []
