"""Policies: files, actions in e-states, and validation."""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epigym.errors import EpigymError, UsageError
from epigym.reference import semantics as reference
from epigym.space.space import StateSpace
from epigym.task.formula import fluent, knows_whether
from epigym.task.task import EState, Event, Task
from search.agents.limits import Limits
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.policy import Policy, check_policy_file
from search.policies.policy_search import PolicySearch
from search.policies.validation import Branch, Node
from tests.epigym.space.test_outcomes import ignorant, look
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.policy_tasks import random_task
from tests.helpers.sensing import looking
from tests.search.policies.test_policy_search import dice


def find(task: Task, *, cyclic: bool = False, consistent_beliefs: bool = True) -> Policy | None:
    space = StateSpace(task, consistent_beliefs=consistent_beliefs)
    search = PolicySearch(space, RelaxedPlan(space), Limits(max_expanded=500).start())
    return search.make_policy() if (search.find_strong_cyclic() if cyclic else search.find_strong()) else None


@pytest.fixture(scope="module")
def robots() -> Policy:
    found = find(muddy_robots(3))
    assert found is not None
    return found


def test_files_are_read_back(robots: Policy, tmp_path: Path) -> None:
    robots.write(tmp_path / "policy.json")
    assert Policy.read(robots.task, tmp_path / "policy.json") == robots
    robots.write(tmp_path / "policy.tree.json")
    tree = Policy.read(robots.task, tmp_path / "policy.tree.json")
    assert (tree.depth, tree.to_tree()) == (robots.depth, robots.to_tree())
    assert len(tree.nodes) > len(robots.nodes)
    assert tree.validate().valid
    robots.write(tmp_path / "policy.dot")
    text = (tmp_path / "policy.dot").read_text()
    assert text.startswith("digraph policy {\n  0 [shape=box, label=")
    assert text.count("->") == sum(len(node.branches) for node in robots.nodes)


def test_a_tree_has_a_size_limit(robots: Policy) -> None:
    with pytest.raises(EpigymError, match=r"tree .* \d+ nodes, more than 20: write numbered nodes"):
        robots.to_tree(20)
    cyclic = find(dice(), cyclic=True)
    with pytest.raises(EpigymError, match="it has a cycle: nodes 0 → 0: write numbered nodes"):
        cyclic.to_tree()
    assert Policy.from_dict(dice(), cyclic.to_dict()) == cyclic


def test_types_tell_branches_of_one_event_apart() -> None:
    sees_if_q = look((fluent("q"), "sees"))
    task = ignorant(sees_if_q, ("p", "pq", "q"))
    found = find(task)
    first = [(branch.event, dict(branch.types)) for branch in found.nodes[0].branches]
    assert first == [(0, {"b": "sees"}), (0, {"b": "misses"}), (1, {})]
    assert next(found.lines(1)) == " 0. look → yes (b sees): 1, yes (b misses): 2, no: 3"  # as outcomes elsewhere
    assert Policy.from_dict(task, json.loads(json.dumps(found.to_dict()))) == found
    assert found.validate().valid
    swapped = replace(found, nodes=(Node("look", found.nodes[0].branches[1:]), *found.nodes[1:]))
    assert "observability assignment" not in swapped.validate().reason
    assert "event 0 has 0 branches" in swapped.validate().reason


def executions(task: Task, policy: Policy) -> Iterator[tuple[EState, str | None]]:
    """Every e-state that the policy reaches, with its action, computed by the reference."""
    actions = {action.name: action for action in task.actions}
    queue, seen = [task.initial], set[reference.CanonicalForm]()
    for estate in queue:
        form = reference.canonical(estate, task.fluents)
        if form in seen:
            continue
        seen.add(form)
        if all(reference.subgoals(task, estate)):
            yield estate, None
            continue
        name = policy.act(estate)
        yield estate, name
        queue += [one.estate.estate() for one in reference.outcomes(task, estate, actions[name])]


def test_actions_of_a_tree(robots: Policy) -> None:
    met = [name for _, name in executions(robots.task, robots)]
    assert len(met) == len(robots.nodes)
    assert met.count(None) == robots.leaves == 1
    space = StateSpace(robots.task)
    assert robots.act(space.model(space.initial)) == robots.nodes[0].action
    tree = Policy.from_dict(robots.task, robots.to_tree())
    assert [name for _, name in executions(robots.task, tree)] == met
    task = robots.task
    dark = replace(task.initial, designated=(0,))
    with pytest.raises(UsageError, match="no execution of the policy reaches this e-state"):
        robots.act(dark)
    [goal] = [estate for estate, name in executions(task, robots) if name is None]
    with pytest.raises(UsageError, match="it is a goal"):
        robots.act(goal)


BAD: list[tuple[Any, str]] = [
    ([], 'p.json: expected {"nodes"} or a tree, {"action", "branches": [{"event", "subtree"}]} or null at a goal'),
    ({"policy": "strong", "node": []}, 'p.json: expected {"nodes"} or a tree, {"action", '),
    ({"action": "x", "branches": [{"event": 0}]}, 'p.json: expected {"nodes"} or a tree, {"action", "branches": ['),
    ({"action": "x", "branches": [{"event": 0, "subtree": 3}]}, "p.json: subtree 1: expected {"),
    ({"nodes": []}, "p.json: nodes: expected one node or more"),
    ({"policy": "stong", "nodes": [{}]}, "p.json: unknown policy 'stong': did you mean 'strong'"),
    ({"nodes": [{"acton": "x"}]}, "p.json: unknown setting 'nodes[0].acton': did you mean 'nodes[0].action'"),
    ({"nodes": [{"action": "x"}]}, "p.json: nodes[0]: a goal has no branches, any other node one or more"),
    (
        {"nodes": [{"action": "x", "branches": [{"event": -1, "next": 0}]}]},
        "p.json: nodes[0].branches[0].event=-1: expected at least 0",
    ),
    (
        {"nodes": [{"action": "x", "branches": [{"event": 0, "next": 1}]}]},
        "p.json: nodes[0]: expected nodes 0 to 0 as next, got 1",
    ),
    (
        {"nodes": [{"action": "x", "branches": [{"event": 0, "next": 0, "types": {"a": None}}]}]},
        "p.json: nodes[0].branches[0].types.a=null: expected text",
    ),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_bad_files_are_one_line_with_the_place(content: Any, message: str) -> None:
    with pytest.raises(EpigymError) as caught:
        Policy.from_dict(dice(), content, "p.json")
    assert str(caught.value).startswith(message)
    assert caught.type is EpigymError  # exit code 65: the content of a file is wrong
    assert "\n" not in str(caught.value)


def test_files_of_other_settings_are_named(tmp_path: Path) -> None:
    for text, message in (
        ('["lift"]', "p.json is a plan, not a policy: give it as plan="),
        ('{"planning-task-info": {}}', "p.json is a problem, not a policy: give it as problem="),
        ("", "p.json is empty: expected a policy"),
    ):
        (tmp_path / "p.json").write_text(text)
        with pytest.raises(EpigymError, match=re.escape(message)):
            Policy.read(dice(), tmp_path / "p.json")


def test_validation_names_branch_and_step(robots: Policy) -> None:
    def reason(number: int, change: Callable[[Node], Node]) -> str:
        nodes = list(robots.nodes)
        nodes[number] = change(nodes[number])
        return replace(robots, nodes=tuple(nodes)).validate().reason

    assert [node.action for node in robots.nodes[:2]] == ["announce", "bell"]
    first = "step 2 after announce (event 0): "
    assert reason(1, lambda node: Node("rapair_r1", node.branches)).startswith(first + "unknown action 'rapair_r1'")
    assert reason(1, lambda node: Node(None)).startswith(first + "it ends, but these subgoals do not hold: -lit_r1")
    assert reason(1, lambda node: Node("repair_r1", node.branches)).startswith(first + "action 'repair_r1' is not app")
    assert reason(1, lambda node: replace(node, branches=node.branches[:1])).startswith(first + "action 'bell' with")
    extra = (*robots.nodes[0].branches, Branch(1, 1))
    assert reason(0, lambda node: replace(node, branches=extra)) == (
        "step 1: branch 1 of action 'announce' (event 1) cannot happen"
    )
    back = (Branch(0, 0), *robots.nodes[1].branches[1:])
    assert reason(1, lambda node: replace(node, branches=back)) == "it has a cycle: nodes 0 → 1 → 0"


def test_validation_of_cyclic_policies_needs_a_goal_in_reach() -> None:
    task, again = dice(), Node("throw", (Branch(0, 1), Branch(1, 0)))
    assert Policy(task, (again, Node(None)), is_cyclic=True).validate().valid
    assert Policy(task, (again, Node(None))).validate().reason == "it has a cycle: nodes 0 → 0"
    trap = replace(task, goal=(fluent("broken"),))
    stuck = Policy(trap, (again, Node("throw", (Branch(0, 1), Branch(1, 1)))), is_cyclic=True)
    assert stuck.validate().reason == "step 1: no goal can be reached from here"


def mutations(policy: Policy, rng: random.Random) -> Iterator[Policy]:
    """Variations of a policy that are certainly invalid, as executions of the original visit every node."""
    inner = [k for k, node in enumerate(policy.nodes) if node.action is not None]
    number = rng.choice(inner)
    node = policy.nodes[number]
    k = rng.randrange(len(node.branches))
    branch = node.branches[k]
    rest = (*node.branches[:k], *node.branches[k + 1 :])

    def make_policy(new: Node) -> Policy:
        return replace(policy, nodes=(*policy.nodes[:number], new, *policy.nodes[number + 1 :]))

    yield make_policy(Node(None))
    yield make_policy(replace(node, branches=(*node.branches, branch)))
    yield make_policy(replace(node, branches=(*rest, replace(branch, event=branch.event + 1 + len(node.branches) * 9))))
    yield make_policy(replace(node, branches=(*rest, replace(branch, next=number))))
    yield make_policy(replace(node, action=f"{node.action}_"))
    yield make_policy(replace(node, branches=(*node.branches, replace(branch, event=99))))
    others = [other for other in range(len(policy.nodes)) if other != branch.next]
    yield make_policy(replace(node, branches=(*rest, replace(branch, next=rng.choice(others)))))
    if rest:
        yield make_policy(replace(node, branches=rest))
    goals = [goal for goal, one in enumerate(policy.nodes) if one.action is None]
    if policy.nodes[branch.next].action is not None:
        yield make_policy(replace(node, branches=(*rest, replace(branch, next=rng.choice(goals)))))


def test_mutated_policies_are_refused() -> None:
    rng, refused, seed = random.Random(0), 0, 0
    tasks: list[Task] = [muddy_robots(3), muddy_robots(4)]
    while refused < 500:
        task = tasks[seed] if seed < len(tasks) else random_task(seed)
        seed += 1
        try:
            policy = find(task)
        except EpigymError:
            continue
        if policy is None or len(policy.nodes) == 1:
            continue
        for _ in range(5):
            for mutated in mutations(policy, rng):
                assert not mutated.validate().valid, (seed, mutated)
                refused += 1


def test_act_of_cyclic_policies_brings_the_goal_nearer() -> None:
    """Nodes 0 and 2 stand for one e-state; the first action alone would repeat forever."""
    [throw] = dice().actions
    wait = replace(throw, name="wait", events=(Event("wait"), Event("wait")), designated=(0,))
    task = replace(dice(), actions=(throw, wait))
    again = (Branch(0, 1), Branch(1, 2))
    for first, other in ((Node("throw", again), Node("wait", (Branch(0, 0),))),):
        policy = Policy(task, (first, Node(None), other), is_cyclic=True)
        assert policy.validate().valid
        assert policy.act(task.initial) == "throw"


def test_wrong_policies_are_shown_and_have_no_depth() -> None:
    unknown = Policy(dice(), (Node("fly", (Branch(0, 1), Branch(7, 1))), Node(None)))
    assert 'label="event 7"' in unknown.to_dot()
    assert list(unknown.lines(1)) == [" 0. fly → event 0: 1, event 7: 1", "… and 1 more: policy_file writes all"]
    circle = Policy(dice(), (Node("throw", (Branch(0, 0),)),))
    for ask in (lambda: circle.depth, circle.to_tree):
        with pytest.raises(EpigymError, match="it has a cycle: nodes 0 → 0"):
            ask()


def test_a_tree_has_a_limit_of_levels_that_can_be_read(tmp_path: Path) -> None:
    def chain(depth: int) -> Policy:
        steps = (Node("throw", (Branch(0, k + 1),)) for k in range(depth))
        return Policy(dice(), (*steps, Node(None)))

    file = tmp_path / "policy.tree.json"
    chain(200).write(file)
    assert Policy.read(dice(), file) == chain(200)
    with pytest.raises(EpigymError, match=r"tree .* 201 levels, more than 200: write numbered nodes"):
        chain(201).write(file)


def test_what_no_execution_reaches_is_not_read(robots: Policy, tmp_path: Path) -> None:
    """Not even a cycle there makes a strong policy wrong."""
    content = robots.to_dict()
    shifted = [
        node
        | {"branches": [branch | {"next": branch["next"] + 2 * (branch["next"] > 0)} for branch in node["branches"]]}
        for node in content["nodes"]
    ]
    away = [{"action": "look", "branches": [{"event": 0, "next": after}]} for after in (2, 1)]
    (tmp_path / "policy.json").write_text(json.dumps(content | {"nodes": [shifted[0], *away, *shifted[1:]]}))
    found = Policy.read(robots.task, tmp_path / "policy.json")
    assert found == robots
    assert found.validate().valid
    assert found.depth == robots.depth


@pytest.mark.parametrize("name", ["policy.html", "policy.dot", "policy.json", "policy.tree.json"])
def test_names_of_actions_and_outcomes_may_collide(name: str, tmp_path: Path) -> None:
    """Another action is called as an outcome of `look`, whose events would be numbered as another one is called."""
    task = looking()
    [look] = task.actions
    events = tuple(replace(event, name=name) for event, name in zip(look.events, ("yes", "yes", "yes 0"), strict=True))
    idle = replace(look, name="look: yes 0", designated=(0,), events=(Event("nothing"),) * 3)
    task = replace(task, actions=(idle, replace(look, events=events)), goal=(knows_whether("a", fluent("p")),))
    found = find(task)
    assert found is not None
    found.write(tmp_path / name)
    if name == "policy.html":
        data = re.search(r'<script id="data"[^>]*>(.*?)</script>', (tmp_path / name).read_text())[1]
        first, second = (step["action"] for step in json.loads(data)["steps"][1:])
        assert (first, second) == ("look: yes 0", "look: yes 1")
    elif name != "policy.dot":
        assert Policy.read(task, tmp_path / name).validate().valid


def test_only_policies_are_replaced(robots: Policy, tmp_path: Path) -> None:
    for name in ("policy.json", "policy.tree.json", "policy.dot", "policy.html"):
        robots.write(tmp_path / name)
        check_policy_file(tmp_path / name)
    (tmp_path / "graph.json").write_text('{"nodes": [{"id": 1}], "links": []}')
    (tmp_path / "half.json").write_text('{"nodes": [{"act')
    (tmp_path / "folder.json").mkdir()
    for name in ("p.xml", "policy", "."):
        with pytest.raises(UsageError, match=r"the name of a policy ends in \.json, \.html, \.dot$"):
            check_policy_file(tmp_path / name)
    for name in ("graph.json", "half.json", "folder.json"):
        with pytest.raises(UsageError, match="exists and is not a policy"):
            check_policy_file(tmp_path / name)
