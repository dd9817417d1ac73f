"""Writing EPDDL: formulas as text, the types of actions, and the text of a whole problem with its domain.

A domain module gives its domain as text and a problem as values; what a problem's text needs besides (types of
actions, requirements, layout) is added here. The text of a problem holds the library of action types, the domain and
the problem; `parts` takes it apart for tools that want three files.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

_WIDTH = 110
LIBRARY = "action_types"
"""The name of the library, which a domain's `:action-type-libraries` names."""

Pairs: TypeAlias = Sequence[tuple[str, str]]


def atom(predicate: str, *arguments: str) -> str:
    """An atom, such as `(on b1 b2)`."""
    return f"({' '.join((predicate, *arguments))})"


def not_(formula: str) -> str:
    """The negation of a formula."""
    return f"(not {formula})"


def literal(holds: bool, atom: str) -> str:
    """The atom or its negation."""
    return atom if holds else not_(atom)


def and_(*formulas: str) -> str:
    """The conjunction of formulas; of one, the formula itself."""
    return formulas[0] if len(formulas) == 1 else f"(and {' '.join(formulas)})"


def or_(*formulas: str) -> str:
    """The disjunction of formulas; of one, the formula itself."""
    return formulas[0] if len(formulas) == 1 else f"(or {' '.join(formulas)})"


def believes(agent: str, formula: str) -> str:
    """The agent believes the formula; `agent` may be `All`."""
    return f"([{agent}] {formula})"


def considers(agent: str, formula: str) -> str:
    """The agent considers the formula possible."""
    return f"(<{agent}> {formula})"


def knows_whether(agent: str, formula: str) -> str:
    """The agent believes the formula or believes its negation."""
    return f"([Kw. {agent}] {formula})"


def unsure(agent: str, formula: str) -> str:
    """The agent believes neither the formula nor its negation."""
    return f"(<Kw. {agent}> {formula})"


def common(formula: str) -> str:
    """The formula is common knowledge among all agents."""
    return f"([C. All] {formula})"


def numbered(stem: str, count: int) -> tuple[str, ...]:
    """The names of so many things: a stem with the numbers from 1 on."""
    return tuple(f"{stem}{number}" for number in range(1, count + 1))


@dataclass(frozen=True, slots=True)
class ActionType:
    """A type of actions: an event model whose events are variables.

    Attributes:
        events: each with the conditions that EPDDL puts on the event bound to it.
        relations: for each observability type the pairs of events.
        designated: the designated events.
    """

    events: Mapping[str, Sequence[str]]
    relations: Mapping[str, Pairs]
    designated: Sequence[str]

    def text(self, name: str) -> str:
        """Its declaration under a name."""
        conditions = [f"?{event} ({' '.join(kinds)})" for event, kinds in self.events.items() if kinds]
        relations = [f"{kind} {_pairs(pairs)}" for kind, pairs in self.relations.items()]
        return "\n".join(
            [
                f"    (:action-type {name}",
                f"        :events ({' '.join(f'?{event}' for event in self.events)})",
                f"        :observability-types ({' '.join(self.relations)})",
                f"        :relations ({_indented(relations, 20)})",
                f"        :designated ({' '.join(f'?{event}' for event in self.designated)})",
                f"        :conditions ({_indented(conditions, 21)}))",
            ]
        )


def _pairs(pairs: Pairs) -> str:
    listed = [f"(?{first} ?{second})" for first, second in pairs]
    if len(listed) == 1:
        return listed[0]
    line = f"(:and {' '.join(listed)})"
    return line if len(line) <= _WIDTH - 40 else f"(:and\n{_wrapped(listed, 24)})"


def _indented(lines: Sequence[str], columns: int) -> str:
    return ("\n" + " " * columns).join(lines)


_EFFECTLESS = (":trivial-postconditions",)
_CHANGING = (":non-trivial-postconditions",)
_NOTHING = (":trivial-event",)
_YES_NO = {"yes": _EFFECTLESS, "no": _EFFECTLESS}
_TOLD_APART = (("yes", "yes"), ("no", "no"))
_CONFUSED = (("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"))
_UNSEEN = (("yes", "nothing"), ("no", "nothing"), ("nothing", "nothing"))

ACTION_TYPES: Mapping[str, ActionType] = {
    "public-ontic": ActionType({"change": _CHANGING}, {"Fully": [("change", "change")]}, ["change"]),
    "private-ontic": ActionType(
        {"change": _CHANGING, "nothing": _NOTHING},
        {
            "Fully": [("change", "change"), ("nothing", "nothing")],
            "Oblivious": [("change", "nothing"), ("nothing", "nothing")],
        },
        ["change"],
    ),
    "private-nondeterministic-ontic": ActionType(
        {"success": _CHANGING, "failure": _CHANGING, "nothing": _NOTHING},
        {
            "Fully": [("success", "success"), ("failure", "failure"), ("nothing", "nothing")],
            "Oblivious": [("success", "nothing"), ("failure", "nothing"), ("nothing", "nothing")],
        },
        ["success", "failure"],
    ),
    "public-sensing": ActionType(_YES_NO, {"Fully": _TOLD_APART}, ["yes", "no"]),
    "semi-private-sensing": ActionType(_YES_NO, {"Fully": _TOLD_APART, "Partially": _CONFUSED}, ["yes", "no"]),
    "private-sensing": ActionType(
        {**_YES_NO, "nothing": _NOTHING},
        {
            "Fully": [*_TOLD_APART, ("nothing", "nothing")],
            "Oblivious": _UNSEEN,
        },
        ["yes", "no"],
    ),
    "quasi-private-sensing": ActionType(
        {**_YES_NO, "nothing": _NOTHING},
        {
            "Fully": [*_TOLD_APART, ("nothing", "nothing")],
            "Partially": [*_CONFUSED, ("nothing", "nothing")],
            "Oblivious": _UNSEEN,
        },
        ["yes", "no"],
    ),
    "public-announcement": ActionType({"yes": _EFFECTLESS}, {"Fully": [("yes", "yes")]}, ["yes"]),
    # An announcement beside which the opposite could have been announced.
    "public-answer": ActionType(_YES_NO, {"Fully": _TOLD_APART}, ["yes"]),
    "semi-private-announcement": ActionType(_YES_NO, {"Fully": _TOLD_APART, "Partially": _CONFUSED}, ["yes"]),
    "private-announcement": ActionType(
        {"yes": _EFFECTLESS, "nothing": _NOTHING},
        {
            "Fully": [("yes", "yes"), ("nothing", "nothing")],
            "Oblivious": [("yes", "nothing"), ("nothing", "nothing")],
        },
        ["yes"],
    ),
    # The deceived take the actual event for another one; the others are those of a private announcement.
    "private-deception": ActionType(
        {"actual": _EFFECTLESS, "feigned": (*_EFFECTLESS, ":non-trivial-precondition"), "nothing": _NOTHING},
        {
            "Fully": [("actual", "actual"), ("feigned", "feigned"), ("nothing", "nothing")],
            "Deceived": [("actual", "feigned"), ("feigned", "feigned"), ("nothing", "nothing")],
            "Oblivious": [("actual", "nothing"), ("feigned", "nothing"), ("nothing", "nothing")],
        },
        ["actual"],
    ),
    # One agent feigns to be deceived, another is outwitted: it takes the event for one in which the first takes
    # part in what is feigned. Spies are aware of both.
    "private-double-deception": ActionType(
        {
            "actual": _EFFECTLESS,
            "assumed": (*_EFFECTLESS, ":non-trivial-precondition"),
            "feigned": (*_EFFECTLESS, ":non-trivial-precondition"),
            "overheard": (),
            "nothing": _NOTHING,
        },
        {
            "Feigning": [
                ("actual", "actual"),
                ("overheard", "actual"),
                ("assumed", "feigned"),
                ("feigned", "feigned"),
                ("nothing", "nothing"),
            ],
            "Outwitted": [
                ("actual", "assumed"),
                ("overheard", "assumed"),
                ("assumed", "assumed"),
                ("feigned", "feigned"),
                ("nothing", "nothing"),
            ],
            "Spying": [
                ("actual", "overheard"),
                ("overheard", "overheard"),
                ("assumed", "nothing"),
                ("feigned", "nothing"),
                ("nothing", "nothing"),
            ],
            "Oblivious": [(event, "nothing") for event in ("actual", "assumed", "feigned", "overheard", "nothing")],
        },
        ["actual"],
    ),
}
"""The types of actions that the domains use."""


@dataclass(frozen=True, slots=True)
class Model:
    """An initial e-state that is written out.

    Attributes:
        worlds: for each world the atoms that are true there.
        relations: for each agent the pairs of worlds.
        designated: the designated worlds.
    """

    worlds: Mapping[str, Sequence[str]]
    relations: Mapping[str, Pairs]
    designated: Sequence[str]

    def text(self) -> str:
        """The section `:init`."""
        relations = [
            f"{agent} {_list([f'({a} {b})' for a, b in pairs], 12)}" for agent, pairs in self.relations.items()
        ]
        labels = [f"{world} {_list(atoms, 12)}" for world, atoms in self.worlds.items() if atoms]
        return "\n".join(
            [
                "    (:init",
                f"        :worlds ({' '.join(self.worlds)})",
                "        :relations",
                f"           ({_indented(relations, 12)})",
                "        :labels",
                f"           ({_indented(labels, 12)})",
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
    init: Model | Sequence[str],
    goals: Sequence[str],
) -> str:
    """The text of a problem with its domain and library.

    Args:
        title: one line that names the domain and its size.
        story: a few sentences, written as a comment.
        action_types: names of the `ACTION_TYPES` that the domain uses.
        domain: the text of the domain, which names `LIBRARY` and is called as its module.
        name: the domain's name.
        objects: for each type its objects, in the order of declaration.
        agents: for each type of agents its agents, in the order of declaration; under `agent` those without a type.
        facts: the atoms of static predicates that are true.
        init: the initial e-state, or the formulas of a finitary S5 theory.
        goals: one formula per subgoal.
    """
    comment = textwrap.wrap(" ".join(story.split()), _WIDTH, initial_indent=";; ", subsequent_indent=";; ")
    initial = init.text() if isinstance(init, Model) else f"    (:init\n        {_list(init, 8, '(:and')})"
    goal = f"    (:goal\n        {_list([_folded(part) for part in goals], 8, '(and')})"
    sections = [
        *_declared("objects", objects or {}),
        *_declared("agents", agents or {}),
        *([f"    (:facts-init\n{_wrapped(facts, 8)})"] if facts else []),
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
    chosen = {name: ACTION_TYPES[name] for name in names}
    several = any(len(kind.designated) > 1 for kind in chosen.values())
    lists = any(len(pairs) > 1 for kind in chosen.values() for pairs in kind.relations.values())
    requirements = [
        ":partial-observability",
        ":events-conditions",
        *([":multi-pointed-models"] if several else []),
        *([":lists"] if lists else []),
    ]
    texts = [kind.text(name) for name, kind in chosen.items()]
    head = f"(define (action-type-library {LIBRARY})\n    (:requirements {' '.join(requirements)})"
    return "\n\n".join([head, *texts]) + ")"


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
    return [f"    (:requirements\n{_wrapped(names, 8)})"] if names else []


def _declared(section: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """A section of names with their types."""
    untyped = section == "agents" and tuple(names) == ("agent",)
    words = [f"{' '.join(members)}{'' if untyped else f' - {kind}'}" for kind, members in names.items() if members]
    return [f"    (:{section}\n{_wrapped(words, 8)})"] if words else []


def _wrapped(words: Iterable[str], columns: int) -> str:
    lines = chain.from_iterable(textwrap.wrap(word, _WIDTH - columns, break_on_hyphens=False) for word in words)
    joined: list[str] = []
    for line in lines:
        if joined and len(joined[-1]) + 1 + len(line) <= _WIDTH - columns:
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return textwrap.indent("\n".join(joined), " " * columns)


def _folded(formula: str) -> str:
    """A formula in lines that are not too long."""
    return textwrap.fill(formula, _WIDTH - 12, subsequent_indent=" " * 16, break_on_hyphens=False)


def _list(elements: Sequence[str], columns: int, opening: str = "(:and") -> str:
    """One element as it is, several as a list, an element a line."""
    if len(elements) == 1:
        return elements[0] if opening == "(and" or elements[0].startswith("(") else f"({elements[0]})"
    inner = textwrap.indent("\n".join(elements), " " * (columns + 4))
    return f"{opening}\n{inner})"
