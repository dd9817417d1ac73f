"""A folder that one command at a time writes into."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epigym.errors import UsageError
from epigym.io.files import removing_empty

LOCK = ".lock"
_RANKS = ("RANK", "LOCAL_RANK", "SLURM_PROCID")


@contextmanager
def locking(folder: Path) -> Iterator[None]:
    """Lock a folder for this process, which makes it if need be, and removes it again if nothing was written.

    The processes of a distributed training share a folder: only the first one locks it. A process that dies leaves a
    file, but no lock.

    Raises:
        UsageError: when another process has locked the folder.
        OSError: when the folder cannot be made.
    """
    if any(os.environ.get(name, "0") != "0" for name in _RANKS):
        yield
        return
    with removing_empty(folder):
        file = _lock(folder)
        try:
            yield
        finally:
            with suppress(OSError):
                (folder / LOCK).unlink()
            os.close(file)


def _lock(folder: Path) -> int:
    """The descriptor of the locked file, which unlocks it when it is closed."""
    path = folder / LOCK
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # another process has removed the folder
            continue
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                os.close(file)
                raise UsageError(
                    f"run_dir={folder}: another command is running there: wait for its end, or name another"
                ) from None
            return file  # a file system without locks
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file)):
                return file
        os.close(file)  # another process has removed the file
