"""Writing mA*: formulas as text, actions as values, and the text of a whole problem.

The domains in mA* describe a problem with the values of this module and leave statements, layout and
declarations to `write`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

_WIDTH = 100


def agent_names(count: int, letters: str = "abcdefghjklmnopqrstuvwxyz") -> tuple[str, ...]:
    """The first `count` agent names: letters, by default without `i` as in the published problems, then `agent26`, ….

    Words such as `at` or `sa` would be mistaken for predicates or secrets.
    """
    return (*letters[:count], *(f"agent{number}" for number in range(len(letters) + 1, count + 1)))


def not_(formula: str) -> str:
    """The negation of a formula."""
    return f"-{formula}" if formula.isidentifier() or _is_modal(formula) else f"-({formula})"


def and_(*formulas: str) -> str:
    """The conjunction of formulas."""
    return ", ".join(formulas)


def or_(*formulas: str) -> str:
    """The disjunction of formulas, in parentheses when there is more than one."""
    return formulas[0] if len(formulas) == 1 else "(" + " | ".join(formulas) + ")"


def believes(agent: str, *formulas: str) -> str:
    """`B`: the agent believes all of the formulas."""
    inner = and_(*formulas)
    return f"B({agent}, {inner if len(formulas) == 1 else f'({inner})'})"


def everybody(agents: Iterable[str], formula: str) -> str:
    """`E`: each of the agents believes the formula."""
    return f"E([{','.join(agents)}], {formula})"


def common(agents: Iterable[str], formula: str) -> str:
    """`C`: the formula is common knowledge among the agents."""
    return f"C([{','.join(agents)}], {formula})"


def knows_whether(agent: str, fluent: str) -> str:
    """The agent believes the fluent or believes its negation."""
    return or_(believes(agent, fluent), believes(agent, not_(fluent)))


def ignorant(agent: str, fluent: str) -> str:
    """The agent believes neither the fluent nor its negation."""
    return f"({and_(not_(believes(agent, fluent)), not_(believes(agent, not_(fluent))))})"


def _is_modal(formula: str) -> bool:
    """Whether the formula is one modal operator with its argument, so that `-` binds to all of it."""
    if not formula.startswith(("B(", "E(", "C(")):
        return False
    depth = 0
    for position, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return position == len(formula) - 1
    return False


@dataclass(frozen=True, slots=True)
class ActionText:
    """One action of a problem.

    Attributes:
        name: a unique identifier.
        verb: `causes`, `determines` or `announces`.
        effects: pairs (literals, condition); an empty condition means always.
        executable: the executability condition; empty means always.
        observes: fully observant agents, each with its condition (empty: always).
        aware: partially observant agents, each with its condition (empty: always).
    """

    name: str
    verb: str
    effects: Sequence[tuple[str, str]]
    executable: str = ""
    observes: Mapping[str, str] = field(default_factory=dict)
    aware: Mapping[str, str] = field(default_factory=dict)

    def statements(self) -> Iterable[str]:
        """The statements that define the action, without its declaration."""
        yield f"executable {self.name}{_if(self.executable)}"
        for literals, condition in self.effects:
            yield f"{self.name} {self.verb} {literals}{_if(condition)}"
        for verb, agents in (("observes", self.observes), ("aware_of", self.aware)):
            yield from (f"{agent} {verb} {self.name}{_if(condition)}" for agent, condition in agents.items())


def always(agents: Iterable[str]) -> dict[str, str]:
    """Observers without a condition."""
    return dict.fromkeys(agents, "")


def write(
    *,
    title: str,
    story: str,
    fluents: Sequence[str],
    actions: Sequence[ActionText],
    agents: Sequence[str],
    designated: Sequence[str],
    commonly_known: Sequence[str],
    goals: Sequence[str],
) -> str:
    """The text of a problem.

    Args:
        title: one line that names the domain and its size.
        story: a few sentences, written as a comment.
        fluents: their names, in the order of declaration.
        actions: in the order of declaration, which breaks ties in a search.
        agents: their names, in the order of declaration.
        designated: literals that fix the actual world.
        commonly_known: formulas that are common knowledge among all agents at the start.
        goals: one formula per subgoal.
    """
    lines = [f"% {title}", "%", *_wrap(story, "% ", "% "), ""]
    lines += _declare("fluent", fluents)
    for _, group in groupby(actions, key=lambda action: action.name.partition("_")[0]):
        lines += _declare("action", [action.name for action in group])
    lines += [*_declare("agent", agents), ""]
    for action in actions:
        lines += [*_statements(action.statements()), ""]
    lines += ["% What is actually the case, and what all agents commonly know at the start."]
    lines += _declare("initially", designated)
    lines += _statements(f"initially {common(agents, formula)}" for formula in commonly_known)
    lines += ["", "% The goal."]
    lines += _statements(f"goal {formula}" for formula in goals)
    return "\n".join(lines) + "\n"


def _if(condition: str) -> str:
    return f" if {condition}" if condition else ""


def _declare(keyword: str, names: Sequence[str]) -> list[str]:
    return _wrap(f"{keyword} {', '.join(names)};", "", "    ")


def _statements(statements: Iterable[str]) -> list[str]:
    return [line for statement in statements for line in _wrap(f"{statement};", "", "    ")]


def _wrap(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
