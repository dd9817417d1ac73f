"""The command line: a runner over Hydra with typed settings, exit codes, help, and Ctrl-C before it runs."""

from __future__ import annotations

import sys

from domains.output import replace_unknown_characters
from epigym.interrupts import say_briefly

# Only commands import this package, and so do the processes of a sweep.
sys.excepthook = say_briefly
replace_unknown_characters()
