"""The web application for exploring a problem.

It has no state of its own: an address such as `/?after=open_a,peek_a` names the actions that lead to an e-state, in the
grammar of command lines. Requests change nothing. Requests from other pages are refused, and the length of paths is
bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from html import escape
from importlib.resources import files
from threading import Lock
from typing import Any

from flask import Flask, Response, abort, jsonify, request
from werkzeug.exceptions import HTTPException

from domains.words import read_names
from epigym.drawing.page import encode_model, render_steps
from epigym.errors import EpigymError
from search.agents.limits import Limits
from search.exploring.background_search import describe, search_in_background
from search.exploring.exploration import Exploration
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions

POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page: no sources from other servers."""
MAX_STEPS = 500
"""The most actions of a path in a request; they take less than a second to execute."""

_ERROR = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>error</title></head>
<body style="font: 1rem system-ui, sans-serif; margin: 1rem; overflow-wrap: anywhere">
<p id="error">{line}</p><p><a href="/">Back to the start</a></p></body></html>
"""


def make_app(exploration: Exploration, configuration: Configuration, limits: Limits, host: str = "127.0.0.1") -> Flask:
    """Make the application.

    Args:
        exploration: the e-states of the problem.
        configuration: agent and heuristic of searches for plans.
        limits: the limits of such a search.
        host: the name of the server, see `_refuse_other_pages`.
    """
    app, turn = Flask(__name__, static_folder=None), Lock()
    app.before_request(partial(_refuse_other_pages, host))
    app.after_request(_add_headers)
    app.register_error_handler(EpigymError, lambda error: _report_error(str(error), 400))
    app.register_error_handler(HTTPException, _report_refusal)

    @app.get("/")
    def page() -> str:
        task, following = exploration.space.task, exploration.make_steps(_parse("after"))

        def take() -> dict[str, Any] | None:
            """The next step; other requests take turns between the steps, as drawing a step may take long."""
            with turn:
                return next(following, None)

        steps = [step for step in iter(take, None) if step]
        settings = {
            "actions": len(task.actions),
            "heuristic": exploration.heuristic.name,
            "searcher": configuration.label,
            "timeLimit": limits.time_limit,
        }
        text = json.dumps(settings).replace("<", "\\u003c")
        more = f'<script id="settings" type="application/json">{text}</script>\n<script>\n{_read("js")}</script>\n'
        return render_steps(task, steps, style=_read("css"), panel=_read("html"), more=more)

    @app.get("/actions")
    def actions() -> Response:
        with turn:
            return jsonify([asdict(choice) for choice in exploration.list_choices(_parse("after"))])

    @app.get("/beliefs")
    def beliefs() -> Response:
        with turn:
            changes = exploration.find_changes(_parse("after"), request.args.get("action", ""))
            return jsonify([asdict(change) for change in changes])

    @app.get("/perspective")
    def perspective() -> Response:
        with turn:
            return jsonify(encode_model(exploration.take_perspective(_parse("after"), _parse("as"))))

    @app.post("/solve")
    def solve() -> Response:
        if not request.is_json:  # other pages cannot send JSON
            abort(415, "expected a search request in JSON, such as {}")
        with turn:
            task = exploration.make_task(_parse("after"))
        options = SearchOptions(limits, consistent_beliefs=exploration.space.consistent_beliefs)

        def answer() -> Iterator[str]:
            """Blanks during the search, so that the end of the connection ends it; then the result."""
            with closing(search_in_background(task, configuration, options)) as results:
                for result in results:
                    yield " " if result is None else json.dumps({"plan": result.plan, "told": describe(result, limits)})

        return Response(answer(), mimetype="application/json")

    return app


def _parse(parameter: str) -> list[str]:
    """Read the names in a parameter of the address."""
    found = read_names(request.args.get(parameter, ""))
    if len(found) > MAX_STEPS:
        abort(400, f"{parameter}: {len(found)} names: at most {MAX_STEPS} are followed")
    return found


def _refuse_other_pages(host: str) -> None:
    """Refuse requests that other pages make, and those to another name of this server.

    Names other than `host`, `localhost` and addresses may be DNS names that another page has bound to this machine (DNS
    rebinding).
    """
    if not re.fullmatch(rf"({re.escape(host)}|localhost|[\d.]+|\[[\da-fA-F:]+\])(:\d+)?", request.host, re.IGNORECASE):
        abort(400, f"served as {host}, not as {request.host}: open the address that the command printed")
    origin = request.headers.get("Origin", f"http://{request.host}")
    site = request.headers.get("Sec-Fetch-Site", "none")
    if origin.partition("://")[2].lower() != request.host.lower() or site not in ("none", "same-origin"):
        abort(403, "another page asks: open the address that the command printed")


def _add_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


def _report_refusal(error: HTTPException) -> tuple[str | Response, int]:
    line = error.description if error.code != 500 else "an error of the program, which the terminal shows"
    return _report_error(line or error.name, error.code or 500)


def _report_error(line: str, code: int) -> tuple[str | Response, int]:
    """Make the response with an error in the format that the client accepts, HTML or JSON."""
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        return jsonify({"error": line}), code
    return _ERROR.format(line=escape(line)), code


def _read(kind: str) -> str:
    """Read the additions to the page of a plan: `explore.html`, `explore.css` or `explore.js`."""
    return files("search.exploring").joinpath(f"explore.{kind}").read_text(encoding="utf-8")
