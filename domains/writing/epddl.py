"""Writing EPDDL: formulas as text, and the text of a whole problem with its domain.

A domain module gives its domain as text and a problem as values; what a problem's text needs besides (types of
actions, requirements, layout) is added here. The text of a problem holds the library of action types, the domain and
the problem; `parts` takes it apart for tools that want three files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from domains.data import read_text

_WIDTH = 110
LIBRARY = "action_types"
"""The name of the library, which a domain's `:action-type-libraries` names."""


def atom(predicate: str, *arguments: str) -> str:
    """An atom, such as `(on b1 b2)`."""
    return f"({' '.join((predicate, *arguments))})"


def not_(formula: str) -> str:
    """The negation of a formula."""
    return f"(not {formula})"


def literal(holds: bool, atom: str) -> str:
    """The atom or its negation."""
    return atom if holds else not_(atom)


def or_(*formulas: str) -> str:
    """The disjunction of formulas; of one, the formula itself."""
    return formulas[0] if len(formulas) == 1 else f"(or {' '.join(formulas)})"


def believes(agent: str, formula: str) -> str:
    """The agent believes the formula; `agent` may be `All`."""
    return f"([{agent}] {formula})"


def knows_whether(agent: str, formula: str) -> str:
    """The agent believes the formula or believes its negation."""
    return f"([Kw. {agent}] {formula})"


def unsure(agent: str, formula: str) -> str:
    """The agent believes neither the formula nor its negation."""
    return f"(<Kw. {agent}> {formula})"


def common(formula: str) -> str:
    """The formula is common knowledge among all agents."""
    return f"([C. All] {formula})"


def number_names(stem: str, count: int) -> tuple[str, ...]:
    """The names of so many things: a stem with the numbers from 1 on."""
    return tuple(f"{stem}{number}" for number in range(1, count + 1))


@dataclass(frozen=True, slots=True)
class EStateText:
    """An initial e-state that is written out.

    Attributes:
        worlds: for each world the atoms that are true there.
        relations: for each agent the pairs of worlds.
        designated: the designated worlds.
    """

    worlds: Mapping[str, Sequence[str]]
    relations: Mapping[str, Sequence[tuple[str, str]]]
    designated: Sequence[str]

    def text(self) -> str:
        """The section `:init`."""
        next_line = "\n" + " " * 12
        relations = [
            f"{agent} {_list([f'({a} {b})' for a, b in pairs], 12)}" for agent, pairs in self.relations.items()
        ]
        labels = [f"{world} {_list(atoms, 12)}" for world, atoms in self.worlds.items() if atoms]
        return "\n".join(
            [
                "    (:init",
                f"        :worlds ({' '.join(self.worlds)})",
                "        :relations",
                f"           ({next_line.join(relations)})",
                "        :labels",
                f"           ({next_line.join(labels)})",
                f"        :designated ({' '.join(self.designated)}))",
            ]
        )


def write(
    *,
    title: str,
    story: str,
    action_types: Iterable[str],
    domain: str,
    name: str,
    objects: Mapping[str, Sequence[str]] | None = None,
    agents: Mapping[str, Sequence[str]] | None = None,
    facts: Sequence[str] = (),
    init: EStateText | Sequence[str],
    goals: Sequence[str],
) -> str:
    """The text of a problem with its domain and library.

    Args:
        title: one line that names the domain and its size.
        story: a few sentences, written as a comment.
        action_types: names of those in `data/action_types.epddl` that the domain uses.
        domain: the text of the domain, which names `LIBRARY` and is called as its module.
        name: the domain's name.
        objects: for each type its objects, in the order of declaration.
        agents: for each type of agents its agents, in the order of declaration; under `agent` those without a type.
        facts: the atoms of static predicates that are true.
        init: the initial e-state, or the formulas of a finitary S5 theory.
        goals: one formula per subgoal.
    """
    comment = textwrap.wrap(" ".join(story.split()), _WIDTH, initial_indent=";; ", subsequent_indent=";; ")
    initial = init.text() if isinstance(init, EStateText) else f"    (:init\n        {_list(init, 8, '(:and')})"
    goal = f"    (:goal\n        {_list([_fold(part) for part in goals], 8, '(and')})"
    sections = [
        *_write_section("objects", objects or {}),
        *_write_section("agents", agents or {}),
        *([f"    (:facts-init\n{_wrap(facts, 8)})"] if facts else []),
        initial,
        goal,
    ]
    typed = bool(objects) or any(kind != "agent" for kind in agents or {})
    requirements = _requirements(initial, goal, typed=typed, facts=bool(facts))
    problem = [f"(define (problem {name}_problem)", f"    (:domain {name})", *requirements, *sections]
    texts = [
        "\n".join([f";; {title}", ";;", *comment]),
        _library(action_types),
        domain.strip(),
        "\n\n".join(problem) + ")",
    ]
    return "\n\n".join(text for text in texts if text) + "\n"


def parts(text: str) -> dict[str, str]:
    """The library, the domain and the problem in a text that `write` wrote, by these names."""
    comment, *texts = text.split("\n(define ")
    names = ("library", "domain", "problem")
    return {name: f"{comment.strip()}\n\n(define {part.strip()}\n" for name, part in zip(names, texts, strict=True)}


def _library(names: Iterable[str]) -> str:
    declared = _action_types()
    chosen = "\n\n".join(declared[name] for name in names)
    requirements = [
        ":partial-observability",
        ":events-conditions",
        *([":multi-pointed-models"] if re.search(r":designated \(\S+ ", chosen) else []),
        *([":lists"] if "(:and" in chosen else []),
    ]
    head = f"(define (action-type-library {LIBRARY})\n    (:requirements {' '.join(requirements)})"
    return f"{head}\n\n{chosen})"


@cache
def _action_types() -> Mapping[str, str]:
    """The declarations in the library `data/action_types.epddl` by name."""
    paragraphs = read_text(f"{LIBRARY}.epddl").strip().removesuffix(")").split("\n\n")
    return {part.split()[1]: part for part in paragraphs if part.startswith("    (:action-type ")}


def _requirements(initial: str, goal: str, *, typed: bool, facts: bool) -> list[str]:
    """The section `:requirements`, by the words that occur."""
    both = initial + goal
    explicit = ":worlds" in initial
    found = {
        ":typing": typed,
        ":equality": "/=" in both,
        ":facts": facts,
        ":finitary-S5-theories": not explicit,
        ":lists": "(:and" in initial or "(:forall" in initial,
        ":list-comprehensions": " | " in initial,
        ":disjunctive-list-formulas": not explicit and ("(or " in initial or "(imply " in initial),
        ":modal-goals": "([" in goal or "(<" in goal,
        ":negative-goals": "(not " in goal,
        ":disjunctive-goals": "(or " in goal and "(not " not in goal,
        ":knowing-whether": explicit and "Kw." in goal,
        ":common-knowledge": explicit and "C." in goal,
        ":group-modalities": explicit and "[All]" in goal,
    }
    names = [name for name, needed in found.items() if needed]
    return [f"    (:requirements\n{_wrap(names, 8)})"] if names else []


def _write_section(section: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """A section of names with their types."""
    untyped = section == "agents" and tuple(names) == ("agent",)
    words = [f"{' '.join(members)}{'' if untyped else f' - {kind}'}" for kind, members in names.items() if members]
    return [f"    (:{section}\n{_wrap(words, 8)})"] if words else []


def _wrap(words: Iterable[str], columns: int) -> str:
    lines = chain.from_iterable(textwrap.wrap(word, _WIDTH - columns, break_on_hyphens=False) for word in words)
    joined: list[str] = []
    for line in lines:
        if joined and len(joined[-1]) + 1 + len(line) <= _WIDTH - columns:
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return textwrap.indent("\n".join(joined), " " * columns)


def _fold(formula: str) -> str:
    """A formula in lines that are not too long."""
    return textwrap.fill(formula, _WIDTH - 12, subsequent_indent=" " * 16, break_on_hyphens=False)


def _list(elements: Sequence[str], columns: int, opening: str = "(:and") -> str:
    """One element as it is, several as a list, an element a line."""
    if len(elements) == 1:
        return elements[0] if opening == "(and" or elements[0].startswith("(") else f"({elements[0]})"
    inner = textwrap.indent("\n".join(elements), " " * (columns + 4))
    return f"{opening}\n{inner})"
