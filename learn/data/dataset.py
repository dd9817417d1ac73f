"""Data sets: labelled e-states of one problem as flat arrays in safetensors, with a `metadata.json`."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from epigym.encoding.encoder import make_encoder, make_encoding
from epigym.errors import DamagedError, EpigymError, MissingError
from epigym.io.checksummed import read_checksummed, write_checksummed
from epigym.io.files import replacing
from epigym.space.search_problem import SearchProblem, Source
from learn.data.explorers import ExploredGraph, ExplorerSettings, OnVisit, explore, keep, require_goal, resolve
from learn.data.fingerprint import fingerprint, fingerprint_task
from learn.data.rows import Encoded, encode, pack, unpack

logger = logging.getLogger(__name__)

FORMAT_VERSION = 4
"""Version of the arrays and the metadata."""
LABELLING_VERSION = 2
"""Version of samples, labels and graphs: changes when equal settings give different ones."""
_ARRAYS, _METADATA = "arrays.safetensors", "metadata.json"


@dataclass(frozen=True, slots=True)
class Samples:
    """k labelled e-states of one problem.

    Attributes:
        encoded: their graphs.
        state: int32[k], id of the e-state in the explored space.
        distance: int32[k], number of transitions to the nearest goal.
        depth: int32[k], number of actions from the initial e-state on the explored path.
        is_goal: bool[k], whether the e-state is a goal.
        action: int32[k], the last action of this path, -1 for the initial e-state.
        predecessor: int32[k], id of the previous e-state on this path, -1 for the initial one.
        goal_count: int32[k], number of unsatisfied subgoals, as a baseline.
    """

    encoded: Encoded
    state: NDArray[np.int32]
    distance: NDArray[np.int32]
    depth: NDArray[np.int32]
    is_goal: NDArray[np.bool_]
    action: NDArray[np.int32]
    predecessor: NDArray[np.int32]
    goal_count: NDArray[np.int32]

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.state)


_COLUMNS = tuple(field.name for field in fields(Samples) if field.name != "encoded")


@dataclass(frozen=True, slots=True)
class DataSet:
    """Samples with their metadata.

    Attributes:
        folder: folder of the files.
        samples: the samples; their arrays are views of the memory-mapped file.
        metadata: `format_version`, `fingerprint`, `task`, `explorer`, `encoding`, `counts`, `seconds`, and `arrays`,
            the checksum of the file of the arrays.
    """

    folder: Path
    samples: Samples
    metadata: Mapping[str, Any]


def make_samples(exploration: ExploredGraph, settings: ExplorerSettings, encoding: Mapping[str, Any]) -> Samples:
    """The labelled e-states of an exploration as samples.

    Args:
        exploration: the explored e-states.
        settings: of the explorer.
        encoding: its name and settings.

    Raises:
        NoGoalError: when no visited e-state reaches a goal.
    """
    space, goal = exploration.space, exploration.task.goal
    kept = keep(exploration, settings)
    require_goal(exploration, kept)
    states = exploration.states[kept]
    return Samples(
        encoded=encode(make_encoder(space, make_encoding(encoding), goal), states),
        state=states,
        distance=exploration.distance[kept],
        depth=exploration.depth[kept],
        is_goal=exploration.distance[kept] == 0,
        action=exploration.action[kept],
        predecessor=exploration.predecessor[kept],
        goal_count=np.count_nonzero(~space.query(goal)(states), axis=1).astype(np.int32),
    )


def load_or_make(
    source: Source,
    settings: ExplorerSettings,
    encoding: Mapping[str, Any],
    root: Path,
    on_visit: OnVisit = lambda visited: None,
) -> DataSet:
    """The data set of a problem, loaded from `root/<fingerprint>` or made and stored there.

    A damaged data set is renamed and made again.

    Args:
        source: the problem, see `SearchProblem.of`.
        settings: of the explorer; `consistent_beliefs` also applies where the source's space sets it.
        encoding: its name and settings.
        root: folder of the cache.
        on_visit: called with the number of e-states visited.

    Raises:
        NoGoalError: when no goal was found.
        UsageError: when `source` is not a source, see `SearchProblem.of`.
    """
    problem = SearchProblem.of(source)
    task, settings = resolve(problem, settings)
    key = fingerprint(
        task=fingerprint_task(task),
        explorer=asdict(settings),
        encoding=dict(encoding),
        labelling=LABELLING_VERSION,
        format=FORMAT_VERSION,
    )
    folder = root / key
    if (stored := _load_stored(folder)) is not None:
        return stored
    start = time.perf_counter()
    exploration = explore(problem, settings, on_visit)
    explored = time.perf_counter()
    samples = make_samples(exploration, settings, encoding)
    metadata = {
        "fingerprint": key,
        "task": task.name,
        "explorer": {**asdict(settings), "used": exploration.explorer},
        "encoding": dict(encoding),
        "counts": _counts(exploration, samples),
        "seconds": {"explore": explored - start, "encode": time.perf_counter() - explored},
    }
    save(samples, metadata, folder)
    return load(folder)


def _load_stored(folder: Path) -> DataSet | None:
    """The data set of a folder; None if there is none, or if it is damaged, in which case the folder is renamed."""
    if not folder.exists():
        return None
    try:
        return load(folder)
    except (DamagedError, MissingError) as error:
        aside = folder.with_name(f"{folder.name}.damaged-{time.time_ns()}")
        folder.rename(aside)
        logger.warning("%s: it is made again, and what was there is kept as %s", error, aside.name)
        return None


def save(samples: Samples, metadata: Mapping[str, Any], folder: Path) -> None:
    """Store samples in a new folder, atomically."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(folder) as temporary:
            temporary.mkdir()
            save_file(_arrays(samples), temporary / _ARRAYS)
            checksum = _sha256(temporary / _ARRAYS)
            write_checksummed(temporary / _METADATA, {"format_version": FORMAT_VERSION, **metadata, "arrays": checksum})
    except OSError:
        if not folder.exists():
            raise
        logger.info("%s was stored by another process in the meantime", folder)


def load(folder: Path) -> DataSet:
    """Open a stored data set; its arrays are memory-mapped.

    Raises:
        MissingError: when the folder holds no data set.
        DamagedError: when it is damaged.
        EpigymError: when its format version is unknown.
    """
    try:
        metadata = read_checksummed(folder / _METADATA, f"delete {folder} to make it again")
    except MissingError:
        raise MissingError(f"{folder} holds no data set: expected {_METADATA} and {_ARRAYS} there") from None
    version = metadata["format_version"]
    if version != FORMAT_VERSION:
        raise EpigymError(f"{folder} has format version {version}, expected {FORMAT_VERSION}: delete it to renew it")
    if not (folder / _ARRAYS).is_file() or _sha256(folder / _ARRAYS) != metadata["arrays"]:
        raise DamagedError(f"{folder / _ARRAYS} does not match its checksum: delete {folder} to make it again")
    with safe_open(folder / _ARRAYS, framework="pt") as file:
        arrays = {name: file.get_tensor(name).numpy() for name in file.keys()}  # noqa: SIM118 - no mapping
    columns = {name: arrays[name] for name in _COLUMNS}
    return DataSet(folder, Samples(unpack(arrays), **columns), metadata)


def _arrays(samples: Samples) -> dict[str, NDArray[Any]]:
    arrays = {name: getattr(samples, name) for name in _COLUMNS} | pack(samples.encoded)
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _counts(exploration: ExploredGraph, samples: Samples) -> dict[str, Any]:
    """The statistics that `learn.rollouts` prints and draws."""
    distances, depths = np.bincount(samples.distance), np.bincount(samples.depth)
    return {
        "complete": exploration.complete,
        "visited": len(exploration.states),
        "transitions": len(exploration.target),
        "kept": len(samples),
        "goals": int(np.count_nonzero(samples.is_goal)),
        "distances": distances.tolist(),
        "depths": depths.tolist(),
        "worlds": int(exploration.space.world_counts(samples.state).sum()),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
