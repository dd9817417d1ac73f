"""Classes that another process cannot import search there all the same, or in this process with a warning."""

import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import search
from docs.examples.beam import Beam
from epigym.errors import UsageError
from search.agents.agent import Steps
from search.agents.breadth_first import BreadthFirst
from search.agents.result import SearchStatus
from search.agents.run import SearchRun
from search.evaluation.grid import make_configurations
from search.heuristics import Heuristic
from search.planning import planner
from search.planning.configuration import Choice, Configuration
from tests.helpers.benchmark_files import ROOT
from tests.helpers.records import record_of
from tests.helpers.tasks import COIN, coin

CODE = """
import os
import numpy as np
from search.agents.breadth_first import BreadthFirst
from search.heuristics import Heuristic

WEIGHT = 2.0

class Mine(BreadthFirst):
    def search(self, run):
        run.message = str(os.getpid())
        return super().search(run)

class Weight(Heuristic):
    def __init__(self, space, factor: float = 1.0) -> None:
        self.factor = factor
    def score(self, ids):
        return np.full(len(ids), WEIGHT * self.factor)
"""
"""The searching process is the message of the result."""
SCRIPT = f"""{CODE}
import sys
import threading
import epigym
import search

class Env(epigym.EpistemicEnv):
    pass

if sys.argv[1:]:  # then this process cannot be copied
    threading.Thread(target=threading.Event().wait, daemon=True).start()
env = Env(epigym.load_problem("coin_in_the_box/pl_3"))
env.reset(seed=0)
found = search.plan(env, agent=Mine)
assert found.message != str(os.getpid())
assert search.plan(env, "hfs", {{"_target_": Weight, "factor": 3}}).heuristic == "Weight"
policy = search.plan(env, Mine, policy="strong")
print(found.agent, len(found.plan), policy.depth)
"""
COPIES = pytest.mark.parametrize("copies", [True, False], ids=["fork", "no fork"])


@pytest.mark.parametrize("arguments", [[], ["thread"]], ids=["fork", "no fork"])
def test_classes_of_a_script(arguments: list[str], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("Mine 3 3\n", "")


def of_notebook() -> list[Choice]:
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(CODE, cell)
    return [cell["Mine"], {"_target_": cell["Weight"], "factor": 3}]


def of_function() -> list[Choice]:
    double = lambda ids: np.full(len(ids), 2.0)  # noqa: E731

    class Mine(BreadthFirst):
        def search(self, run: SearchRun) -> Steps:
            run.message = str(os.getpid())
            return super().search(run)

    class Weight(Heuristic):
        def __init__(self, space: object, score: Any) -> None:
            self._score = score

        def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
            assert double(ids).tolist() == self._score(ids).tolist()
            return double(ids)

    return [Mine, {"_target_": Weight, "score": lambda ids: 2.0 * np.ones(len(ids))}]


@COPIES
@pytest.mark.parametrize("make", [of_notebook, of_function])
def test_classes_without_a_module(make: Any, copies: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "may_be_copied", lambda: copies)
    agent, heuristic = make()
    with warnings.catch_warnings(action="error"):
        result = search.plan(coin(), agent)
        assert (result.agent, result.plan_length) == ("Mine", 3)
        assert result.message != str(os.getpid())
        informed = search.plan(coin(), "hfs", heuristic)
        assert (informed.status, informed.heuristic) == (SearchStatus.SOLVED, "Weight")
        component = {"name": "interleaved", "components": [{"agent": "hfs", "heuristic": heuristic}]}
        assert search.plan(coin(), component).plan


def of_one_process() -> type:
    """A class that cannot be pickled, because it uses a lock."""
    lock = threading.Lock()

    class Mine(BreadthFirst):
        def search(self, run: SearchRun) -> Steps:
            with lock:
                run.message = str(os.getpid())
            return super().search(run)

    return Mine


def of_one_module(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class that can be pickled, but not be unpickled elsewhere, because only this process has its module."""
    module = ModuleType("only_here")
    exec(CODE, module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    own: type = module.Mine  # type: ignore[attr-defined]
    return own


@COPIES
@pytest.mark.parametrize("policy", ["none", "strong"])
@pytest.mark.parametrize("where", ["process", "module"])
def test_a_class_that_cannot_be_sent_searches_here(
    where: str, policy: Any, copies: bool, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(planner, "may_be_copied", lambda: copies)
    agent = of_one_process() if where == "process" else of_one_module(monkeypatch)
    result = search.plan(coin(), agent, policy=policy, time_limit=1000)
    assert result.status is SearchStatus.SOLVED
    if policy == "none":
        assert (result.plan_length, result.message == str(os.getpid())) == (3, not copies)
    why = "cannot pickle '_thread.lock' object" if where == "process" else "No module named 'only_here'"
    label = "Mine" if policy == "none" else "policy/strong"
    end = "time_limit and memory_limit hold between two expansions only"
    found = [str(one.message) for one in recwarn]
    assert len(found) == (not copies)
    for text in found:
        assert text.startswith(f"{label} cannot be sent to another process and searches in this one (")
        assert why in text
        assert text.endswith(f"): {end}")
    late = search.plan(coin(), agent, time_limit=0)
    assert late.status is SearchStatus.TIME_LIMIT


def test_configurations_are_pickled_by_name_where_they_can_be() -> None:
    own = Configuration.of(Beam, "goal_count")
    assert own.agent["_target_"] == "docs.examples.beam.Beam"
    assert Configuration.of({"_target_": Beam, "width": 3}, "goal_count").agent == {**own.agent, "width": 3}
    assert pickle.loads(pickle.dumps(own)) == own
    assert b"cloudpickle" not in pickle.dumps(own)


def test_records_need_classes_of_modules(tmp_path: Path) -> None:
    path = tmp_path / "coin.txt"
    path.write_text(COIN)
    agent, _ = of_function()
    [configuration] = make_configurations([agent], [])
    assert configuration.label == "Mine"
    with pytest.raises(UsageError, match=r"^Mine is a class of a script or of a function, .*: move it to a module$"):
        record_of(str(path), agent)
