"""Evaluations on clusters: which tasks there are, what is submitted, and that nothing is lost or computed wrongly."""

import logging
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from submitit.core.test_core import MockedSubprocess
from submitit.core.utils import DelayedSubmission, FailedJobError, UncompletedJobError
from submitit.slurm.slurm import SlurmInfoWatcher, SlurmJob

from epigym.cli.codes import ExitCode
from epigym.config.cluster import name_log
from epigym.errors import EpigymError, MissingError, UsageError
from search import evaluate
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.evaluate import Evaluate
from search.evaluation import jobs
from search.evaluation.batch import RecordBatch
from search.evaluation.grid import divide, order_by_time
from search.evaluation.jobs import Cluster, compute_records
from search.processes.supervisor import Job, JobResult
from tests.helpers.commands import compose
from tests.helpers.records import batch_of, record_of
from tests.helpers.tasks import COIN
from tests.tools.killed_workers import kill_at_random, list_processes

LIMITS = Limits(None, 60.0, 1 << 30)


def slurm(*overrides: str) -> Cluster:
    cluster = compose(Evaluate, "evaluate", "cluster=slurm", *overrides).cluster
    assert cluster is not None
    return cluster


def local(workers: int) -> Cluster:
    return Cluster(executor="local", workers=workers)


@pytest.fixture
def batch(coin: str, tmp_path: Path) -> RecordBatch:
    """Five records of one problem."""
    records = [record_of(coin, {"name": "bfs", "label": f"bfs_{number}"}, limits=LIMITS) for number in range(5)]
    return batch_of(records, tmp_path / "run")


@given(st.integers(1, 300), st.integers(1, 30), st.integers(1, 10), st.integers(1, 50))
def test_jobs_divide_the_records(count: int, workers: int, size: int, most: int) -> None:
    ordered = list(range(count))
    batches = divide(ordered, workers, size, most)
    assert sorted(number for batch in batches for number in batch) == ordered
    assert len(batches) == -(-count // max(size, -(-count // most))) <= most
    assert max(map(len, batches)) <= max(size, -(-count // most))
    assert all(batch == sorted(batch) for batch in batches)
    together = batches[:workers]
    assert [batch[0] for batch in together] == ordered[: len(together)]
    shares = divide(ordered, workers, None, most)
    assert sorted(number for batch in shares for number in batch) == ordered
    assert [batch[0] for batch in shares] == ordered[:workers]
    assert {len(batch) for batch in shares} <= {count // len(shares), -(-count // len(shares))}


def test_longest_records_come_first(batch: RecordBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    def supervise(jobs: Iterable[Job], **_: object) -> Iterator[JobResult]:
        for job, seconds in zip(jobs, (2.0, 30.0, 700.0), strict=True):
            yield JobResult(job, None, SearchStatus.TIME_LIMIT, seconds=seconds)

    monkeypatch.setattr("search.evaluation.batch.supervise", supervise)
    before = [replace(record, key="0" * 64) for record in batch.records[:3]]  # of another program
    assert len(list(replace(batch, records=before).run(range(3)))) == 3
    large = record_of("grapevine/3_pl_7", limits=LIMITS)
    assert len(large.problem.contents()[0]) > len(COIN)
    ordered = order_by_time([*batch.records, large], batch.folder)
    assert ordered[0] == large
    assert [record.configuration.label for record in ordered[1:]] == ["bfs_2", "bfs_3", "bfs_4", "bfs_1", "bfs_0"]


@pytest.fixture
def slurm_commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockedSubprocess]:
    """A SLURM that knows jobs by number, the first of them 12, and runs nothing."""
    monkeypatch.setattr(SlurmJob, "watcher", SlurmInfoWatcher())
    commands = MockedSubprocess(known_cmds=["sbatch", "srun", "sacct"])
    with commands.context():
        yield commands


def run_tasks(folder: Path, *names: str) -> Callable[[float], None]:
    """In place of waiting: what machines of the cluster do."""

    def run(_: float) -> None:
        for name in names:
            DelayedSubmission.load(folder / "cluster" / f"{name}_submitted.pkl").result()

    return run


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


def test_submissions(batch: RecordBatch, slurm_commands: MockedSubprocess, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = record_of(batch.records[0].problem, {"name": "bfs", "threads": 2}, limits=LIMITS)
    several = replace(batch, parallel=2, records=[*batch.records[:4], threads])
    given, sbatch = [], slurm_commands.sbatch
    monkeypatch.setattr(
        slurm_commands, "sbatch", lambda line: given.append(os.environ.get("SLURM_MEM_PER_NODE")) or sbatch(line)
    )
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "100")  # as in a task of SLURM, whose own limits are not for these
    monkeypatch.setattr(jobs, "sleep", run_tasks(batch.folder, "12_0", "12_1", "12_2"))
    cluster = slurm(
        "cluster.records=2", "cluster.workers=2", "cluster.partition=cpu", "cluster.account=planning",
        "+cluster.additional_parameters.qos=long",
    )  # fmt: skip
    outcomes = dict(compute_records(several, range(5), cluster))
    assert given == [None]
    assert {result.status for result in outcomes.values()} == {SearchStatus.SOLVED}
    assert outcomes == {number: record.read(batch.folder) for number, record in enumerate(several.records)}
    script = (batch.folder / "cluster" / "12_submission.sh").read_text()
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=?(.*)$", script, flags=re.MULTILINE))
    expected = {
        "array": "0-2%2",  # three tasks, two at a time
        "cpus-per-task": "4",  # two processes of two threads
        "mem": "3GB",  # two of 1 GiB, and one for those that watch them
        "time": "6",  # minutes: one record after the other, and five
        "signal": "USR2@90",
        "requeue": "",
        "partition": "cpu",
        "account": "planning",
        "qos": "long",
        "job-name": "epigym",
        "open-mode": "append",
    }
    assert {name: options[name] for name in expected} == expected
    [command] = [line for line in script.splitlines() if line.startswith("srun ")]
    assert "--cpus-per-task=4 " in command


def test_later_runs_wait_and_submit_the_rest(
    batch: RecordBatch,
    slurm_commands: MockedSubprocess,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = slurm("cluster.records=2")
    monkeypatch.setattr(jobs, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dict(compute_records(batch, range(5), cluster))
    assert "the array goes on: `scancel 12` ends it" in caplog.text
    run_tasks(batch.folder, "12_0")(0)
    slurm_commands.job_sacct["12"] = "JobID|State\n12_0|COMPLETED\n12_1|FAILED\n12_2|RUNNING"
    SlurmJob.watcher.clear()
    monkeypatch.setattr(jobs, "sleep", run_tasks(batch.folder, "12_2", "13"))
    missing = [number for number, record in enumerate(batch.records) if record.read(batch.folder) is None]
    assert len(missing) == 3
    assert sorted(number for number, _ in compute_records(batch, missing, cluster)) == missing
    again = DelayedSubmission.load(batch.folder / "cluster" / "13_submitted.pkl").function
    first = DelayedSubmission.load(batch.folder / "cluster" / "12_1_submitted.pkl").function
    assert again == first  # and nothing else
    assert slurm_commands.job_count == 14


def test_lost_tasks_are_named(
    coin: str,
    tmp_path: Path,
    slurm_commands: MockedSubprocess,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(jobs, "sleep", lambda _: slurm_commands.set_job_state("12", "CANCELLED", array=2))
    chosen = ("agents=[bfs,dfs,hfs]", "cluster=slurm", "cluster.records=2", f"folder={tmp_path}")
    assert evaluate.evaluate(compose(Evaluate, "evaluate", f"problems={coin}", *chosen)) is ExitCode.FAILURE
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
        f"job 12_0 ended without 2 outcomes, see {tmp_path}/cluster/12_0_0_log.err",
        f"job 12_1 ended without 1 outcomes, see {tmp_path}/cluster/12_1_0_log.err",
        "3 searches have no outcome: start the command again to continue",
    ]


def test_damaged_lists_of_tasks_submit_missing_tasks(batch: RecordBatch, caplog: pytest.LogCaptureFixture) -> None:
    listed = batch.folder / "cluster" / "tasks.json"
    listed.parent.mkdir(parents=True)
    listed.write_text('{"17": ["records/x.json"]}')
    assert sorted(dict(compute_records(batch, range(5), local(2)))) == list(range(5))
    [message] = caplog.messages
    assert message.endswith("the records of its jobs are submitted again, what was there is kept as tasks.json.damaged")
    assert listed.with_name("tasks.json.damaged").exists()


def test_unknown_tasks(batch: RecordBatch, slurm_commands: MockedSubprocess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(compute_records(batch, range(5), slurm()))
    slurm_commands.job_sacct.clear()
    monkeypatch.setattr(SlurmJob, "watcher", SlurmInfoWatcher())
    with pytest.raises(EpigymError, match="SLURM does not know job 12: look with sacct, or delete the folder"):
        list(compute_records(batch, range(5), slurm()))


def test_submit_refuses(batch: RecordBatch, slurm_commands: MockedSubprocess, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^cluster.timeout_min=5 is too short for a search, .*: give at least 6$"):
        list(compute_records(batch, range(5), slurm("cluster.timeout_min=5")))

    def refuse(_: Sequence[str]) -> str:
        raise FailedJobError("sbatch: error: invalid partition specified: gone\nsbatch: error: it failed\n")

    monkeypatch.setattr(slurm_commands, "sbatch", refuse)
    with pytest.raises(UsageError, match=r"^the array is refused: sbatch: error: invalid partition specified: gone$"):
        list(compute_records(batch, range(5), slurm("cluster.partition=gone")))
    slurm_commands.known_cmds.remove("srun")
    with pytest.raises(MissingError, match="there is no srun: start it on a machine that can submit"):
        list(compute_records(batch, range(5), slurm()))


def test_jobs_without_a_result_are_named_with_their_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = local(1).make_executor(tmp_path, minutes=1, processors=1, memory=0, restarts=0).submit(os._exit, 1)
    monkeypatch.setattr(job, "_results_timeout_s", 0)
    with pytest.raises(UncompletedJobError) as raised:
        job.result()
    error = name_log(raised.value)
    assert str(error) == f"job {job.job_id} ended without a result, see {job.paths.stderr}"
    assert job.paths.stderr.exists()
    assert ExitCode.after(error) is ExitCode.FAILURE
    other = UsageError("Job")
    assert name_log(other) is other


WAITS = """
import signal
from pathlib import Path
from search.agents.breadth_first import BreadthFirst

class Waits(BreadthFirst):
    def search(self, run):
        if not Path("started").exists():
            Path("started").touch()
            signal.pause()
        return super().search(run)
"""


@pytest.fixture
def waiting(coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecordBatch:
    """A record that ends at once, and one that does not end when it is started for the first time."""
    (tmp_path / "foreign_waiting.py").write_text(WAITS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    records = [record_of(coin, agent, limits=LIMITS) for agent in ("bfs", {"_target_": "foreign_waiting.Waits"})]
    return batch_of(records, tmp_path / "run", parallel=2)


def wait_until_started(batch: RecordBatch) -> None:
    while not Path("started").exists():
        assert list_processes(batch.folder, "submitit.core._submit")


def test_a_preempted_task_starts_anew_and_its_records_have_no_outcome_before(waiting: RecordBatch) -> None:
    """A scheduler signals every process of a task: only the task itself heeds that, else its records were errors."""
    outcomes = compute_records(waiting, range(2), local(1))
    number, first = next(outcomes)
    wait_until_started(waiting)
    [task] = list_processes(waiting.folder, "submitit.core._submit")
    everybody = [task, *task.children(recursive=True)]
    assert len(everybody) >= 3  # the server of the processes, and a record
    for sent in (signal.SIGTERM, signal.SIGUSR2):
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(sent)
    [(other, second)] = outcomes
    assert [number, other] == [0, 1]
    assert [result.status for result in (first, second)] == [SearchStatus.SOLVED] * 2
    logs = "".join(log.read_text() for log in waiting.folder.glob("cluster/*_log.out"))
    assert "Requeued job" in logs
    assert logs.count(" solved\n") == 2  # what had ended was not computed again


def test_whoever_leaves_ends_the_processes_of_this_machine(waiting: RecordBatch) -> None:
    with closing(compute_records(waiting, range(2), local(1))) as outcomes:
        next(outcomes)
        wait_until_started(waiting)
        mine = list_processes(waiting.folder)
        everybody = {process for one in mine for process in (one, *one.children(recursive=True))}
        assert len(everybody) >= 4  # a controller, its task, the server of the processes, and a record
    _, alive = psutil.wait_procs(everybody, timeout=30)
    assert alive == []


@pytest.mark.slow
def test_a_table_does_not_depend_on_what_was_killed(tmp_path: Path) -> None:
    kills, starts, differences = kill_at_random(tmp_path, records=40, most=6)
    assert kills >= 2
    assert starts >= 2
    assert differences == []
