"""How long the first answer takes; run by hand: `pytest tests/benchmarks/test_first_answer.py`.

What a command costs from its start to its end on a trivial problem, and reading the largest published files. Times are
of the processor, those of a command with all its processes; wall-clock times are in the output of `time`.
"""

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from epigym import StateSpace, Task, load_problem
from epigym.errors import ProblemWarning
from epigym.features.types import FeatureTypes
from epigym.language.epddl import load_epddl
from tests.helpers.benchmark_files import BENCHMARKS, ROOT
from tests.helpers.epddl_files import competition_cases

TRIVIAL = ROOT / "docs" / "epddl" / "coin-1.json"
ROUNDS = 7


def time_of_children() -> float:
    """Seconds of the processor that processes took which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def competition(name: str) -> Callable[[], Task]:
    def load() -> Task:
        [case] = (case for case in competition_cases() if case.name == name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            return load_epddl(case.problem, case.domain, case.libraries)

    return load


LARGEST: dict[str, Callable[[], Task]] = {
    "5,100 actions, one agent": competition("1-basic/blocks-world/problems/bw-50.epddl"),
    "3,025 actions, five agents": competition("2-intermediate/blocks-world/problems/bw-5-10-3.epddl"),
    "the longest in mA*": lambda: load_problem(str(BENCHMARKS / "mastar/Grapevine/Test/Grapevine_5__pl_6.txt")),
}


@pytest.mark.benchmark(timer=time_of_children, group="a command")
@pytest.mark.parametrize(
    "words",
    [("search.competition", TRIVIAL, "plan.json"), ("search.solve", f"problem={TRIVIAL}", "run_dir=run")],
    ids=lambda words: words[0],
)
def test_a_command(
    words: tuple[object, ...], benchmark: BenchmarkFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    command = [sys.executable, "-m", *map(str, words)]

    def call() -> None:
        subprocess.run(command, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)

    benchmark.pedantic(call, rounds=ROUNDS, warmup_rounds=1)


@pytest.mark.reference
@pytest.mark.benchmark(timer=time.process_time, group="from text to a state space")
@pytest.mark.parametrize("name", LARGEST)
def test_reading(name: str, benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(lambda: StateSpace(LARGEST[name]()), rounds=ROUNDS)


@pytest.mark.reference
@pytest.mark.benchmark(timer=time.process_time, group="types of features")
@pytest.mark.parametrize("name", LARGEST)
def test_feature_types(name: str, benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(lambda task: FeatureTypes(task), setup=lambda: ((LARGEST[name](),), {}), rounds=ROUNDS)
