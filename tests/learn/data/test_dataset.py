import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.loader import DataLoader

from epigym import EpigymError, Reading, StateSpace, load_problem, to_pyg
from epigym.encoding.encoder import ENCODINGS, Encoder, make_encoder, make_encoding
from epigym.io.checksummed import read_checksummed, write_checksummed
from learn.data.collecting import collect, summarize
from learn.data.dataset import FORMAT_VERSION, DataSet, Samples, load, load_or_make, make_samples, save
from learn.data.explorers import ExplorerSettings, Newest, explore
from learn.data.fingerprint import fingerprint_task
from learn.data.pyg import PygDataSet
from learn.data.rows import EncodedRows, encode, join, pack
from tests.helpers.runs import HASH, PROBLEM
from tests.helpers.trained import SMALL, random_model


def arrays(samples: Samples) -> dict[str, np.ndarray]:
    columns = {field.name: getattr(samples, field.name) for field in fields(Samples) if field.name != "encoded"}
    return columns | pack(samples.encoded)


@pytest.mark.parametrize("name", ENCODINGS)
def test_stored_graphs_are_those_of_the_space(name: str) -> None:
    space = StateSpace(load_problem(PROBLEM))
    done = 0
    while done < len(space):
        space.expand([done])
        done += 1
    ids = np.tile(np.arange(done, dtype=np.int32), 20)  # more than are encoded at once
    encoder = make_encoder(space, make_encoding(name))
    encoded = encode(encoder, ids)
    assert len(encoded) == len(ids) > 4096
    for some in (np.array([7, 200, 0, 7, 31]), ids[:0], ids):
        for found, expected in zip(encoded.graphs(some), encoder.graphs(some), strict=True):
            assert found.dtype == expected.dtype
            assert np.array_equal(found, expected)


def test_joined_rows_are_those_of_their_parts() -> None:
    spaces = [StateSpace(load_problem(name)) for name in ("grapevine/3_pl_4", PROBLEM)]  # of three and of two agents
    for space in spaces:
        space.expand([0])
    parts = [Encoder(space).rows(np.arange(len(space))) for space in spaces]
    both = join(parts)
    assert [part.row_of.shape[1] for part in (*parts, both)] == [3, 2, 3]
    joined = EncodedRows(Encoder(spaces[1]).goal, Encoder(spaces[1]).identifiers, both)
    start = len(spaces[0])
    for found, expected in zip(joined.take(np.arange(start, start + len(spaces[1]))), parts[1], strict=True):
        if found.ndim == 2:
            assert (found[:, 2] == -1).all()
            found = found[:, :2]
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", ENCODINGS)
def test_round_trip_is_exact(name: str, tmp_path: Path) -> None:
    task, encoding, settings = load_problem(PROBLEM), {"name": name}, ExplorerSettings(name="exhaustive")
    samples = make_samples(explore(task, settings), settings, encoding)
    data = load_or_make(task, settings, encoding, tmp_path)
    stored = arrays(data.samples)
    assert stored.keys() == arrays(samples).keys()
    for column, array in arrays(samples).items():
        assert array.dtype == stored[column].dtype, column
        assert np.array_equal(array, stored[column]), column
    assert data.metadata["counts"]["kept"] == len(samples) == 225
    assert data.metadata["encoding"] == encoding
    assert data.metadata["format_version"] == FORMAT_VERSION
    worlds = explore(task, settings).space.world_counts(samples.state)
    assert data.metadata["counts"]["worlds"] == worlds.sum()
    assert [path.name for path in tmp_path.iterdir()] == [data.folder.name]


def test_typed_graphs_are_stored_in_small_types(tmp_path: Path) -> None:
    data = load_or_make(load_problem(PROBLEM), ExplorerSettings("exhaustive"), {"name": "relational"}, tmp_path)
    types = {name: array.dtype for name, array in pack(data.samples.encoded).items()}
    assert types["graphs.edge_index"] == types["graphs.edge_label"] == np.uint8
    assert types["graphs.nodes"] == np.uint16


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_arrays_are_views_of_the_mapped_file(small_set: DataSet) -> None:
    again = load(small_set.folder)
    mapped = [line for line in Path("/proc/self/maps").read_text().splitlines() if str(again.folder) in line]
    assert mapped
    assert not any(array.flags.owndata for array in arrays(again.samples).values())


def test_columns_agree_with_the_space(small_set: DataSet) -> None:
    samples = small_set.samples
    task = load_problem(PROBLEM)
    space = explore(task, ExplorerSettings(name="exhaustive")).space
    assert np.array_equal(samples.is_goal, space.query(task.goal)(samples.state).all(axis=1))
    assert np.array_equal(samples.is_goal, samples.distance == 0)
    assert np.array_equal(samples.goal_count == 0, samples.is_goal)
    for row in range(1, len(samples), 40):
        assert space.successor(int(samples.predecessor[row]), int(samples.action[row])) == samples.state[row]


def test_cache_is_used_and_depends_on_what_matters(tmp_path: Path) -> None:
    task = load_problem(PROBLEM)
    visits: list[int] = []

    def folder(settings: ExplorerSettings, encoding: dict[str, Any], task: Any = task) -> Path:
        return load_or_make(task, settings, encoding, tmp_path, visits.append).folder

    first = folder(ExplorerSettings(), HASH)
    assert visits
    visits.clear()
    assert folder(ExplorerSettings(), HASH) == folder(ExplorerSettings(), HASH, replace(task, name="other")) == first
    assert not visits
    others = {
        folder(ExplorerSettings(seed=1), HASH),
        folder(ExplorerSettings(consistent_beliefs=True), HASH),
        folder(ExplorerSettings(), {"name": "map", "width": 64}),
        folder(ExplorerSettings(), HASH, replace(task, goal=task.goal[:1])),
    }
    assert len(others | {first}) == 5


def test_task_fingerprint_sees_every_part() -> None:
    task = load_problem(PROBLEM)
    variants = [
        replace(task, goal=task.goal[::-1]),
        replace(task, structure=None, actions=task.actions[:-1]),
        replace(task, actions=(replace(task.actions[0], name="other"), *task.actions[1:])),
        replace(task, actions=(replace(task.actions[0], applicability=task.goal[0]), *task.actions[1:])),
        load_problem(PROBLEM, Reading("update_model")),
        load_problem("collaboration_communication/2_2_3_pl_4"),
    ]
    assert len({fingerprint_task(variant) for variant in [task, *variants]}) == 7
    assert fingerprint_task(task) == fingerprint_task(load_problem(PROBLEM))


@pytest.fixture
def data_copy(small_set: DataSet, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_set.folder, tmp_path / "copy"))


def test_flipped_byte_is_noticed(data_copy: Path) -> None:
    file = data_copy / "arrays.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(EpigymError, match="does not match its checksum: delete"):
        load(data_copy)


def metadata_is_cut_off(folder: Path) -> None:
    text = (folder / "metadata.json").read_text()
    (folder / "metadata.json").write_text(text[: len(text) // 2])


def metadata_says_something_else(folder: Path) -> None:
    text = (folder / "metadata.json").read_text()
    (folder / "metadata.json").write_text(text.replace('"kept": 225', '"kept": 226'))


def arrays_are_flipped(folder: Path) -> None:
    content = bytearray((folder / "arrays.safetensors").read_bytes())
    content[len(content) // 2] ^= 16
    (folder / "arrays.safetensors").write_bytes(content)


def arrays_are_gone(folder: Path) -> None:
    (folder / "arrays.safetensors").unlink()


def everything_is_gone(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def is_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


@pytest.mark.parametrize(
    "damage",
    [
        metadata_is_cut_off, metadata_says_something_else, arrays_are_flipped, arrays_are_gone, everything_is_gone,
        is_a_file,
    ],
)  # fmt: skip
def test_damaged_data_sets_are_made_again(
    small_set: DataSet, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    task = load_problem(PROBLEM)
    folder = Path(shutil.copytree(small_set.folder, tmp_path / small_set.folder.name))
    damage(folder)
    again = load_or_make(task, ExplorerSettings("exhaustive"), HASH, tmp_path)
    (aside,) = (path for path in tmp_path.iterdir() if path != folder)
    assert aside.name.startswith(f"{folder.name}.damaged-")
    (message,) = caplog.messages
    assert str(folder) in message
    assert message.endswith(f"it is made again, and what was there is kept as {aside.name}")
    made = arrays(again.samples)
    assert all(np.array_equal(made[name], array) for name, array in arrays(small_set.samples).items())


def test_missing_and_broken_parts_are_named(data_copy: Path, tmp_path: Path) -> None:
    with pytest.raises(EpigymError, match="holds no data set"):
        load(tmp_path / "nothing")
    metadata = read_checksummed(data_copy / "metadata.json", "")
    write_checksummed(data_copy / "metadata.json", metadata | {"format_version": 99})
    with pytest.raises(EpigymError, match=f"format version 99, expected {FORMAT_VERSION}"):
        load(data_copy)
    (data_copy / "metadata.json").write_text("{")
    with pytest.raises(EpigymError, match=r"not JSON: .*: delete .* to make it again"):
        load(data_copy)


def test_losing_a_race_keeps_the_first_data_set(small_set: DataSet, data_copy: Path) -> None:
    before = (data_copy / "metadata.json").read_bytes()
    save(small_set.samples, {"another": True}, data_copy)
    assert (data_copy / "metadata.json").read_bytes() == before
    assert [path.name for path in data_copy.parent.iterdir()] == ["copy"]


def test_a_space_without_goals_is_refused() -> None:
    settings = ExplorerSettings(name="dfs", max_visited=1)
    exploration = explore(load_problem(PROBLEM), settings)
    with pytest.raises(EpigymError, match=r"no goal of .* is among the 1 e-states"):
        make_samples(exploration, settings, HASH)


ENCODING = {"name": "hash"}
PROBLEMS = ("coin_in_the_box/pl_3", "coin_in_the_box/pl_5", "grapevine/3_pl_4")


def test_many_data_sets_are_one_line_for_each_domain(tmp_path: Path) -> None:
    few = collect(PROBLEMS, ExplorerSettings("exhaustive"), ENCODING, tmp_path)
    many = [*few[:2] * 6, few[2]]
    assert [row[0] for row in summarize(few).rows] == list(PROBLEMS)
    coins, grapevine = summarize(many).rows
    assert (coins[0], grapevine[0]) == ("12 of coin_in_the_box", "grapevine")
    counts = [data.metadata["counts"] for data in few]
    assert coins[1:3] == [f"{6 * (counts[0][name] + counts[1][name]):,}" for name in ("visited", "kept")]
    assert coins[5] == str(max(len(one["depths"]) for one in counts[:2]) - 1)
    assert grapevine[1:] == summarize(few).rows[2][1:]


STEPS = st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 12)), max_size=30)


@given(STEPS)
def test_the_newest_that_fit_are_kept(steps: list[tuple[str, int | None]]) -> None:
    """Against a list in which whatever was put in or asked for last comes last."""
    newest, expected = Newest[int](10), list[tuple[str, int]]()
    for key, size in steps:
        found = dict(expected).get(key)
        if size is None:
            assert newest.get(key) == found
        else:
            newest.put(key, size, size)
            found = size
        expected = [entry for entry in expected if entry[0] != key]
        if found is not None and found <= 10:
            expected.append((key, found))
        while sum(entry[1] for entry in expected) > 10:
            del expected[0]
    assert {key: newest.get(key) for key in "abcde"} == {key: dict(expected).get(key) for key in "abcde"}


def test_nothing_is_kept_when_the_interpreter_ends() -> None:
    """Else the core says that it leaks: its objects would outlive it."""
    program = """
from atexit import register
from learn.data.explorers import Newest
register(lambda: print(newest.get("a")))  # called after what is registered later
newest = Newest(1)
newest.put("a", "there", 1)
print(newest.get("a"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["there", "None"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_graphs_work_with_the_loader_and_the_network(encoding: str, tmp_path: Path) -> None:
    explorer = ExplorerSettings("exhaustive")
    data = load_or_make(load_problem(PROBLEM), explorer, {"name": encoding}, tmp_path)
    graphs = PygDataSet(data.folder)
    assert len(graphs) == 225
    batch = next(iter(DataLoader(graphs[:40], batch_size=40)))
    assert batch.y.tolist() == data.samples.distance[:40].tolist()
    exploration = explore(load_problem(PROBLEM), explorer)
    encoder = make_encoder(exploration.space, make_encoding(encoding), exploration.task.goal)
    expected = to_pyg(encoder.graphs(data.samples.state[:40]))
    network = random_model(SMALL, encoding).network
    torch.testing.assert_close(network(batch), network(expected))
    assert len(set(network(batch).tolist())) > 1
