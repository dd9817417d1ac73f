"""Typed settings: a composed configuration, checked against a dataclass before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import domains
from epigym.cli.suggestions import unknown_setting
from epigym.config.packages import PLACE
from epigym.config.sweeps import is_sweep
from epigym.config.values import UNSET, make
from epigym.errors import MissingError, UsageError
from epigym.io.files import is_file
from epigym.language import Reading
from epigym.language.plans import find_actions, read_steps
from epigym.names import unknown
from epigym.problem import load_problem
from epigym.task.task import Task


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every command has, see `conf/command.yaml`."""

    debug: bool

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """Settings without effect beside the composed values, by name or as `name=value`, each with the reason."""
        return {}


@dataclass(frozen=True, kw_only=True)
class RunSettings(Settings):
    """The settings of a command that writes into its own folder, see `conf/base.yaml`."""

    run_dir: Path = field(metadata={"written": "folder"})


@dataclass(frozen=True, kw_only=True)
class ReadingSettings(Settings):
    """How the problem of a command is read and what its plans may do, see `conf/problem.yaml`."""

    reading: Reading = field(metadata={"flat": Reading})
    consistent_beliefs: bool


@dataclass(frozen=True, kw_only=True)
class TaskSettings(ReadingSettings):
    """A problem that may be a domain with parameters, see `conf/task.yaml`."""

    problem: str
    instance: str | None
    parameters: dict[str, Any]

    @classmethod
    def require_known(cls, values: Mapping[str, Any]) -> None:
        """Raise a UsageError for a parameter that the domain does not have, which may be a misspelt setting.

        Args:
            values: the composed settings, not checked yet.
        """
        problem, parameters = values["problem"], values["parameters"]
        if not (isinstance(problem, str) and isinstance(parameters, dict)):
            return
        known, place = {}, ""
        if is_file(problem):
            place = f"{problem} is a file and has no parameters: "
        elif problem.partition("/")[0] in domains.DOMAINS:
            known = domains.DOMAINS[problem.partition("/")[0]].defaults
        elif problem != UNSET:
            return  # there is no such problem
        others = {name: value for name, value in values.items() if name != "parameters"}
        for name in parameters:
            if name not in known:
                raise UsageError(place + unknown_setting(name, others, cls, known))

    def load(self) -> Task:
        """The task; errors as `load_problem`."""
        if self.instance is None:
            return load_problem(self.problem, self.reading, **self.parameters)
        if "/" in self.problem or is_file(self.problem):
            raise UsageError(f"{self.problem} names a problem already: leave instance= out")
        return load_problem(f"{self.problem}/{self.instance}", self.reading, **self.parameters)


@dataclass(frozen=True, kw_only=True)
class ProblemSettings(ReadingSettings, RunSettings):
    """Both: a command that reads problems and writes into a folder of its own."""


def read_actions(task: Task, plan: list[str] | str) -> tuple[str, list[str]]:
    """Read a plan as settings give it: a list of actions, an action, or a file; its place in messages, and the names.

    Raises:
        MissingError: when there is no such action or file.
        EpigymError: as `read_steps` for a file, or when a step may mean several actions.
    """
    names = [action.name for action in task.actions]
    if isinstance(plan, list):
        return "plan", find_actions(plan, names)
    if not {"/", "."}.isdisjoint(plan) or is_file(plan):
        return plan, find_actions(read_steps(plan), names)
    [action] = find_actions([plan], names)
    if action not in names:
        raise MissingError(f"plan={plan}: there is no such file, and {unknown('action', plan, names)}")
    return "plan", [action]


def _job_folder(alone: str | None) -> str | None:
    """The folder that Hydra makes, of a job of a sweep or as `hydra.run.dir` names it; else `alone`."""
    hydra = HydraConfig.get()
    is_made = is_sweep() or hydra.run.dir != "."
    return hydra.runtime.output_dir if is_made else alone


OmegaConf.register_new_resolver("job_folder", _job_folder, replace=True)
OmegaConf.register_new_resolver("conf", lambda folder: str(PLACE / "conf" / folder), replace=True)
OmegaConf.register_new_resolver("is_given", lambda value: value not in (None, "none"), replace=True)


S = TypeVar("S", bound=Settings)


def read(config: DictConfig, kind: type[S], overrides: Sequence[str] = ()) -> S:
    """The settings in a composed configuration.

    Args:
        config: the configuration.
        kind: the dataclass of the settings.
        overrides: the arguments of the command line, as `name=value`.

    Raises:
        UsageError: when a value is missing, unknown, of the wrong type or out of range, or the user gave a setting
            without effect; the message names it.
        MissingError: when a file that must be there is not.
        OSError: when a file or folder cannot be written.
    """
    try:
        values = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        raise UsageError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    values = cast(dict[str, Any], values)
    for name, reason in kind.find_unused(values).items():
        for given in (override.lstrip("+~") for override in overrides):
            if given == name or given.startswith((f"{name}=", f"{name}.", f"{name}@")):
                raise UsageError(f"{given}: {reason}")
    if issubclass(kind, TaskSettings):
        kind.require_known(values)
    return make(kind, values)
