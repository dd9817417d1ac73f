"""What the documents show works: their Python runs, and every command does and says what is written, in its order."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import search
from epigym.cli.words import hydra_words
from epigym.config.packages import PLACE
from search.agents.result import SearchStatus
from tests.helpers.benchmark_files import ROOT, SHARED
from tests.helpers.commands import settings_of
from tests.helpers.marks import slow_but
from tests.helpers.pictures import list_shapes
from tests.tools import commands as commands_page

KINDS = (
    "-m", "hydra/sweeper=optuna", "--config-dir", "encoding=relational", "encoding=relational,hash", "experiment=paper",
    "objective=distance", "data=published", "expert.problems=80",
)  # fmt: skip
"""Arguments that make a command take or write something else."""

FEW_SAMPLES = "explorer.max_visited=2000 explorer.max_kept=500 batch_size=64 trainer.limit_train_batches=4"
FEW_PROBLEMS = "validation.verdict=2 validation.nodes=50"
SHORT = {
    "learn.assess": "explorer.max_visited=60",
    "learn.sample": "instances=1 domain=[epistemic_gossip]",
    "docs.examples.graph_ppo": "--steps 64 --episodes 2",
    "learn.rollouts": "explorer.max_visited=2000 explorer.max_kept=2000",
    "learn.train": f"{FEW_SAMPLES} trainer.max_steps=8 {FEW_PROBLEMS}",
    "learn.train experiment=paper": f"{FEW_SAMPLES} trainer.max_epochs=1 {FEW_PROBLEMS}",
    "learn.train encoding=relational": "data.instances=2 data.goals=2 validation.problems=2 trainer.max_epochs=2"
    f" {FEW_PROBLEMS}",
    "learn.train encoding=relational objective=distance": "data.instances=2 data.goals=2 trainer.max_epochs=2"
    f" {FEW_PROBLEMS}",
    "learn.train encoding=relational expert.problems=80": "expert.problems=4 expert.expansions=1000 data.instances=2"
    f" data.goals=2 validation.problems=2 trainer.max_epochs=1 {FEW_PROBLEMS}",
    "learn.train encoding=relational data=published": "data.expansions=4 validation.problems=2 trainer.max_epochs=2"
    f" {FEW_PROBLEMS}",
    "learn.train --config-dir": f"trainer.max_epochs=1 {FEW_PROBLEMS}",
    "learn.train_linear": "data.instances=3 validation_instances=2 nodes=50 iterations=[0] larger_instances=2",
    "learn.train -m": "explorer.max_visited=20000 explorer.max_depth=13 explorer.max_kept=200 batch_size=32"
    " trainer.max_steps=1 trainer.limit_train_batches=1 validation.verdict=0",
    "learn.train -m encoding=relational,hash": "explorer.max_visited=2000 trainer.limit_train_batches=2"
    " trainer.max_epochs=1 validation.verdict=0",
    "learn.train -m hydra/sweeper=optuna": f"hydra.sweeper.n_trials=2 {FEW_SAMPLES} trainer.max_steps=2",
    "learn.train -m encoding=relational": "data.instances=2 data.goals=2 validation.problems=2 trainer.max_epochs=1"
    f" {FEW_PROBLEMS}",
    "search.evaluate": "per_domain=1 time_limit=1",
    "search.explore": "port=0",
    "tests.benchmarks.default": "domain=coin_in_the_box problems=1",
    "tests.benchmarks.networks": "domain=selective_communication guidance=h_add",
    "tests.benchmarks.suites": "--time-limit 0",
}
"""What is added to the end of a command to make it short, by the longest beginning of its kind that is listed."""

STRIDES = {"search.evaluate": 60}
"""Of an evaluation with many records only every so many are computed."""


SERVED = "search.explore"  # ends when it is told to
SCRIPTS = {"epigym": "epigym", "epigym-plan": "search.competition"}
STARTS = r"(?:\w+=\S+ |taskset --cpu-list \d+ )*(?:python -m|epigym(?:-plan)?) "
SHOWN = re.compile(rf"^ {{4}}({STARTS}[^\n#>]+)|`({STARTS}[^`]+)`", flags=re.MULTILINE)
ABSTRACT = "SPECFILE"  # stands for any file
LOCAL = {"cluster=slurm": "cluster=local", "hydra/launcher=slurm": "hydra/launcher=local"}
"""What stands for a cluster, whose own settings are left out."""
OF_CLUSTERS = ("cluster.", "hydra.launcher.")
PUBLIC = ("../shared", "suite=epddl")
"""In commands that need the public files."""

GROUPS = [
    ["README.md"],
    ["docs/reference/commands.md"],
    ["docs/reference/search.md"],
    ["docs/index.md", "docs/domains.md"],
    ["docs/tutorials/first_plan.md"],
    ["docs/tutorials/own_domain_mastar.md"],
    ["docs/tutorials/own_domain_epddl.md"],
    ["docs/tutorials/own_heuristic.md"],
    ["docs/tutorials/own_agent.md"],
    ["docs/tutorials/train_and_use.md"],
    ["docs/tutorials/own_network.md"],
    ["docs/tutorials/cluster.md"],
    ["docs/neural.md"],
    ["docs/guidance.md"],
    ["docs/tutorials/reinforcement.md"],
    ["docs/measuring.md", "docs/results.md"],
]
"""Documents whose commands run one after the other, as the later ones use what the earlier ones write."""

TRAINING = ("train_and_use.md", "own_network.md", "cluster.md", "neural.md", "results.md")
QUICK = [group for group in GROUPS if not group[-1].endswith(TRAINING)]
"""Those whose commands take seconds at most; the others are left to the slow tests."""

LINK = re.compile(r'(?:src="|\]\()((?!http)[^")#]+)')
OUTPUT = re.compile(rf"^ {{4}}({STARTS}[^\n]+)\n\n```text\n(.*?)```", flags=re.MULTILINE | re.DOTALL)
TIME = re.compile(r" *\b[\d.,]+ (?:ms|s)\b")
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
DOCUMENTS = [str(path.relative_to(ROOT)) for path in PAGES]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace(" \\\n  ", " ")
DEMO = re.findall(r"^DEMO_\w+ = (.+)$", MAKEFILE, flags=re.MULTILINE)
"""The commands of `make demo`, which run as they are: documents show what they print."""


def commands(document: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8").replace("\\\n", " ")
    shown = ["".join(groups).strip() for groups in SHOWN.findall(text)]
    return [command for command in shown if ABSTRACT not in command]


def blocks(document: str) -> list[str]:
    return BLOCK.findall((ROOT / document).read_text(encoding="utf-8"))


def outputs(document: str) -> dict[str, list[str]]:
    """The lines that a document shows right below a command as what that says."""
    found = OUTPUT.findall((ROOT / document).read_text(encoding="utf-8"))
    return {command: lines_of(output) for command, output in found}


def lines_of(output: str) -> list[str]:
    """The lines of an output without times, which differ from run to run."""
    return [TIME.sub("", line.rstrip()) for line in output.splitlines()]


def is_public(command: str) -> bool:
    return any(name in command for name in PUBLIC)


class Command(NamedTuple):
    """A command that a document shows.

    Attributes:
        module: that it starts.
        arguments: as they are written.
        environment: what it sets.
    """

    module: str
    arguments: list[str]
    environment: dict[str, str]

    @classmethod
    def of(cls, text: str) -> Command:
        words = shlex.split(text)
        start = next(place for place, word in enumerate(words) if word in ("python", *SCRIPTS))
        environment = dict(word.split("=", 1) for word in words[:start] if "=" in word)
        if words[start] == "python":
            return cls(words[start + 2], words[start + 3 :], environment)
        return cls(SCRIPTS[words[start]], words[start + 1 :], environment)

    @property
    def kind(self) -> str:
        """The module, with what makes it take or write something else."""
        return " ".join([self.module, *(word for word in KINDS if word in self.arguments)])

    @property
    def shortening(self) -> str:
        """What is added to make it short; nothing where no beginning of its kind is listed."""
        words = self.kind.split(" ")
        beginnings = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        return next((SHORT[one] for one in beginnings if one in SHORT), "")

    @property
    def short(self) -> list[str]:
        shown = self.arguments
        if not LOCAL.keys().isdisjoint(self.arguments):
            shown = [LOCAL.get(one, one) for one in self.arguments if not one.startswith(OF_CLUSTERS)]
        is_demo = self.arguments in [shlex.split(command)[3:] for command in DEMO]
        short = shlex.split("" if is_demo else self.shortening)
        named = {"problems=": "per_domain=", "problem=": "data.goals="}  # beside which these are refused
        refused = tuple(one for name, one in named.items() if any(word.startswith(name) for word in shown))
        return [*shown, *(word for word in short if not word.startswith(refused))]


Serve = Callable[[Command, Path, Path], int]
"""Runs a command in a folder, with its output in a file, and tells its exit code."""


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Whatever takes long to import is imported once; every command is a process forked from there."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.tools.command_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    requests, answers = server.stdin, server.stdout

    def run(command: Command, folder: Path, log: Path) -> int:
        environment = {**command.environment, "EPIGYM_SHARED": "../shared"}
        request = {"module": command.module, "arguments": command.short, "environment": environment}
        request["stride"] = STRIDES.get(command.module, 1)
        requests.write(json.dumps(request | {"folder": str(folder), "log": str(log)}) + "\n")
        requests.flush()
        return int(answers.readline())

    yield run
    requests.close()
    server.wait()
    answers.close()


def visit(command: Command, folder: Path, log: Path) -> int:
    """Start a command that serves a page, fetch the page, and end the command as Ctrl-C does; its exit code."""
    arguments = [sys.executable, "-m", command.module, *command.short]
    with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, text=True) as started:
        said = started.stdout.readline()
        log.write_text(said)
        for address in re.findall(r"http://\S+", said):
            assert b"<!DOCTYPE html>" in urlopen(address).read()
        started.send_signal(signal.SIGINT)
    return started.returncode


def run_all(shown: list[str], tmp_path: Path, serve: Serve, answers: Mapping[str, list[str]] | None = None) -> None:
    """Run commands one after the other in a folder like a checkout; each succeeds, and says what is shown.

    Args:
        shown: the commands.
        tmp_path: where the folder is made.
        serve: runs a command.
        answers: lines that are among the output of a command.
    """
    answers = answers or {}
    folder, log = tmp_path / "checkout", tmp_path / "log.txt"
    folder.mkdir()
    for name in ("docs", "domains", "learn"):
        (folder / name).symlink_to(ROOT / name)
    (tmp_path / "shared").symlink_to(SHARED)
    for text in dict.fromkeys(shown):
        command = Command.of(text)
        code = (visit if command.module == SERVED else serve)(command, folder, log)
        said = log.read_text(encoding="utf-8")
        assert (code, bool(said)) == (0, True), f"{text}\n{said[-2000:]}"
        assert [line for line in answers.get(text, []) if line not in lines_of(said)] == [], f"{text}\n{said[-2000:]}"
        tables = [table.read_text(encoding="utf-8") for table in folder.glob("outputs/evaluate/*/results.csv")]
        assert [row for table in tables for row in table.splitlines() if ",error," in row] == []


def examples(file: Path) -> list[str]:
    """The commands in the comments of a configuration file."""
    text = file.read_text(encoding="utf-8").replace("\\\n#", " ")
    return re.findall(rf"^# *({STARTS}.+?)(?:  #.*)?$", text, flags=re.MULTILINE)


EXAMPLES = [command for file in sorted((ROOT / "conf").rglob("*.yaml")) for command in examples(file)]


@pytest.mark.parametrize("documents", slow_but(GROUPS, *QUICK), ids=" ".join)
def test_commands_run(documents: list[str], tmp_path: Path, serve: Serve) -> None:
    shown = [command for name in documents for command in commands(name) if not is_public(command)]
    run_all(shown, tmp_path, serve, {key: lines for name in documents for key, lines in outputs(name).items()})


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("document", [name for name in DOCUMENTS if any(map(is_public, commands(name)))])
def test_commands_on_public_files_run(document: str, tmp_path: Path, serve: Serve) -> None:
    run_all([command for command in commands(document) if is_public(command)], tmp_path, serve)


@pytest.mark.parametrize("example", slow_but(EXAMPLES, *EXAMPLES[::4]))
def test_examples_of_the_configuration_compose(example: str) -> None:
    command = Command.of(example)
    is_own = command.module == "epigym"  # of show and convert
    door = f"epigym.cli.{command.arguments[0]}" if is_own else command.module
    words = [word for word in command.arguments[is_own:] if not word.startswith(("-m", "hydra"))]
    values = hydra_words(words, settings_of(door), is_sweep="-m" in command.arguments)
    if "-m" in command.arguments:  # its first job
        values = [value if "[" in value else value.split(",")[0] for value in values]
    with initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
        assert compose(door.rpartition(".")[2], values)  # refuses what it does not know


def test_what_documents_name() -> None:
    ours = [name for name in DOCUMENTS if not all(map(is_public, commands(name)))]
    assert sorted(ours) == sorted(name for group in GROUPS for name in group)
    assert commands_page.PAGE.read_text(encoding="utf-8").endswith(commands_page.MARKER + commands_page.describe())
    assert len(DEMO) == 2
    # The tutorial has a folder of its own, as a training refuses that of another one.
    folders = (re.sub(r"outputs/train/\w+", "outputs/train/cloud", command) for command in DEMO)
    assert {*folders} <= {*commands("docs/tutorials/train_and_use.md")} - {*DEMO}
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = [name for name in re.findall(r"`(\w+/[\w/.<>]*)`", text) if name != "domain/instance"]
    # A file that is yet to be written stands in a folder that is there.
    assert [name for name in names if not (ROOT / name.partition("<")[0]).exists()] == []


REFERENCE = commands_page.PAGE.read_text(encoding="utf-8")
SETTINGS = dict(
    re.findall(r"^## (?:python -m |epigym )([\w.]+)\n(.*?)(?=^## )", REFERENCE, flags=re.MULTILINE | re.DOTALL)
)


@pytest.mark.parametrize("command", SETTINGS)
def test_the_reference_has_defaults_and_meanings_of_settings(command: str) -> None:
    """The defaults are those that the command has without arguments; that of `run_dir` depends on Hydra."""
    rows = re.findall(r"^\| `([\w.]+)` \| `(.+?)` \| (.*) \|$", SETTINGS[command], flags=re.MULTILINE)
    settings_of(command if "." in command else f"epigym.cli.{command}")
    with initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
        settings = compose(command.rpartition(".")[2])
    values = {
        name: OmegaConf.create(f"value: {text}").value
        for name, text, _ in rows
        if "<" not in text and text != "???" and name != "run_dir"
    }
    assert rows
    assert {name: OmegaConf.select(settings, name) for name in values} == values
    assert [name for name, _, meaning in rows if not meaning] == []


WITH_BLOCKS = [name for name in DOCUMENTS if blocks(name)]


@pytest.mark.parametrize(
    "document", slow_but(WITH_BLOCKS, *(name for name in WITH_BLOCKS if name != "docs/tutorials/reinforcement.md"))
)
def test_python_blocks_run(document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as one program."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    names: dict[str, object] = {}
    for block in blocks(document):
        exec(compile(block, document, "exec"), names)


def test_a_tutorial_shows_the_whole_problem() -> None:
    tutorial = (ROOT / "docs" / "tutorials" / "own_domain_mastar.md").read_text(encoding="utf-8")
    shown = [line for one in re.findall(r"```text\n(.*?)```", tutorial, flags=re.DOTALL) for line in one.splitlines()]
    problem = (ROOT / "docs" / "mastar" / "letter.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in shown if line.endswith(";")] == [line for line in problem if line.endswith(";")]


@pytest.mark.parametrize("document", ["own_domain_epddl.md", "own_heuristic.md", "own_agent.md", "own_network.md"])
def test_a_tutorial_shows_files_as_they_are(document: str) -> None:
    tutorial = (ROOT / "docs" / "tutorials" / document).read_text(encoding="utf-8")
    files = re.findall(r"`(docs/\S+)`\)?:\n\n```\w+\n(.*?)```", tutorial, flags=re.DOTALL)
    assert len(files) == {"own_domain_epddl.md": 4}.get(document, 1)
    assert [name for name, shown in files if shown != (ROOT / name).read_text(encoding="utf-8")] == []


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path, serve: Serve) -> None:
    """Except for the numbers of the trained network, whose last bits depend on the processor."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^ {4}make demo\n.*?```text\n(.*?)```", readme, flags=re.MULTILINE | re.DOTALL)
    run_all(DEMO, tmp_path, serve)
    promised, printed = rows_of(shown), rows_of((tmp_path / "log.txt").read_text(encoding="utf-8"))
    assert promised.keys() == printed.keys()
    assert printed["status"] == promised["status"]
    assert all(printed[name][1:] == promised[name][1:] for name in promised if not name.endswith("time"))
    learned, relaxed, breadth_first = (int(cell.replace(",", "")) for cell in printed["expanded nodes"])
    assert relaxed / 2 < learned < 2 * relaxed < breadth_first / 100  # the first two tie
    assert "inconsistent" not in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_the_problem_of_the_demo_has_plans_with_consistent_beliefs() -> None:
    _, problem = re.findall(r"(?:domain|problem)=(\S+)", "\n".join(DEMO))
    for consistent_beliefs in (False, True):
        result = search.plan(problem, agent="lazy", heuristic="h_ff", consistent_beliefs=consistent_beliefs)
        assert (result.status, result.inconsistent_agents) == (SearchStatus.SOLVED, ())


def rows_of(text: str) -> dict[str, list[str]]:
    """The rows of a table of the terminal by their first cell."""
    rows = (line.strip("│").split("│") for line in text.splitlines() if line.startswith("│"))
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows}


@pytest.mark.parametrize("document", ["README.md", "docs/architecture.md"])
def test_it_can_be_read_at_a_sitting(document: str) -> None:
    assert len((ROOT / document).read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("document", DOCUMENTS)
def test_linked_files_exist(document: str) -> None:
    links = LINK.findall((ROOT / document).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / document).parent.joinpath(link).exists()] == []


NOTEBOOKS = sorted((PLACE / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["environment", "train_and_search"]


@pytest.mark.parametrize(
    "path", slow_but(NOTEBOOKS, *(path for path in NOTEBOOKS if path.stem == "environment")), ids=lambda path: path.stem
)
def test_cells_print_the_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = cell["source"]
            pictures = ["".join(output["data"]["image/svg+xml"]) for output in cell["outputs"] if "data" in output]
            if pictures:
                exec("".join(lines), names)
                assert list_shapes(eval(last, names)._repr_svg_()) == list_shapes(*pictures)
            else:
                exec("".join(cell["source"]), names)
            stored = "".join(text for output in cell["outputs"] for text in output.get("text", ()))
            assert capsys.readouterr().out == stored
