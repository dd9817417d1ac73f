"""`python -m domains`: listing and writing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import domains
from domains.__main__ import main
from domains.suites import SUITES
from domains.words import read_parameters, write_value
from epigym.language import Reading, load
from epigym.problem import domain_problem


def test_overview_of_domains_and_suites(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([]) == 0
    listed = capsys.readouterr().out
    for domain in domains.DOMAINS.values():
        assert f"\n{domain.name} " in listed
        assert all(f"{name}=" in listed for name in domain.defaults)
    assert all(f"\n{suite} " in listed for suite in SUITES)
    assert max(map(len, listed.splitlines())) <= 80


def test_show_explains_the_parameters_and_lists_the_instances(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "coin_in_the_box"]) == 0
    shown = capsys.readouterr().out
    assert "looking: the agents who look at the box at the start" in shown
    assert "coin_in_the_box/pl_2 " in shown
    assert "goal=first" in shown
    assert "inconsistent" not in shown
    assert main(["show", "room_messages"]) == 0
    assert "consistent_beliefs=true" in capsys.readouterr().out


@pytest.mark.parametrize("name", list(domains.DOMAINS))
def test_show_begins_with_the_parameters_and_cuts_long_lists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    lines, instances = shown.splitlines(), [f"{name}/{instance}" for instance in domains.DOMAINS[name].instances]
    assert [line.split()[0] for line in lines if line.startswith(f"{name}/")] == instances[:12]
    assert shown.endswith(f"\n… and {len(instances) - 12} more: python -m domains show {name} --all lists all\n")
    assert lines[0].startswith(f"{name}(")
    assert lines.index("parameters:") < 6
    assert {"Args:", *lines} >= {*domains.DOMAINS[name].documentation.splitlines()}


def test_show_all_lists_everything(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    instances = {str(number): {"goals": list("pqrstu"), "agents": 3} for number in range(13)}
    monkeypatch.setattr(domains.Domain, "instances", instances)
    for words, row, count in (
        ([], "goals=[p,q,r,s, … 2 more] agents=3", 12),
        (["--all"], "goals=[p,q,r,s,t,u] agents=3", 13),
    ):
        assert main(["show", "grapevine", *words]) == 0
        shown = capsys.readouterr().out
        assert (shown.count(row), "more: python" in shown) == (count, count == 12)


def test_an_unknown_option_is_answered_with_the_form_of_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write", "grapevine", "--agents", "4"]) == 64
    expected = "error: unknown option '--agents': a parameter is given as name=value, as agents=3\n"
    assert capsys.readouterr() == ("", expected)


def test_parameters_are_shown_as_the_command_line_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "gossip", "--all"]) == 0
    assert "goals=[([Kw. a] (secret" in capsys.readouterr().out
    values = [True, None, 3, 0.5, "abc", "", "3", "true", "a,b", "[a]", "it's", ["x", "B(a, p)", "1"], [], [[1], "[b]"]]
    given = [parameters for domain in domains.DOMAINS.values() for parameters in domain.instances.values()]
    for parameters in ({f"p{number}": value for number, value in enumerate(values)}, *given):
        words = [f"{name}={write_value(value)}" for name, value in parameters.items()]
        assert json.dumps(read_parameters(words)) == json.dumps(parameters)


def test_ctrl_c_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(domains, "find", interrupt)
    assert main(["show", "gossip"]) == 130
    assert capsys.readouterr() == ("", "error: interrupted\n")


def test_write_prints_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write", "grapevine", "agents=4", "rooms=3", "learn=bc", "home=True"]) == 0
    assert capsys.readouterr().out == domains.write("grapevine", agents=4, rooms=3, learn="bc", home=True)
    assert main(["write", "selective_communication/4_1_pl_3", "positions=[3, 4]"]) == 0
    expected = domains.write("selective_communication/4_1_pl_3", positions=[3, 4])
    assert capsys.readouterr().out == expected != domains.write("selective_communication/4_1_pl_3")


def test_an_epddl_problem_is_one_file_or_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, parameters = "gossip", ["agents=4", "goal=single"]
    expected = domain_problem(name, agents=4, goal="single")
    assert main(["write", name, *parameters]) == 0
    (tmp_path / "whole.epddl").write_text(capsys.readouterr().out, encoding="utf-8")
    whole = load(tmp_path / "whole.epddl")
    assert main(["write", name, *parameters, "--files", str(tmp_path / "three")]) == 0
    assert capsys.readouterr().out.startswith(f"written to {tmp_path / 'three'}: problem.epddl")
    domain, library, problem = sorted((tmp_path / "three").iterdir())
    assert [path.stem for path in (domain, library, problem)] == ["domain", "library", "problem"]
    three = load(problem, Reading(domain_file=str(domain), libraries=(str(library),)))
    for task in (whole, three):
        assert replace(task, name=name, domain=name, instance="") == expected


def test_files_that_cannot_be_written_exit_with_73(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    assert main(["write", "gossip", "--files", str(tmp_path / "taken")]) == 73
    assert capsys.readouterr().err == f"error: cannot write {tmp_path / 'taken'}: File exists\n"
