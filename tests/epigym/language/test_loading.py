"""The languages of files, and the arguments of `load` that apply to them."""

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import gymnasium
import lark
import pytest

import domains
from epigym import EpigymError, ParseError, Reading, Task, load_problem
from epigym.errors import UsageError
from epigym.language import grammars, ground_json, load, parse_epddl, parse_mastar
from epigym.language.epddl import ground_epddl
from epigym.reference.semantics import validate
from tests.helpers.epddl_problem import PLANS, Files, write_problem


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_problem(tmp_path)


def test_files_a_specification_and_ground_json_are_the_same_problem(files: Files, tmp_path: Path) -> None:
    reading = Reading(domain_file=str(files.domain), libraries=str(files.library))  # type: ignore[arg-type]  # of one
    task = load_problem(str(files.problem), reading)
    ground_json.dump(ground_epddl(files.problem, files.domain, [files.library]), tmp_path / "ground.json")
    for again in (
        load(files.problem, Reading(domain_file=str(files.domain), libraries=(str(files.library),))),
        load_problem(str(files.spec)),
        load_problem(str(tmp_path / "ground.json")),
    ):
        assert again.name == task.name == "coin-1"
        assert (again.fluents, again.agents) == (("open", "tail"), ("Ann", "Bob"))
        assert [action.name for action in again.actions] == [action.name for action in task.actions]
        assert all(validate(again, plan).valid for plan in PLANS)
        assert not validate(again, ["lift_Ann", "look_Bob"]).valid
    assert load_problem(str(files.spec)) == task


@pytest.mark.filterwarnings("ignore::epigym.language.epddl.readings.ReadingWarning")
def test_plank_compat_selects_the_toolkits_reading(files: Files, tmp_path: Path) -> None:
    lift = ":action lift :parameters (?i - agent)"
    files.domain.write_text(files.domain.read_text().replace(lift, ":action lift :parameters ()"))
    assert "lift" in {action.name for action in load_problem(str(files.spec)).actions}
    toolkits = load_problem(str(files.spec), Reading(plank_compat=True))
    assert "lift" not in {action.name for action in toolkits.actions}
    with pytest.raises(EpigymError, match="plank_compat=yes: expected true or false"):
        gymnasium.make("epi/Problem-v0", path=str(files.spec), plank_compat="yes")
    env = gymnasium.make("epi/Problem-v0", path=str(files.spec), plank_compat=True)
    assert "lift" not in env.reset()[1]["action_names"]


def test_an_environment_of_an_epddl_problem(files: Files) -> None:
    by_files = gymnasium.make(
        "epi/Problem-v0", path=str(files.problem), domain_file=str(files.domain), libraries=str(files.library)
    )
    by_spec = gymnasium.make("epi/Problem-v0", path=str(files.spec))
    for env in (by_files, by_spec):
        _, info = env.reset(seed=0)
        for name in PLANS[0]:
            _, _, terminated, _, info = env.step(env.unwrapped.action_names.index(name))
        assert terminated
        assert info["is_goal"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": "{folder}/none.json"}, "no such problem file: .*none.json"),
        ({"problem": "{spec}", "domain_file": "{domain}"}, "coin-1.json: domain_file does not apply to a JSON file"),
        ({"problem": "{spec}", "libraries": ["{library}"]}, "libraries does not apply"),
        ({"problem": "{spec}", "semantics": "efp"}, "semantics does not apply"),
        ({"problem": "{spec}", "determines": "formula"}, "determines does not apply to a JSON file"),
        ({"problem": "{problem}"}, "needs its domain: give domain_file"),
        ({"problem": "{domain}"}, "is a domain without a problem: name the problem, and give this as domain_file"),
        ({"problem": "{library}"}, "is an action-type library without a problem: .* and give this as libraries"),
        ({"problem": "{problem}", "domain_file": "{domain}", "semantics": "efp"}, "does not apply to an EPDDL"),
        ({"problem": "{problem}", "determines": "literals"}, "determines does not apply to an EPDDL"),
        ({"problem": "{problem}", "domain_file": "{folder}/no.epddl"}, "no.epddl: No such file"),
        ({"problem": "{mastar}", "domain_file": "{domain}"}, "mine.txt: domain_file does not apply to mA"),
        ({"problem": "{mastar}", "plank_compat": True}, "plank_compat does not apply to mA"),
        ({"problem": "grapevine", "domain_file": "{domain}"}, "grapevine is the problem of a domain"),
        ({"problem": "{folder}/mine.pddl"}, r"extension '.pddl': expected .txt .*, .epddl .*, .json"),
    ],
)  # fmt: skip
def test_conflicting_arguments(files: Files, tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    (tmp_path / "mine.txt").write_text(domains.write("coin_in_the_box/pl_3"))
    (tmp_path / "mine.pddl").write_text("")
    places = {
        "folder": tmp_path, "problem": files.problem, "domain": files.domain, "library": files.library,
        "spec": files.spec, "mastar": tmp_path / "mine.txt",
    }  # fmt: skip

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(item) for item in value]
        return value.format(**places) if isinstance(value, str) else value

    values = {name: fill(value) for name, value in arguments.items()}
    problem, reading = values.pop("problem"), Reading(**values)
    with pytest.raises(EpigymError, match=message):
        load_problem(problem, reading)


@pytest.mark.parametrize(
    ("name", "value", "close"), [("semantics", "epf", "efp"), ("determines", "literal", "literals")]
)
def test_a_reading_with_an_unknown_value_is_refused(name: str, value: str, close: str) -> None:
    with pytest.raises(UsageError, match=f"unknown {name} '{value}'.*{close}") as caught:
        Reading(**{name: value})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder for this test, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    grammars.load_parser.cache_clear()
    yield tmp_path / "cache" / "epigym"
    grammars.load_parser.cache_clear()


@pytest.mark.parametrize(("parse", "name"), [(parse_mastar, "coin_in_the_box"), (parse_epddl, "gossip")])
def test_parsers(parse: Callable[[str], Task], name: str, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = domains.write(name)
    wrong = [text[:cut] + "]" for cut in range(0, len(text), len(text) // 7)]

    def found() -> list[object]:
        grammars.load_parser.cache_clear()
        return [parse(text), *(error_of(one) for one in wrong)]

    def error_of(one: str) -> str:
        with pytest.raises(ParseError) as error:
            parse(one)
        return str(error.value)

    first = found()
    [file] = cache_folder.iterdir()
    file.write_bytes(file.read_bytes()[:-9])  # as after the death of a writing process
    assert found() == first
    with monkeypatch.context() as patches:
        patches.setattr(lark.Lark, "save", None)  # the parser comes from the cache
        assert found() == first
    file.unlink()
    cache_folder.rmdir()
    cache_folder.touch()  # a file where the folder would be
    assert found() == first


@pytest.mark.parametrize(
    ("step", "text", "parse"),
    [
        ("epigym.language.mastar.parse", "fluent p; agent ann; initially p; goal p, ;", parse_mastar),
        ("epigym.language.epddl.ground", domains.write("gossip", agents=2), parse_epddl),
    ],
)
def test_no_garbage_is_collected_while_a_text_is_read(
    step: str, text: str, parse: Callable[[str], Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled = []
    original = resolve_name(step)

    def observe(*arguments: Any, **options: Any) -> Any:
        enabled.append(gc.isenabled())
        return original(*arguments, **options)

    monkeypatch.setattr(step, observe)
    with suppress(ParseError):
        parse(text)
    assert enabled == [False]
    assert gc.isenabled()
