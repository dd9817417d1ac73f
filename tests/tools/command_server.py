"""Runs commands in processes forked from one that has imported what takes long (`tests.tools.command_server`).

Requests come as lines of JSON on standard input (module, arguments, environment, folder, log, and the stride with which
records of an evaluation are taken); the answer to each is a line with the exit code.
"""

import importlib
import json
import os
import runpy
import sys
from typing import Any

from search import evaluate

SLOW = ("learn.training.fitting", "learn.training.report.assessment", "search.reports.writing")
OWN_PROCESSES = {"hydra/launcher=local", "trainer.strategy=ddp"}
"""With these a command starts processes that wait for the end of a whole interpreter, or start it anew."""


def execute(request: dict[str, Any]) -> int:
    """Run a command in this process, in a folder of the user's, with its output in a file; its exit code."""
    os.chdir(request["folder"])
    os.environ.update(request["environment"])
    output = os.open(request["log"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if not OWN_PROCESSES.isdisjoint(request["arguments"]):
        os.execv(sys.executable, [sys.executable, "-m", request["module"], *request["arguments"]])
    whole_grid = evaluate.records
    evaluate.records = lambda settings: whole_grid(settings)[:: request["stride"]]
    sys.argv[1:] = request["arguments"]
    sys.path.insert(0, request["folder"])
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def serve() -> None:
    for name in SLOW:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = execute(json.loads(line))
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
