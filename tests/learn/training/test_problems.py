"""What networks learn from and are validated on: data sets of sampled problems, published ones, or files."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pytest

import domains
from epigym.errors import DamagedError, EpigymError, MissingError, UsageError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.problem import domain_problem
from epigym.space.signature import signature
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.assess import Assess
from learn.data import distribution, making, sources
from learn.data.dataset import TABLE, DataSet
from learn.data.distribution import GOALS, sample_problems
from learn.data.labels import UNREACHABLE
from learn.data.rollout import Rollout
from learn.data.sources import DataSource, drop_isomorphic
from learn.rollouts import Rollouts, make_rollouts
from learn.train import Train, train
from learn.train_linear import TrainLinear
from learn.training.data_module import RolloutData
from learn.training.expert import data
from learn.training.expert.data import make_corrections, open_plans
from learn.training.problems import find_first_task, sample_tiers, sample_validation
from learn.training.verdict import LARGER, NEW, PUBLISHED
from tests.helpers.commands import compose
from tests.helpers.marks import slow_but
from tests.helpers.runs import PROBLEM, SEARCHED, Fit

NAMES = ("consecutive_numbers", "selective_communication")
FEW = (f"domain=[{','.join(NAMES)}]", "data.instances=3", "data.expansions=5", "validation.problems=2")
OWN = "collaboration_communication/2_2_3_pl_4"


class Problems(NamedTuple):
    settings: Train
    source: DataSource
    module: RolloutData

    @property
    def data(self) -> DataSet:
        return self.module.data

    @property
    def rollouts(self) -> list[Rollout]:
        return self.module.rollouts

    @property
    def validating(self) -> list[str]:
        return names_of(sample_validation(self.settings, self.data))

    @property
    def tiers(self) -> dict[str, list[Task]]:
        return sample_tiers(
            self.settings, self.data, (*self.module.tasks, *sample_validation(self.settings, self.data))
        )

    @property
    def first_task(self) -> Task:
        return find_first_task(self.settings, self.source)


def problems_of(*overrides: str) -> Problems:
    settings = compose(
        Train,
        "train",
        *(() if any(one.startswith("encoding=") for one in overrides) else ("encoding=relational",)),
        *overrides,
    )
    return Problems(settings, settings.source, RolloutData(settings, settings.source))


def names_of(tasks: Sequence[Task]) -> list[str]:
    return [task.name for task in tasks]


def test_sampled_problems_are_those_of_the_domains() -> None:
    """So many of each; those that validate have a seed of their own and long goals, half are larger."""
    found = problems_of(*FEW, "data.goals=2", "data.seed=5", "seed=6")
    expected = [
        one.task for name in NAMES for one in islice(sample_problems(name, "train", 5, 2, partially_explored=True), 3)
    ]
    tasks = [one.space.task for one in found.rollouts]
    assert names_of(tasks) == names_of(expected)
    assert [task.goal for task in tasks] == [task.goal for task in expected]
    validating = [
        one.task
        for split in ("validation", "test")
        for name in NAMES
        for one in islice(sample_problems(name, split, 6, long_goals=True), 1)
    ]
    assert found.validating == names_of(validating)
    assert found.first_task.name == expected[0].name
    assert found.data.domains == list(NAMES)
    for pairs in found.rollouts:
        better, worse = (np.where(d == UNREACHABLE, 10**6, d)
                         for d in (pairs.distance[pairs.better], pairs.distance[pairs.worse]))  # fmt: skip
        assert (better < worse).all()


def test_with_an_expert_half_of_the_validation_has_the_sizes_of_its_problems() -> None:
    """With the least share of the growing problems all have the sizes of the first step."""
    expert = ("expert.problems=4", "expert.growth=0.01", "expert.expansions=100")
    found = problems_of("domain=consecutive_numbers", *FEW[1:], *expert)
    small, grown = sample_validation(found.settings, found.data)
    planned = [one.space.task for one in open_plans(found.settings, found.data).rollouts("pairs")]
    growth = domains.DOMAINS["consecutive_numbers"].growth
    assert growth is not None
    first = domain_problem("consecutive_numbers", **growth.at(1)[0])
    assert len(planned) > 1
    assert {len(task.actions) for task in (grown, *planned)} == {len(first.actions)}
    assert grown.name == "consecutive_numbers/middle_00000"
    assert small.name == next(sample_problems("consecutive_numbers", "test", 42, long_goals=True)).task.name


def test_both_objectives_learn_from_the_same_e_states_of_sampled_problems() -> None:
    pairs, samples = (
        problems_of(*FEW, "validation=ranking", f"objective={name}").rollouts for name in ("ranking", "distance")
    )
    assert [one.ids.tolist() for one in pairs] == [one.ids.tolist() for one in samples]
    assert [one.distance.tolist() for one in pairs] == [one.distance.tolist() for one in samples]
    assert all(len(one.better) for one in pairs)


def test_published_problems_are_explored_for_distances_and_compared_for_an_order() -> None:
    chosen = ("data=published", f"problem={PROBLEM}", "explorer=exhaustive", "data.expansions=3")
    (explored,) = problems_of(*chosen, "objective=distance").rollouts
    assert (len(explored.ids), len(explored.better)) == (225, 0)
    (kept,) = problems_of(*chosen, "objective=distance", "explorer.max_kept=30").rollouts
    assert len(kept.ids) == 30
    found = problems_of(*chosen, "validation.problems=2")
    (compared,) = found.rollouts
    assert 0 < len(compared.ids) < 225
    assert len(compared.better) > 0
    assert (found.source.names, found.data.domains) == ([PROBLEM], ["collaboration_communication"])
    validating = [
        next(sample_problems("collaboration_communication", split, 42, long_goals=True)).task
        for split in ("validation", "test")
    ]
    assert found.validating == names_of(validating)


def test_published_problems_of_domains_are_those_to_train_on_or_to_test_on() -> None:
    chosen = ("domain=[coin_in_the_box,grapevine]", "without=[coin_in_the_box]")
    found = problems_of("encoding=hash", *chosen, "experiment=paper")
    assert found.source.names == [f"grapevine/{one}" for one in domains.DOMAINS["grapevine"].train]
    unexplored: Any = None
    assert sample_validation(found.settings, unexplored) == []
    tested = [f"grapevine/{one}" for one in domains.DOMAINS["grapevine"].test]
    assert compose(Assess, "assess", *chosen).source.names == tested


def test_files_of_no_domain_are_validated_with_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.txt"
    file.write_text(domains.write(OWN))
    found = problems_of(f"problem={file}", "data.instances=2", "data.held_out=6", "validation.problems=2")
    assert len(found.rollouts) >= 2
    assert 2 < len(found.data.held_out) <= 4
    assert found.validating == names_of(found.data.held_out[::2])
    assert (found.data.settings["kind"], found.data.settings["problems"]) == ("files", [str(file)])
    assert found.data.domains == []
    monkeypatch.setattr(making, "explore", refuse_exploration)
    expected = (
        r"^validation=ranking samples problems of the domains of problem=, but these belong to none: "
        r"give data=sampled with data\.held_out=, or objective=distance validation=distance$"
    )
    with pytest.raises(UsageError, match=expected):
        _ = problems_of(f"problem={file}", "data=published").first_task
    with pytest.raises(UsageError, match=expected):
        _ = problems_of(f"problem={file}", "data.held_out=0").first_task


def test_the_first_problem_may_be_too_large_to_explore(monkeypatch: pytest.MonkeyPatch) -> None:
    """As all others that are sampled: a domain of large problems alone has no other one."""
    monkeypatch.setattr(distribution, "MAX_STATES", 10)
    assert problems_of(f"domain={NAMES[1]}").first_task.domain == NAMES[1]


def refuse_exploration(*_: object, **__: object) -> NoReturn:
    raise AssertionError("explored")


def refuse_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exploration for data sets, their sampling and the reading of problems end the training."""
    monkeypatch.setattr(making, "explore", refuse_exploration)
    for name in ("make_trees", "load_problem"):
        monkeypatch.setattr(sources, name, refuse_exploration)


def test_rollouts_make_the_data_set_that_trainings_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their encoding, objective, base and seed."""
    chosen = (f"outputs={tmp_path}", "domain=consecutive_numbers", "data.instances=2", "data.expansions=5")
    make_rollouts(compose(Rollouts, "rollouts", f"run_dir={tmp_path}/run", *chosen, "data=sampled"))
    [folder] = (tmp_path / "rollouts").iterdir()
    refuse_all(monkeypatch)
    for others in (
        ("encoding=hash", "data=sampled", "seed=7"),
        ("encoding=relational", "objective=distance"),
        ("base=none", "batch_size=8"),
        ("encoding=map", "data=sampled"),
    ):
        found = problems_of(*chosen, *others)
        assert found.data.folder == folder
        assert len(found.rollouts) == 2
    linear = compose(TrainLinear, "train_linear", *chosen, "seed=3", "iterations=[0]")
    assert linear.source.open(linear.outputs).folder == folder
    for other in ("data.seed=7", "data.expansions=6", "explorer.max_visited=100", "consistent_beliefs=true"):
        assert problems_of(*chosen, other).source.key != folder.name


def test_a_data_set_in_a_folder_needs_no_problem_files(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.txt"
    file.write_text(domains.write(OWN))
    chosen = (f"outputs={tmp_path}", f"problem={file}", "data.instances=2", "data.held_out=2", "data.expansions=5")
    made = problems_of(*chosen)
    expected = made.validating, [one.ids.tolist() for one in made.rollouts]
    moved = made.data.folder.rename(tmp_path / "moved")
    file.unlink()
    refuse_all(monkeypatch)
    found = problems_of(f"data.folder={moved}")
    assert (found.validating, [one.ids.tolist() for one in found.rollouts]) == expected
    assert found.first_task == found.rollouts[0].space.task
    settings = [one for one in SEARCHED if not one.startswith(("domain=", "data"))]
    assert fit(*settings, f"data.folder={moved}", "base=none", "trainer.max_epochs=1")["val/problems"] > 0


def make_no_data_set(folder: Path) -> None:
    (folder / TABLE).unlink()


def age(folder: Path) -> None:
    content = read_checksummed(folder / TABLE, "")
    write_checksummed(folder / TABLE, content | {"version": 1})


def damage(folder: Path) -> None:
    arrays = folder / "0.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (make_no_data_set, MissingError, "{} is no data set: it has no dataset.json: make one with "),
        (age, EpigymError, "{} has version 1, expected "),
        (damage, DamagedError, "{}/0.safetensors does not match its checksum: delete "),
    ],
)
def test_what_is_no_data_set_is_one_line_before_any_work(
    tmp_path: Path, change: object, kind: type[EpigymError], message: str
) -> None:
    folder = problems_of(f"outputs={tmp_path}/outputs", "domain=gossip", "data.instances=1").data.folder
    assert callable(change)
    change(folder)
    with pytest.raises(kind, match=rf"^{re.escape(message.format(folder))}[^\n]*$"):
        train(compose(Train, "train", f"run_dir={tmp_path}/run", f"data.folder={folder}"))
    assert not (tmp_path / "run").exists()


def test_a_damaged_data_set_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    chosen = (f"outputs={tmp_path}", "domain=gossip", "data.instances=1")
    folder = problems_of(*chosen).data.folder
    damage(folder)
    assert len(problems_of(*chosen).rollouts) == 1
    assert "is made again" in caplog.text
    assert DataSet(folder).key == folder.name


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
        names: Sequence[str], split: str, instances: int, seed: int, goals: int = GOALS, **options: bool
    ) -> list[Task]:
        assert options == {"partially_explored": True, "long_goals": False}
        calls.append(Asked(names, split, instances, seed, goals))
        raise InterruptedError

    monkeypatch.setattr(sources, "sample_tasks", record)
    return calls


@pytest.mark.parametrize("encoding", ["relational", "hash"])
def test_all_are_all_domains_but_those_left_out(sampling_calls: list[Asked], tmp_path: Path, encoding: str) -> None:
    chosen = (
        f"encoding={encoding}",
        "data=sampled",
        "domain=all",
        "without=gossip",
        "data.instances=9",
        "data.goals=3",
        "data.seed=3",
    )
    with pytest.raises(InterruptedError):
        train(compose(Train, "train", *chosen, "trainer.accelerator=cpu", f"run_dir={tmp_path}/run"))
    names = [name for name in domains.DOMAINS if name != "gossip"]
    assert sampling_calls == [Asked(names, "train", 9, 3, 3)]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["domain=all", "without=gosip"], "unknown domain 'gosip': did you mean 'gossip'?"),
        (["domain=gossip", "without=gossip"], "no domain is left to learn from: give domain="),
        (["domain=[]"], "no problem is named: give domain="),
        (["domain=grapevin"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (["domain=grapevin", "data=published"], "unknown domain 'grapevin': did you mean 'grapevine'?"),
        (
            ["encoding=relational", "+model.optimizer.momentum=1"],
            "unknown setting 'model.optimizer.momentum': expected one of ",
        ),
        (["problem=nowhere/pl_1"], "no such file as 'nowhere/pl_1', and unknown domain 'nowhere': "),
    ],
)
def test_wrong_settings(sampling_calls: list[Asked], tmp_path: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(EpigymError, match=rf"^{re.escape(message)}[^\n]*$"):
        train(compose(Train, "train", *overrides, "trainer.accelerator=cpu", f"run_dir={tmp_path}/run"))
    assert sampling_calls == []


def test_no_training_problem_validates() -> None:
    """Even where both are sampled with the same seed from the same split."""
    found = problems_of("domain=coin_in_the_box", "data.instances=6", "data.expansions=3", "validation.problems=6",
                        "data.split=validation", "data.long_goals=true", "data.seed=42", "seed=42")  # fmt: skip
    trained = set(map(signature, found.module.tasks))
    assert trained & set(map(signature, sample_validation(found.settings, found.data)))
    found.module.setup()
    assert found.module.problems
    assert not trained & {signature(task) for task, _ in found.module.problems}


def test_validation_problems_are_not_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where both have the same seed."""
    found = problems_of("domain=gossip", *FEW[1:], "expert.problems=2", "expert.growth=0.01", "expert.aggregation=1",
                        "seed=2042")  # fmt: skip
    validating = sample_validation(found.settings, found.data)
    network: Any = SimpleNamespace(weights={})
    asked: list[str] = []

    def record(spaces: Iterable[StateSpace], *_: Any) -> list[Any]:
        asked.extend(one.task.name for one in spaces)
        return []

    monkeypatch.setattr(data, "make_corrected_trees", record)
    assert make_corrections(found.settings, found.data, "", 1, network, []) is None
    assert set(names_of(validating)) & set(asked)
    before = len(asked)
    assert make_corrections(found.settings, found.data, "", 1, network, validating) is None
    assert len(asked) < 2 * before


def test_where_all_others_are_training_problems_nothing_validates() -> None:
    found = problems_of("domain=consecutive_numbers", "data.split=validation", "data.long_goals=true",
                        "data.instances=6", "data.expansions=3", "validation.problems=1")  # fmt: skip
    message = r"^all problems to validate on are training problems: give data\.split=train or another seed="
    with pytest.raises(EpigymError, match=message):
        found.module.setup()


def test_every_domain_has_its_turn_in_a_verdict() -> None:
    names = ["gossip", "consecutive_numbers", "coin_in_the_box"]
    tiers = problems_of(f"domain=[{','.join(names)}]", *FEW[1:], "validation.verdict=4").tiers
    assert list(tiers) == [NEW, LARGER]
    assert [task.domain for task in tiers[LARGER]] == [*names, "gossip"]
    assert {task.domain for task in tiers[NEW]} == {*names}


class Size(NamedTuple):
    fluents: int
    agents: int
    worlds: int


def size_of(task: Task) -> Size:
    return Size(len(task.fluents), len(task.agents), len(task.initial.valuations))


def measure_largest(tasks: Sequence[Task]) -> Size:
    return Size(*map(max, zip(*map(size_of, tasks), strict=True)))


def is_larger(task: Task, most: Size) -> bool:
    """In at least one measure."""
    return any(own > other for own, other in zip(size_of(task), most, strict=True))


@pytest.mark.parametrize("domain", slow_but(domains.DOMAINS, "collaboration_communication", "gossip"))
def test_the_problems_of_a_tier_have_the_sizes_that_its_name_says(domain: str) -> None:
    """Published tests are all of the domain, new ones have sizes of published training problems, others are larger."""
    found = problems_of("encoding=hash", f"domain={domain}", "validation.verdict=4")
    unexplored: Any = SimpleNamespace(settings=found.source.settings, domains=[domain], held_out=[])
    tiers = sample_tiers(found.settings, unexplored, trained := found.source.tasks)
    assert list(tiers) == [PUBLISHED, NEW, LARGER]
    assert names_of(tiers[PUBLISHED]) == [f"{domain}/{name}" for name in domains.DOMAINS[domain].test]
    assert names_of(trained) == [f"{domain}/{name}" for name in domains.DOMAINS[domain].train]
    assert {size_of(task) for task in tiers[NEW]} <= set(map(size_of, trained))
    assert len(tiers[LARGER]) > 2
    assert all(is_larger(task, measure_largest(trained)) for task in tiers[LARGER])
    marks = [signature(task) for tasks in (*tiers.values(), trained) for task in tasks]
    assert len({*marks}) == len(marks)


def test_new_problems_are_sampled_as_those_of_the_data_set() -> None:
    """With the seed of the training, which that of the data set does not know; larger ones as in validation."""
    found = problems_of(*FEW[1:], "domain=consecutive_numbers", "data.goals=2", "validation.verdict=3", "seed=6")
    expected = [
        one.task for one in islice(sample_problems("consecutive_numbers", "train", 7, 2, partially_explored=True), 3)
    ]
    assert names_of(found.tiers[NEW]) == names_of(drop_isomorphic(expected, found.module.tasks))
    kinds = [task.instance.partition("_")[0] for task in found.tiers[LARGER]]
    assert kinds == ["validation", "test", "test"]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_larger_problems_are_larger_whatever_the_split_of_the_training_problems(split: str) -> None:
    found = problems_of(*FEW[1:], "domain=consecutive_numbers", f"data.split={split}", "validation.verdict=4")
    most = measure_largest([one.space.task for one in found.rollouts])
    larger = found.tiers[LARGER]
    assert len(larger) == 4
    assert all(is_larger(task, most) for task in larger)
