"""Who may import whom. The tables below are the design of the house; one test holds every import against them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

import pytest

from tests.helpers.benchmark_files import ROOT

PACKAGES = ("domains", "epigym", "learn", "search")

# Modules at the root of `learn` and `search` are doors, and so is `epigym.__main__`: nobody imports a door.
LEARN_DOOR, SEARCH_DOOR, EPIGYM_DOOR = "a door of learn", "a door of search", "the door of epigym"

BASICS = "epigym.errors epigym.names epigym.io.files epigym.task.formula epigym.task.structure epigym.task.task"
STATES = f"{BASICS} epigym.language epigym.task.packing epigym.space.kripke_model epigym.space.space"
# All that rooms of `learn` and `search` may import of `epigym`: everything but the command runner and the door.
EPIGYM = (
    f"domains epigym {STATES} epigym.space.growing epigym.space.rows epigym.config.packages epigym.config.targets epigym.config.values epigym.reference.semantics "
    "epigym.task.reachability epigym.problem epigym.drawing epigym.encoding.encoder epigym.features.relaxation epigym.features.counts "
    "epigym.features.types epigym.features.texts epigym.features.action_features epigym.space.signature epigym.space.traversal epigym.space.worlds "
    "epigym.envs epigym.space.search_problem epigym.io.sealed epigym.io.tables"
)

# Each room with the rooms that it may import. `epigym` is the package itself, `epigym._core` the extension.
TABLE = {
    "domains": "",
    "epigym": "domains epigym.errors epigym.config.packages",
    "epigym.errors": "",
    "epigym.names": "domains",
    "epigym.io.files": "epigym.errors epigym.names",
    "epigym.io.sealed": "epigym.errors epigym.io.files",
    "epigym.config.packages": "epigym.errors",
    "epigym.config.targets": "epigym.errors",
    "epigym.io.tables": "",
    "epigym.config.values": "epigym.errors epigym.names epigym.io.files",
    "epigym.task.formula": "epigym.errors epigym.names",
    "epigym.task.structure": "epigym.errors",
    "epigym.task.task": "epigym.errors epigym.names epigym.task.formula epigym.task.structure",
    "epigym.language": f"{BASICS} epigym.reference.dense_model epigym.reference.semantics",
    "epigym.reference.semantics": f"{BASICS} epigym.reference.dense_model",
    "epigym.reference.dense_model": BASICS,
    "epigym.task.reachability": BASICS,
    "epigym.task.packing": BASICS,
    "epigym.task.symmetry": BASICS,
    "epigym.space.growing": "",
    "epigym.space.rows": "epigym._core",
    "epigym.space.kripke_model": f"{BASICS} epigym.language epigym.task.packing epigym._core",
    "epigym.drawing": f"{STATES} epigym.config.packages epigym.reference.dense_model epigym.reference.semantics",
    "epigym.space.space": f"{BASICS} epigym.language epigym.task.packing epigym.space.kripke_model epigym.task.symmetry epigym._core",
    "epigym.problem": f"domains {BASICS} epigym.language",
    "epigym.space.search_problem": f"{STATES} epigym.problem",
    "epigym.encoding.encoder": f"{STATES} epigym.config.packages epigym.space.growing epigym.space.rows epigym._core",
    "epigym.space.traversal": STATES,
    "epigym.space.signature": f"{STATES} epigym.features.counts",
    "epigym.features.relaxation": f"{STATES} epigym._core",
    "epigym.features.counts": f"{STATES} epigym._core",
    "epigym.space.worlds": f"{STATES} epigym.space.growing epigym.space.rows epigym._core",
    "epigym.features.types": f"{STATES} epigym.features.counts",
    "epigym.features.texts": f"{STATES} epigym.reference.semantics epigym.features.counts epigym.features.types",
    "epigym.features.action_features": f"{STATES} epigym.features.counts epigym.features.types",
    "epigym.envs": f"domains {STATES} epigym.config.packages epigym.config.values epigym.problem epigym.encoding.encoder epigym.space.rows "
    "epigym.space.traversal epigym.space.search_problem",
    "epigym.cli": f"{BASICS} epigym.config.packages epigym.language epigym.problem epigym.config.values",
    EPIGYM_DOOR: f"{EPIGYM} epigym.cli",
    "learn": "",
    "learn.data": EPIGYM,
    "learn.models": f"{EPIGYM} learn.data",
    "learn.training": f"{EPIGYM} learn.data learn.models",
    LEARN_DOOR: f"{EPIGYM} epigym.cli learn.data learn.models learn.training",
    "search": "",
    "search.heuristics": f"{EPIGYM} learn.models",
    "search.agents": f"{EPIGYM} search.heuristics",
    "search.planning": f"{EPIGYM} search.heuristics search.agents",
    "search.evaluation": f"{EPIGYM} search.heuristics search.agents search.planning",
    "search.reports": f"{EPIGYM} search.heuristics search.agents search.planning",
    "search.exploring": f"{EPIGYM} search.heuristics search.agents search.planning",
    SEARCH_DOOR: f"{EPIGYM} epigym.cli search.heuristics search.agents search.planning search.evaluation "
    "search.reports search.exploring",
}
# What is imported when a function is called, so that neither the other room nor its libraries are needed before.
AT_CALL = {
    "epigym.space.kripke_model": "epigym.drawing",
    "epigym.space.space": "epigym.reference.semantics",
    "epigym.envs": "epigym.drawing",
    "epigym.encoding.encoder": "torch torch_geometric",
    "search": "search.planning",
}
# What type checkers alone read: the package finds its public names when they are asked for.
FOR_TYPES = {
    "epigym": "epigym.encoding.encoder epigym.envs epigym.space.kripke_model epigym.problem epigym.space.search_problem epigym.space.space epigym.task.task",
    "search": "search.planning",
}
# Libraries that `epigym` does not need; `domains` needs the standard library only.
NEVER_IN_EPIGYM = {"torch", "torch_geometric", "torchmetrics", "lightning", "onnx", "onnxruntime"}

Moment = Literal["at import", "at call", "for types"]


@dataclass(frozen=True, slots=True)
class Import:
    """`module` imports `target`: a module of the project, or the first word of a foreign one."""

    module: str
    target: str
    moment: Moment
    line: int


@dataclass(frozen=True, slots=True)
class Tree:
    """The modules below a folder by name, and what they import."""

    files: dict[str, Path]
    imports: list[Import]

    @classmethod
    def read(cls, root: Path) -> Tree:
        paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
        files = {name_of(path.relative_to(root)): path for path in paths}
        names = {*files, "epigym._core"}
        found = []
        for module, path in files.items():
            for moment, node in statements(ast.parse(path.read_text(encoding="utf-8"))):
                for target in targets(node, names):
                    found.append(Import(module, target, moment, node.lineno))
        return cls(files, found)

    def room(self, module: str) -> str:
        """The room that a module belongs to; foreign modules are rooms of their own."""
        package, *rest = module.split(".")
        if package in ("learn", "search") and rest and self.files[f"{package}.{rest[0]}"].name != "__init__.py":
            return LEARN_DOOR if package == "learn" else SEARCH_DOOR
        if module == "epigym.__main__":
            return EPIGYM_DOOR
        return package if package not in ("epigym", "learn", "search") else ".".join([package, *rest[:1]])

    def violations(self) -> list[str]:
        """One line for every import that the tables do not allow."""
        return [
            f"{found.module}:{found.line} imports {found.target} {found.moment}"
            for found in self.imports
            if not self.is_allowed(found)
        ]

    def is_allowed(self, found: Import) -> bool:
        room, other = self.room(found.module), self.room(found.target)
        later = {"at import": {}, "at call": AT_CALL, "for types": FOR_TYPES}[found.moment].get(room, "").split()
        if found.target.split(".")[0] not in PACKAGES:
            is_foreign = room == "domains" and found.target not in sys.stdlib_module_names
            is_heavy = room.partition(".")[0] == "epigym" and found.target in NEVER_IN_EPIGYM
            return found.target in later or not (is_foreign or is_heavy)
        is_door = other in (LEARN_DOOR, SEARCH_DOOR, EPIGYM_DOOR)
        return (room == other and not is_door) or other in (*TABLE[room].split(), *later)

    def circle(self) -> list[str]:
        """Modules that import each other when they are imported; empty when there are none."""
        return circle({(found.module, found.target) for found in self.imports if found.moment == "at import"})


def name_of(path: Path) -> str:
    """The module that a file holds."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def statements(node: ast.AST, moment: Moment = "at import") -> Iterator[tuple[Moment, ast.Import | ast.ImportFrom]]:
    """Every import below a node, with the moment at which it is executed."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield moment, child
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from statements(child, "at call")
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from statements(child, "for types")
        else:
            yield from statements(child, moment)


def targets(node: ast.Import | ast.ImportFrom, names: set[str]) -> set[str]:
    """The modules that a statement imports; importing a module imports its packages too, which does not count."""
    if isinstance(node, ast.Import):
        found = {alias.name for alias in node.names}
    else:
        assert node.level == 0, "imports are absolute"
        whole = {f"{node.module}.{alias.name}" for alias in node.names}
        found = {name if name in names else str(node.module) for name in whole}
    return {name if name.split(".")[0] in PACKAGES else name.split(".")[0] for name in found}


def circle(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A circle in a relation, its first member repeated at the end; empty when there is none."""
    graph: dict[str, set[str]] = {}
    for source, target in pairs:
        graph.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree.read(ROOT)


def test_every_import_is_in_the_table(tree: Tree) -> None:
    assert tree.violations() == []


def test_no_module_needs_itself_to_be_imported(tree: Tree) -> None:
    assert tree.circle() == []


def test_the_table_names_every_room_and_no_other(tree: Tree) -> None:
    assert {tree.room(module) for module in tree.files} == set(TABLE)


def test_the_table_has_no_circle() -> None:
    assert circle((room, other) for room, others in TABLE.items() for other in others.split()) == []


def test_two_heuristics_know_learning(tree: Tree) -> None:
    importers = {
        found.module
        for found in tree.imports
        if tree.room(found.module) == "search.heuristics" and found.target.startswith("learn")
    }
    assert importers == {"search.heuristics.gnn", "search.heuristics.learned"}


def test_importing_epigym_needs_neither_torch_nor_learning_nor_search() -> None:
    script = "import sys, epigym; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "epigym" in loaded
    assert {"torch", "learn", "search", "hydra", "matplotlib", "pettingzoo"}.isdisjoint(loaded)


def test_a_plan_of_the_competition_needs_few_libraries(tmp_path: Path) -> None:
    """Whatever else is imported before the first answer, everybody waits for."""
    script = (
        "import sys; from search.competition import _plan\n"
        f"code, _ = _plan({str(ROOT / 'docs/epddl/coin-1.json')!r}, 'plan.json', 600.0, 1 << 33)\n"
        "assert code == 0; print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    others = {name for name in answer.stdout.split() if name[0] != "_" and name not in PACKAGES}
    ours = {"gymnasium", "lark", "numpy", "psutil", "xxhash", "yaml"}
    assert ours <= others <= ours | {"cython_runtime", "farama_notifications", "typing_extensions"}


def test_the_tables_of_instances_are_not_read_before_one_of_theirs_is_asked_for() -> None:
    script = (
        "import epigym, domains; from domains.registry import _rows\n"
        "domains.find('grapevine/3_pl_5'); print(_rows.cache_info().misses)\n"
        "domains.find('grapevine/scaling_01'); print(_rows.cache_info().misses)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["0", "3"]


@pytest.mark.parametrize(
    ("module", "text", "violation"),
    [
        ("domains.new", "import numpy as np", "domains.new:1 imports numpy at import"),
        ("domains.new", "import json\nfrom epigym import names", "domains.new:2 imports epigym.names at import"),
        ("epigym.names", "import domains.registry", ""),
        ("epigym.task.task", "from epigym.space.space import StateSpace", "epigym.task.task:1 imports epigym.space.space at import"),
        ("epigym.space.space", "import torch.nn", "epigym.space.space:1 imports torch at import"),
        ("epigym.space.space", "def f():\n    import torch", "epigym.space.space:2 imports torch at call"),
        ("epigym.space.space", "from epigym import _core", ""),
        ("epigym.space.traversal", "from epigym._core import Space", "epigym.space.traversal:1 imports epigym._core at import"),
        ("epigym.encoding.encoder", "def f():\n    import torch", ""),
        ("epigym.encoding.encoder", "import torch", "epigym.encoding.encoder:1 imports torch at import"),
        ("epigym.space.kripke_model", "class A:\n    def f(self):\n        from epigym import drawing", ""),
        ("epigym.space.kripke_model", "class A:\n    from epigym import drawing", "epigym.space.kripke_model:2 imports epigym.drawing at import"),
        ("epigym", "if TYPE_CHECKING:\n    from epigym.space.space import StateSpace", ""),
        ("epigym", "try:\n    import epigym.space.space\nfinally:\n    pass", "epigym:2 imports epigym.space.space at import"),
        ("epigym.reference.semantics", "from epigym import packing", "epigym.reference.semantics:1 imports epigym.task.packing at import"),
        ("learn.data.new", "from search.agents import x", "learn.data.new:1 imports search.agents at import"),
        ("learn.models.new", "import epigym.cli", "learn.models.new:1 imports epigym.cli at import"),
        ("learn.train", "import epigym.cli", ""),
        ("learn.train", "import learn.export", "learn.train:1 imports learn.export at import"),
        ("search.reports.new", "from search.evaluation import x", "search.reports.new:1 imports search.evaluation at"),
    ],
)  # fmt: skip
def test_a_forbidden_import_is_found(tmp_path: Path, module: str, text: str, violation: str) -> None:
    rooms = ("domains.registry", "epigym.names", "epigym.space.space", "epigym.drawing", "epigym.task.packing", "epigym.cli",
             "search.agents.run", "search.evaluation.grid", "search.reports.tables", "learn.data.rows",
             "learn.models.gine.scorer", "learn.export", module)  # fmt: skip
    for name in rooms:
        write(tmp_path, name, text if name == module else "")
    found = Tree.read(tmp_path).violations()
    assert len(found) == bool(violation)
    assert all(line.startswith(violation) for line in found)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"a": "import domains.b", "b": "from domains.c import x", "c": "from domains import a"}, True),
        ({"a": "import domains.b", "b": "def f():\n    import domains.a"}, False),
        ({"a": "import domains.b", "b": "if TYPE_CHECKING:\n    import domains.a"}, False),
    ],
)
def test_a_circle_is_found(tmp_path: Path, texts: dict[str, str], expected: bool) -> None:
    for name, text in texts.items():
        write(tmp_path, f"domains.{name}", text)
    found = Tree.read(tmp_path).circle()
    assert set(found) == ({f"domains.{name}" for name in texts} if expected else set())


def write(root: Path, module: str, text: str) -> None:
    """Write a module of the given text, and the packages that it lies in."""
    *packages, name = module.split(".")
    folder = root.joinpath(*packages)
    folder.mkdir(parents=True, exist_ok=True)
    for depth in range(1, len(packages) + 1):
        root.joinpath(*packages[:depth], "__init__.py").touch()
    if packages:
        (folder / f"{name}.py").write_text(text)
    else:
        (root / name).mkdir(exist_ok=True)
        (root / name / "__init__.py").write_text(text)
