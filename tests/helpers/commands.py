"""The settings of a command as its command line would give them."""

from dataclasses import fields
from importlib import import_module
from typing import TypeVar

import hydra

from epigym.cli.options import add_options
from epigym.cli.settings import Settings, read
from epigym.config.packages import PLACE

S = TypeVar("S", bound=Settings)


def settings_of(door: str) -> type[Settings]:
    """The settings of a command by its module."""
    kind = import_module(door).main.args[1]
    assert issubclass(kind, Settings)
    return kind


def compose(kind: type[S], name: str, *overrides: str) -> S:
    """The settings of `conf/<name>.yaml` with overrides."""
    add_options(overrides)
    with hydra.initialize_config_dir(str(PLACE / "conf"), version_base="1.3"):
        folder = ["run_dir=outputs"] if "run_dir" in {entry.name for entry in fields(kind)} else []
        return read(hydra.compose(name, [*folder, *overrides]), kind, overrides)
