"""Runs all inputs of the catalogue in a folder with its files; prints each outcome as a line of JSON."""

import ast
import importlib
import json
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from domains import DomainError
from epigym.cli.codes import ExitCode
from epigym.errors import EpigymError
from tests.catalogue.files import FILES
from tests.tools.command_server import execute

PAGE = Path(__file__).with_name("catalogue.md")
_HEAVY = ("epigym.__main__", "domains.__main__", "search.planning.planner", "search.evaluation.running", "learn.train")
"""Modules that many commands import."""
_MODULES = {"epigym-plan": ["search.competition"]}
_ANSWER = re.compile(r"(?:.*: )?(error: .*)|(not valid: .*)|(warning: .*)")
_TIME = re.compile(r"\d{4}-\d\d-\d\d_[\d-]+")
_PREAMBLE = """
import gymnasium
import domains, epigym, search
from dataclasses import replace
from epigym import EpistemicAECEnv, EpistemicEnv, PaddedObservation
from epigym.encoding.encoder import Encoder
from epigym.envs.env import Snapshot
from epigym.task.formula import believes, fluent
from epigym.language import Reading, load, parse_formula, save
from epigym.problem import domain_problem, load_problem
from epigym.space.search_problem import SearchProblem
from epigym.space.space import StateSpace
from epigym.task.structure import Lifted, Structure
from epigym.task.task import EState, Task
from learn.models import open_model
from search.planning.options import SearchOptions
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.heuristics.goal_count import GoalCount
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
task = load("coin.txt")
hidden = replace(task, initial=EState(task.initial.valuations[:1], ((frozenset(),),) * 2, (0,)))
space = StateSpace(task)
env = EpistemicEnv(task)
env.reset()
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an input.

    Attributes:
        group: its section of the page: a command, or the subject of Python expressions.
        input: the arguments of the command, or the expression.
        said: the lines of the output with errors and warnings.
        end: the exit code, or the class of the exception; empty if there was none.
        is_ours: whether that is a documented exit code or exception.
        written: files that a refused command has left.
        output: the whole output.
    """

    group: str
    input: str
    said: list[str]
    end: str
    is_ours: bool
    written: list[str]
    output: str


def run_all(folder: Path, stride: int) -> Iterator[Outcome]:
    """Run the catalogue in a new folder; of commands that compose settings, only every stride-th input."""
    for name, (_, content) in FILES.items():
        file = folder / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    os.chdir(folder / "work")
    for name in _HEAVY:
        importlib.import_module(name)
    for group, inputs in list_entries().items():
        if group[0].isupper():
            names: dict[str, object] = {}
            exec(_PREAMBLE, names)
            yield from (_run_call(group, call, names) for call in inputs)
        else:
            yield from (_run_command(group, line, folder) for line in inputs[:: stride if "." in group else 1])


def list_entries() -> dict[str, list[str]]:
    """List the inputs on the page by group: command lines by command, Python expressions by subject."""
    sections = PAGE.read_text(encoding="utf-8").partition("\n## Files\n")[0].split("\n## ")[1:]
    cells = {part.partition("\n")[0]: re.findall(r"^\|(.*?)(?<!\\)\|", part, re.MULTILINE)[2:] for part in sections}
    return {group: [cell.strip(" `").replace("\\|", "|") for cell in found] for group, found in cells.items()}


def _run_call(group: str, call: str, names: dict[str, object]) -> Outcome:
    end, said, is_ours = "", [], True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(compile(ast.parse(call, mode="eval"), "<catalogue>", "eval"), names)
        except Exception as error:
            end, said = type(error).__name__, str(error).splitlines()[:1]
            is_ours = isinstance(error, EpigymError | DomainError | IndexError) or type(error).__module__.startswith(
                "gymnasium"
            )
    return Outcome(group, call, said, end, is_ours, [], "")


def _run_command(group: str, line: str, folder: Path) -> Outcome:
    module, *first = _MODULES.get(group, group.split(" "))
    log = folder / "log"
    before = set(_files())
    request = {
        "module": module, "arguments": [*first, *shlex.split(line)], "environment": {}, "folder": str(folder / "work"),
        "log": str(log), "stride": 1,
    }  # fmt: skip
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = execute(request)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    output = _TIME.sub("…", log.read_text(encoding="utf-8"))
    said = [next(filter(None, found.groups())) for found in map(_ANSWER.fullmatch, output.splitlines()) if found]
    written = sorted(set(_files()) - before) if code >= ExitCode.USAGE else []
    return Outcome(group, line, said, str(code), code in set(ExitCode) - {ExitCode.FAILURE}, written, output)


def _files() -> Iterator[str]:
    """All files, except the settings that every sweep writes at its start."""
    for path in Path().rglob("*"):
        if path.is_file() and path.name != "multirun.yaml":
            yield str(path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for outcome in run_all(Path(folder), int(sys.argv[1])):
            print(json.dumps(asdict(outcome)), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
