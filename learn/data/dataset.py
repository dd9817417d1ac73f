"""Data sets: labelled e-states of problems as paths, from which any encoding makes graphs.

A data set is a folder. `dataset.json` has the settings, a row for each problem and checksums; `<n>.json` a task in the
compact layout of `epigym.language.ground_json` with its goals, and `<n>.safetensors` the arrays of a
`learn.data.rollout.Tree`. It is never changed once it is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from epigym.config.values import make
from epigym.errors import DamagedError, EpigymError, MissingError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.io.files import AnyPath, read_json, removing_empty, replacing, write_json
from epigym.io.progress import track
from epigym.language import ground_json
from epigym.language.ground_json.formulas import FormulaReader, FormulaWriter
from epigym.task.formula import and_, conjuncts
from epigym.task.task import Task
from learn.data.making import open_rollout
from learn.data.rollout import LabelledGoal, Rollout, Tree, Use, require_tree

if TYPE_CHECKING:
    from learn.data.pyg import GraphDataSet

VERSION = 5
"""Version of the files, and of samples, pairs and labels: changes when equal settings give different ones."""
TABLE = "dataset.json"
"""The file that makes a folder a data set."""
_ARRAYS = ("distance", "label", "sample", "better", "worse", "weight")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A problem of a data set.

    Attributes:
        tree: number of its files.
        goal: number of its goal in them.
        name: of the problem.
        domain: of the problem; empty if it is not known.
        counts: sizes of the exploration and of the samples.
        seconds: duration of exploration and labelling.
    """

    tree: int
    goal: int
    name: str
    domain: str
    counts: dict[str, Any]
    seconds: float


class DataSet:
    """A stored data set.

    Args:
        folder: its folder, as `learn.rollouts` prints it.

    Attributes:
        folder: its folder.
        key: hash of the settings and the problems.
        parent: key of the data set that it extends, or None.
        settings: the settings that made it.
        rows: the problems.

    Raises:
        MissingError: when the folder is no data set.
        DamagedError: when it is damaged.
        EpigymError: when its version differs.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.folder = Path(folder)
        content = _read_table(self.folder)
        try:
            self.key, self.parent = str(content["key"]), content["parent"]
            self.settings: Mapping[str, Any] = content["settings"]
            self.rows = tuple(make(Row, row) for row in content["rows"])
            self._held_out = tuple(map(str, content["held_out"]))
            for name, expected in content["checksums"].items():
                _require_checksum(self.folder / name, expected)
        except (AttributeError, EpigymError, KeyError, TypeError) as error:
            if isinstance(error, DamagedError):
                raise
            raise self._damage(f"{TABLE} lacks what it must have: {error}") from None

    def __len__(self) -> int:
        """Number of problems."""
        return len(self.rows)

    @cached_property
    def domains(self) -> list[str]:
        """The domains of the problems."""
        return list(dict.fromkeys(row.domain for row in self.rows if row.domain))

    @property
    def expansions(self) -> int:
        """Maximum number of e-states of each problem whose successors make pairs."""
        return int(self.settings["data"]["expansions"])

    @property
    def samples_long_goals(self) -> bool:
        """Whether its problems were sampled with long goals."""
        return bool(self.settings["data"].get("long_goals"))

    @property
    def consistent_beliefs(self) -> bool:
        """Whether its state spaces exclude e-states with inconsistent beliefs."""
        return bool(self.settings["explorer"]["consistent_beliefs"])

    @property
    def first_task(self) -> Task:
        """The first problem."""
        return self._read_task("0.json")[0]

    @cached_property
    def held_out(self) -> list[Task]:
        """Problems for validation that nothing is learned from, where the data set was made of files."""
        return [self._read_task(name)[0] for name in self._held_out]

    def choose_held_out(self, most: int, start: int | None = None) -> list[Task]:
        """Up to `most` of the problems held out, evenly spaced, as they are in the order of their files.

        Args:
            most: at least 1.
            start: 0 or 1 for one half of them, every second one from there on; None for all.
        """
        found = self.held_out if start is None else self.held_out[start::2]
        return found[:: -(-len(found) // most) or 1]

    def rollouts(self, use: Use) -> list[Rollout]:
        """The labelled e-states of all problems that have some, see `open_each`."""
        return [rollout for _, rollout in track(self.open_each(use), "opening e-states", total=len(self))]

    def open_each(self, use: Use) -> Iterator[tuple[Row, Rollout]]:
        """Yield each problem that has labelled e-states, and these.

        Args:
            use: `samples` for the e-states to learn distances from, without pairs; `pairs` for those of the pairs.

        Raises:
            DamagedError: when a file is damaged.
            EpigymError: when no problem has any.
        """
        rows = [row for row in self.rows if row.counts[use]]
        if not rows:
            names = ", ".join(self.domains) or ", ".join(dict.fromkeys(row.name for row in self.rows))
            raise EpigymError(f"nothing to learn from in {len(self)} problems of {names}: there are no {use}")
        trees: dict[int, Tree] = {}
        for row in rows:
            trees = trees if row.tree in trees else {row.tree: self.read_tree(row.tree)}
            try:
                rollout = open_rollout(trees[row.tree], row.goal, use)
            except (EpigymError, IndexError) as error:
                raise self._damage(f"{row.name} cannot be followed: {error}") from None
            yield row, rollout

    def graphs(self, encoding: str | Mapping[str, Any]) -> GraphDataSet:
        """The samples as complete graphs, a data set of PyTorch Geometric.

        Args:
            encoding: its name, or a mapping with its name and settings.
        """
        from learn.data.pyg import GraphDataSet

        return GraphDataSet(self.rollouts("samples"), encoding)

    def read_tree(self, number: int) -> Tree:
        """Read the files of a number.

        Raises:
            DamagedError: when they do not have the form of a tree.
        """
        task, goals = self._read_task(f"{number}.json")
        path = self.folder / f"{number}.safetensors"
        rows = [row for row in self.rows if row.tree == number]
        try:
            arrays = load(path.read_bytes())
            tree = Tree(
                task=task,
                consistent_beliefs=self.consistent_beliefs,
                predecessor=arrays["predecessor"],
                action=arrays["action"],
                goals=tuple(_make_goal(goals[row.goal], arrays, row) for row in rows),
            )
            require_tree(tree)
        except (IndexError, KeyError, SafetensorError, TypeError, ValueError, DamagedError) as error:
            raise self._damage(f"{path.name}: {error}") from None
        return tree

    def _read_task(self, name: str) -> tuple[Task, list[dict[str, Any]]]:
        """A task, and the goals of its file as arguments of `LabelledGoal`."""
        path = self.folder / name
        content, reader = read_json(path), FormulaReader({}, plank_compat=False)
        task = ground_json.read_task(content, str(path))
        try:
            goals = [
                {"name": one["name"], "instance": one["instance"], "goal": conjuncts(reader(one["goal"]))}
                for one in content["goals"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._damage(f"{name}: {error}") from None
        return task, goals

    def _damage(self, what: str) -> DamagedError:
        return DamagedError(f"{self.folder} is damaged: {what}: delete it to make it again")


def _make_goal(names: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], row: Row) -> LabelledGoal:
    columns: dict[str, Any] = {name: arrays[f"{row.goal}.{name}"] for name in _ARRAYS}
    return LabelledGoal(**names, **columns, counts=row.counts, seconds=row.seconds)


def write_data_set(
    folder: Path,
    trees: Iterable[Tree],
    held_out: Sequence[Task] = (),
    *,
    settings: Mapping[str, Any],
    parent: str | None = None,
) -> DataSet:
    """Write a data set; its folder appears when it is whole. If it is there already, it is kept.

    Args:
        folder: its folder, whose name is the key.
        trees: its problems, written one by one.
        held_out: problems for validation.
        settings: what made it.
        parent: key of the data set that it extends.

    Raises:
        EpigymError: when there are no problems.
        OSError: when it cannot be written.
    """
    try:
        with removing_empty(folder.parent):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with replacing(folder) as temporary:
                temporary.mkdir()
                _write_files(
                    trees, held_out, temporary, {"key": folder.name, "parent": parent, "settings": dict(settings)}
                )
    except OSError:
        if not (folder / TABLE).exists():
            raise  # else another process made the same in the meantime
    return DataSet(folder)


def _write_files(trees: Iterable[Tree], held_out: Sequence[Task], folder: Path, own: Mapping[str, Any]) -> None:
    """Write the files of a data set; `own` are the entries of its table that do not follow from these."""
    rows = [row for number, tree in enumerate(trees) for row in _write_tree(tree, number, folder)]
    if not rows:
        raise EpigymError("nothing to learn from: no goal is among the explored e-states of any problem")
    names = [f"held_out_{number}.json" for number in range(len(held_out))]
    for name, task in zip(names, held_out, strict=True):
        _write_task(task, [], folder / name)
    files = sorted(path.name for path in folder.iterdir())
    content = {
        "version": VERSION,
        **own,
        "rows": [vars(row) for row in rows],
        "held_out": names,
        "checksums": {name: _compute_checksum(folder / name) for name in files},
    }
    write_checksummed(folder / TABLE, content)


def _write_tree(tree: Tree, number: int, folder: Path) -> list[Row]:
    _write_task(tree.task, tree.goals, folder / f"{number}.json")
    arrays: dict[str, NDArray[Any]] = {"predecessor": tree.predecessor, "action": tree.action}
    for place, goal in enumerate(tree.goals):
        arrays |= {f"{place}.{name}": getattr(goal, name) for name in _ARRAYS}
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    (folder / f"{number}.safetensors").write_bytes(content)
    return [
        Row(
            tree=number,
            goal=place,
            name=goal.name,
            domain=tree.task.domain,
            counts=dict(goal.counts),
            seconds=goal.seconds,
        )
        for place, goal in enumerate(tree.goals)
    ]


def _write_task(task: Task, goals: Sequence[LabelledGoal], path: Path) -> None:
    write = FormulaWriter(compact=True)
    listed = [{"name": one.name, "instance": one.instance, "goal": write(and_(*one.goal))} for one in goals]
    content = ground_json.to_json(ground_json.make_specification(task), compact=True)
    write_json(path, content | {"goals": listed}, indent=None)


def _read_table(folder: Path) -> dict[str, Any]:
    try:
        content = read_checksummed(folder / TABLE, f"delete {folder} to make it again")
    except MissingError:
        raise MissingError(
            f"{folder} is no data set: it has no {TABLE}: make one with `python -m learn.rollouts`"
        ) from None
    if content.get("version") != VERSION:
        found = content.get("version")
        raise EpigymError(
            f"{folder} has version {found}, expected {VERSION}: make it again with `python -m learn.rollouts`"
        )
    return content


def _require_checksum(path: Path, expected: str) -> None:
    if not path.is_file() or _compute_checksum(path) != expected:
        raise DamagedError(f"{path} does not match its checksum: delete {path.parent} to make it again")


def _compute_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
