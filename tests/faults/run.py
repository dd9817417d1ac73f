"""Puts deliberate faults into copies of the sources, one at a time, and runs the fast tests that must find each.

    python -m tests.faults.run [word …]

Words select the faults whose names contain one of them. A copy takes the place of the installed packages, also in
processes that tests start. One build of the core serves all copies: it contains all faults of the core, and the
environment variable `EPI_FAULT` enables at most one of them. Without a fault, all of these tests must pass.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.faults.faults import CORE_FAULTS, FAULTS, Fault, find_stale, put_in
from tests.helpers.benchmark_files import ROOT

PACKAGES = ("conf", "domains", "epigym", "learn", "search")
COPIED = (*PACKAGES, "docs", "tests", "CMakeLists.txt", "README.md", "pyproject.toml")
WRONG_ANSWERS = "tests/faults/wrong_answers.py"
AT_A_TIME = 2
MOST_SECONDS = 300
_HEADER = """
#include <cstdint>
#include <cstdlib>
inline std::uint64_t fault_calls = 0;
inline bool has_fault(int number) {
    static const int chosen = std::getenv("EPI_FAULT") ? std::atoi(std::getenv("EPI_FAULT")) : 0;
    return chosen == number;
}
"""
_SITE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
"""
"""A file of each copy: an editable install looks for its packages before all folders of the path, here it does not."""
_PLACES = f"""
from importlib.util import find_spec
print(*(find_spec(name).origin for name in {(*PACKAGES, "epigym._core")}), sep="\\n")
"""


def main(words: Sequence[str]) -> int:
    """Try the chosen faults; returns the exit code."""
    if stale := find_stale():
        print("a test file does not exist, or a place not exactly once:", *stale, sep="\n")
        return 1
    chosen = {name: fault for name, fault in FAULTS.items() if not words or any(word in name for word in words)}
    start, wrong = monotonic(), 0
    with TemporaryDirectory(prefix="faults-") as folder:
        original = Path(folder, "original")
        _copy_sources(original)
        _build_core(original)
        _require_imports(original)
        print(f"{monotonic() - start:6.1f} s  built the core with its {len(CORE_FAULTS)} faults", flush=True)
        for is_right, line in _run_all(original, chosen):
            wrong += not is_right
            print(line, flush=True)
    seconds, times = monotonic() - start, os.times()
    spent = f"{seconds:.0f} s, {times.children_user + times.children_system:.0f} s of processor time"
    print(f"{len(chosen)} faults: {f'{wrong} lines above are wrong' if wrong else 'all found'}; {spent}")
    return int(wrong > 0)


def _copy_sources(original: Path) -> None:
    original.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, original / name)
        else:
            shutil.copy2(ROOT / name, original)
    (original / "sitecustomize.py").write_text(_SITE, encoding="utf-8")


def _build_core(original: Path) -> None:
    """Build the core with all its faults, in a folder of its own, and add it to the sources."""
    folder = original.parent / "core"
    shutil.copytree(original / "epigym" / "core", folder / "epigym" / "core")
    shutil.copy(original / "CMakeLists.txt", folder)
    (folder / "faults.hpp").write_text(_HEADER, encoding="utf-8")
    for number, name in enumerate(CORE_FAULTS, start=1):
        put_in(folder, FAULTS[name], FAULT=f"has_fault({number})")
    flags = f"-DCMAKE_CXX_FLAGS=-include {folder}/faults.hpp"
    options = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}", flags)
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # of CMake and Ninja
    for step in (["-S", ".", "-B", "build", *options], ["--build", "build"]):
        subprocess.run(
            ["cmake", *step], cwd=folder, env={**os.environ, "PATH": scripts}, check=True, stdout=subprocess.DEVNULL
        )
    [extension] = (folder / "build").glob("_core*.so")
    shutil.copy(extension, original / "epigym")


def _require_imports(copy: Path) -> None:
    """Raise a RuntimeError if a process that tests start would import another package than that of the copy."""
    command = [sys.executable, "-c", _PLACES]
    environment = _make_environment(copy, copy)
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=True)
    for place in done.stdout.split():
        if not Path(place).is_relative_to(copy):
            raise RuntimeError(f"{place} is imported in place of the copy in {copy}")


def _run_all(original: Path, chosen: Mapping[str, Fault]) -> Iterator[tuple[bool, str]]:
    """Run the tests without a fault and with each, some at a time; whether each ends as it should, and a line."""
    files = sorted({file for fault in chosen.values() for file in fault.tests} | {WRONG_ANSWERS})
    parts = [files[number::AT_A_TIME] for number in range(AT_A_TIME)]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        running = [pool.submit(_expect_success, original, part) for part in parts]
        running += [pool.submit(_expect_failure, original, name) for name in chosen]
        for each in as_completed(running):
            yield each.result()


def _expect_success(original: Path, files: Sequence[str]) -> tuple[bool, str]:
    seconds, code, output = _run_tests(original, files, None)
    end = f"{len(files)} test files pass" if code == 0 else f"{len(files)} test files do NOT PASS\n{output}"
    return code == 0, f"{seconds:6.1f} s  without a fault {end}"


def _expect_failure(original: Path, name: str) -> tuple[bool, str]:
    seconds, code, output = _run_tests(original, FAULTS[name].tests, name)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    if code == 1 and failed:
        return True, f"{seconds:6.1f} s  {name}: found by {failed[1]}"
    return False, f"{seconds:6.1f} s  {name}: NOT FOUND, {FAULTS[name].effect}{(code and chr(10) + output) or ''}"


def _run_tests(original: Path, files: Sequence[str], name: str | None) -> tuple[float, int, str]:
    """Run the fast tests of files in a new copy, with a fault or none; returns seconds, exit code and output."""
    start = monotonic()
    with TemporaryDirectory(dir=original.parent) as folder:
        copy = Path(folder, "copy")
        shutil.copytree(original, copy)
        environment = _make_environment(copy, Path(folder))
        if name in CORE_FAULTS:
            environment["EPI_FAULT"] = str(CORE_FAULTS.index(name) + 1)
        elif name:
            put_in(copy, FAULTS[name])
        options = ["-m", "not slow", "-xq", "-p", "no:cacheprovider", "--hypothesis-profile=first"]
        command = [sys.executable, "-m", "pytest", *options, *files]
        run = partial(subprocess.run, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            done = run(command, timeout=MOST_SECONDS, text=True, check=False)
        except subprocess.TimeoutExpired:
            return monotonic() - start, -1, f"the tests still ran after {MOST_SECONDS} s"
        return monotonic() - start, done.returncode, done.stdout


def _make_environment(copy: Path, temporary: Path) -> dict[str, str]:
    """The variables of processes that import a copy, and find no public benchmark files."""
    own = {"PYTHONPATH": copy, "TMPDIR": temporary, "EPIGYM_SHARED": "nowhere", "OMP_NUM_THREADS": 1}
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
