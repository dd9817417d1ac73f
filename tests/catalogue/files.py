"""The input files of the catalogue."""

import json

from learn.models.shipped import locate_shipped
from tests.helpers.tasks import COIN, COUNTER, DELUDED

_DEEP = f"goal {'-(' * 20_000}tail{')' * 20_000};"

_MODEL = locate_shipped("linear", "coin_in_the_box").read_bytes()
_MODEL_OF_ONE = ":worlds (w) :relations (i (w w)) :labels (w ()) :designated (w)"
_CYCLE = (
    "(define (domain d) (:requirements :typing) (:types a - b b - a))\n"
    f"(define (problem p) (:domain d) (:agents i) (:init {_MODEL_OF_ONE}) (:goal (p)))"
)
_TABLE = (
    "domain,problem,configuration,consistent_beliefs,status,plan_length,expanded,actions,fluents,initial_worlds,"
    "search_seconds,total_seconds,peak_bytes,other_outcomes\n"
)

FILES: dict[str, tuple[str, str | bytes]] = {
    "coin.txt": ("a valid problem", COIN),
    "counter.txt": ("another valid problem", COUNTER),
    "done.txt": ("a problem whose goal holds at the start", COUNTER.replace("goal r; goal -p;", "goal -p;")),
    "deluded.txt": ("a problem whose only plan leads to inconsistent beliefs", DELUDED),
    "hopeless.txt": (
        "a problem without a plan",
        COIN.replace("executable shout if B(a, tail)", "executable shout if -tail"),
    ),
    "cut.txt": ("a problem that ends in the middle of a statement", COIN[:150]),
    "latin.txt": ("text in Latin-1", "fluent caf\xe9;".encode("latin-1")),
    "utf16.txt": ("text in UTF-16", COIN.encode("utf-16")),
    "deep.txt": ("a goal of 20,000 levels", COIN + _DEEP),
    "empty.txt": ("an empty file", ""),
    "empty.epddl": ("another empty file", ""),
    "empty.json": ("a third empty file", ""),
    "words.txt": ("a text that is no problem", "some words only"),
    "words.epddl": ("the same text", "some words only"),
    "dotted.epddl": ("a name with a dot", "(define (problem b.1) (:domain d))"),
    "cyclic.epddl": ("types below each other", _CYCLE),
    "plan.json": ("a plan of coin.txt", '["lift", "look", "shout"]'),
    "no_plan.json": ("a plan without actions", "[]"),
    "unknown_plan.json": ("a plan with an unknown action", '["lift", "fly"]'),
    "wrong_plan.json": ("a plan whose first action is not applicable", '["shout"]'),
    "short_plan.json": ("a plan that stops before the goal", '["lift"]'),
    "long_plan.json": ("a plan of 2,001 actions", json.dumps(["lift"] + ["look"] * 2000)),
    "policy.json": (
        "a policy that stops before the goal",
        '{"action": "lift", "branches": [{"event": 0, "subtree": null}]}',
    ),
    "wrong_policy.json": (
        "a policy with a branch to an unknown node",
        '{"nodes": [{"action": "lift", "branches": [{"event": 0, "next": 7}]}]}',
    ),
    "object.json": ("an object instead of a plan", '{"plan": ["lift"]}'),
    "numbers.json": ("numbers instead of names", "[1, 2, 3]"),
    "text.json": ("a string instead of a plan", '"lift"'),
    "cut.json": ("an incomplete array", '["lift", "look"'),
    "deep.json": ("100,000 nested arrays", "[" * 100_000),
    "digits.json": ("a number of 10,000 digits", "1" * 10_000),
    "surrogate.json": ("half of a surrogate pair", '["\\ud800"]'),
    "nan.json": ("NaN, which is not JSON", "[NaN]"),
    "null.json": ("null", "null"),
    "folder/notes.txt": ("a file in a folder", "notes\n"),
    "alone.epddl": ("an EPDDL problem without its domain", "(define (problem p) (:domain d))"),
    "domain.epddl": ("an EPDDL domain without a problem", "(define (domain d))"),
    "library.epddl": ("an action-type library without a problem", "(define (action-type-library l))"),
    "knows.epddl": ("a foreign notation in EPDDL", "(define (problem p) (:domain d) (:goal (K a (p))))"),
    "open.epddl": ("an unclosed parenthesis", "(define (problem p"),
    "cut_off.safetensors": ("a truncated model", _MODEL[:5000]),
    "edited.safetensors": ("a model with another last byte", _MODEL[:-1] + b"?"),
    "broken.ckpt": ("a file that is not a checkpoint", b"\x80\x02no checkpoint"),
    "no_rows/results.csv": ("a table without rows", _TABLE),
    "no_columns/results.csv": ("a table without the columns of an evaluation", "a,b\n1,2\n"),
    "bytes/results.csv": ("a table that is not text", b"\xff\xfe\x00"),
    "no_number/results.csv": (
        "a table with a word instead of a number",
        _TABLE + "x,x/1,bfs,false,solved,many,7,3,2,1,0.1,0.2,4096,0\n",
    ),
    "no_status/results.csv": (
        "a table with an unknown status",
        _TABLE + "x,x/1,bfs,false,maybe,3,7,3,2,1,0.1,0.2,4096,0\n",
    ),
    "short/results.csv": ("a table with an incomplete row", _TABLE + "x,x/1,bfs,false,sol"),
    "published.csv": ("published outcomes without columns", "a\n1\n"),
}
"""By name: a description and the content."""
