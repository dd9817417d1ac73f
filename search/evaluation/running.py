"""Computing the missing records of an evaluation."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import closing

from rich.console import Console

from epigym.errors import MissingError
from epigym.io.files import is_file
from search.agents.result import SearchResult, SearchStatus
from search.evaluation.batch import RecordBatch
from search.evaluation.grid import write_table
from search.evaluation.jobs import Cluster, compute_records
from search.evaluation.progress_table import ProgressTable
from search.evaluation.record import Record
from search.heuristics.learned import list_models

logger = logging.getLogger("search.evaluate")


def compute_results(batch: RecordBatch, *, cluster: Cluster | None, retry: bool) -> list[SearchResult]:
    """Search and write every outcome to its file; a failed search is an outcome, too.

    An interrupted run continues when it is started again. At the end, and after Ctrl-C, `results.csv` is written from
    the outcomes.

    Args:
        batch: the whole grid, with the limits of its processes.
        cluster: where jobs compute the records; None for this process.
        retry: whether to repeat searches that ended with an error.

    Returns:
        The outcomes in the order of the records, cached ones included; fewer than there are records when jobs
        were lost.

    Raises:
        MissingError: when the model of a search is missing.
        EpigymError: when jobs cannot be submitted.
        KeyboardInterrupt: after Ctrl-C; the message says where the outcomes are and how to continue.
    """
    records, folder = batch.records, batch.folder
    known = {number: result for number, record in enumerate(records) if (result := record.read(folder)) is not None}
    again = [number for number, result in known.items() if retry and result.status is SearchStatus.ERROR]
    _require_models(record for number, record in enumerate(records) if number not in known or number in again)
    for number in again:
        records[number].invalidate(folder)
        del known[number]
    logger.info("%d records, %d of them finished before: %s", len(records), len(known), folder)
    table = ProgressTable(Console(), records, known)
    missing = [number for number in range(len(records)) if number not in known]
    running = batch.run(table.watch(missing)) if cluster is None else compute_records(batch, missing, cluster)
    try:
        with table, closing(running) as results:
            for number, result in results:
                known[number] = result
                table.finish(number, result)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"what is finished is kept in {folder}: start the command again to go on, "
            f"or see it with `python -m search.report {folder}`"
        ) from None
    finally:
        write_table(folder, records)
    return [known[number] for number in sorted(known)]


def _require_models(records: Iterable[Record]) -> None:
    for record in records:
        for choice in record.configuration.choices:
            for path in list_models(choice, record.problem.instance_domain):
                if not is_file(path):
                    raise MissingError(f"there is no model {path}: train one with `python -m learn.train domain=…`")
