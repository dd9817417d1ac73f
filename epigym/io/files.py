"""Files: read with one-line errors, written complete or not at all."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from epigym.errors import EpigymError, MissingError
from epigym.names import is_one_line

AnyPath: TypeAlias = str | os.PathLike[str]


def read(path: AnyPath) -> str:
    """The text of a UTF-8 file, which is compressed if its name ends with `.gz`.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it cannot be read or is not UTF-8.
    """
    opened = gzip.open if str(path).endswith(".gz") else open
    try:
        with opened(_nameable(path), "rt", encoding="utf-8-sig") as file:
            return str(file.read())
    except UnicodeDecodeError as error:
        raise EpigymError(f"{path}: byte {error.start} is not UTF-8 text") from None
    except (EOFError, zlib.error) as error:
        raise EpigymError(f"{path}: not compressed by gzip: {error}") from None
    except OSError as error:
        kind = MissingError if isinstance(error, FileNotFoundError) else EpigymError
        raise kind(f"{error.filename or path}: {error.strerror or error}") from None


def slug(text: str) -> str:
    """A part of a file's name: `/` becomes `+`, all characters but ASCII letters, digits and `.+-_` become `_`."""
    return re.sub(r"[^A-Za-z0-9.+_-]", "_", text.replace("/", "+"))[:200]


def is_file(path: AnyPath) -> bool:
    """Whether there is such a file.

    Raises:
        EpigymError: when no file can have that name, or it is a pipe.
    """
    try:
        mode = _nameable(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise EpigymError(f"{error.filename}: {error.strerror}") from None
    if stat.S_ISFIFO(mode):
        raise EpigymError(f"{path} is a pipe, which can be read only once: write its content to a file")
    return stat.S_ISREG(mode)


def read_json(path: AnyPath, expected: str = "") -> Any:
    """The content of a JSON file.

    Args:
        path: the file.
        expected: what its content should be, for the message about other text.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it cannot be read, is not JSON, or names something twice.
    """
    return _parse_json(read(path), path, expected)


def _parse_json(text: str, path: AnyPath, expected: str) -> Any:
    """The value of a text in JSON; arguments and errors as those of `read_json`."""
    try:
        content = json.loads(text, object_pairs_hook=partial(_object, path))
        if "\\u" in text:  # only an escape can say half a character, which no file takes
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        if not text.strip():
            raise EpigymError(f"{path} is empty: expected {expected or 'JSON'}") from None
        remedy = f"; expected {expected}" if expected else ""
        raise EpigymError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}{remedy}") from None
    except UnicodeEncodeError:
        raise EpigymError(f"{path}: a text holds one half of a surrogate pair: write the character itself") from None
    except ValueError:
        raise EpigymError(f"{path}: a number has more than {sys.get_int_max_str_digits()} digits") from None
    except RecursionError:
        raise EpigymError(f"{path}: nested too deeply") from None
    return content


def read_rows(path: AnyPath, columns: Iterable[str]) -> list[dict[str, str]]:
    """The rows of a CSV file with a line of titles, among which are some columns.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it cannot be read, lacks a column, or a row is shorter or longer than the line of titles.
    """
    reader = csv.DictReader(io.StringIO(read(path), newline=""))
    try:
        rows = list(reader)
    except csv.Error as error:
        raise EpigymError(f"{path}: not CSV: {error}") from None
    if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
        raise EpigymError(f"{path}: the table lacks the column {missing[0]!r}: make it again, or name another")
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise EpigymError(f"{path}: row {number} has not as many entries as the line of titles: make it again")
    return rows


def read_plan(path: AnyPath, text: str | None = None) -> list[str]:
    """The action names in a plan file.

    Args:
        path: the file.
        text: its content, if it was read before.

    Raises:
        MissingError: as `read_json`.
        EpigymError: as `read_json`, or when it is not a JSON array of names.
    """
    plan = _parse_json(read(path) if text is None else text, path, "a plan, a JSON array of action names")
    require_kind(path, plan, "plan")
    if find_kind(plan) != "plan":
        raise EpigymError(f"{path}: a plan is a JSON array of action names")
    return cast(list[str], plan)


def require_kind(path: AnyPath, content: Any, kind: str) -> None:
    """Refuse the content of a JSON file that looks like that of another setting.

    Args:
        path: the file.
        content: its content.
        kind: `plan`, `policy` or `problem`, each the name of a setting, too.

    Raises:
        EpigymError: naming the setting that takes the file.
    """
    if (found := find_kind(content)) not in ("", kind):
        raise EpigymError(f"{path} is a {found}, not a {kind}: give it as {found}=")


def find_kind(content: Any) -> str:
    """What the content of a JSON file looks like: `plan`, `policy`, `problem`, or an empty text for anything else."""
    if isinstance(content, list) and all(isinstance(action, str) for action in content):
        return "plan"
    keys = content.keys() if isinstance(content, dict) else set[str]()
    if "nodes" in keys or {"action", "branches"} <= keys:
        return "policy"
    return "problem" if "planning-task-info" in keys or {"domain", "problem"} <= keys else ""


@contextmanager
def removing_empty(folder: Path) -> Iterator[None]:
    """Remove a folder and its parents afterwards, if they were missing before and nothing was written into them."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        yield
    finally:
        with suppress(OSError):
            for one in missing:
                one.rmdir()


@contextmanager
def replacing(path: AnyPath) -> Iterator[Path]:
    """The name of a temporary file or new folder that takes the place of `path` when the block ends without an error.

    After an error `path` is unchanged, and the temporary file is deleted.

    Raises:
        OSError: when it cannot be written, naming `path`.
    """
    path = _nameable(path)
    _require_plain(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    _remove(temporary)  # of a killed process that had the same number
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.filename is None or Path(error.filename).is_relative_to(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_writable(path: AnyPath, *, is_folder: bool = False) -> None:
    """Raise the OSError that writing a file or folder there would raise."""
    path = _nameable(path)
    _require_plain(path)
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    is_folder = is_folder or there != path
    if there.is_dir() and not is_folder:
        raise IsADirectoryError(errno.EISDIR, f"{there.name} is a folder", str(path))
    if is_folder and not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{there.name} is not a folder", str(path))
    try:  # asks the file system, whose answer `os.access` may not know
        os.rmdir(tempfile.mkdtemp(prefix=".", dir=there if there.is_dir() else there.parent))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def as_unicode(text: str) -> str:
    """A text in which `?` replaces each byte of a file's name that is not UTF-8, which no text file can hold."""
    return text.encode(errors="replace").decode()


def write_text(path: AnyPath, text: str) -> None:
    """Write `as_unicode(text)` as UTF-8 in a folder that is made if need be.

    Readers see the old file or the whole new one.
    """
    _nameable(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(as_unicode(text), encoding="utf-8", newline="")


def write_rows(path: AnyPath, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with a line of titles, as `write_text` does."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_json(path: AnyPath, content: Any, *, indent: int | None = 2) -> None:
    """Write plain values and containers as JSON, as `write_text` does."""
    write_text(path, json.dumps(content, indent=indent, ensure_ascii=False) + "\n")


def _nameable(path: AnyPath) -> Path:
    """A path that a file can have and that fits on a line. Raises OSError for others, such as one with a NUL."""
    if not os.fspath(path):
        raise OSError(errno.EINVAL, "the name of the file is empty", "''")
    try:
        is_nameable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_nameable = False
    if not is_nameable:
        raise OSError(errno.EINVAL, "no file can have this name", ascii(str(path)))
    if not is_one_line(str(path)):
        raise OSError(errno.EINVAL, "a name with a line break does not fit into messages: rename it", ascii(str(path)))
    return Path(path)


def _require_plain(path: Path) -> None:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "a device, pipe or socket would be replaced", str(path))


def _object(path: AnyPath, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise EpigymError(f"{path}: an object has the key {twice!r} twice: keep one")
    return found
