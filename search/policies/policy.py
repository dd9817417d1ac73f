"""`Policy`: a graph of nodes that maps e-states to actions, and its files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from epigym.config.values import make
from epigym.errors import EpigymError, UsageError
from epigym.io.files import read, read_json, require_kind, write_json, write_text
from epigym.reference import semantics as reference
from epigym.space.branching import Outcome, event_name, outcomes_of
from epigym.space.kripke_model import KripkeModel
from epigym.space.space import StateSpace
from epigym.task.task import EState, Task
from search.policies.graph import Choices
from search.policies.validation import Branch, Node, PolicyValidation, execute, sort_nodes

Value = TypeVar("Value")
MOST_TREE_NODES = 100_000
"""The most nodes of a tree that is written."""
MOST_TREE_DEPTH = 200
"""The most levels of such a tree: Python reads and writes JSON recursively."""
_ENDINGS = (".json", ".html", ".dot")


@dataclass(frozen=True)
class Policy:
    """A conditional plan: nodes stand for e-states, the first one for the initial e-state.

    Attributes:
        task: the task that the policy solves.
        nodes: the nodes; branches refer to them by number.
        is_cyclic: whether executions may return to an e-state, so that they reach the goal only if each outcome happens
            eventually (strong cyclic); otherwise every execution reaches the goal (strong).
    """

    task: Task = field(repr=False)
    nodes: tuple[Node, ...]
    is_cyclic: bool = False

    @classmethod
    def of(cls, space: StateSpace, choice: Choices, *, is_cyclic: bool = False) -> Policy:
        """Make the policy that takes the chosen actions from the initial e-state of `space` on."""
        number, order, nodes = {space.initial: 0}, [space.initial], list[Node]()
        for state in order:
            outcomes = outcomes_of(space, state, choice[state]) if state in choice else []
            for _, target in outcomes:
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
            branches = tuple(Branch(outcome.event, number[target], outcome.types) for outcome, target in outcomes)
            nodes.append(Node(space.task.actions[choice[state]].name if outcomes else None, branches))
        return cls(space.task, tuple(nodes), is_cyclic)

    @classmethod
    def read(cls, task: Task, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file: numbered nodes, or a tree, see `to_dict` and `to_tree`.

        Raises:
            MissingError: when there is no such file.
            EpigymError: when the file is no policy; the message names the location.
        """
        content = read_json(path, "a policy")
        require_kind(path, content, "policy")
        return cls.from_dict(task, content, str(path))

    @classmethod
    def from_dict(cls, task: Task, content: Any, where: str = "policy") -> Policy:
        """Make a policy of values such as `to_dict` and `to_tree` return; errors as `read`, which name `where`."""
        return cls(task, *_read_nodes(content, where))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file: `.html` is a page to step through, `.dot` for Graphviz, `.tree.json` a tree, others are nodes.

        Raises:
            EpigymError: when a tree would be too large, see `to_tree`.
            OSError: when the file cannot be written.
        """
        name = Path(path).name
        if name.endswith(".html"):
            from epigym.drawing.page import render_policy_page  # imports networkx, which takes a tenth of a second

            write_text(path, render_policy_page(StateSpace(self.task), self.act))
        elif name.endswith(".dot"):
            write_text(path, self.to_dot())
        else:
            write_json(path, self.to_tree() if name.endswith(".tree.json") else self.to_dict(), indent=1)

    def to_dict(self) -> dict[str, Any]:
        """Numbered nodes, each with its action and its branches, as JSON values."""
        nodes = [
            {"action": node.action, "branches": [_describe(branch, next=branch.next) for branch in node.branches]}
            for node in self.nodes
        ]
        return {"policy": "cyclic" if self.is_cyclic else "strong", "nodes": nodes}

    def to_tree(self, most: int = MOST_TREE_NODES) -> dict[str, Any] | None:
        """Nested `{"action", "branches": [{"event", "subtree"}]}`; a goal is null.

        Raises:
            EpigymError: when there is a cycle, or the tree has more than `most` nodes or `MOST_TREE_DEPTH` levels.
        """
        remedy = "write numbered nodes, a file without .tree in its name"
        try:
            depth = self._fold(_measure_depth)
        except EpigymError as error:
            raise EpigymError(f"the policy is no tree: {error}: {remedy}") from None
        size = self._fold(lambda _, below: 1 + sum(below))
        for name, number, limit in (("levels", depth, MOST_TREE_DEPTH), ("nodes", size, most)):
            if number > limit:
                raise EpigymError(f"as a tree the policy has {number} {name}, more than {limit}: {remedy}")
        return self._fold(_build_tree)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz: actions as boxes, goals as circles, events at the edges."""
        lines, quote = ["digraph policy {"], partial(json.dumps, ensure_ascii=False)
        for k, node in enumerate(self.nodes):
            lines.append(f"  {k} [shape={'box' if node.action else 'circle'}, label={quote(node.action or '')}];")
            for branch in node.branches:
                lines.append(f"  {k} -> {branch.next} [label={quote(self._label(node, branch))}];")
        return "\n".join([*lines, "}", ""])

    def lines(self, most: int) -> Iterator[str]:
        """The first nodes as text: number, action, and the events with the nodes that follow."""
        for k, node in enumerate(self.nodes[:most]):
            labels = ((self._label(node, branch), branch.next) for branch in node.branches)
            following = ", ".join(f"{label}: {number}" if label else str(number) for label, number in labels)
            yield f"{k:2d}. {node.action} → {following}" if node.action else f"{k:2d}. goal"
        if len(self.nodes) > most:
            yield f"… and {len(self.nodes) - most} more: policy_file writes all"

    def _label(self, node: Node, branch: Branch) -> str:
        """The event of a branch, with types where several branches have that event; empty for a single branch."""
        if len(node.branches) == 1:
            return ""
        events = next((action.events for action in self.task.actions if action.name == node.action), ())
        name = event_name(events, branch.event) if branch.event < len(events) else f"event {branch.event}"
        return str(Outcome(branch.event, 0, name, branch.types))

    @property
    def leaves(self) -> int:
        """The number of goal nodes."""
        return sum(node.action is None for node in self.nodes)

    @cached_property
    def depth(self) -> int | None:
        """The number of actions of the longest execution; None for a cyclic policy.

        Raises:
            EpigymError: when a strong policy has a cycle.
        """
        return None if self.is_cyclic else self._fold(_measure_depth)

    def _fold(self, combine: Callable[[Node, list[Value]], Value]) -> Value:
        """Compute the value of the first node; `combine` takes a node and the values of the nodes that follow it.

        Raises:
            EpigymError: when there is a cycle.
        """
        values: dict[int, Value] = {}
        for k in sort_nodes(self.nodes):
            values[k] = combine(self.nodes[k], [values[branch.next] for branch in self.nodes[k].branches])
        return values[0]

    def validate(self, consistent_beliefs: bool = False) -> PolicyValidation:
        """Execute every branch by the reference, see `search.policies.validation.execute`."""
        return execute(self.task, self.nodes, is_cyclic=self.is_cyclic, consistent_beliefs=consistent_beliefs)

    def act(self, estate: EState | KripkeModel) -> str:
        """The name of the action to take in an e-state.

        Raises:
            UsageError: when no execution of the policy reaches the e-state, the e-state is a goal, or the policy is not
                valid.
        """
        state = estate.state if isinstance(estate, KripkeModel) else estate
        number = self._node_of.get(reference.canonical(state, self.task.fluents))
        if number is None:
            raise UsageError("no execution of the policy reaches this e-state")
        if (action := self.nodes[number].action) is None:
            raise UsageError("the policy has no action in this e-state: it is a goal")
        return action

    @cached_property
    def _node_of(self) -> dict[reference.CanonicalForm, int]:
        """Maps each e-state to its node, to the first of several in the order of `forms`, so that executions end."""
        validation = self.validate()
        if not validation.valid:
            raise UsageError(f"the policy is not valid: {validation.reason}")
        return {form: k for k, form in reversed(list(validation.forms.items()))}


def _measure_depth(_: Node, below: list[int]) -> int:
    """The number of actions of the longest execution from a node on."""
    return 1 + max(below, default=-1)


def _build_tree(node: Node, below: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """The tree of a node, with the trees of the nodes that follow it."""
    branches = [_describe(branch, subtree=tree) for branch, tree in zip(node.branches, below, strict=True)]
    return {"action": node.action, "branches": branches} if branches else None


def _describe(branch: Branch, **following: Any) -> dict[str, Any]:
    """A branch as a JSON object, with the number or the tree of the node that follows."""
    return {"event": branch.event, **({"types": dict(branch.types)} if branch.types else {}), **following}


def check_policy_file(file: str | os.PathLike[str]) -> None:
    """Refuse a name that says no kind of file, and to replace a file that is no policy.

    Raises:
        UsageError: when `file` has another ending than those of `Policy.write`, or exists and is no policy.
    """
    path = Path(file)
    if path.suffix not in _ENDINGS:
        raise UsageError(f"{path}: the name of a policy ends in {', '.join(_ENDINGS)}")
    if not path.exists():
        return
    with suppress(EpigymError):
        text = read(path)
        if not text.startswith("digraph policy") and '<meta name="generator" content="epigym">' not in text:
            _read_nodes(read_json(path), "")
        return
    raise UsageError(f"{path} exists and is not a policy: name another file, or remove it")


@dataclass(frozen=True, slots=True)
class _PolicyFile:
    nodes: tuple[Node, ...]
    policy: Literal["strong", "cyclic"] = "strong"


def _read_nodes(content: Any, where: str) -> tuple[tuple[Node, ...], bool]:
    """Check the content of a policy file; returns the nodes, and whether the policy is cyclic."""
    if not isinstance(content, dict) or "nodes" not in content:
        content = {"nodes": _number_nodes(content, where)}
    try:
        file = make(_PolicyFile, content)
    except EpigymError as error:
        raise EpigymError(f"{where}: {error}") from None
    if not file.nodes:
        raise EpigymError(f"{where}: nodes: expected one node or more")
    last = len(file.nodes) - 1
    for k, node in enumerate(file.nodes):
        if (node.action is None) is bool(node.branches):
            raise EpigymError(f"{where}: nodes[{k}]: a goal has no branches, any other node one or more")
        if (following := max((branch.next for branch in node.branches), default=0)) > last:
            raise EpigymError(f"{where}: nodes[{k}]: expected nodes 0 to {last} as next, got {following}")
    return _drop_unreachable(file.nodes), file.policy == "cyclic"


def _drop_unreachable(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes that executions can reach, renumbered in their order."""
    reached = {0: None}
    queue = [0]
    for number in queue:
        new = [branch.next for branch in nodes[number].branches if branch.next not in reached]
        reached |= dict.fromkeys(new)
        queue += dict.fromkeys(new)
    place = {number: k for k, number in enumerate(sorted(reached))}
    return tuple(
        Node(node.action, tuple(replace(branch, next=place[branch.next]) for branch in node.branches))
        for number, node in enumerate(nodes)
        if number in place
    )


def _number_nodes(tree: Any, where: str) -> list[Any]:
    """Convert a tree to numbered nodes; `_read_nodes` checks their actions and events."""
    nodes, trees = list[Any](), [tree]
    for number, one in enumerate(trees):
        branches = [] if one in (None, {}) else one.get("branches") if isinstance(one, dict) else None
        if not isinstance(branches, list) or not all(isinstance(each, dict) and "subtree" in each for each in branches):
            expected = f"{where}: subtree {number}: expected" if number else f'{where}: expected {{"nodes"}} or a tree,'
            raise EpigymError(f'{expected} {{"action", "branches": [{{"event", "subtree"}}]}} or null at a goal')
        branches = [branch | {"next": place} for place, branch in enumerate(branches, len(trees))]
        trees += [branch.pop("subtree") for branch in branches]
        nodes.append((one or {}) | {"branches": branches})
    return nodes
