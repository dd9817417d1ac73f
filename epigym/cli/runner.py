"""The one way in which commands run: compose, check, call, and say in one line what went wrong."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import warnings
from argparse import ArgumentError, Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import hydra
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig

import epigym
from domains import DOMAINS
from domains.output import end_at_closed_pipe
from domains.words import split
from epigym.cli.codes import ExitCode, fail, warning
from epigym.cli.help import format_help, list_groups
from epigym.cli.options import add_options
from epigym.cli.settings import Settings, read
from epigym.cli.suggestions import explain
from epigym.cli.words import hydra_words
from epigym.config.cluster import name_log, require_slurm
from epigym.config.packages import PLACE, check_place, extras
from epigym.config.registry import option_file
from epigym.config.sweeps import is_sweep
from epigym.config.values import hints_of
from epigym.errors import MissingError, UsageError
from epigym.io.files import is_file
from epigym.io.locking import locking
from epigym.names import unknown

S = TypeVar("S", bound=Settings)
_CONF = str(PLACE / "conf")
_SLURM = "hydra/launcher=slurm"
_VALUES = {
    "--cfg": "job", "--config-dir": "FOLDER", "--config-name": "NAME", "--config-path": "FOLDER",
    "--experimental-rerun": "FILE", "--package": "PACKAGE",
}  # fmt: skip
"""Options of Hydra with the values that they need."""


def run(task: Callable[[S], ExitCode | float | None], settings: type[S], command: str) -> None:
    """Run `task` with the settings of the command line, and exit with the code that says how it ended.

    An error is one line on standard error; `debug=true` shows the traceback. In a multirun only errors set a code,
    after all jobs have run.

    Args:
        task: the function of the command, from its settings to an exit code, or to the number that sweepers minimise;
            None is success.
        settings: what its configuration is checked against before it is called.
        command: the module, such as `search.solve`, whose configuration is `conf/solve.yaml`.
    """
    with end_at_closed_pipe():
        _run(task, settings, command)


def _run(task: Callable[[S], ExitCode | float | None], settings: type[S], command: str) -> NoReturn:
    if task.__module__ == "__main__":  # the same by a name under which other processes find them
        module = import_module(command)
        task, settings = getattr(module, task.__name__), getattr(module, settings.__name__)
    arguments = sys.argv[1:]
    if not {"-h", "--help"}.isdisjoint(arguments):
        print(format_help(command))
        sys.exit(ExitCode.SUCCESS)
    if "--version" in arguments:
        print(f"epigym {epigym.__version__}")
        sys.exit(ExitCode.SUCCESS)
    is_terminated = False

    def terminate(*_: object) -> NoReturn:  # ends like Ctrl-C, so that child processes are stopped
        nonlocal is_terminated
        is_terminated = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminate)
    warnings.formatwarning = warning
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors reach this function
    try:
        check_place("learn", "search")
        sys.argv[1:] = _read(arguments, settings, command)
        with extras():
            gc.freeze()  # nothing imported is garbage: no collection, not even the last one, looks through it
            code = _run_composed(task, settings, command)
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if "debug=true" in arguments:
            raise
        code = fail(explain(name_log(error), settings))
        if is_terminated and code is ExitCode.INTERRUPTED:
            code = ExitCode.TERMINATED
    sys.exit(code)


def _read(arguments: list[str], settings: type[Any], command: str) -> list[str]:
    """The options, and the settings as Hydra reads them; refuses options that Hydra answers with a page of its own."""
    parser = get_args_parser()
    parser.exit_on_error = False
    _refuse_dashes(arguments, parser._option_string_actions, settings, command)
    try:
        known, others = parser.parse_known_intermixed_args(arguments)
    except ArgumentError as error:
        option = (error.argument_name or "").partition("/")[0]
        lacks = error.message == "expected one argument" and option in _VALUES
        message = f"{option} has no value: give {option} {_VALUES[option]}" if lacks else str(error)
        raise UsageError(message) from None
    if others:
        raise UsageError(unknown("option", others[0], parser._option_string_actions))
    _require_files(known)
    for option in ("resolve", "package"):
        if getattr(known, option) and not known.cfg:
            raise UsageError(f"--{option} is an option of showing a configuration: add --cfg job")
    if _SLURM in arguments and _has_plugin("submitit"):
        require_slurm(_SLURM)
    options = [one for one in arguments if all(one is not word for word in known.overrides)]
    words = hydra_words(known.overrides, settings, is_sweep=known.multirun)
    _require_experiment_of(command, words)
    add_options(words)
    if known.multirun:
        _require_jobs(words)
    return options + words


def _refuse_dashes(arguments: Sequence[str], options: Iterable[str], settings: type[Any], command: str) -> None:
    """Raise a UsageError for a setting, or a parameter of a domain, that is written as an option."""
    for word, after in zip_longest(arguments, arguments[1:], fillvalue=""):
        name, equals, value = word.lstrip("-").partition("=")
        if name and word.startswith("-") and word.partition("=")[0] not in options:
            hints, name = hints_of(cast(Any, settings)), name.replace("-", "_")
            has_parameters = "parameters" in hints and any(name in one.defaults for one in DOMAINS.values())
            if name in hints or name in list_groups(command.rpartition(".")[2]) or has_parameters:
                value = value if equals else "…" if not after or after.startswith("-") or "=" in after else after
                raise UsageError(f"unknown option {word!r}: a setting has no dashes: give {name}={value}")


def _require_files(options: Namespace) -> None:
    """Raise an error for an option of Hydra that names a folder or file which does not exist."""
    if options.config_dir is not None and not Path(options.config_dir).is_dir():
        raise MissingError(f"--config-dir {options.config_dir}: there is no such folder")
    if options.config_path is not None and not (
        Path(options.config_path).is_absolute() and Path(options.config_path).is_dir()
    ):
        expected = "expected the full path of a folder in place of conf; --config-dir adds a folder"
        raise MissingError(f"--config-path {options.config_path}: {expected}")
    if options.experimental_rerun is not None and not is_file(options.experimental_rerun):
        raise MissingError(f"--experimental-rerun {options.experimental_rerun}: there is no such file")


def _require_experiment_of(command: str, words: Sequence[str]) -> None:
    """Raise a UsageError for an experiment that belongs to other commands, which the comments of its file name."""
    for name in (name for word in words if word.startswith("experiment=") for name in split(word.partition("=")[2])):
        file = option_file("experiment", name)
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        commands = re.findall(rf"python -m (\S+) experiment={name}\b", text)
        if commands and command not in commands:
            raise UsageError(f"experiment={name} is one of {commands[0]}: python -m {commands[0]} experiment={name}")


def _require_jobs(words: Sequence[str]) -> None:
    """Raise a UsageError for a setting of a sweep that has no value, such as a pattern that matches no option."""
    loader = ConfigLoaderImpl(create_config_search_path(_CONF))
    parser = OverridesParser.create(config_loader=loader)
    for word, override in zip(words, parser.parse_overrides(list(words)), strict=True):
        if override.is_discrete_sweep() and next(override.sweep_string_iterator(), None) is None:
            raise UsageError(f"{word}: no value for any job: glob(…) chooses among options, and files are named as a,b")


def _has_plugin(launcher: str) -> bool:
    try:
        return find_spec(f"hydra_plugins.hydra_{launcher}_launcher") is not None
    except ModuleNotFoundError:  # no plugin is installed
        return False


def _run_composed(task: Callable[[S], ExitCode | float | None], settings: type[S], command: str) -> ExitCode:
    """Compose the configuration and call the task; its exit code."""
    code: ExitCode | None = None
    failure: Exception | None = None
    place = "hydra.run.dir" if {"-m", "--multirun"}.isdisjoint(sys.argv) else "hydra.sweep.dir"

    def job(config: DictConfig) -> Any:
        nonlocal code, failure, place
        place = ""
        overrides = HydraConfig.get().overrides.task
        if is_sweep():  # Hydra runs the other jobs before it raises an error
            # Sweepers minimise a number.
            return _call(task, read(config, settings, overrides))
        try:
            result = _call(task, read(config, settings, overrides))
            code = result if isinstance(result, ExitCode) else None
        except Exception as error:
            failure = error
        return None

    job.__module__ = command  # names the job after the command
    try:
        _run_hydra(job, command.rpartition(".")[2])
    except OSError as error:
        if not place or error.filename is None:
            raise
        raise OSError(error.errno, f"{error.strerror}: name another with {place}=", error.filename) from None  # Hydra's
    if failure is not None:
        raise failure
    return code or ExitCode.SUCCESS


class _SingleRun(Hydra):
    """A run whose configuration is composed once, when this is made."""

    def __init__(self, name: str, words: list[str]) -> None:
        super().__init__(name, ConfigLoaderImpl(create_config_search_path(_CONF)))
        self._config = super().compose_config(name, words, RunMode.RUN, with_log_configuration=True)

    def compose_config(self, *_: Any, **__: Any) -> DictConfig:
        """The configuration."""
        return self._config


def _run_hydra(job: Callable[[DictConfig], Any], name: str) -> None:
    """Run a job as `hydra.main`, which composes twice: first to read `hydra.mode`."""
    main = hydra.main(version_base="1.3", config_path=_CONF, config_name=name)(job)
    words, single = sys.argv[1:], None
    if not any(word.startswith("-") for word in words):
        with suppress(Exception):  # raised again by `main`
            single = _SingleRun(name, words)
    if single is None or single.compose_config().hydra.mode is RunMode.MULTIRUN:
        main()
        return
    GlobalHydra.instance().initialize(single)
    try:
        single.run(name, job, words)
    finally:
        GlobalHydra.instance().clear()


def _call(task: Callable[[S], ExitCode | float | None], settings: S) -> ExitCode | float | None:
    """Call the task; no other command writes into the folder of its run meanwhile."""
    gc.enable()  # imports and composition are over
    folder = getattr(settings, "run_dir", None)
    with nullcontext() if folder is None else locking(folder):
        return task(settings)
