"""The fuzzed functions: read a file, explore its e-states, and compare small tasks with the reference."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path

from epigym import StateSpace, Task
from epigym.errors import EpigymError, ParseError, ProblemWarning, TaskError
from epigym.io.files import read_plan
from epigym.language import Reading, load
from epigym.reference import semantics as reference
from tests.fuzz.mutation import damage, mutate_json, mutate_text
from tests.helpers.comparison import Comparison
from tests.helpers.epddl_problem import write_problem
from tests.helpers.strategies import telling_task
from tests.helpers.tasks import coin

CORPUS = Path(__file__).with_name("corpus")
STEPS = 3
_FEW = {"worlds": 12, "actions": 12, "formulas": 60}


def execute_number(number: int, seed: int, folder: Path) -> bool:
    """Run the execution with a number; it does not depend on earlier executions.

    Args:
        number: the number.
        seed: the seed of all executions.
        folder: the folder for the file to read, whose name begins with `input`.

    Returns:
        Whether the file was accepted; it may also be refused with an error of `epigym.errors`.

    Raises:
        BaseException: when the execution finds a defect.
    """
    rng = random.Random(f"{seed}/{number}")
    kind = rng.choices(list(_KINDS), [share for share, _ in _KINDS.values()])[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ProblemWarning)
            _KINDS[kind][1](rng, folder)
    except EpigymError as error:
        message = error.message if isinstance(error, ParseError) else str(error)
        if len(message.splitlines()) != 1:
            raise AssertionError(f"not one line: {message!r}") from error
        return False
    return True


def _fuzz_mastar(rng: random.Random, folder: Path) -> None:
    path = _write(folder / "input.txt", rng, mutate_text(rng, _corpus("mastar")))
    explore(load(path, Reading(rng.choice(["default", "efp", "update_model"]))), rng)


def _fuzz_epddl(rng: random.Random, folder: Path) -> None:
    path = _write(folder / "input.epddl", rng, mutate_text(rng, _corpus("epddl")))
    explore(load(path, Reading(plank_compat=rng.random() < 0.3)), rng)


def _fuzz_ground(rng: random.Random, folder: Path) -> None:
    mutate = mutate_json if rng.random() < 0.8 else mutate_text
    path = _write(folder / "input.json", rng, mutate(rng, _corpus("ground")))
    explore(load(path, Reading(plank_compat=rng.random() < 0.3)), rng)


def _fuzz_specification(rng: random.Random, folder: Path) -> None:
    if not (folder / "coin-1.json").exists():
        write_problem(folder)
    mutate = mutate_json if rng.random() < 0.8 else mutate_text
    explore(load(_write(folder / "input.json", rng, mutate(rng, [(folder / "coin-1.json").read_text()]))), rng)


def _fuzz_plan(rng: random.Random, folder: Path) -> None:
    mutate = mutate_json if rng.random() < 0.7 else mutate_text
    plan = read_plan(_write(folder / "input.json", rng, mutate(rng, _corpus("plan"))))
    task = coin()
    found = reference.validate(task, plan)
    assert "\n" not in found.reason, found.reason
    space, actions = StateSpace(task), {action.name: number for number, action in enumerate(task.actions)}
    state = space.initial
    for step, name in enumerate(plan, start=1):
        if name not in actions or not space.applicable([state])[0, actions[name]]:
            assert found.step == step
            return
        state = space.successor(state, actions[name])
    assert found.step is None
    assert found.valid == space.is_goal([state])[0]


def _fuzz_task(rng: random.Random, folder: Path) -> None:
    task = telling_task(rng)
    (folder / "input.repr").write_text(repr((task.initial, task.actions, task.goal)))
    explore(task, rng)


_Kind = tuple[int, Callable[[random.Random, Path], None]]
_KINDS: dict[str, _Kind] = {
    "mastar": (8, _fuzz_mastar),
    "epddl": (6, _fuzz_epddl),
    "ground": (8, _fuzz_ground),
    "plan": (3, _fuzz_plan),
    "specification": (1, _fuzz_specification),
    "task": (1, _fuzz_task),
}


def explore(task: Task, rng: random.Random) -> None:
    """Expand some e-states, and compare a random walk of a small task with the reference."""
    sizes = {"worlds": len(task.initial.valuations), "actions": len(task.actions), "formulas": len(task.formulas())}
    if all(sizes[name] <= most for name, most in _FEW.items()):
        _walk(Comparison(task, []), rng)
    space = StateSpace(task, symmetry=rng.random() < 0.3)
    ids = [space.initial]
    for _ in range(STEPS):
        ids = [state for state in ids if space.world_counts([state])[0] <= 64][:8]
        try:
            ids = space.expand(ids).target.tolist()
        except TaskError as error:
            if "disagree" not in str(error):
                raise AssertionError(str(error)) from error
            return


def _walk(both: Comparison, rng: random.Random) -> None:
    state: int | None = both.space.initial
    for _ in range(STEPS):
        if state is None or not both.actions[state] or both.space.world_counts([state])[0] > _FEW["worlds"]:
            return
        state = both.step(state, rng.choice(both.actions[state]))


def _write(path: Path, rng: random.Random, text: str) -> Path:
    path.write_bytes(damage(rng, text))
    return path


_read: dict[str, list[str]] = {}


def _corpus(kind: str) -> list[str]:
    if kind not in _read:
        _read[kind] = [file.read_text(encoding="utf-8") for file in sorted((CORPUS / kind).iterdir())]
    return _read[kind]
