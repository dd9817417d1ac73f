"""Problems by name, the command line, and what an import costs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import domains
import epigym
from epigym.__main__ import main
from epigym.cli.codes import ExitCode
from epigym.drawing import format_dot
from epigym.errors import MissingError, UsageError
from epigym.language import Reading
from epigym.problem import domain_problem, find_problems, load_problem
from epigym.space.space import StateSpace
from epigym.task.structure import Lifted
from tests.helpers.epddl_problem import write_problem
from tests.helpers.structures import follow
from tests.helpers.tasks import COIN


def test_an_instance_a_domain_and_a_file_are_found(tmp_path: Path) -> None:
    instance = load_problem("coin_in_the_box/pl_5")
    path = tmp_path / "mine.txt"
    path.write_text(domains.write("coin_in_the_box/pl_5"))
    by_path = load_problem(str(path))
    assert (instance.name, by_path.name) == ("coin_in_the_box/pl_5", "mine")
    assert (by_path.actions, by_path.initial, by_path.goal) == (instance.actions, instance.initial, instance.goal)
    assert load_problem("grapevine").agents == ("a", "b", "c")
    assert len(domain_problem("grapevine", agents=4).agents) == 4
    assert load_problem("coin_in_the_box/pl_5", Reading("update_model")).actions != instance.actions


def test_parameters_beside_an_instance_count_for_its_objects_too() -> None:
    structure = domain_problem("grapevine/3_pl_4", agents=4).structure
    assert structure is not None
    assert Lifted("secret", ("d",)) in structure.fluents


@pytest.mark.parametrize("name", ["selective_communication/10_8_pl_9", "selective_communication_enriched"])
def test_rooms_beyond_the_last_one_that_can_be_entered_are_rooms(name: str) -> None:
    structure = domain_problem(name, rooms=10, end=8).structure
    assert structure is not None
    assert Lifted("at", ("10",)) in structure.fluents
    assert Lifted("shout", ("9",)) in structure.actions


def test_a_file_wins_over_a_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grapevine.txt").write_text(domains.write("coin_in_the_box/pl_3"))
    monkeypatch.chdir(tmp_path)
    assert "tail" in load_problem("grapevine.txt").fluents
    assert "tail" not in load_problem("grapevine").fluents


def test_show_draws_and_sums_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.svg"
    assert main(["show", "grapevine", "agents=3", "rooms=2", f"out={out}"]) == 0
    assert "<svg" in out.read_text()
    printed = capsys.readouterr().out
    assert "agents      3: a, b, c\n" in printed
    assert "worlds      8, of which 1 designated\n" in printed
    assert "goal        open    B(a, sb)\n" in printed
    assert f"drawn to {out}\n" in printed
    assert len(printed.splitlines()) < 25


def test_show_names_the_picture_after_the_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", "coin_in_the_box/pl_3"]) == 0
    assert (tmp_path / "pl_3.png").read_bytes().startswith(b"\x89PNG")


def test_show_draws_the_e_state_after_actions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.dot"
    assert main(["show", "coin_in_the_box", "looking=ab", "after=open_a,peek_a", f"out={out}"]) == 0
    space = StateSpace(domain_problem("coin_in_the_box", looking="ab"))
    state = follow(space, ("open_a", "peek_a"))[-1]
    assert out.read_text() == format_dot(space.model(state))
    printed = capsys.readouterr().out
    assert f"worlds      {len(space.model(state).worlds)}, of which 1 designated\n" in printed
    assert "shout_tail_a" in printed.partition("applicable")[2]


def test_a_scene_is_a_problem_and_actions_that_can_be_overridden(tmp_path: Path) -> None:
    scene = domains.DOMAINS["room_messages"].scene
    pictures = {}
    for name, words in {
        "scene": ["scene=true"],
        "written": ["places=[1, 1, 4]", f"after={','.join(scene.plan)}"],
        "plain": ["scene=false", "places=[1, 1, 4]"],
        "before": ["scene=true", "after="],
        "plan": ["scene=true", f"plan={','.join(scene.plan)}"],
    }.items():
        assert main(["show", "room_messages", *words, f"out={tmp_path / name}.dot"]) == 0
        pictures[name] = (tmp_path / f"{name}.dot").read_text()
    assert pictures["scene"] == pictures["written"] == pictures["plan"] != pictures["plain"] == pictures["before"]


@pytest.mark.parametrize("name", ["grapevine/3_pl_4", "epistemic_gossip/3_3_1"])
@pytest.mark.parametrize("command", ["show", "convert"])
def test_an_instance_as_parameter(command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for words in ([name.partition("/")[0], f"instance={name.partition('/')[2]}"], [name]):
        out = tmp_path / ("picture.dot" if command == "show" else "task.json")
        assert main([command, *words, f"out={out}"]) == 0
        written.append((out.read_text(), capsys.readouterr().out))
    assert written[0] == written[1]
    assert main([command, "grapevine", "instance=9_pl_9", f"out={tmp_path}/x.json"]) != 0
    assert "9_pl_9" in capsys.readouterr().err


def test_names_with_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("coin.txt").write_text(COIN.replace("lift", "lift(a,1)").replace("look", "look(at,coin)"))
    lists = ("lift(a,1),look(at,coin)", "[lift(a,1), look(at,coin)]", "'lift(a,1)',\"look(at,coin)\"")
    for number, after in enumerate(lists):
        assert main(["show", "coin.txt", f"after={after}", f"out={number}.dot"]) == 0
    assert "applicable  2: look(at,coin), shout\n" in capsys.readouterr().out
    assert len({Path(f"{number}.dot").read_text() for number in range(len(lists))}) == 1
    assert main(["validate", "coin.txt", "plan=lift(a,1),look(at,coin),shout"]) == 0
    assert main(["explain", "coin.txt", "after=lift(a,1)", "top=1"]) == 0


def test_problems_are_found_in_folders_and_by_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_problem(tmp_path)
    for name in ("b.txt", "a.txt", "a/x[1].txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(COIN)
    Path("plan.json").write_text("[]")
    files = find_problems(["."])
    assert files == [f"./{name}" for name in ("a.txt", "b.txt", "coin-1.epddl", "coin-1.json")]
    assert find_problems(["b.txt", "?.txt", "gossip", "a/x[1].txt", "a"]) == ["b.txt", "a.txt", "gossip", "a/x[1].txt"]
    for wrong in ("*.gone", "a/*.json"):
        with pytest.raises(MissingError, match=r"^no file matches '"):
            find_problems([wrong])


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"epigym {epigym.__version__}\n"


def test_show_says_a_warning_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text(COIN.replace("b observes lift;", "b aware_of lift;"))
    command = [sys.executable, "-m", "epigym", "show", "coin.txt", "out=coin.dot"]
    errors = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stderr
    assert re.fullmatch(r"warning: coin\.txt:\d+:\d+: .*\n", errors)


def test_a_folder_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("coins", "coins.txt", "grapevine"):
        Path(name).mkdir()
    for name in ("coins", "coins.txt", str(tmp_path)):
        with pytest.raises(UsageError, match=f"^{name} is a folder: name a problem file in it$"):
            load_problem(name)
    assert load_problem("grapevine").domain == "grapevine"  # a domain, whatever folders there are


@pytest.mark.parametrize("libraries", ["kinds.epddl", "[kinds.epddl, more.epddl]", "'kinds.epddl',more.epddl"])
def test_show_reads_epddl_files(
    libraries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_problem(tmp_path)
    (tmp_path / "more.epddl").write_text("(define (action-type-library more))")
    monkeypatch.chdir(tmp_path)
    words = ["coin-1.epddl", "domain_file=coin.epddl", f"libraries={libraries}", "plank_compat=false", "out=coin.dot"]
    assert main(["show", *words]) == 0
    assert "agents      2: Ann, Bob\n" in capsys.readouterr().out
    assert main(["show", "coin-1.epddl", "out=coin.dot"]) == ExitCode.USAGE
    assert "needs its domain: give domain_file" in capsys.readouterr().err


def test_acting_in_an_environment_needs_no_torch() -> None:
    code = "import sys, gymnasium, epigym; gymnasium.make('epi/CoinInTheBox-v0').reset(); print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "False"


def test_every_public_name_can_be_imported() -> None:
    assert {getattr(epigym, name).__name__ for name in epigym.__all__} == set(epigym.__all__)
    with pytest.raises(AttributeError, match="no attribute 'EpistemicEnvironment'"):
        epigym.EpistemicEnvironment  # noqa: B018
