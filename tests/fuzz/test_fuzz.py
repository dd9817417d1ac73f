"""Runs some executions of `tests.tools.fuzz`, and checks that it reports defects."""

import os
import signal
from pathlib import Path

import pytest

from epigym.language import load
from tests.fuzz.target import CORPUS
from tests.tools import fuzz

EXECUTIONS = 2000


@pytest.mark.slow
def test_random_files(tmp_path: Path) -> None:
    outcome = fuzz.fuzz(range(EXECUTIONS), 0, tmp_path)
    assert outcome.findings == ()
    assert EXECUTIONS / 10 < outcome.accepted < EXECUTIONS / 2


def _wrong(number: int, seed: int, folder: Path) -> bool:
    """Executions with a defect in every second one."""
    (folder / "input.txt").write_text(f"{number} of {seed}")
    match number:
        case 11:
            os.kill(os.getpid(), signal.SIGKILL)
        case 13:
            raise KeyError("tail\nopen")
        case 15:
            while True:
                pass
        case 17:
            bytearray(fuzz.BYTES + 1)
        case 19:
            os._exit(3)
    return True


def test_defects_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SECONDS", 0.2)
    outcome = fuzz.fuzz(range(10, 21), 7, tmp_path, _wrong)
    assert outcome.executions == 11
    assert outcome.accepted == 6
    found = {finding.number: finding.what for finding in outcome.findings}
    assert found[11] == "the process ended by SIGKILL"
    assert found[13].startswith("KeyError in test_fuzz.py:")
    assert found[15] == "the process ended by SIGPROF"
    assert found[17].startswith("MemoryError in test_fuzz.py:")
    assert found[19] == "the process ended by 3"
    assert len(found) == 5
    assert all((tmp_path / f"{number}.txt").read_text() == f"{number} of 7" for number in found)


@pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")
@pytest.mark.parametrize("kind", ["mastar", "epddl", "ground"])
def test_the_corpus_is_right(kind: str) -> None:
    for file in (CORPUS / kind).iterdir():
        assert load(file).actions
