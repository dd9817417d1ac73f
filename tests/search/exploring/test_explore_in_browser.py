"""The served page in a browser: acting, going back, asking, solving. Needs Playwright and a Chromium, else skipped."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from epigym import Reading, StateSpace, load_problem
from epigym.language import parse_mastar
from epigym.task.formula import fluent
from search.agents.limits import Limits
from search.exploring.app import make_app
from search.exploring.exploration import Exploration
from search.exploring.server import find_address, serve
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from tests.helpers.sensing import looking
from tests.helpers.serving import in_thread
from tests.helpers.tasks import COIN, DELUDED

pytestmark = pytest.mark.slow

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
LAMP = Reading(domain_file="docs/epddl/lamp.epddl", libraries=("docs/epddl/kinds.epddl",))
PROBLEMS = {
    "coin": lambda: parse_mastar(COIN),
    "box": lambda: load_problem("coin_in_the_box/pl_7"),
    "children": lambda: load_problem("active_muddy_child/amc_09_09_muddy"),
    "hopeless": lambda: parse_mastar(COIN.replace("shout if B(a, tail), tail", "shout if tail, -tail")),
    "deluded": lambda: parse_mastar(DELUDED),
    "crowded": lambda: parse_mastar(CROWDED),
    "looking": lambda: looking((fluent("q"), "sees")),
    "endless": lambda: load_problem("grapevine/scaling_15"),
    "lamp": lambda: load_problem("docs/epddl/lamp-1.epddl", LAMP),
}
MANY = [f"push_{number}" for number in range(250)]
CROWDED = (
    f"fluent p, q; action {', '.join(MANY)}; agent a; initially C([a], -p), C([a], -q), -p, -q; goal q; "
    + " ".join(f"{name} causes p; a observes {name};" for name in MANY)
)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """The addresses of some problems."""
    with ExitStack() as stack:
        found = {}
        for name, load in PROBLEMS.items():
            space = StateSpace(load())
            exploration = Exploration(space, make_heuristic("h_ff", space))
            app = make_app(exploration, Configuration.of("bfs"), Limits(time_limit=600.0))
            server = stack.enter_context(serve(app, "127.0.0.1", 0))
            stack.enter_context(in_thread(server))
            found[name] = find_address(server)
        yield found


@pytest.fixture
def visit(open_page: Any, servers: dict[str, str]) -> Any:
    """Opens the page of a problem at a path."""
    return lambda name, path="", **options: open_page(servers[name] + path, **options)


def take(page: Any, action: str) -> None:
    page.get_by_role("link", name=action, exact=True).click()
    wait(page, "#happened", f": {re.escape(action)}$")


def rows(page: Any) -> list[list[str]]:
    """The actions that are listed, without their last column."""
    page.wait_for_selector("#actions tbody tr")
    lines: list[list[str]] = page.eval_on_selector_all(
        "#actions > table > tbody > tr:not(.if)",
        "lines => lines.map(line => [...line.cells].slice(0, -1).map(cell => cell.innerText))",
    )
    return lines


def wait(page: Any, selector: str, text: str) -> None:
    """Wait until an element has a text."""
    page.locator(selector, has_text=re.compile(text)).first.wait_for()


def test_actions_are_taken_and_undone_and_the_address_tells_them(visit: Any, servers: dict[str, str]) -> None:
    page = visit("coin")
    assert page.inner_text("#happened") == "At the start"
    assert page.get_attribute("#undo", "href") is None
    take(page, "lift")
    take(page, "look")
    page.wait_for_url(servers["coin"] + "?after=lift,look")
    assert page.locator("#who li").all_inner_texts() == ["● a saw it", "◐ b noticed it"]
    assert rows(page) == [["look", "1", "same e-state"], ["shout", "0", "goal"]]
    page.click("#undo")
    wait(page, "#happened", "Step 1: lift")
    page.wait_for_url(servers["coin"] + "?after=lift")
    take(page, "look")
    take(page, "shout")
    assert page.inner_text("#told") == "The goal is reached here."


@pytest.mark.parametrize(
    ("name", "summary"), [("crowded", "1 agent, 2 facts, 250 actions"), ("looking", "2 agents, 2 facts, 1 action")]
)
def test_the_problem_is_summed_up(visit: Any, name: str, summary: str) -> None:
    assert visit(name).inner_text("#summary") == summary


def test_the_browser_goes_back_and_forth(visit: Any, servers: dict[str, str]) -> None:
    page = visit("coin")
    take(page, "lift")
    take(page, "look")
    page.go_back()
    wait(page, "#happened", "Step 1: lift")
    assert rows(page)[0][0] == "look"
    page.go_back()
    wait(page, "#happened", "At the start")
    page.go_forward()
    wait(page, "#happened", "Step 1: lift")
    page.reload()
    assert page.inner_text("#happened") == "Step 1: lift"


@pytest.mark.parametrize(("step", "shown"), [("abc", 3), ("1.5", 1), ("7", 3), ("-1", 0)])
def test_a_step_that_does_not_exist_is_the_nearest_or_the_last(visit: Any, step: str, shown: int) -> None:
    page = visit("coin", f"?after=lift,look,shout&step={step}")
    wait(page, "#count", f"^{shown} / 3$")
    assert rows(page)


def test_the_step_that_is_shown_is_where_actions_are_taken(visit: Any, servers: dict[str, str]) -> None:
    page = visit("coin", "?after=lift,look,shout")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#happened") == "Step 1: lift"
    page.wait_for_url(servers["coin"] + "?after=lift,look,shout&step=1")
    assert page.inner_text("#told") == "2 actions go on from here and reach the goal:"
    assert page.locator("#rest a").all_inner_texts() == ["look", "shout"]
    wait(page, "#actions [aria-current]", "look")
    page.reload()
    assert page.inner_text("#happened") == "Step 1: lift"
    page.locator("#rest a").first.click()
    wait(page, "#happened", "Step 2: look")
    page.click("#undo")  # one action: those that go on from there stay
    wait(page, "#happened", "Step 1: lift")
    page.wait_for_url(servers["coin"] + "?after=lift,look,shout&step=1")
    assert page.locator("#rest a").all_inner_texts() == ["look", "shout"]


def test_the_focus_stays_in_the_list_of_actions(visit: Any) -> None:
    page = visit("coin")
    page.get_by_role("link", name="lift", exact=True).focus()
    page.keyboard.press("Enter")
    wait(page, "#happened", "Step 1: lift")
    page.wait_for_selector("#actions:focus", state="attached")
    page.wait_for_selector("#actions tbody tr")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#actions tr').textContent.startsWith('look')")
    page.focus("#undo")
    page.keyboard.press("Enter")
    wait(page, "#happened", "At the start")
    page.wait_for_selector("#actions:focus", state="attached")  # nothing more can be undone
    take(page, "lift")
    assert page.evaluate("document.activeElement === document.body")  # a pointer needs no focus


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_a_large_e_state_has_no_scroll_bar_of_its_own(visit: Any, size: dict[str, int]) -> None:
    page = visit("children", viewport=size)
    assert page.eval_on_selector(
        "#picture", "one => [one.scrollHeight - one.clientHeight, one.scrollWidth - one.clientWidth]"
    ) == [0, 0]


def test_actions_are_filtered_and_sorted(visit: Any) -> None:
    page = visit("box", "?after=open_a,signal_a_b")
    assert ["∞", "no relaxed plan"] in [row[1:] for row in rows(page)]
    page = visit("box", "?after=open_a,peek_a")
    assert [row[:2] for row in rows(page)] == [
        ["open_a", "3"], ["peek_a", "3"], ["signal_a_b", "2"], ["signal_a_c", "2"], ["shout_tail_a", "3"]
    ]  # fmt: skip
    page.check("#sorted")
    assert [row[0] for row in rows(page)] == ["signal_a_b", "signal_a_c", "open_a", "peek_a", "shout_tail_a"]
    page.fill("#filter", "A_C sig")
    assert [row[0] for row in rows(page)] == ["signal_a_c"]
    assert page.inner_text("#listed") == "5 of 21 actions can be taken, 1 fit"
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#happened") == "Step 2: peek_a"  # keys belong to the filter
    page.keyboard.press("Enter")
    wait(page, "#happened", "Step 3: signal_a_c")
    assert page.is_checked("#sorted")


def test_of_many_actions_the_first_are_listed_and_any_is_found(visit: Any) -> None:
    page = visit("crowded")
    assert len(rows(page)) == 200
    told = "250 of 250 actions can be taken, the first 200 are listed: filter for others"
    assert page.inner_text("#listed") == told
    page.fill("#filter", "push_249")
    assert [row[0] for row in rows(page)] == ["push_249"]


def test_what_would_be_believed_is_one_click_away(visit: Any) -> None:
    page = visit("box", "?after=open_a")
    what = page.get_by_role("button", name="what agents would believe after peek_a")
    what.click()
    page.wait_for_selector(".if table")
    assert page.locator(".if tbody td").all_inner_texts() == ["a", "tail", "unsure", "true"]
    assert page.inner_text(".if .note") == "nothing changes for b, c"
    assert page.inner_text("#happened") == "Step 1: open_a"
    what.focus()
    page.keyboard.press("Enter")
    assert page.locator(".if").count() == 0
    page.get_by_role("button", name="what agents would believe after open_a").click()
    wait(page, ".if", "After open_a all believe about facts what they do now.")


def test_who_will_know_whether_a_fact_holds_is_told(visit: Any) -> None:
    page = visit("lamp")
    page.get_by_role("button", name="what agents would believe after look_Ann").first.click()
    page.wait_for_selector(".if table")
    assert page.locator(".if tbody td").all_inner_texts() == ["Ann", "lit", "unsure", "sure whether"]
    take(page, "look_Ann")
    page.get_by_role("button", name="as Ann sees it").click()
    assert page.locator("#beliefs td").first.inner_text() == "sure whether"


def test_the_e_state_is_shown_in_the_eyes_of_an_agent(visit: Any) -> None:
    page = visit("box", "?after=open_a,peek_a")
    assert page.locator("#picture .node").count() == 3
    page.get_by_role("button", name="as b sees it").click()
    wait(page, "#size", "as b sees it: 2 worlds")
    assert page.locator("#picture .designated").count() == 2
    assert page.inner_text("#path [aria-current]") == "b believes"
    page.get_by_role("button", name="what b believes that a believes").click()
    wait(page, "#size", "as b believes that a sees it: 2 worlds")
    page.get_by_role("button", name="in fact").first.click()
    wait(page, "#size", "^3 worlds")
    assert page.locator("#picture .node").count() == 3


def test_what_is_asked_stays_while_one_sees_with_other_eyes(visit: Any) -> None:
    page = visit("box", "?after=open_a,peek_a")
    page.get_by_role("button", name="what agents would believe after signal_a_b").click()
    page.wait_for_selector(".if table")
    page.get_by_role("button", name="as b sees it").click()
    wait(page, "#size", "as b sees it")
    assert page.locator(".if table").count() == 1
    assert page.evaluate("document.activeElement.textContent") == "b"


def test_who_believes_everything_is_told(visit: Any) -> None:
    page = visit("deluded", "?after=flip,shout")
    page.get_by_role("button", name="as b sees it").click()
    wait(page, "#picture", "Here b considers no world possible and believes everything.")
    assert [page.inner_text(f"#{name}") for name in ("size", "key", "world")] == ["", "", ""]


def test_a_plan_is_found_and_walked(visit: Any, servers: dict[str, str]) -> None:
    page = visit("coin", "?after=lift")
    page.click("#solve")
    page.wait_for_url("**/*after=lift,look,shout&step=1")
    assert page.inner_text("#told") == "2 actions go on from here and reach the goal:"
    page.keyboard.press("End")
    assert page.locator("#goal .done").count() == 2
    page.go_back()
    wait(page, "#happened", "Step 1: lift")
    page.wait_for_url(servers["coin"] + "?after=lift")


def test_a_plan_that_is_late_does_not_move_the_page(visit: Any, servers: dict[str, str]) -> None:
    page = visit("coin", "?after=lift,look&step=1")
    page.evaluate("solve(); visit(2)")  # the answer is there only after the step
    page.wait_for_selector("#told a")
    assert page.inner_text("#happened") == "Step 2: look"
    page.keyboard.press("Home")
    page.get_by_role("link", name="show the plan from step 1").click()
    page.wait_for_url("**/*after=lift,look,shout&step=1")


def test_the_focus_stays_with_the_search(visit: Any) -> None:
    page = visit("endless")
    page.locator("#solve").press("Enter")
    wait(page, "#told", "Searching with bfs")
    assert page.evaluate("document.activeElement.id") == "stop"
    page.keyboard.press("Enter")
    wait(page, "#told", "The search was stopped.")
    assert page.evaluate("document.activeElement.id") == "solve"


def test_why_there_is_no_plan_is_told(visit: Any) -> None:
    page = visit("hopeless", "?after=lift")
    page.click("#solve")
    wait(page, "#told", "unsolvable: no plan leads from here to the goal, says bfs")
    assert page.inner_text("#happened") == "Step 1: lift"


def test_one_looks_around_while_it_searches_and_stops_it(visit: Any) -> None:
    page = visit("endless")
    page.click("#solve")
    wait(page, "#told", "Searching with bfs, for at most 600 s")
    page.get_by_role("button", name="what agents would believe after").first.click()
    page.wait_for_selector(".if")
    page.click("#stop")
    wait(page, "#told", "The search was stopped.")
    assert page.is_enabled("#solve")


@pytest.mark.parametrize("name", ["box", "children", "endless"])
@pytest.mark.parametrize(("size", "scheme"), [(NARROW, "dark"), (WIDE, "light")], ids=["narrow", "wide"])
def test_it_fits_the_width(visit: Any, name: str, size: dict[str, int], scheme: str) -> None:
    page = visit(name, viewport=size, color_scheme=scheme)
    rows(page)
    page.locator("#actions button").first.click()
    page.wait_for_selector(".if")
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_names_of_actions_break_between_their_parts(visit: Any) -> None:
    page = visit("box", "?after=open_a,peek_a", viewport=NARROW | {"width": 320})
    rows(page)
    name = page.get_by_role("link", name="shout_tail_a")
    lines = name.evaluate(
        """link => [...link.childNodes].filter(part => part.data).map(part => {
            const range = document.createRange();
            range.selectNode(part);
            return range.getClientRects().length;
        })"""
    )
    assert lines == [1, 1, 1]


def test_an_outcome_is_chosen_like_an_action(visit: Any) -> None:
    page = visit("looking")
    assert [name for name, *_ in rows(page)] == ["look: yes (b sees)", "look: yes (b misses)", "look: no"]
    assert page.inner_text("#listed") == "1 of 1 actions can be taken"
    take(page, "look: yes (b sees)")
    assert page.locator("#who li").all_inner_texts() == ["● a saw it", "● b saw it"]
    page.reload()
    assert page.inner_text("#happened") == "Step 1: look: yes (b sees)"
    assert page.locator("#plan button").all_inner_texts() == ["start", "1. look: yes (b sees)"]
