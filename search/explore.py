"""Serve a page for exploring a problem: apply actions, see beliefs before and after them, search for plans.

It is made for a browser on the same machine; Ctrl-C ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings
from epigym.config.values import AtLeast, AtMost, Natural, Positive


@dataclass(frozen=True, kw_only=True)
class Explore(TaskSettings):
    """The settings, see `conf/explore.yaml`."""

    agent: dict[str, Any]
    heuristic: dict[str, Any]
    host: str
    port: Annotated[int, AtLeast(0), AtMost(65535)]
    max_expanded: Natural | None
    time_limit: Positive | None
    memory_limit: str | None = field(metadata={"check": "search.agents.limits:memory_bytes"})


def explore(settings: Explore) -> None:
    """Serve the page and print its address.

    Raises:
        EpigymError: when the problem, the agent or the heuristic is wrong, or the address cannot be served.
    """
    from epigym.space.space import StateSpace
    from search.agents.limits import Limits
    from search.exploring.app import make_app
    from search.exploring.exploration import Exploration
    from search.exploring.server import find_address, serve
    from search.heuristics import choose_heuristic
    from search.planning.configuration import Configuration

    configuration = Configuration.of(settings.agent, settings.heuristic)
    limits = Limits(settings.max_expanded, settings.time_limit, settings.memory_limit)
    space = StateSpace(settings.load(), consistent_beliefs=settings.consistent_beliefs)
    exploration = Exploration(space, choose_heuristic(settings.heuristic)(space))
    app = make_app(exploration, configuration, limits, settings.host)
    with serve(app, settings.host, settings.port) as server:
        print(f"{space.task.name} is served at {find_address(server)} (Ctrl-C ends it)", flush=True)
        server.serve_forever()


main = partial(run, explore, Explore, "search.explore")


if __name__ == "__main__":
    main()
