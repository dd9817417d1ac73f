"""EPDDL in files: what a problem needs, and specifications that name it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from epigym.errors import MissingError, ParseError, UsageError
from epigym.language import load
from epigym.language.epddl import load_epddl, load_spec, parse_epddl
from tests.helpers.epddl_texts import LIBRARY, PUBLIC, domain_text, problem_text
from tests.helpers.tasks import COIN

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")


def write(folder: Path) -> tuple[Path, Path, Path]:
    items = f"(:event e :effects (p)) (:action a :parameters () :action-type (public (e)) {PUBLIC})"
    texts = {"p.epddl": problem_text(), "d.epddl": domain_text(items), "l.epddl": LIBRARY}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "p.epddl", folder / "d.epddl", folder / "l.epddl"


def test_a_single_library_need_not_be_in_a_list(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    expected = load_epddl(problem, domain, [library])
    assert load(problem, domain_file=domain, libraries=str(library)) == expected
    assert load(problem, domain_file=domain, libraries=library) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "{folder}/p.epddl"}, "p.epddl: an EPDDL problem needs its domain: give domain_file"),
        ({"path": "{folder}/p.epddl", "semantics": "efp"}, "p.epddl: semantics does not apply to an EPDDL problem"),
        ({"path": "{folder}/coin.txt", "domain_file": "d.epddl"}, "coin.txt: domain_file does not apply to mA"),
        ({"path": "{folder}/coin.txt", "semantics": "epf"}, "unknown semantics 'epf': did you mean 'efp'?"),
    ],
)
def test_settings_that_are_missing_unknown_or_do_not_apply(
    tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    write(tmp_path)
    (tmp_path / "coin.txt").write_text(COIN)
    with pytest.raises(UsageError, match=re.escape(message)):
        load(**{name: value.format(folder=tmp_path) for name, value in arguments.items()})


def test_one_file_may_hold_everything(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    expected = load_epddl(problem, domain, [library])
    texts = [path.read_text(encoding="utf-8") for path in (library, problem, domain)]
    (tmp_path / "whole.epddl").write_text("\n".join(texts), encoding="utf-8")
    assert load(tmp_path / "whole.epddl") == expected
    (tmp_path / "most.epddl").write_text("\n".join(texts[1:]), encoding="utf-8")
    assert load(tmp_path / "most.epddl", libraries=library) == expected
    (tmp_path / "twice.epddl").write_text("\n".join([*texts, texts[2]]), encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"twice.epddl: expected one domain and one problem, found 2 domains and 1 prob"
    ):
        load(tmp_path / "twice.epddl")


def test_errors_in_one_file_name_its_lines() -> None:
    text = f"{LIBRARY}\n{domain_text('')}\n{problem_text(goal='(zz)')}"
    line = next(number for number, one in enumerate(text.splitlines(), start=1) if "(zz)" in one)
    with pytest.raises(ParseError) as caught:
        parse_epddl(text, file="whole.epddl")
    assert (caught.value.file, caught.value.line) == ("whole.epddl", line)


def test_files_that_are_named_must_exist(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    for arguments in (
        {"path": tmp_path / "none.epddl", "domain_file": domain},
        {"path": problem, "domain_file": tmp_path / "none.epddl"},
        {"path": problem, "domain_file": domain, "libraries": [library, tmp_path / "none.epddl"]},
    ):
        with pytest.raises(MissingError, match=r"none\.epddl: No such file"):
            load(**arguments)


def test_specification_files_look_beside_themselves_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, domain, library = write(tmp_path / "here")
    write(tmp_path / "cwd")[0].write_text("not EPDDL")
    content = {"domain": "d.epddl", "problem": "p.epddl", "action-type-libraries": ["l.epddl"]}
    spec = tmp_path / "here" / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


def test_specification_files_then_look_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, domain, library = write(tmp_path / "cwd" / "files")
    content = {"domain": "files/d.epddl", "problem": str(problem), "action-type-libraries": ["files/l.epddl"]}
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


@pytest.mark.parametrize("name", ["none.epddl", "/dev/null", "."])
def test_specifications_name_files(name: str, tmp_path: Path) -> None:
    """And no devices, some of which never end."""
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"domain": name, "problem": name, "action-type-libraries": []}), encoding="utf-8")
    with pytest.raises(MissingError, match=rf"^{re.escape(str(spec))}: there is no such file as '{re.escape(name)}'$"):
        load_spec(spec)
