"""Opening of trained models: of a file, of a run, or those that come with epigym."""

from __future__ import annotations

from pathlib import Path

from epigym.features.types import FeatureTypes
from epigym.io.files import AnyPath
from epigym.task.task import Task
from learn.models.files import MODEL_FILE, read_content
from learn.models.gine.model import NetworkModel
from learn.models.linear.model import LINEAR, LinearModel
from learn.models.model import Model
from learn.models.shipped import find_shipped


def open_model(source: AnyPath | Task) -> Model:
    """Open a trained model.

    For a task this is the model of its domain that comes with epigym, if the task's predicates and actions occur in the
    model's training; otherwise the first model of another domain with these predicates and actions, as files may use
    other names of domains; otherwise the general model.

    Args:
        source: a file, the folder of a run, or a task.

    Raises:
        MissingModelError: when there is no such file.
        ModelError: when it cannot be read, or describes no model.
    """
    if isinstance(source, Task):
        return open_for(None, source)
    path = locate_model(source)
    content = read_content(path)
    kind = LinearModel if content.values["kind"] == LINEAR else NetworkModel
    return kind.of(content, path)


def open_for(model: str | None, task: Task, types: FeatureTypes | None = None) -> Model:
    """Open the model of a setting `model=` for a task.

    Args:
        model: a file or the folder of a run, in which `{domain}` stands for the task's domain; None for a model that
            comes with epigym.
        task: the task.
        types: its types, if they are known.

    Raises:
        MissingModelError: as `open_model`.
        ModelError: as `open_model`.
    """
    if model is None:
        return open_model(find_shipped(task.domain, (types or FeatureTypes(task)).schema))
    return open_model(model.replace("{domain}", task.domain))


def locate_model(source: AnyPath) -> Path:
    """The file of a model: `source`, or that in the folder `source`."""
    path = Path(source)
    return path / MODEL_FILE if path.is_dir() else path
