"""What an evaluation keeps to go on from: what is damaged is named, set aside and made again."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from epigym.errors import DamagedError, MissingError
from epigym.io.sealed import read_sealed

logger = logging.getLogger("search.evaluate")


def kept(path: Path, consequence: str) -> dict[str, Any]:
    """The values of a sealed file; none when it does not exist, or is damaged.

    A damaged file is named in one warning, and is kept beside its place with `.damaged` behind its name.

    Args:
        path: the file.
        consequence: what happens now that it is damaged, such as "computed again".
    """
    aside = path.with_name(f"{path.name}.damaged")
    try:
        return read_sealed(path, f"{consequence}, what was there is kept as {aside.name}")
    except MissingError:
        return {}
    except DamagedError as error:
        with suppress(FileNotFoundError):  # another process was faster
            path.replace(aside)
            logger.warning("%s", error)
        return {}
