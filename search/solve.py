"""Search for a plan or a policy, re-execute it independently, and show the costs of the search.

With run_dir it writes result.json there, and compare.json: a list of the results of `compare`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from epigym.cli.codes import ExitCode
from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings
from epigym.config.values import Natural, Positive
from epigym.errors import UsageError
from search.planning.options import SearchOptions, Verify

if TYPE_CHECKING:
    from search.agents.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class Solve(TaskSettings):
    """The settings, see `conf/solve.yaml`."""

    agent: dict[str, Any]
    heuristic: dict[str, Any] | None
    compare: list[str]
    policy: Literal["none", "strong", "shortest", "cyclic"]
    policy_file: str | None = field(metadata={"written": "file", "check": "search.policies.policy:check_policy_file"})
    shorten: bool
    anytime: bool
    verify: Verify
    plan_file: str | None = field(metadata={"written": "file", "check": "search.planning.plan_files:check_plan_file"})
    run_dir: Path | None = field(metadata={"written": "folder"})
    max_expanded: Natural | None
    time_limit: Positive | None
    memory_limit: str | None = field(metadata={"check": "search.agents.limits:memory_bytes"})

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """Settings of linear plans with a policy, and the other way round."""
        if values["policy"] == "none":
            return {"policy_file": "there is no policy to write: add policy=strong, or write a plan with plan_file"}
        reason = "linear plans only: leave it out, or leave out policy"
        return {
            "plan_file": f"{reason}; policy_file writes the policy",
            "verify": reason,
            "shorten": reason,
            "anytime": f"{reason}; policy=shortest goes on to the least depth",
            "compare": reason,
        }


def solve(settings: Solve) -> ExitCode:
    """Search; print and write a plan, as a JSON array of names into `plan_file`, or a policy.

    Raises:
        EpigymError: when the problem, the agent or the heuristic is wrong.
    """
    from rich.console import Console

    from epigym.io.files import write_json
    from search.agents.limits import Limits
    from search.planning.configuration import Configuration
    from search.planning.planner import find_plan
    from search.reports.display import show_policy, show_results
    from search.reports.progress_line import ProgressLine

    configurations = [
        Configuration.of(settings.agent, settings.heuristic),
        *(Configuration.parse(text) for text in settings.compare),
    ]
    for number, text in enumerate(settings.compare, start=1):
        if configurations[number] in configurations[:number]:
            raise UsageError(f"compare={text}: it is named already: leave one out")
    heuristics = [settings.heuristic, *(text.partition("/")[2] for text in settings.compare)]
    for configuration, given in zip(configurations, heuristics, strict=True):
        if given and configuration.heuristic is None:
            warnings.warn(f"agent {configuration.label!r} takes no heuristic: leave it out", stacklevel=1)
    limits = Limits(settings.max_expanded, settings.time_limit, settings.memory_limit)
    start = perf_counter()
    task = settings.load()
    load_seconds = perf_counter() - start
    options = SearchOptions(limits, settings.anytime, settings.consistent_beliefs, settings.verify, settings.shorten)
    search: Callable[..., SearchResult] = find_plan
    show: Callable[..., None] = show_results
    if settings.policy != "none":
        from search.policies.planner import find_policy

        search, show = partial(find_policy, kind=settings.policy), show_policy
    files = [settings.plan_file or settings.policy_file, *(None for _ in settings.compare)]
    console = Console()
    with ProgressLine(console) as progress:
        results = [
            search(task, one, options, file, on_progress=progress.show).with_costs(load_seconds=load_seconds)
            for one, file in zip(configurations, files, strict=True)
        ]

    try:
        if settings.run_dir is not None:
            found = [result.to_dict() for result in results]
            write_json(settings.run_dir / "result.json", found[0])
            if settings.compare:
                write_json(settings.run_dir / "compare.json", found[1:])
    finally:
        show(console, results)
    code = ExitCode.of(results[0].status)
    is_missing = code is ExitCode.SUCCESS and files[0] is not None and not Path(files[0]).exists()
    return ExitCode.CANNOT_WRITE if is_missing else code


main = partial(run, solve, Solve, "search.solve")


if __name__ == "__main__":
    main()
