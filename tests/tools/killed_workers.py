"""Kills the workers of an evaluation on a cluster, and the process that submits them, and compares with no kills.

    OMP_NUM_THREADS=1 python -m tests.tools.killed_workers 200 20

evaluates 200 records with at most 20 kills at random moments, and starts the evaluation again until it is complete.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from epigym.cli.codes import ExitCode
from tests.helpers.records import read_outcomes
from tests.helpers.tasks import COIN

PROBLEMS = ("coin_in_the_box/pl_2", "coin_in_the_box/pl_3", "grapevine/3_pl_2", "coin.txt")


def list_processes(folder: Path, module: str = "submitit.") -> list[psutil.Process]:
    """List those that submitit started for an evaluation: the controllers of jobs, and the jobs."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if str(folder / "cluster") in words and any(word.startswith(module) for word in words):
                found.append(process)
    return found


def start(folder: Path, name: str, labels: int, cluster: str) -> subprocess.Popen[bytes]:
    agents = ",".join(f"{{name: bfs, label: bfs_{number}}}" for number in range(labels))
    command = [sys.executable, "-m", "search.evaluate", f"problems=[{','.join(PROBLEMS)}]", f"agents=[{agents}]"]
    limits = ["memory_limit=2GiB", f"folder={folder / name}", *cluster.split()]
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen([*command, *limits], cwd=folder, stdout=log, stderr=subprocess.STDOUT)


def kill_at_random(folder: Path, records: int, most: int) -> tuple[int, int, list[str]]:
    """Evaluate undisturbed and with at most `most` kills; count kills and starts, and list rows that differ."""
    (folder / "coin.txt").write_text(COIN)
    labels = records // len(PROBLEMS)
    if start(folder, "whole", labels, "cluster=none parallel=2").wait() != 0:
        raise RuntimeError((folder / "whole.log").read_text())
    dice, killed = random.Random(0), folder / "killed"
    kills, starts, moment = 0, 0, dice.randint(1, records // most)  # records that are there at the next kill
    code: int | None = None
    while code != 0:
        submitter = start(folder, "killed", labels, "cluster=local cluster.workers=4")
        starts += 1
        while submitter.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                submitter.wait(0.05)
            if len(list(killed.glob("records/**/*.json"))) >= moment and kills < most:
                workers = list_processes(killed)
                with suppress(psutil.NoSuchProcess):
                    (dice.choice(workers) if workers and kills % 2 else submitter).kill()
                kills += 1
                moment += dice.randint(1, records // most)
        code = submitter.returncode
        if code not in (0, -signal.SIGKILL, ExitCode.FAILURE):
            raise RuntimeError((folder / "killed.log").read_text())
    for process in list_processes(killed):  # tasks whose controller was killed
        with suppress(psutil.NoSuchProcess):
            process.kill()
    one, other = read_outcomes(folder / "whole"), read_outcomes(killed)
    if len(one) != records:
        raise RuntimeError(f"{len(one)} rows for {records} records")
    return kills, starts, [str(row) for row in [*one, *other] if row not in one or row not in other]


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill workers and the submitter of an evaluation at random moments.")
    parser.add_argument("records", type=int)
    parser.add_argument("most", type=int, help="kills")
    given = parser.parse_args()
    if not 0 < given.most <= given.records or given.records % len(PROBLEMS):
        parser.error(f"expected a multiple of {len(PROBLEMS)} records, and from 1 to so many kills")
    with tempfile.TemporaryDirectory() as folder:
        kills, starts, differences = kill_at_random(Path(folder), given.records, given.most)
    print(f"{given.records} records, {kills} kills, {starts} starts, {len(differences)} rows differ")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
