"""Which package may import which. One order of packages decides; one test compares every import with it."""

import ast
import os
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from search.agents import AGENTS
from search.heuristics import HEURISTICS
from tests.helpers import imports
from tests.helpers.benchmark_files import ROOT
from tests.helpers.imports import PACKAGES, Import

# A package may import those to its left. `commands` are the modules at the root of `learn` and `search`.
ORDER = [
    "domains",
    "epigym.errors",
    "epigym.interrupts",
    "epigym.names",
    "epigym.io",
    "epigym.config",
    "epigym.task",
    "epigym.reference",
    "epigym.language",
    "epigym.problem",
    "epigym._core",
    "epigym.space",
    "epigym.features",
    "epigym.encoding",
    "epigym.drawing",
    "epigym.envs",
    "epigym",
    "epigym.cli",
    "epigym.__main__",
    "learn.data",
    "learn.models",
    "search.heuristics",
    "search.agents",
    "search.processes",
    "search.planning",
    "search.policies",
    "search",
    "learn",
    "learn.training",
    "search.evaluation",
    "search.reports",
    "search.exploring",
    "commands",
]
# Exceptions: the command line is for commands only, and those that use a planner do not use each other.
NEVER = {
    ("domains", "epigym"),
    *((package, "epigym.cli") for package in ORDER if package not in ("epigym.__main__", "commands")),
    *((package, "epigym.__main__") for package in ORDER),
    *((package, "commands") for package in ORDER),
    ("search.reports", "search.evaluation"),
    ("search.exploring", "search.evaluation"),
    ("search.exploring", "search.reports"),
}
# Imported when a function is called: a model draws itself, graphs become tensors, and `search.plan` is imported lazily.
AT_CALL = {("epigym.space", "epigym.drawing"), ("epigym.encoding", "torch"), ("epigym.encoding", "torch_geometric")}
# What may close a circle: a Kripke model draws itself.
CIRCLES = {("epigym.space.kripke_model", "epigym.drawing")}
# Libraries that `epigym` does not need; `domains` needs the standard library only.
NEVER_IN_EPIGYM = {"torch", "torch_geometric", "torchmetrics", "lightning", "onnx", "onnxruntime", "safetensors"}
MOST_MODULES, MOST_AT_ROOT = 12, 9  # without `__init__`, `__main__`, and modules of agents and heuristics


class Tree(imports.Tree):
    """The modules below a folder, held against the order of packages."""

    def package(self, module: str) -> str:
        """The package of `ORDER` that a module belongs to, or the library."""
        root, *rest = module.split(".")
        if root in ("learn", "search") and rest and self.files[f"{root}.{rest[0]}"].name != "__init__.py":
            return "commands"
        return root if root not in PACKAGES or root == "domains" else ".".join([root, *rest[:1]])

    def violations(self) -> list[str]:
        """One line for every import that the order does not allow."""
        return [
            f"{found.module}:{found.line} imports {found.target} {found.moment}"
            for found in self.imports
            if not self.is_allowed(found)
        ]

    def is_allowed(self, found: Import) -> bool:
        package, other = self.package(found.module), self.package(found.target)
        if found.moment == "for types" or (found.moment == "at call" and (package, other) in AT_CALL):
            return True
        if other not in ORDER:
            is_foreign = package == "domains" and other not in sys.stdlib_module_names
            return not (is_foreign or (package.startswith("epigym") and other in NEVER_IN_EPIGYM))
        if package == other:
            return package != "commands"
        return ORDER.index(other) < ORDER.index(package) and (package, other) not in NEVER


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree.read(ROOT)


def test_imports_follow_the_order(tree: Tree) -> None:
    assert tree.violations() == []
    assert {*map(tree.package, tree.files), "epigym._core"} == set(ORDER)
    registered = {target.rpartition(".")[0] for known in (AGENTS, HEURISTICS) for target in known.values()}
    modules = [
        path
        for name, path in tree.files.items()
        if path.stem not in ("__init__", "__main__") and name not in registered
    ]
    counts = Counter(path.parent.relative_to(ROOT) for path in modules)
    most = {folder: MOST_MODULES if len(folder.parts) > 1 else MOST_AT_ROOT for folder in counts}
    assert {folder: n for folder, n in counts.items() if n > most[folder] and folder != Path("domains")} == {}


def test_no_modules_import_each_other(tree: Tree) -> None:
    """Neither when they are imported, nor in functions, nor for types."""
    graph: dict[str, set[str]] = {}
    for found in tree.imports:
        if (found.module, found.target) not in CIRCLES:
            graph.setdefault(found.module, set()).add(found.target)
    TopologicalSorter(graph).prepare()  # which refuses a circle
    assert {(found.module, found.target) for found in tree.imports if found.moment == "at call"} >= CIRCLES


def test_public_classes_have_names_of_their_own(tree: Tree) -> None:
    homes: dict[str, list[str]] = {}
    for module, path in tree.files.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_one_module_of_heuristics_knows_learning(tree: Tree) -> None:
    importers = {
        found.module
        for found in tree.imports
        if tree.package(found.module) == "search.heuristics" and found.target.startswith("learn")
    }
    assert importers == {"search.heuristics.learned"}


def test_importing_epigym_needs_neither_torch_nor_learning_nor_search() -> None:
    script = "import sys, epigym; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "epigym" in loaded
    assert {"torch", "learn", "search", "hydra", "matplotlib", "pettingzoo"}.isdisjoint(loaded)
    assert {"gymnasium", "numpy", "importlib.metadata"}.isdisjoint(loaded)  # they take longer than all of epigym


def loaded_by(script: str, folder: Path) -> set[str]:
    """The modules that a script has loaded in the end; what it prints itself is left out."""
    script = f"import gc, sys\n{script}\nprint('', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    return {*done.stdout.splitlines()[-1].split()}


def test_a_plan_of_the_competition_needs_few_libraries(tmp_path: Path) -> None:
    """The imports delay the first answer."""
    problem = str(ROOT / "docs/epddl/coin-1.json")
    script = (
        "from search.competition import SearchOptions, main, read_and_search\n"
        f"result = read_and_search({problem!r}, 'plan.json', SearchOptions())\n"
        "assert result.plan\n"
        "gc.disable()\n"  # as the command does while it imports
        f"try: main([{problem!r}, 'plan.json'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert gc.isenabled()"
    )
    found = loaded_by(script, tmp_path)
    ours = {"epigym.language.ground_json", "epigym.language.mastar", "search.planning.improvement"}
    assert found.isdisjoint(ours | {"importlib.metadata", "numpy.ma"})
    roots = {name.partition(".")[0] for name in found} - sys.stdlib_module_names
    others = {name for name in roots if name[0] != "_" and name not in PACKAGES}
    used = {"lark", "numpy", "psutil", "safetensors", "xxhash", "yaml"}
    assert used <= others <= used | {"cython_runtime"}


def test_a_plan_of_the_competition_starts_no_threads() -> None:
    """Those of BLAS, one for each core, would take time without work."""
    given = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    script = "import search.competition, psutil; print(psutil.Process().num_threads())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=given)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("options", "agents", "heuristics", "others"),
    [
        ("agent=bfs", {"breadth_first"}, set(), set()),
        ("agent=dfs", {"depth_first"}, set(), set()),
        ("agent=hfs heuristic=goal_count", {"best_first", "novelty"}, {"goal_count"}, {"epigym.features.relaxation"}),
    ],
)
def test_imports_of_searches(
    options: str, agents: set[str], heuristics: set[str], others: set[str], tmp_path: Path
) -> None:
    arguments = ["solve", f"problem={ROOT / 'docs/epddl/coin-1.json'}", *options.split()]
    script = (
        "from search.solve import main\n"
        f"sys.argv = {arguments!r}\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert gc.get_freeze_count()"  # else the last collection takes as long as many a search
    )
    found = loaded_by(script, tmp_path)
    packages = ("search.agents.", "search.heuristics.", "epigym.features.", "learn.")
    expected = {
        *(f"search.agents.{name}" for name in {"agent", "limits", "result", "run"} | agents),
        *(f"search.heuristics.{name}" for name in {"heuristic"} | heuristics),
        *others,
    }
    assert {name for name in found if name.startswith(packages)} == expected
    assert "gymnasium" not in found


def test_the_tables_of_instances_are_not_read_before_one_of_theirs_is_asked_for() -> None:
    script = (
        "import epigym, domains; from domains.instances import load_tables\n"
        "domains.find('grapevine/3_pl_5'); print(load_tables.cache_info().misses)\n"
        "domains.find('grapevine/scaling_01'); print(load_tables.cache_info().misses)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["0", "1"]
