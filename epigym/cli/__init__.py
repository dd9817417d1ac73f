"""The command line: a runner over Hydra with typed settings, exit codes, help, and Ctrl-C before it runs."""

from __future__ import annotations

import sys
from types import TracebackType

from domains.output import replace_unknown_characters


def _say_briefly(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Ctrl-C while a command still imports is one line too; Python then ends by the signal, which a shell calls 130."""
    if issubclass(kind, KeyboardInterrupt) and "debug=true" not in sys.argv:
        print("error: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)


# Only commands import this package, before slow imports, and so do the processes of a sweep.
sys.excepthook = _say_briefly
replace_unknown_characters()
