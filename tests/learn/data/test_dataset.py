"""Data sets on disk: what is read is what was made and true, and each appears whole or not at all."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.loader import DataLoader

from domains.registry import DOMAINS
from epigym import EpigymError, StateSpace, Task, load_problem, to_pyg
from epigym.cli.codes import ExitCode
from epigym.encoding.encoder import ENCODINGS, make_encoder, make_encoding
from epigym.errors import DamagedError, UsageError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.problem import vocabulary
from epigym.space.sampling import sample_goal
from epigym.task.formula import fluent
from learn.data import sources
from learn.data.dataset import TABLE, DataSet, Row, write_data_set
from learn.data.explorers import ExplorerSettings, explore, keep
from learn.data.labels import UNREACHABLE, Label
from learn.data.making import make_trees, open_rollout
from learn.data.rollout import LabelledGoal, Tree
from learn.data.sources import summarize
from learn.rollouts import Rollouts, main, make_rollouts
from learn.train import Train
from learn.train_linear import TrainLinear
from tests.helpers.commands import compose
from tests.helpers.marks import slow_but
from tests.helpers.runs import PROBLEM, Stages
from tests.helpers.structures import steps_to_a_goal
from tests.helpers.tasks import delusion, hopeless, trivial
from tests.helpers.trained import SMALL, random_model

ARRAYS = ("distance", "label", "sample", "better", "worse", "weight")


def write(folder: Path, problems: list[Task], explorer: ExplorerSettings, expansions: int = 8) -> DataSet:
    """The data set of some problems."""
    trees = make_trees(problems, explorer, expansions)
    return write_data_set(folder, trees, settings={"data": {"expansions": expansions}, "explorer": asdict(explorer)})


def compose_source(*overrides: str) -> Rollouts:
    return compose(Rollouts, "rollouts", f"problem={PROBLEM}", "explorer=exhaustive", *overrides)


@pytest.fixture(scope="session")
def small_set(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """The data set of a problem with 225 e-states."""
    return compose_source().source.open(tmp_path_factory.mktemp("outputs"))


@pytest.fixture
def copied(small_set: DataSet, tmp_path: Path) -> Path:
    """A copy of its folder, as `open` of its source finds it in `tmp_path`."""
    return Path(shutil.copytree(small_set.folder, tmp_path / "rollouts" / small_set.key))


@cache
def sample_goals(domain: str) -> tuple[Task, ...]:
    """A published problem with two goals that are near."""
    name = "/".join([domain, *DOMAINS[domain].train[:1]])
    task = load_problem(name)
    space, formulas = StateSpace(task), vocabulary(name)[1]
    found = {
        tuple(formulas[part] for part in sample_goal(
            space, space.query(formulas), np.random.default_rng(seed), steps=5, size=2
        ).subgoals)
        for seed in range(8)
    }  # fmt: skip
    first, second, *_ = sorted(found, key=str)
    return replace(task, goal=first), replace(task, name="another", instance="other", goal=second)


def states_of(space: StateSpace, ids: np.ndarray) -> list[Any]:
    return [space.model(state).state for state in ids.tolist()]


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_read_is_what_was_made_and_what_a_new_exploration_finds(domain: str, tmp_path: Path) -> None:
    tasks = sample_goals(domain)
    explorer = ExplorerSettings("exhaustive", max_visited=400, max_kept=40)
    [tree] = make_trees(tasks, explorer, 8)
    data = write(tmp_path / "set", list(tasks), explorer)
    read = data.read_tree(0)
    assert {path.name for path in data.folder.iterdir()} == {TABLE, "0.json", "0.safetensors"}
    assert_equal_trees(read, tree)
    for number, task in enumerate(tasks):
        exploration = explore(task, explorer)
        for use in ("samples", "pairs"):
            rollout, expected = (open_rollout(one, number, use) for one in (read, tree))
            assert [row.name for row in data.rows] == [task.name for task in tasks]
            assert (rollout.space.task.name, rollout.space.task.goal) == (task.name, task.goal)
            for name in ("distance", "label", "better", "worse", "weight"):
                assert np.array_equal(getattr(rollout, name), getattr(expected, name))
            states = states_of(rollout.space, rollout.ids)
            assert states == states_of(expected.space, expected.ids)
            if use == "samples":
                places = keep(exploration, explorer)
                assert states == states_of(exploration.space, exploration.states[places])
                assert rollout.distance.tolist() == exploration.distance[places].tolist()
        fresh = StateSpace(task)
        ids = np.array([fresh.intern(state) for state in states[:5]], np.int32)
        for encoding in ENCODINGS:
            graphs = make_encoder(rollout.space, make_encoding(encoding)).graphs(rollout.ids[:5])
            assert all(map(np.array_equal, graphs, make_encoder(fresh, make_encoding(encoding)).graphs(ids)))


def assert_equal_trees(read: Tree, tree: Tree) -> None:
    for name in ("predecessor", "action"):
        assert getattr(read, name).dtype == np.int32
        assert np.array_equal(getattr(read, name), getattr(tree, name))
    names = ("name", "domain", "instance", "fluents", "agents", "structure", "initial")
    assert all(getattr(read.task, name) == getattr(tree.task, name) for name in names)
    for found, goal in zip(read.goals, tree.goals, strict=True):
        for field in fields(LabelledGoal):
            value, expected = getattr(found, field.name), getattr(goal, field.name)
            if field.name in ARRAYS:
                assert value.dtype == expected.dtype
                assert np.array_equal(value, expected)
            elif field.name != "seconds":
                assert value == expected


@pytest.mark.parametrize(
    ("name", "max_visited"),
    slow_but([("exhaustive", 1000), ("exhaustive", 150), ("dfs", 120)], ("exhaustive", 150), ("dfs", 120)),
)
@pytest.mark.parametrize("problem", slow_but([PROBLEM, "selective_communication/4_2_pl_5"], PROBLEM))
def test_labels_are_true(problem: str, name: str, max_visited: int, tmp_path: Path) -> None:
    """Against plain breadth-first search from each e-state."""
    task = load_problem(problem)
    data = write(tmp_path / "set", [task], ExplorerSettings(name, max_visited=max_visited))
    [goal] = data.read_tree(0).goals
    assert not (goal.label[goal.sample] == Label.LOWER_BOUND).any()
    fresh, seen = StateSpace(task), set()
    for rollout in (data.rollouts("samples")[0], data.rollouts("pairs")[0]):
        states = states_of(rollout.space, rollout.ids)
        for state, distance, label in zip(states, rollout.distance.tolist(), rollout.label.tolist(), strict=True):
            steps = steps_to_a_goal(fresh, fresh.intern(state))
            seen.add(label)
            match label:
                case Label.EXACT:
                    assert distance == steps >= 0
                case Label.LOWER_BOUND:
                    assert distance <= steps or steps == UNREACHABLE
                case Label.ALONG_PLAN:
                    assert 0 <= steps <= distance
                case Label.DEAD_END:
                    assert distance == steps == UNREACHABLE
                case Label.UNKNOWN:
                    assert distance == UNREACHABLE
    assert seen & {Label.EXACT, Label.ALONG_PLAN}


def test_without_a_number_the_samples_are_the_e_states_of_the_pairs(tmp_path: Path) -> None:
    data = write(tmp_path / "set", [load_problem(PROBLEM)], ExplorerSettings("exhaustive", max_kept=None))
    [goal] = data.read_tree(0).goals
    assert np.flatnonzero(goal.sample).tolist() == np.unique([goal.better, goal.worse]).tolist()
    assert 0 < data.rows[0].counts["samples"] == goal.sample.sum() < data.rows[0].counts["visited"] == 225


def test_goals_over_one_tree_share_files_and_have_the_labels_they_have_alone(tmp_path: Path) -> None:
    task = load_problem(PROBLEM)
    tasks = [task, replace(task, name="one", goal=task.goal[:1]), replace(task, name="other", goal=task.goal[1:])]
    explorer = ExplorerSettings("exhaustive", max_kept=30)
    data = write(tmp_path / "all", tasks, explorer)
    assert [(row.tree, row.goal, row.name) for row in data.rows] == [
        (0, number, task.name) for number, task in enumerate(tasks)
    ]
    assert len(list(data.folder.iterdir())) == 3
    for number, task in enumerate(tasks):
        for use in ("samples", "pairs"):
            together = data.rollouts(use)[number]
            seed = explorer.seed + (number if use == "pairs" else 0)  # see make_trees
            [tree] = make_trees([task], replace(explorer, seed=seed), 8)
            expected = open_rollout(tree, 0, use)
            assert states_of(together.space, together.ids) == states_of(expected.space, expected.ids)
            for name in ("distance", "label", "better", "worse", "weight"):
                assert np.array_equal(getattr(together, name), getattr(expected, name))
    separate = write(tmp_path / "dfs", tasks, replace(explorer, name="dfs"))
    assert [row.tree for row in separate.rows] == [0, 1, 2]


def test_excluded_e_states_are_excluded_when_it_is_read(tmp_path: Path) -> None:
    task = replace(delusion(), goal=(fluent("tail"),))
    for name, forbidden in (("free", False), ("forbidding", True)):
        data = write(tmp_path / name, [task], ExplorerSettings("exhaustive", consistent_beliefs=forbidden))
        [rollout] = data.rollouts("samples")
        assert rollout.space.consistent_beliefs == data.consistent_beliefs == forbidden
        assert len(rollout.ids) == 3 - forbidden


DECIDING = (
    "data.seed=1", "data.expansions=7", "explorer=auto", "explorer.max_visited=300", "explorer.max_kept=50",
    "explorer.seed=3", "consistent_beliefs=true", "semantics=update_model", "data=sampled",
)  # fmt: skip
"""Overrides that each change what the problem's data set holds."""


def test_all_that_decides_content_and_nothing_else_decides_the_key(tmp_path: Path) -> None:
    key = compose_source().source.key
    assert compose_source(f"outputs={tmp_path}", "data.seed=42").source.key == key
    others = [compose_source(one).source.key for one in DECIDING]
    others += [compose_source(f"problem=[{PROBLEM},coin_in_the_box/pl_3]").source.key]
    assert len({key, *others}) == len(others) + 1
    together = {compose_source(*given).source.key for given in (DECIDING[:2], DECIDING[1::-1])}
    assert len(together) == 1

    def sampled(*overrides: str) -> str:
        return compose(Rollouts, "rollouts", "data=sampled", *overrides).source.key

    domain = sampled("domain=gossip")
    given = ("data.split=test", "data.instances=2", "data.goals=1", "data.long_goals=true",
             "data.partially_explored=false")  # fmt: skip
    others = [sampled("domain=gossip", one) for one in given] + [sampled("domain=grapevine")]
    assert len({domain, *others}) == len(others) + 1


@pytest.mark.parametrize("data", ["published", "sampled"])
def test_commands_with_the_same_data_have_the_same_key(data: str) -> None:
    given = ("domain=grapevine", f"data={data}")
    key = compose(Rollouts, "rollouts", *given).source.key
    trainings = [("encoding=relational", "seed=3"), ("encoding=hash", "base=none"), ("objective=distance",)]
    for overrides in trainings:
        assert compose(Train, "train", *given, *overrides).source.key == key
    assert compose(TrainLinear, "train_linear", *given, "seed=3").source.key == key
    if data == "published":
        assert compose(Rollouts, "rollouts", "domain=grapevine").source.key == key


def read_all(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_of_two_makers_the_second_takes_what_the_first_made(copied: Path) -> None:
    before = read_all(copied)
    write(copied, [load_problem("coin_in_the_box/pl_3")], ExplorerSettings("exhaustive"))
    assert read_all(copied) == before
    assert [path.name for path in copied.parent.iterdir()] == [copied.name]


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> Iterator[Tree]:
        yield from make_trees([load_problem("coin_in_the_box/pl_3")], ExplorerSettings("exhaustive"), 8)
        assert [path.is_dir() for path in tmp_path.iterdir()] == [True]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_data_set(tmp_path / "set", fail(), settings={})
    assert not list(tmp_path.iterdir())


KILLED = """
import os, signal, sys
from pathlib import Path
from epigym import load_problem
from learn.data.dataset import write_data_set
from learn.data.explorers import ExplorerSettings
from learn.data.making import make_trees

def trees():
    yield from make_trees([load_problem("coin_in_the_box/pl_3")], ExplorerSettings("exhaustive"), 8)
    os.kill(os.getpid(), signal.SIGKILL)

write_data_set(Path(sys.argv[1]), trees(), settings={})
"""


def test_a_killed_maker_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if the number of its process is given again, as in containers."""
    with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "set"]) as process:
        assert process.wait() == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert left.name.startswith(".set.")
    assert list(left.iterdir())
    monkeypatch.setattr(os, "getpid", lambda: process.pid)
    data = write(tmp_path / "set", [load_problem("coin_in_the_box/pl_3")], ExplorerSettings("exhaustive"))
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert data.rollouts("samples")


def table_is_cut(folder: Path) -> None:
    os.truncate(folder / TABLE, (folder / TABLE).stat().st_size // 2)


def table_is_edited(folder: Path) -> None:
    text = (folder / TABLE).read_text()
    (folder / TABLE).write_text(text.replace('"visited": 225', '"visited": 226'))


def arrays_are_flipped(folder: Path) -> None:
    content = bytearray((folder / "0.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "0.safetensors").write_bytes(content)


def file_is_gone(folder: Path) -> None:
    (folder / "0.json").unlink()


def folder_is_empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def folder_is_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


@pytest.mark.parametrize(
    "damage", [table_is_cut, table_is_edited, arrays_are_flipped, file_is_gone, folder_is_empty, folder_is_a_file]
)
def test_a_damaged_set_is_one_line_by_name_and_made_again_by_key(
    damage: Callable[[Path], None], small_set: DataSet, copied: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damage(copied)
    with pytest.raises(EpigymError) as caught:
        compose(TrainLinear, "train_linear", f"data.folder={copied}").source.open(tmp_path)
    assert str(copied) in str(caught.value)
    assert "make it again" in str(caught.value) or "make one with" in str(caught.value)
    assert "\n" not in str(caught.value)
    again = compose_source().source.open(tmp_path)
    assert again.folder == copied
    [aside] = (path for path in copied.parent.iterdir() if path != copied)
    assert aside.name.startswith(f"{copied.name}.damaged-")
    [message] = caplog.messages
    assert str(copied) in message
    assert message.endswith(f"it is made again, and what was there is kept as {aside}")
    assert_equal_trees(again.read_tree(0), small_set.read_tree(0))


def test_other_folders_and_versions_are_one_line(copied: Path, tmp_path: Path) -> None:
    with pytest.raises(
        EpigymError, match=rf"^{tmp_path} is no data set: it has no dataset.json: make one with `python"
    ):
        DataSet(tmp_path)
    table = read_checksummed(copied / TABLE, "")
    write_checksummed(copied / TABLE, table | {"version": 99})
    with pytest.raises(EpigymError, match=rf"^{copied} has version 99, expected \d+: make it again with `python"):
        DataSet(copied)
    for content in (table | {"rows": 3}, table | {"rows": [{"tree": 0}]}, {"version": table["version"]}):
        write_checksummed(copied / TABLE, content)
        with pytest.raises(
            DamagedError, match=rf"^{copied} is damaged: dataset.json lacks what it must have: .*again$"
        ):
            DataSet(copied)


FILES: tuple[str, ...] = (TABLE, "0.json", "0.safetensors")


def is_harmless(table: Path) -> bool:
    """Whether the content of a changed table still has its checksum, as when white space is changed."""
    try:
        return bool(read_checksummed(table, ""))
    except EpigymError:
        return False


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_damage_to_a_file_is_more_than_one_line(
    small_set: DataSet, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = Path(shutil.copytree(small_set.folder, tmp_path_factory.mktemp("damaged") / "set"))
    path = folder / data.draw(st.sampled_from(FILES))
    before = path.read_bytes()
    content = bytearray(before)
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    for place in data.draw(st.lists(st.integers(0, max(len(content) - 1, 0)), max_size=3)) if content else []:
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    if path.read_bytes() == before or (path.name == TABLE and is_harmless(path)):
        assert DataSet(folder).rollouts("samples")
        return
    with pytest.raises(EpigymError) as caught:
        DataSet(folder).rollouts("samples")
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_arrays_that_do_not_fit_are_one_line(copied: Path) -> None:
    """Of files that another program has written, with right checksums."""
    data = DataSet(copied)
    tree = data.read_tree(0)
    wrong = {
        "loop": replace(tree, predecessor=np.append(tree.predecessor[:-1], np.int32(len(tree.predecessor) - 1))),
        "action": replace(tree, action=np.append(tree.action[:-1], np.int32(999))),
        "empty": replace(tree, predecessor=tree.predecessor[:0], action=tree.action[:0]),
        "short": replace(tree, goals=(replace(tree.goals[0], label=tree.goals[0].label[1:]),)),
        "pairs": replace(tree, goals=(replace(tree.goals[0], better=tree.goals[0].better + 10_000),)),
    }
    for name, other in wrong.items():
        made = write_data_set(copied.parent / name, [other], settings=data.settings)
        with pytest.raises(DamagedError, match=r"is damaged: 0\.safetensors: its arrays do not fit each other: delete"):
            made.rollouts("samples")
    elsewhere = replace(tree, action=np.append(np.int32(-1), tree.action[:0:-1]))
    made = write_data_set(copied.parent / "path", [elsewhere], settings=data.settings)
    with pytest.raises(DamagedError, match=rf"is damaged: {PROBLEM} cannot be followed: action .* is not applicable"):
        made.rollouts("samples")


@pytest.mark.parametrize("encoding", ["hash", "relational"])
def test_graphs_work_with_the_loader_and_the_network(encoding: str, small_set: DataSet) -> None:
    graphs = small_set.graphs(encoding)
    [rollout] = small_set.rollouts("samples")
    assert len(graphs) == len(rollout.ids) == 225
    batch = next(iter(DataLoader(graphs[:40], batch_size=40)))
    assert batch.y.tolist() == rollout.distance[:40].tolist()
    encoder = make_encoder(rollout.space, make_encoding(encoding), rollout.space.task.goal)
    expected = to_pyg(encoder.graphs(rollout.ids[:40]))
    network = random_model(SMALL, encoding).network
    torch.testing.assert_close(network(batch), network(expected))
    assert len(set(network(batch).tolist())) > 1


def test_graphs_of_several_problems_are_those_of_each(tmp_path: Path) -> None:
    tasks = list(sample_goals("gossip"))
    explorer = ExplorerSettings("exhaustive", max_kept=10)
    data = write(tmp_path / "set", tasks, explorer)
    graphs = [*data.graphs("hash")]
    assert len(graphs) == 20
    for number, rollout in enumerate(data.rollouts("samples")):
        expected = to_pyg(make_encoder(rollout.space, make_encoding("hash")).graphs(rollout.ids[3:4]))
        found = graphs[10 * number + 3]
        assert torch.equal(found.x, expected.x)
        assert torch.equal(found.edge_index, expected.edge_index)
        assert found.y.tolist() == [rollout.distance[3]]


def make_row(name: str, domain: str, **counts: Any) -> Row:
    usual = {"visited": 10, "samples": 4, "pairs": 3, "goals": 1, "worlds": 8, "complete": True}
    shape = {"distances": [1, 2, 1], "depths": [1, 3]}
    return Row(tree=0, goal=0, name=name, domain=domain, counts={**usual, **shape, **counts}, seconds=0.5)


def test_many_problems_are_one_line_for_each_domain() -> None:
    rows = [make_row("a/1", "a"), make_row("a/2", "a", visited=1990, complete=False, distances=[1] * 6)]
    few = summarize([*rows, make_row("b/1", "b")]).rows
    assert few[0] == ["a/1", "10", "4", "3", "25%", "0–2", "1", "2.0", "0.5"]
    assert [row[0] for row in few] == ["a/1", "a/2", "b/1"]
    many = summarize([*rows * 6, make_row("b/1", "b")]).rows
    assert many == [["12 of a", "12,000+", "48", "36", "25%", "0–5", "1", "2.0", "6.0"], ["b", *few[2][1:]]]
    empty = {"samples": 0, "pairs": 0, "goals": 0, "worlds": 0, "distances": [], "depths": []}
    assert summarize([make_row("c", "", **empty)]).rows == [["c", "10", "0", "0", "0%", "0–0", "0", "0.0", "0.5"]]


def test_problems_without_a_goal_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    explorer = ExplorerSettings("exhaustive")
    data = write(tmp_path / "set", [hopeless(), load_problem("coin_in_the_box/pl_3")], explorer)
    [message] = caplog.messages
    assert message.startswith(f"{hopeless().name} is left out: no goal of ")
    assert len(data) == 1
    with pytest.raises(EpigymError, match=r"^nothing to learn from: no goal is among the explored e-states of any pro"):
        write(tmp_path / "none", [hopeless()], explorer)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    trivially = write(tmp_path / "trivial", [trivial()], explorer, 0)
    assert trivially.rollouts("samples")
    with pytest.raises(
        EpigymError, match=rf"^nothing to learn from in 1 problems of {trivial().name}: there are no pairs$"
    ):
        trivially.rollouts("pairs")


def test_of_files_with_sampled_goals_some_are_held_out(tmp_path: Path) -> None:
    given = ("problem=coin_in_the_box/pl_3", "data=sampled", "data.instances=4", "data.held_out=3")
    source = compose(Rollouts, "rollouts", *given).source
    learned, held_out = source._list_tasks()
    data = source.open(tmp_path)
    assert len(data) == len(learned)
    assert 1 <= len(data.held_out) == len(held_out) <= 3
    for found, expected in zip(DataSet(data.folder).held_out, held_out, strict=True):
        assert found == expected
    goals = [goal.goal for number in {row.tree for row in data.rows} for goal in data.read_tree(number).goals]
    assert not {task.goal for task in held_out} & set(goals)


def test_exploring_shows_the_e_states_of_all_problems(tmp_path: Path, stages: Stages) -> None:
    problems = f"problem=[{PROBLEM},coin_in_the_box/pl_3]"
    data = compose_source(problems, "explorer=auto", "explorer.max_visited=50").source.open(tmp_path)
    visited = [row.counts["visited"] for row in data.rows]
    texts = stages["exploring"]
    assert texts[0] == "0 of 2 problems, 0 e-states"
    assert f"1 of 2 problems, {visited[0] + 1} e-states" in texts
    assert texts[-1] == f"2 of 2 problems, {sum(visited)} e-states"


def test_a_set_that_is_there_is_found_without_exploring(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "make_trees", lambda *given: pytest.fail("it explores again"))
    assert compose_source().source.open(copied.parents[1]).folder == copied


@pytest.mark.slow
def test_the_command_prints_a_table_and_the_folder_and_makes_a_set_once(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    settings = compose_source(f"outputs={tmp_path}", f"run_dir={tmp_path / 'run'}")
    make_rollouts(settings)
    folder = str(tmp_path / "rollouts" / settings.source.key)
    assert caplog.messages == [folder]
    assert PROBLEM in capsys.readouterr().out
    assert (tmp_path / "run" / "rollouts.png").exists()
    monkeypatch.setattr(sources, "make_trees", lambda *given: pytest.fail("it explores again"))
    make_rollouts(settings)
    assert caplog.messages == [folder] * 2


@pytest.mark.parametrize("override", ["data.folder=outputs", "encoding=hash"])
def test_what_does_not_decide_a_set_is_refused_in_one_line(
    override: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["learn.rollouts", f"problem={PROBLEM}", override])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == ExitCode.USAGE
    [line] = capsys.readouterr().err.splitlines()
    assert override.partition("=")[0] in line


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ((), "no problem is named: give domain="),
        (("domain=grapes",), "unknown domain 'grapes'"),
        (("problem=gossip", "domain=gossip"), "domain=.*: problem= names all that is learned from"),
        (("domain=gossip", "data=sampled", "data.held_out=3"), "data.held_out=3: problems are sampled, not read"),
        (("domain=gossip", "data=sampled", "semantics=efp"), "semantics=efp: problems are sampled, not read"),
        (("domain=gossip", "without=[gossip]"), "no domain is left"),
    ],
)
def test_settings_without_use_are_one_line(overrides: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        _ = compose(Rollouts, "rollouts", *overrides).source
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    ["domain=gossip", "problem=gossip", "explorer.max_visited=9", "data.seed=1", "data=sampled", "semantics=efp"],
)
def test_beside_a_folder_nothing_is_given(given: str, small_set: DataSet) -> None:
    with pytest.raises(UsageError, match=r"data.folder= names all that is learned from: leave one of them out"):
        compose(TrainLinear, "train_linear", f"data.folder={small_set.folder}", given)
