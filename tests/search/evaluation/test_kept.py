"""What an evaluation keeps carries a checksum: damage is named, set aside, and costs no more than what it hit."""

from pathlib import Path

import pytest

from search.agents.result import SearchResult, SearchStatus
from search.evaluation.batch import RecordBatch
from search.evaluation.running import compute_results
from tests.helpers.records import batch_of, record_of


@pytest.fixture
def batch(coin: str, tmp_path: Path) -> RecordBatch:
    """Two records."""
    return batch_of([record_of(coin), record_of(coin, "dfs")], tmp_path / "run", parallel=2)


@pytest.fixture
def found(batch: RecordBatch) -> list[SearchResult]:
    """Their outcomes, which are kept."""
    return compute_results(batch, cluster=None, retry=False)


@pytest.mark.parametrize("stride", [101, pytest.param(1, marks=pytest.mark.slow)])  # a prime: all bits of a byte
def test_flipped_bits(batch: RecordBatch, caplog: pytest.LogCaptureFixture, stride: int) -> None:
    """Or changes nothing, such as a blank between values."""
    record, folder = batch.records[0], batch.folder
    result = SearchResult(SearchStatus.SOLVED, "bfs", "coin", ("peek_a", "läuft"), 7)
    record.write(folder, result)
    file = record.file(folder)
    content = file.read_bytes()
    for bit in range(0, 8 * len(content), stride):
        caplog.clear()
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        if (read := record.read(folder)) is None:
            assert len(caplog.messages) == 1
            assert not file.exists()
        else:
            assert (read, caplog.messages) == (result, [])


def test_damaged_records(batch: RecordBatch, found: list[SearchResult], caplog: pytest.LogCaptureFixture) -> None:
    hit, other = (record.file(batch.folder) for record in batch.records)
    content = hit.read_bytes().replace(b'"expanded": ', b'"expanded": 1')
    hit.write_bytes(content)
    untouched = other.read_bytes()
    again = compute_results(batch, cluster=None, retry=False)
    [message] = caplog.messages
    assert message.startswith(f"{hit}: ")
    assert message.endswith(f": the record is computed again, what was there is kept as {hit.name}.damaged")
    assert [(a.status, a.plan, a.expanded) for a in again] == [(a.status, a.plan, a.expanded) for a in found]
    assert hit.with_name(f"{hit.name}.damaged").read_bytes() == content
    assert batch.records[0].row(batch.folder)["other_outcomes"] == "0"
    assert other.read_bytes() == untouched
    assert compute_results(batch, cluster=None, retry=False) == again
    assert len(caplog.messages) == 1


def test_damage_beside_a_record_does_not_say_what_it_will_take(batch: RecordBatch, found: list[SearchResult]) -> None:
    record = batch.records[0]
    file = record.file(batch.folder)
    took = record.estimate_seconds(batch.folder)
    beside = file.with_name(file.name.replace(record.key[:8], "0" * 8))
    file.replace(beside)
    assert 0 < record.estimate_seconds(batch.folder) < 60
    beside.write_bytes(beside.read_bytes()[:-20])
    assert took == record.estimate_seconds(batch.folder) == 60
