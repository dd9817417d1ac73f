"""EPDDL in files: problems with their domains and libraries, and specification files."""

import json
import re
from pathlib import Path

import pytest

from epigym.errors import MissingError, ParseError, UsageError
from epigym.language import load
from epigym.language.epddl import load_epddl, load_spec, parse_epddl
from tests.helpers.epddl_texts import LIBRARY, PUBLIC, domain_text, problem_text

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


@pytest.mark.parametrize(("folder", "beside"), [("here", True), ("cwd/here", False)])
def test_paths_in_specification_files_refer_to_their_folder_or_the_working_directory(
    folder: str, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, domain, library = write(tmp_path / folder)
    write(tmp_path / "cwd")[0].write_text("not EPDDL")
    place = "" if beside else "here/"
    content = {"domain": f"{place}d.epddl", "problem": f"{place}p.epddl", "action-type-libraries": [str(library)]}
    spec = tmp_path / (folder if beside else "") / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


@pytest.mark.parametrize("name", ["none.epddl", "/dev/null", "."])
def test_specifications_name_files(name: str, tmp_path: Path) -> None:
    """Paths of devices, some of which never end, are refused."""
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"domain": name, "problem": name, "action-type-libraries": []}), encoding="utf-8")
    with pytest.raises(MissingError, match=rf"^{re.escape(str(spec))}: there is no such file as '{re.escape(name)}'$"):
        load_spec(spec)
