"""Search for a plan: `python -m search.solve problem=coin_in_the_box/pl_7 agent=bfs`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig
from rich.console import Console

from search.agents.limits import Limits
from search.agents.result import write_json
from search.command import ExitCode, plain, run
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from search.problem import configured_task
from search.reports.display import show_results


def solve(config: DictConfig) -> ExitCode:
    """Search as `conf/solve.yaml` describes; print and write what was found.

    Writes `result.json` into the run folder, `compare.json` for the configuration compared with, and the
    plan as a JSON array of action names into `plan_file` when that is given and a plan was found and verified.

    Args:
        config: the composed `conf/solve.yaml`.

    Raises:
        EpigymError: when the problem, the agent, the heuristic or a limit is wrong.
    """
    values = plain(config)
    configurations = [Configuration.of(values["agent"], values["heuristic"])]
    if values["compare"]:
        configurations.append(Configuration.parse(values["compare"]))
    limits = Limits(values["max_expanded"], values["time_limit"], values["memory_limit"])
    start = perf_counter()
    task = configured_task(values)
    load_seconds = perf_counter() - start
    results = [
        replace(find_plan(task, configuration, limits, plan_file), load_seconds=load_seconds)
        for configuration, plan_file in zip(configurations, (values["plan_file"], None), strict=False)
    ]

    show_results(Console(), results)
    folder = Path(HydraConfig.get().runtime.output_dir)
    for name, result in zip(("result", "compare"), results, strict=False):
        write_json(folder / f"{name}.json", result.to_dict())
    return ExitCode.of(results[0].status)


def main() -> None:
    """Run as a Hydra app; exit codes: 0 solved, 11 unsolvable, 12 a limit, 64 and up bad input."""
    run(solve, "solve")


if __name__ == "__main__":
    main()
