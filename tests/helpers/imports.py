"""The imports of the project, read from its files."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

PACKAGES = ("domains", "epigym", "learn", "search")

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
    def read(cls, root: Path) -> Self:
        paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
        files = {name_of(path.relative_to(root)): path for path in paths}
        names = {*files, "epigym._core"}
        found = []
        for module, path in files.items():
            for moment, node in statements(ast.parse(path.read_text(encoding="utf-8"))):
                for target in targets(node, names):
                    found.append(Import(module, target, moment, node.lineno))
        return cls(files, found)


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
