"""What a user starts: one runner over Hydra with typed settings, its exit codes, its help."""

from epigym.command.codes import ExitCode, line
from epigym.command.runner import run
from epigym.command.settings import ProblemSettings, Settings, read

__all__ = ["ExitCode", "ProblemSettings", "Settings", "line", "read", "run"]
