"""Test a model on problems it was not trained on.

Writes assessment.csv, assessment.md and two pictures for every problem into the folder of the run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial

from epigym.cli.runner import run
from epigym.cli.settings import ProblemSettings
from learn.data.sources import PublishedData, SourceOptions

_NOTE = (
    "explored in part: there are more e-states; the distances are those among the explored ones, which may be longer. "
    "no goal: none is among the explored e-states; give more with explorer.max_visited= and explorer.max_worlds="
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Assess(SourceOptions, ProblemSettings):
    """The settings, see `conf/assess.yaml`."""

    model: str | None


def assess(settings: Assess) -> None:
    """Compare predicted distances with those among the explored e-states.

    Raises:
        EpigymError: when a problem, a setting or a model is wrong.
    """
    source = settings.source

    from rich.console import Console

    from epigym.io.tables import Table
    from learn.models import open_model
    from learn.training.report.assessment import list_left_out, make_assessment

    if settings.model is not None:
        for domain in source.task_domains if settings.data.folder is None else ():
            open_model(settings.model.replace("{domain}", domain))
    data, model = source.open(settings.outputs), settings.model
    if model is not None and "{domain}" not in model and data.key == open_model(model).card.get("data", {}).get("key"):
        logger.warning("the model learned from these problems: on others its errors may be larger")
    rows = make_assessment(data, model, settings.run_dir)
    if isinstance(settings.data, PublishedData) and settings.data.folder is None:
        assessed = {row.name for row in data.rows}
        rows += list_left_out(rows[0], [task.name for task in source.tasks if task.name not in assessed])
    table = replace(Table.of("errors in steps", rows), note=_NOTE)
    Console().print(table.write(settings.run_dir / "assessment", "csv", "markdown"))
    logger.info("%s and assessment.md", settings.run_dir / "assessment.csv")


main = partial(run, assess, Assess, "learn.assess")


if __name__ == "__main__":
    main()
