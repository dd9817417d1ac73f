"""The page in a browser: stepping, asking, keys and widths. Needs Playwright and a Chromium, else it is skipped."""

import re
from pathlib import Path
from typing import Any

import pytest

from epigym.drawing import PALETTE
from epigym.drawing.page import render_policy_page, write_page
from epigym.language import parse_mastar
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from tests.helpers.episodes import find_strong
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.sensing import tossing
from tests.helpers.tasks import COIN, DELUDED

pytestmark = pytest.mark.slow

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
PROBLEMS = {
    "coin": (lambda: parse_mastar(COIN), ["lift", "look", "shout"]),
    "box": (lambda: domain_problem("coin_in_the_box", looking="ab"), ["open_a", "peek_a", "distract_b_a", "peek_b"]),
    "children": (lambda: load_problem("active_muddy_child/amc_09_09_muddy"), ["ask_c1", "ask_c2"]),
    "deluded": (lambda: parse_mastar(DELUDED), ["flip", "shout"]),
    "secrets": (lambda: domain_problem("grapevine", agents=5), ["share_b_sb_1", "right_a", "left_a"]),
    "towers": (lambda: domain_problem("blocks_world"), []),
    "tasks": (
        lambda: load_problem("cloud_scheduling/cloud_10_len21"),
        ["sense_task1", "sense_task2", "sense_task3", "schedule_task1", "schedule_task2"],
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of some plans."""
    folder = tmp_path_factory.mktemp("pages")
    for name, (load, plan) in PROBLEMS.items():
        write_page(StateSpace(load()), plan, folder / f"{name}.html")
    (folder / "toss.html").write_text(render_policy_page(StateSpace(tossing()), lambda _: "toss"))
    find_strong(muddy_robots(3)).write(folder / "robots.html")
    find_strong(muddy_robots(5)).write(folder / "more_robots.html")
    return folder


@pytest.fixture
def visit(open_page: Any, folder: Path) -> Any:
    """Opens a page by its name."""
    return lambda name, **options: open_page((folder / f"{name}.html").as_uri(), **options)


def row(page: Any, fact: str) -> list[str]:
    """The symbols of a fact in the table of beliefs."""
    [line] = [line for line in page.locator("#beliefs tbody tr").all() if line.locator("th").inner_text() == fact]
    return [cell.inner_text() for cell in line.locator("td").all()]


def test_buttons_slider_and_list_lead_to_steps(visit: Any) -> None:
    page = visit("coin")
    assert page.inner_text("#happened") == "At the start"
    assert page.inner_text("#who") == ""
    assert (page.is_disabled("#back"), page.is_disabled("#on")) == (True, False)
    assert page.locator("#picture .node").count() == 2
    page.click("#on")
    page.click("#on")
    assert page.inner_text("#happened") == "Step 2: look"
    assert page.locator("#who li").all_inner_texts() == ["● a saw it", "◐ b noticed it"]
    page.locator("#slider").fill("1")
    assert page.inner_text("#count") == "1 / 3"
    assert page.get_attribute("#slider", "aria-valuetext") == "step 1 of 3: lift"
    page.get_by_role("button", name="3. shout").click()
    assert page.inner_text("#plan [aria-current]") == "3. shout"
    assert (page.is_disabled("#back"), page.is_disabled("#on")) == (False, True)
    assert "the plan reaches the goal" in page.inner_text("#summary")


def test_keys_lead_to_steps(visit: Any) -> None:
    page = visit("coin")
    counts = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft", "Alt+ArrowRight"):
        page.keyboard.press(key)
        counts.append(page.inner_text("#count")[0])
    assert counts == ["1", "2", "1", "3", "3", "0", "0", "0"]
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#count") == "1 / 3"  # one step, not two


def test_the_address_names_the_step(visit: Any, folder: Path) -> None:
    page = visit("coin")
    page.click("#on")
    page.keyboard.press("End")
    page.wait_for_url("**/coin.html#step=3")
    page.go_back()
    page.wait_for_selector("text='Step 1: lift'")
    page.go_back()
    page.wait_for_selector("text='At the start'")
    page.go_forward()
    page.wait_for_selector("text='Step 1: lift'")
    page.reload()
    assert page.inner_text("#count") == "1 / 3"
    for fragment, count in (("#step=2", "2"), ("#step=99", "3"), ("#step=x", "0"), ("#step=1&branch=7", "0")):
        page.goto((folder / "coin.html").as_uri() + fragment)
        page.wait_for_selector(f"#count:text-is('{count} / 3')")


def test_the_address_names_the_branch_of_a_policy(visit: Any) -> None:
    page = visit("robots")
    page.get_by_role("button", name="2. bell: no").click()
    page.wait_for_url("**#step=2&branch=*")
    page.reload()
    assert page.inner_text("#happened") == "Step 2: bell: no"
    page.go_back()
    page.wait_for_selector("text='At the start'")
    page.goto(page.url.partition("#")[0] + "#step=9&branch=zzz")  # unknown: the start
    page.wait_for_selector("#happened:text-is('At the start')")


def test_the_beliefs_of_nine_agents_fit_a_wide_screen(visit: Any) -> None:
    page = visit("children", viewport=WIDE)
    assert page.get_attribute("#beliefs", "data-hint") is None
    hint = visit("children", viewport=NARROW).get_attribute("#beliefs", "data-hint")
    assert hint == "scroll ↔ sideways for the rest"


@pytest.mark.parametrize(("size", "most"), [(NARROW, 3000), (WIDE, 1600)], ids=["narrow", "wide"])
def test_facts_of_equal_rows_share_one(visit: Any, size: dict[str, int], most: int) -> None:
    page = visit("tasks", viewport=size)
    page.keyboard.press("End")
    heads = page.locator("#beliefs tbody th").all_text_contents()
    listed = [re.findall(r"[a-z]+_task\d", head.replace("more", "more ")) for head in heads]
    facts = page.evaluate("data.fluents")
    assert (len(facts), len(listed)) == (32, 4)
    assert sorted(fact for facts_of_row in listed for fact in facts_of_row) == sorted(facts)
    assert row(page, "scheduled_task2") == ["true", *"✓✓✓✓✓"]
    several = page.locator("#beliefs tbody tr").nth(1)
    assert several.locator("td").first.get_attribute("title") == "19 facts false"
    assert several.locator("td").nth(1).get_attribute("title") == "scheduler: knows, 19 facts"
    assert page.evaluate("document.documentElement.scrollHeight") < most


def test_long_lists_are_folded_until_they_are_opened(visit: Any) -> None:
    page = visit("tasks", viewport=WIDE)
    page.keyboard.press("End")
    [everywhere] = page.locator("#key li").filter(has_text="True everywhere").all()
    assert everywhere.inner_text().split() == ["True", "everywhere:", "8", "facts"]
    page.keyboard.press("ArrowLeft")
    everywhere.locator("summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("unfolded.has('everywhere')")
    page.keyboard.press("ArrowRight")
    assert "submitted_task1, submitted_task2" in everywhere.inner_text()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.evaluate("at('picture').replaceChildren(byAgent(nodes[5].view))")  # as of a larger e-state
    sure = page.locator("#by-agent tbody tr").first.locator("td").nth(1)
    assert sure.locator("summary").inner_text() == "19 more"


def test_a_large_picture_scrolls_in_its_place(visit: Any) -> None:
    for size in (NARROW, WIDE):
        page = visit("tasks", viewport=size)
        page.keyboard.press("End")
        frame, world = (page.locator(name).bounding_box() for name in ("#picture", "#picture .designated"))
        assert frame["height"] <= 0.85 * size["height"]
        assert page.get_attribute("#picture", "data-hint") == "scroll ↔ sideways and ↕ down for the rest"
        assert frame["x"] <= world["x"]
        assert world["x"] + world["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= world["y"]
        assert world["y"] + world["height"] <= frame["y"] + frame["height"]


def test_the_goal_is_ticked_off(visit: Any) -> None:
    page = visit("coin")
    assert page.locator("#goal li").all_inner_texts() == ["☐ B(b, tail)", "☐ B(a, B(b, tail))"]
    page.keyboard.press("End")
    assert page.locator("#goal li").all_inner_texts() == ["☑ B(b, tail) holds", "☑ B(a, B(b, tail)) holds"]


def test_beliefs_are_marked_where_they_changed_and_nested_on_demand(visit: Any) -> None:
    page = visit("coin")
    page.locator("#slider").fill("2")
    assert row(page, "tail") == ["true", "✓", "?"]
    changed = page.locator("#beliefs td.changed")
    assert (changed.count(), changed.get_attribute("title")) == (1, "a knows that tail")
    page.get_by_role("button", name="what b believes").click()
    assert page.locator("#path button").all_inner_texts() == ["in fact", "b believes"]
    assert page.evaluate("document.activeElement.textContent") == "b believes"
    assert row(page, "tail") == ["unsure", "✓", "?"]
    assert page.locator("#beliefs td.k").nth(-1).get_attribute("title") == "as b sees it, a knows whether tail"
    page.get_by_role("button", name="what b believes that a believes").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#path [aria-current]") == "b believes that a believes"
    assert page.locator("#beliefs th button").count() == 0  # as deep as it goes
    assert "The page shows beliefs up to this depth" in page.inner_text("#legend")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#path [aria-current]") == "b believes that a believes"
    page.get_by_role("button", name="in fact").click()
    assert row(page, "tail") == ["true", "✓", "✓"]


def test_who_is_sure_whether_differs_from_who_is_unsure(visit: Any) -> None:
    page = visit("coin", viewport=WIDE)
    page.locator("#slider").fill("2")  # a has looked, b has noticed
    page.get_by_role("button", name="what b believes").click()
    page.get_by_role("button", name="what b believes that a believes").click()
    assert row(page, "tail")[0] == "sure whether"
    assert page.locator("#beliefs td.changed").first.inner_text() == "sure whether"
    page.evaluate("at('picture').replaceChildren(byAgent(nodes[2].view.nested[1]))")  # as of a large e-state
    sure, unsure = page.locator("#by-agent tbody tr").first.locator(".long").all_inner_texts()
    assert ("whether tail" in sure.split(", "), unsure) == (True, "nothing")


def test_the_focus_stays_where_its_button_is_drawn_anew(visit: Any) -> None:
    page = visit("coin")
    page.get_by_role("button", name="what b believes").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "what b believes"
    page.locator("#last").press("Enter")
    assert page.evaluate("document.activeElement.id") == "slider"  # there is no later step
    page = visit("robots")
    page.get_by_role("button", name="1. ", exact=False).first.press("Enter")
    page.wait_for_url("**#step=1&branch=*")
    page.go_back()
    page.wait_for_selector("text='At the start'")
    assert page.evaluate("document.activeElement.textContent").startswith("1. ")


def test_beliefs_that_are_right_or_wrong_differ(visit: Any) -> None:
    page = visit("box")
    page.keyboard.press("End")
    assert row(page, "opened") == ["true", "≈", "✓", "✗"]
    titles = [cell.get_attribute("title") for cell in page.locator("#beliefs td.w").all()]
    assert titles == ["c believes falsely that not opened", "c believes falsely that looking_a"]


def test_who_believes_everything_is_told(visit: Any) -> None:
    page = visit("deluded")
    page.keyboard.press("End")
    assert row(page, "tail") == ["true", "✓", "∅"]
    page.get_by_role("button", name="what b believes").click()
    assert page.inner_text("#beliefs") == "Here b considers no world possible and believes everything."
    page.keyboard.press("ArrowLeft")
    assert row(page, "tail") == ["false", "✓", "✓"]  # b missed the flip


def test_a_wide_picture_begins_with_the_designated_world(visit: Any) -> None:
    page = visit("secrets", viewport=NARROW)
    page.keyboard.press("End")
    assert page.evaluate("(one => one.scrollWidth > one.clientWidth)(document.getElementById('picture'))")
    box, frame = page.locator("#picture .designated").bounding_box(), page.locator("#picture").bounding_box()
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]


def test_worlds_tell_their_facts_to_pointers_and_keys(visit: Any) -> None:
    page = visit("coin")
    page.locator("#picture .node").nth(1).click()
    assert page.inner_text("#world") == "world 1, designated: tail, not open"
    page.locator("#picture .node").nth(0).focus()
    assert page.inner_text("#world") == "world 0: not open, not tail"


def test_the_signs_of_a_picture_are_explained(visit: Any) -> None:
    page = visit("coin")
    page.click("#on")
    agents, signs, everywhere, changed = page.locator("#key li").all_inner_texts()
    assert agents == "Agents:● a● b"
    assert re.findall(r"[A-Z][a-z ]+(?=:)", signs) == ["Double frame", "Dot in a box", "Line", "Arrow"]
    assert everywhere == "True everywhere: open"
    assert changed.startswith("Changed: other facts (+ now true")
    blue = page.locator("#key .dot").first.evaluate("dot => getComputedStyle(dot).color")
    assert blue == "rgb({}, {}, {})".format(*bytes.fromhex(PALETTE[0][1:]))
    assert page.locator("#picture .node text").filter(has_text="●").first.get_attribute("fill") == PALETTE[0].lower()


@pytest.mark.parametrize("name", ["coin", "box", "secrets", "toss"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_text_of_pictures_can_be_read(visit: Any, name: str, scheme: str) -> None:
    """It is 11 pixels high on a phone, and in contrast to the box that it stands in."""
    page = visit(name, viewport=NARROW, color_scheme=scheme)
    page.keyboard.press("End")
    size = min(page.eval_on_selector_all("#picture text", SIZES))
    assert size >= 10.9
    colours = page.eval_on_selector_all("#picture .node", COLOURS)
    assert colours
    assert min(contrast(as_shown(text, scheme), as_shown(box, scheme)) for text, box in colours) >= 4.5
    picture, place = (page.locator(name).bounding_box() for name in ("#picture svg", "#picture"))
    assert picture["width"] > 0.95 * place["width"] or size > 18  # it fills its place, or is large
    assert page.eval_on_selector("#picture .graph > polygon", "one => getComputedStyle(one).fill") == "none"


SIZES = """texts => texts.map(text =>
    parseFloat(getComputedStyle(text).fontSize) * Math.abs(text.getScreenCTM().a))"""
COLOURS = """boxes => boxes.flatMap(box => [...box.querySelectorAll("text")].filter(text => text.textContent !== "●")
    .map(text => [getComputedStyle(text).fill, getComputedStyle(box.querySelector("path, polygon")).fill]))"""


def as_shown(colour: str, scheme: str) -> list[float]:
    """The channels of a colour, from 0 to 1; a page in the dark turns those of pictures round."""
    red, green, blue = (int(channel) / 255 for channel in re.findall(r"\d+", colour)[:3])
    if scheme == "light":
        return [red, green, blue]
    grey = 2 * (0.213 * red + 0.715 * green + 0.072 * blue)  # the hue turned by half a circle
    return [min(max(0.9 - 0.8 * (grey - channel), 0), 1) for channel in (red, green, blue)]


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast ratio of two colours by the Web Content Accessibility Guidelines."""
    linear = ([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour] for colour in (one, other))
    dark, light = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in linear)
    return (light + 0.05) / (dark + 0.05)


def test_large_e_states_are_told_by_agent(visit: Any) -> None:
    page = visit("children")
    assert page.inner_text("#size") == "511 worlds"
    first = page.locator("#by-agent tbody tr").first
    assert first.locator("th, td").all_inner_texts() == [
        "c1", "2", ", ".join(f"muddy_c{child}" for child in range(2, 10)), "muddy_c1"
    ]  # fmt: skip
    assert page.locator("#picture svg").count() == 0


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("size", "scheme"), [(NARROW, "dark"), (WIDE, "light")], ids=["narrow", "wide"])
def test_it_fits_the_width_and_the_colour_scheme(visit: Any, name: str, size: dict[str, int], scheme: str) -> None:
    page = visit(name, viewport=size, color_scheme=scheme)
    page.keyboard.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    ground, ink = page.evaluate("(style => [style.backgroundColor, style.color])(getComputedStyle(document.body))")
    channels = [int(colour[4:].split(",")[0]) for colour in (ground, ink)]
    assert (channels[0] > 200 > 60 > channels[1]) if scheme == "light" else (channels[0] < 60 < 200 < channels[1])


def branches(page: Any, number: int) -> list[str]:
    """The texts of the outcomes of a branching, each with the steps after it."""
    items = page.locator("#plan .branches > ul").nth(number).locator(":scope > li > ol")
    return [" ".join(item.inner_text().split()) for item in items.all()]


def test_a_policy_is_a_tree_of_its_outcomes(visit: Any) -> None:
    page = visit("robots", viewport=WIDE)
    yes, no = branches(page, 0)
    assert yes.startswith(
        "2. bell: yes 3. ask_r1: yes 4. repair_r1 3. ask_r1: no 4. ask_r2: yes 5. repair_r2 4. ask_r2: no"
    )
    assert no.startswith("2. bell: no 3. bell: yes 4. ask_r1: yes")
    steps = page.locator("#plan button").count() - 1
    assert (
        page.inner_text("#summary") == f"3 agents, 3 facts, {steps} steps on all branches; the policy reaches the goal"
    )
    assert page.inner_text("#shown") == f"The branch that is shown has 4 of the {steps} steps."
    assert page.inner_text("#count") == "0 / 4"
    page.get_by_role("button", name="5. repair_r3").first.click()  # of another branch
    assert (page.inner_text("#count"), page.inner_text("#happened")) == ("5 / 5", "Step 5: repair_r3")
    assert page.locator("#plan button:not(.other)").all_inner_texts() == [
        "start", "1. announce", "2. bell: yes", "3. ask_r1: no", "4. ask_r2: no", "5. repair_r3"
    ]  # fmt: skip


def test_a_branch_that_returns_says_where(visit: Any) -> None:
    page = visit("toss")
    assert branches(page, 0) == ["1. toss: heads", "1. toss: tails goes on as after start"]
    page.get_by_role("button", name="1. toss: tails").click()
    assert branches(page, 1) == ["2. toss: heads", "2. toss: tails goes on as after 1. toss: tails"]
    assert page.inner_text("#count") == "1 / 2"


def test_other_branches_of_a_large_policy_end_with_their_next_action(visit: Any) -> None:
    page = visit("more_robots", viewport=WIDE)
    assert branches(page, 0)[1] == "2. bell: no then bell …"
    assert branches(page, 1) == ["3. ask_r1: yes 4. repair_r1", "3. ask_r1: no then ask_r2 …"]
    page.get_by_role("button", name="2. bell: no").click()
    assert branches(page, 0)[0] == "2. bell: yes then ask_r1 …"
    assert branches(page, 0)[1].startswith("2. bell: no 3. bell: yes 4. ask_r1: yes")


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_branches_of_a_policy_are_chosen(visit: Any, size: dict[str, int]) -> None:
    page = visit("robots", viewport=size)
    assert page.inner_text("#summary").endswith("; the policy reaches the goal")
    assert page.inner_text("#plan-title") == "Policy"
    assert "2. bell: no" in page.locator("#plan .branches button[aria-pressed=false]").all_inner_texts()
    page.click("#last")
    assert page.locator("#goal .done").count() == 3
    page.get_by_role("button", name="2. bell: no").click()
    assert page.inner_text("#happened") == "Step 2: bell: no"
    assert page.evaluate("document.activeElement.innerText") == "2. bell: no"
    assert page.locator("#plan [aria-current]").all_inner_texts() == ["2. bell: no"]
    page.click("#last")
    assert page.locator("#goal .done").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
