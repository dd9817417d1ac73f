"""Messages of the font library inside Graphviz on standard error."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_STDERR: Final = 2
_TURN: Final = Lock()  # the descriptor belongs to the whole process


@contextmanager
def without_font_warnings() -> Iterator[None]:
    """Leaves warnings of Fontconfig out of standard error, where native code writes; all else comes at the end.

    The library that comes with Graphviz may be older than the machine's font configuration; it then warns about words
    that it does not know and draws all the same.
    """
    with _TURN, tempfile.TemporaryFile() as said:
        kept = os.dup(_STDERR)
        os.dup2(said.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
            said.seek(0)
            os.write(_STDERR, b"".join(line for line in said if not line.startswith(b"Fontconfig warning")))
