"""What an evaluation keeps carries a checksum: damage is named, set aside, and costs no more than what it hit."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from search.agents.limits import Limits
from search.agents.result import Costs, SearchResult, SearchStatus
from search.evaluation.batch import Batch
from search.evaluation.cell import Cell
from search.evaluation.cluster import array
from search.evaluation.cluster.clusters import Local
from search.evaluation.grid import cells_of, configurations_of
from search.evaluation.running import evaluate
from search.evaluation.suites import named_problems
from tests.helpers.tasks import COIN


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    """Two cells."""
    (tmp_path / "coin.txt").write_text(COIN)
    problems = named_problems([str(tmp_path / "coin.txt")], "default")
    cells = cells_of(problems, configurations_of(["bfs", "dfs"], []), Limits(None, 60.0, 1 << 33))
    return Batch(cells, tmp_path / "run", parallel=2, wall_limit=60.0, memory_limit=1 << 33)


@pytest.fixture
def found(batch: Batch) -> list[SearchResult]:
    """Their outcomes, which are kept."""
    return evaluate(batch, cluster=None, retry=False)


def aside(cell: Cell, folder: Path) -> Path:
    file = cell.file(folder)
    return file.with_name(file.name + ".damaged")


def test_every_flipped_bit_is_noticed(
    batch: Batch, tmp_path: Path, caplog: pytest.LogCaptureFixture, pytestconfig: pytest.Config
) -> None:
    """Or changes nothing, such as a blank between values. A hundredth of the bits; `--full` flips all of them."""
    cell, folder = batch.cells[0], tmp_path
    result = SearchResult(SearchStatus.SOLVED, "bfs", "coin", ("peek_a", "läuft"), 7, costs=Costs(search_seconds=0.25))
    cell.write(folder, result)
    file = cell.file(folder)
    content = file.read_bytes()
    stride = 1 if pytestconfig.getoption("full") else 101  # a prime: all eight bits of bytes
    for bit in range(0, 8 * len(content), stride):
        caplog.clear()
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        if (read := cell.read(folder)) is None:
            assert len(caplog.messages) == 1
            assert not file.exists()
        else:
            assert (read, caplog.messages) == (result, [])


def test_what_is_damaged_is_named_and_computed_again(
    batch: Batch, found: list[SearchResult], caplog: pytest.LogCaptureFixture
) -> None:
    hit, other = (cell.file(batch.folder) for cell in batch.cells)
    content = hit.read_bytes().replace(b'"expanded": ', b'"expanded": 1')
    hit.write_bytes(content)
    untouched = other.read_bytes()
    with caplog.at_level(logging.WARNING):
        again = evaluate(batch, cluster=None, retry=False)
    assert caplog.messages == [
        f"{hit}: damaged or edited, its content does not fit its sha256: "
        f"the cell is computed again, what was there is kept as {hit.name}.damaged"
    ]
    assert [(one.status, one.plan, one.expanded) for one in again] == [
        (one.status, one.plan, one.expanded) for one in found
    ]
    assert aside(batch.cells[0], batch.folder).read_bytes() == content
    assert other.read_bytes() == untouched
    assert evaluate(batch, cluster=None, retry=False) == again
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", b"[]", b'{"key": 1}', b"[" * 10**5])
def test_what_is_no_cell_is_set_aside(batch: Batch, content: bytes) -> None:
    cell = batch.cells[0]
    file = cell.file(batch.folder)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert cell.read(batch.folder) is None
    assert aside(cell, batch.folder).read_bytes() == content
    assert cell.row(batch.folder)["other_outcomes"] == "0"


def test_damage_beside_a_cell_does_not_say_what_it_will_take(batch: Batch, found: list[SearchResult]) -> None:
    cell = batch.cells[0]
    file = cell.file(batch.folder)
    beside = file.with_name(file.name.replace(cell.key[:8], "0" * 8))
    file.replace(beside)
    assert cell.expected_seconds(batch.folder) == found[0].costs.total_seconds
    beside.write_bytes(beside.read_bytes()[:-20])
    assert cell.expected_seconds(batch.folder) == 60.0


def test_a_damaged_list_of_tasks_submits_what_is_missing_again(
    batch: Batch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "run" / "cluster"
    place.mkdir(parents=True)
    (place / "tasks.json").write_text('{"17": ["cells/x.json"]}')
    with caplog.at_level(logging.WARNING):
        assert array._recorded(place, Local(workers=1)) == {}
    [message] = caplog.messages
    assert message.endswith("what it said to run is submitted again, what was there is kept as tasks.json.damaged")
    assert (place / "tasks.json.damaged").exists()
