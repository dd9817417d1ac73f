"""The scene of every domain: what its caption says is true, and its picture in the documents is up to date."""

import re
from pathlib import Path

import pytest

import domains
from epigym import KripkeModel, StateSpace
from epigym.__main__ import main
from epigym.envs.registration import camel_case
from epigym.problem import domain_problem
from tests.helpers.benchmark_files import ROOT
from tests.helpers.marks import slow_but
from tests.helpers.pictures import list_shapes
from tests.helpers.structures import follow

PICTURES = ROOT / "docs" / "pictures"
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
SCENES = [name for name in domains.DOMAINS if (PICTURES / f"{name}.svg").exists()]


def unsure(agent: str, formula: str) -> str:
    return f"-B({agent}, {formula}), -B({agent}, -({formula}))"


def knows_whether(agent: str, formula: str) -> str:
    return f"(B({agent}, {formula}) | B({agent}, -({formula})))"


AT_LENGTH = "on_b2_b3, -on_table_b2_t1, -on_b2_b1"
BELIEFS = {
    "active_muddy_child": [
        "B(c3, -muddy_c1)",
        "B(c3, muddy_c3), muddy_c3",
        unsure("c2", "muddy_c2"),
        unsure("c1", knows_whether("c3", "muddy_c3")),
    ],
    "assembly_line": [
        "B(a, qualify_a), B(b, qualify_b)",
        "C([a,b], qualify_a)",
        f"B(a, ({unsure('b', 'qualify_b')}))",
        unsure("a", "qualify_b"),
    ],
    "blocks_world": [
        AT_LENGTH,
        f"B(a, ({AT_LENGTH}))",
        "B(b, (on_table_b2_t1, -on_b2_b3))",
        "B(c, (on_b2_b1, -on_b2_b3))",
        "B(a, B(b, on_table_b2_t1)), B(b, B(c, on_b2_b1))",
    ],
    "cloud_scheduling": [
        "completed_task1, -executing_task1",
        "B(tenant1, completed_task1), B(reporter, B(tenant1, completed_task1))",
        "B(tenant2, (executing_task1, -completed_task1))",
        "B(scheduler, B(tenant1, (executing_task1, -completed_task1)))",
        "B(observer, B(tenant1, (executing_task1, -completed_task1)))",
        "B(scheduler, completed_task1), B(observer, completed_task1)",
    ],
    "coin_in_the_box": [
        "tail, B(a, tail), B(b, tail)",
        "B(b, B(a, tail))",
        f"B(a, ({unsure('b', 'tail')}))",
        "opened, B(c, -opened)",
    ],
    "collaboration_communication": [
        "at_a_3, at_b_1, at_b1_1, B(a, at_b1_1), B(b, at_b1_1)",
        f"B(a, ({unsure('b', 'at_b1_1')}))",
        f"B(b, ({unsure('a', 'at_b1_1')}))",
        f"B(c, ({unsure('a', 'at_b1_1')}, {unsure('b', 'at_b1_1')}))",
    ],
    "consecutive_numbers": ["C([a,b], -has_a_n0)", "has_a_n2, has_b_n1, B(b, has_a_n2)", unsure("a", "B(b, has_a_n2)")],
    "epistemic_gossip": ["C([a,b], (sa, sb))", f"B(c, ({unsure('a', 'sb')}))", f"B(c, ({unsure('b', 'sa')}))"],
    "gossip": [
        "secret_impostor, B(detective, secret_impostor)",
        "B(impostor, B(detective, -secret_impostor))",
        f"B(a, ({unsure('detective', 'secret_impostor')}))",
    ],
    "grapevine": [
        "at_a_2, at_b_2, at_c_2, sa, B(b, sa)",
        f"B(c, (at_a_1, at_b_1, {unsure('b', 'sa')}))",
        "B(b, (at_a_1, at_b_2))",
        "B(a, (at_a_2, at_b_2, at_c_2)), B(a, B(b, at_a_1)), B(a, B(c, at_b_1))",
    ],
    "room_messages": [
        "at_a_r1, at_b_r1, at_c_r4, message, B(a, message)",
        f"B(b, {knows_whether('a', 'message')})",
        unsure("b", "message"),
        f"B(c, ({unsure('a', 'message')}))",
        unsure("c", "message"),
    ],
    "search_and_rescue": [
        "victim_l2, B(d1, victim_l2)",
        f"B(d2, -victim_l3), {unsure('d2', 'victim_l2')}",
        *(f"B({agent}, {knows_whether('d1', 'victim_l2')})" for agent in ("d2", "f1", "a1")),
        *(f"B({agent}, {knows_whether('d2', 'victim_l3')})" for agent in ("d1", "f1", "a1")),
    ],
    "selective_communication": [
        "q, at_2, B(a, q), B(b, q)",
        f"B(c, (at_2, {unsure('a', 'q')}, {unsure('b', 'q')}))",
        "-at_1, B(d, at_1)",
    ],
    "selective_communication_enriched": [
        "q, B(a, q), B(b, q)",
        f"B(c, ({unsure('a', 'q')}, {unsure('b', 'q')}, {unsure('c', 'q')}))",
        "-useless, B(a, -useless), B(b, useless), B(c, useless)",
    ],
}
"""What the captions of scenes say, as formulas; a domain that is not here need not be on the pages."""
COMMANDS = {name: [name, "scene=true"] for name in BELIEFS} | {
    "coin_in_the_box_after_three_steps": ["coin_in_the_box/pl_7", "after=signal_a_c,open_a,peek_a"],
    "introduction_start": ["coin_in_the_box", "looking=ab"],
    "introduction_opened": ["coin_in_the_box", "looking=ab", "after=open_a"],
    "introduction_peeked": ["coin_in_the_box", "looking=ab", "after=open_a,peek_a"],
}
"""For each picture the arguments of `epigym show` that draw it."""


def scene(name: str) -> KripkeModel:
    chosen = domains.DOMAINS[name].scene
    space = StateSpace(domain_problem(name, **chosen.parameters))
    return space.model(follow(space, chosen.plan)[-1])


@pytest.mark.parametrize("name", BELIEFS)
def test_the_caption_is_true(name: str) -> None:
    model = scene(name)
    assert [formula for formula in BELIEFS[name] if not model.holds(formula)] == []
    assert len(model.worlds) <= 10


@pytest.mark.parametrize("name", BELIEFS)
def test_without_its_actions_the_caption_is_not_true(name: str) -> None:
    initial = StateSpace(domain_problem(name, **domains.DOMAINS[name].scene.parameters)).model(0)
    assert not all(map(initial.holds, BELIEFS[name]))


@pytest.mark.parametrize("name", slow_but(COMMANDS, *sorted(COMMANDS)[::2]))
def test_the_picture_is_what_its_command_draws(name: str, tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    assert main(["show", *COMMANDS[name], f"out={out}"]) == 0
    assert list_shapes(out.read_text(encoding="utf-8")) == list_shapes(
        (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_picture_can_be_read_in_a_column_of_text(name: str) -> None:
    """Its text is at least 10 pixels high where a page has 750 pixels for it."""
    text = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    [width], [scale], sizes = (
        [float(number) for number in re.findall(pattern, text)]
        for pattern in (r'viewBox="\S+ \S+ (\S+)', r"scale\((\S+)", r'font-size="([^"]+)"')
    )
    assert min(sizes) * scale * min(750 / width, 1) >= 10


def test_scenes_are_shown_and_documented() -> None:
    pictures = {path.stem: path.read_text(encoding="utf-8") for path in PICTURES.glob("*.svg")}
    made = pictures.keys() - {"batches", "data_flow", "learning", "neural"}  # a measurement, and three drawn by hand
    assert made == COMMANDS.keys()
    assert len({str(list_shapes(pictures[name])) for name in made}) == len(made)
    shown = [name for page in PAGES for name in re.findall(r"pictures/(\w+)\.svg", page.read_text(encoding="utf-8"))]
    assert set(shown) == pictures.keys()
    shown, told = (
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("domains.md", "reference/domains.md")
    )
    assert re.findall(r"^::: domains\.(\w+)(?:\.problem)?\.problem$", told, flags=re.MULTILINE) == SCENES
    titles = re.findall(r"^## .+$", told, flags=re.MULTILINE)
    assert titles == ["## Attributes of a domain", *re.findall(r"^## (?!Sizes).+$", shown, flags=re.MULTILINE)]


@pytest.mark.parametrize("name", SCENES)
def test_the_page_of_the_domains_shows_their_scenes(name: str) -> None:
    domain = domains.DOMAINS[name]
    page = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")
    [section] = [section for section in page.split("\n## ") if f"`epi/{camel_case(domain.name)}-v0`" in section]
    language = domain.language.replace("*", "\\*")
    assert section.splitlines()[2].startswith(f"`{domain.name}`, `epi/{camel_case(domain.name)}-v0`, in {language};")
    assert f"(pictures/{domain.name}.svg)" in section
    assert domain.scene.caption in " ".join(section.split())
    assert domain.scene.caption.endswith(".")
