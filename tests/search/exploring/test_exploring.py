"""The page served: every address and every error, who is refused, searches that end with whoever waits for them."""

import multiprocessing
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import psutil
import pytest
from flask.testing import FlaskClient
from werkzeug.test import create_environ, run_wsgi_app

from epigym import StateSpace, load_problem
from epigym.drawing.page import render_page
from epigym.errors import UsageError
from epigym.language import parse_mastar
from epigym.task.formula import and_, fluent
from epigym.task.task import Action, EState, Event, Task
from search.agents.limits import Limits
from search.explore import Explore, explore
from search.exploring.app import MAX_STEPS, POLICY, make_app
from search.exploring.exploration import Exploration
from search.exploring.server import find_address, serve
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.processes.supervisor import Job, supervise
from tests.helpers.commands import compose
from tests.helpers.html import Page
from tests.helpers.serving import in_thread
from tests.helpers.tasks import COIN, COUNTER, DELUDED

HOPELESS = COIN.replace("executable shout if B(a, tail), tail", "executable shout if tail, -tail")
JSON = {"Accept": "application/json"}
ENDLESS = "grapevine/scaling_15"  # nobody searches that breadth-first to its end


def client(task: Task, limits: Limits | None = None, **options: Any) -> FlaskClient:
    return make_app(exploration(task), Configuration.of("bfs"), limits or Limits(), **options).test_client()


def exploration(task: Task, *, consistent_beliefs: bool = False) -> Exploration:
    space = StateSpace(task, consistent_beliefs=consistent_beliefs)
    return Exploration(space, make_heuristic("h_ff", space))


@pytest.fixture(scope="module")
def coin() -> FlaskClient:
    return client(load_problem("coin_in_the_box/pl_7"))


def error(text: str) -> str:
    """The line of a page that says what is wrong."""
    [line] = [line for line in text.splitlines() if 'id="error"' in line]
    return line


def test_requests_of_the_page(coin: FlaskClient) -> None:
    text = coin.get("/?after=open_a,peek_a").text
    expected = Page(render_page(StateSpace(load_problem("coin_in_the_box/pl_7")), ["open_a", "peek_a"])).content
    assert Page(text).content == expected
    assert Page(coin.get("/").text).content["steps"] == expected["steps"][:1]
    first, second, *_ = coin.get("/actions?after=open_a").json
    assert first == {"name": "open_a", "action": "open_a", "value": 4, "is_goal": False, "is_same": True}
    assert second == {"name": "peek_a", "action": "peek_a", "value": 3, "is_goal": False, "is_same": False}
    assert coin.get("/beliefs?after=open_a&action=peek_a").json == [
        {"agent": "a", "fluent": "tail", "now": "unsure", "afterwards": "true"}
    ]
    one = coin.get("/perspective?after=open_a,peek_a&as=b").json
    assert (one["worlds"], one["view"]["worlds"], one["picture"].count("designated:")) == (2, 2, 2)
    assert coin.get("/perspective?after=open_a,peek_a&as=a,b").json["worlds"] == 2


def test_the_page_is_well_formed_and_asks_nothing_of_others(coin: FlaskClient) -> None:
    answer = coin.get("/?after=open_a")
    elements = Page(answer.text).attributes
    assert [one["href"] for one in elements if "href" in one] == ["data:,"]
    assert not [one for one in elements if {"src", "srcset", "action"} & one.keys()]
    names = [one["id"] for one in elements if "id" in one]
    assert len(set(names)) == len(names)
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "default-src 'none'" in POLICY
    assert answer.headers["Cache-Control"] == "no-store"  # another problem may be served there next


def test_plans_from_here() -> None:
    found = client(parse_mastar(COIN)).post("/solve?after=lift", json={})
    assert found.json["plan"] == ["look", "shout"]
    assert found.json["told"].startswith("a plan of 2 actions, found by bfs in ")
    for consistent_beliefs, plan in ((False, ["flip", "shout"]), (True, None)):
        found = exploration(parse_mastar(DELUDED), consistent_beliefs=consistent_beliefs)
        answer = make_app(found, Configuration.of("bfs"), Limits()).test_client().post("/solve", json={}).json
        assert answer["plan"] == plan
    assert answer["told"] == "unsolvable (with consistent beliefs): no plan leads from here to the goal, says bfs"


@pytest.mark.parametrize(
    ("text", "path", "limits", "told"),
    [
        (COIN, "lift,look,shout", Limits(), "the goal is reached here"),
        (HOPELESS, "", Limits(), "unsolvable: no plan leads from here to the goal, says bfs"),
        (COUNTER, "", Limits(time_limit=0),
         "no plan found within 0 s: start with a longer time_limit or another agent"),
        (COUNTER, "", Limits(max_expanded=1), "no plan found within 1 nodes: start with a larger max_expanded"),
        (COUNTER, "", Limits(memory_limit=1),
         "no plan found within the memory limit: start with a larger memory_limit or another agent"),
    ],
)  # fmt: skip
def test_why_there_is_no_plan_is_one_line(text: str, path: str, limits: Limits, told: str) -> None:
    answer = client(parse_mastar(text), limits=limits).post(f"/solve?after={path}", json={}).json
    assert answer == {"plan": [] if path else None, "told": told}


@pytest.mark.parametrize(
    ("url", "code", "line"),
    [
        ("/?after=open_a,open_x", 400, "step 2: unknown action 'open_x': did you mean 'open_"),
        ("/?after=peek_a", 400, "step 1: action 'peek_a' is not applicable"),
        ("/actions?after=peek_a", 400, "step 1: action 'peek_a' is not applicable"),
        ("/beliefs?after=open_a&action=open_x", 400, "step 2: unknown action 'open_x'"),
        ("/beliefs?after=open_a", 400, "step 2: unknown action ''"),
        ("/perspective?as=d", 400, "unknown agent 'd'"),
        ("/nowhere", 404, "The requested URL was not found"),
        ("/solve", 405, "The method is not allowed"),
    ],
)
def test_what_is_wrong_is_one_line(coin: FlaskClient, url: str, code: int, line: str) -> None:
    answer, told = coin.get(url), coin.get(url, headers=JSON)
    assert (answer.status_code, told.status_code) == (code, code)
    assert line.replace("'", "&#x27;") in error(answer.text)
    assert told.json["error"].startswith(line)
    assert "\n" not in told.json["error"]


def test_an_error_of_the_program_is_one_line(coin: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.exploring.app.render_steps", None)
    answer = coin.get("/")
    assert answer.status_code == 500
    assert "an error of the program, which the terminal shows" in error(answer.text)


@pytest.mark.parametrize(
    ("host", "is_served"),
    [
        *((name, True) for name in ("127.0.0.1:8765", "localhost:1", "[::1]:80", "192.168.0.7", "LAB.example:8765")),
        *((name, False) for name in ("evil.example", "127.0.0.1.evil.example:1", "localhost.evil", "[")),
    ],
)
def test_it_is_served_under_addresses_and_its_own_name_only(host: str, is_served: bool) -> None:
    application = client(parse_mastar(COIN), host="lab.example").application
    for url, code in (("/", 200), ("/actions", 200), ("/nowhere", 404)):
        # clients of tests cannot read every host
        parts, status, _ = run_wsgi_app(application, create_environ(url, headers={"Host": host}))
        assert status.startswith(str(code if is_served else 400))
        assert is_served or b"lift" not in b"".join(parts)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_pages_of_others_are_refused(coin: FlaskClient, headers: dict[str, str]) -> None:
    for url in ("/", "/actions", "/beliefs?action=open_a", "/perspective?as=b"):
        answer = coin.get(url, headers=headers)
        assert (answer.status_code, "coin" in answer.text) == (403, False)
    assert coin.post("/solve", json={}, headers=headers).status_code == 403


def test_its_own_page_is_answered_but_no_form(coin: FlaskClient) -> None:
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert coin.get("/actions", headers=own).status_code == 200
    assert coin.get("/", headers={"Sec-Fetch-Site": "none"}).status_code == 200  # the address that was typed
    assert coin.post("/solve", data="{}", content_type="text/plain").status_code == 415
    assert "Access-Control-Allow-Origin" not in coin.options("/solve").headers


def test_the_work_for_a_request_is_bounded(coin: FlaskClient) -> None:
    path = ",".join(["open_a"] * (MAX_STEPS + 1))
    for url in (f"/?after={path}", f"/actions?after={path}", f"/perspective?as={path}", f"/beliefs?after={path}"):
        assert error(coin.get(url).text).count(f"{MAX_STEPS + 1} names: at most {MAX_STEPS} are followed") == 1
    assert coin.get(f"/actions?after={path.partition(',')[2]}").status_code == 200


def test_any_name_fits_an_address() -> None:
    name = "</script>,<b>&%2C+ä é"
    estate = EState((frozenset({"p"}),), ((frozenset({0}),),), (0,))
    relations = {"k": (frozenset({0}),)}
    action = Action(name, fluent("p"), (Event("e"),), (0,), relations, (((and_(), "k"),),))
    task = Task(name, ("p",), ("a",), (action,), estate, (fluent("p"),))
    strange = make_app(exploration(task), Configuration.of({"name": "bfs", "label": name}), Limits()).test_client()
    path = quote(f"'{name}','{name}'")
    found = Page(strange.get(f"/?after={path}").text)
    assert [step["action"] for step in found.content["steps"]] == [None, name, name]
    assert not any(one["tag"] == "b" for one in found.attributes)
    assert [one["name"] for one in strange.get(f"/actions?after={path}").json] == [name]
    assert strange.get(f"/beliefs?after={path}&action={quote(name)}").json == []


@pytest.fixture
def endless() -> Iterator[Any]:
    """A server of a problem whose search ends with whoever waits for it only."""
    app = make_app(exploration(load_problem(ENDLESS)), Configuration.of("bfs"), Limits(time_limit=None))
    with serve(app, "127.0.0.1", 0) as server, in_thread(server):
        yield server


def begin_search(port: int) -> socket.socket:
    """Ask for a plan, and wait until the search runs."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(
        b"POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    received = b""
    while not received.partition(b"\r\n\r\n")[2]:
        received += connection.recv(4096)
    return connection


def test_a_search_that_nobody_waits_for_is_killed(endless: Any) -> None:
    assert [ending.value for ending in supervise([Job("first", len, ("",))], parallel=1)] == [0]  # there is a server
    connection = begin_search(endless.port)
    while not (processes := multiprocessing.active_children()):
        connection.recv(4096)
    [process] = processes
    assert urlopen(f"{find_address(endless)}actions").status == 200  # others are served meanwhile
    connection.close()
    process.join(30)
    assert not process.is_alive()


def test_a_port_in_use_is_one_line() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        settings = compose(Explore, "explore", "problem=coin_in_the_box/pl_3", f"port={port}")
        with pytest.raises(UsageError, match=f"port={port}: Address already in use: .* or port=0 for any that is free"):
            explore(settings)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("192.0.2.1", "host=192.0.2.1 is no address of this machine: name one, such as 127"),
        ("nowhere.invalid", "host=nowhere.invalid is unknown: name an address of this machine"),
        ("999.1.1.1", "host=999.1.1.1 is unknown: name an address of this machine"),
    ],
)
def test_an_address_of_another_machine_is_one_line(host: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        explore(compose(Explore, "explore", "problem=coin_in_the_box/pl_3", f"host={host}", "port=0"))


def test_ctrl_c_ends_it_quietly_and_all_that_it_started(tmp_path: Path) -> None:
    arguments = [f"problem={ENDLESS}", "agent=bfs", "port=0", "time_limit=null"]
    command = subprocess.Popen(
        [sys.executable, "-m", "search.explore", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = command.stdout.readline()
    assert line.startswith(f"{ENDLESS} is served at http://127.0.0.1:")
    port = int(line.partition("http://127.0.0.1:")[2].partition("/")[0])
    with closing(socket.create_connection(("127.0.0.1", port))), closing(begin_search(port)):  # one that asks nothing
        started = psutil.Process(command.pid).children(recursive=True)
        assert started
        command.send_signal(signal.SIGINT)
        assert command.communicate(timeout=60) == ("", "")
    assert command.returncode == 0
    assert psutil.wait_procs(started, timeout=30)[1] == []
