"""Reading without the collector of cyclic garbage, which would scan the growing tree of a large text repeatedly."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause the collection of cyclic garbage in a block; trees and tasks have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
