"""The text of an EPDDL problem with its domain and library, put together from parts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

# A requirement is declared where a text matches; what a problem needs besides comes with its theory.
_REQUIREMENTS = {
    ":equality": r"\(/= ",
    ":facts": r"\(:fact",
    ":list-comprehensions": r" \| ",
    ":lists": r"\(:and|\(:forall",
    ":multi-pointed-models": r":designated \([^)]+ ",
}


def declare_action_type(name: str, events: str, designated: str, **views: str) -> str:
    """The declaration of an action type.

    Args:
        name: its name.
        events: its events, separated by blanks.
        designated: those that can be the actual one.
        **views: by observability type, classes of events that are not told apart, such as `yes no | nothing`; or
            `> nothing`, when all events are taken for that one.
    """
    relations = " ".join(f"{view} (:and {_list_pairs(events.split(), text)})" for view, text in views.items())
    return (
        f"(:action-type {name} :events ({_list_variables(events)}) :observability-types ({' '.join(views)})"
        f" :relations ({relations}) :designated ({_list_variables(designated)}) :conditions ())"
    )


def declare_spoken_type(sensing: bool) -> str:
    """The action type of sentences, see `declare_sentence`."""
    if sensing:
        return declare_action_type("answer", "yes no", "yes no", Full="yes | no")
    return declare_action_type("public", "said", "said", Full="said")


def declare_sentence(
    sensing: bool, names: str, parameters: str, meaning: str, opposite: str = "", *, condition: str = ""
) -> str:
    """The declarations of a sentence that is said before all, and of its opposite.

    Args:
        sensing: whether it is asked for, one action with two outcomes; else either is an action.
        names: of the sentence and of its opposite, separated by a blank; without the second, only the first is said.
        parameters: with their types.
        meaning: what holds when it is said.
        opposite: what holds when the opposite is said; by default the negation.
        condition: of the parameters.
    """
    yes, no = names.split() if " " in names else (names, f"not_{names}")
    arguments = " ".join(word for word in parameters.split() if word.startswith("?"))
    events = {yes: meaning, no: opposite or f"(not {meaning})"}
    calls = {name: f"(says_{name} {arguments})" for name in events}
    models = {name: f"public {calls[name]}" for name in names.split()}
    if sensing:
        models = {f"ask_{yes}": f"answer {' '.join(calls.values())}"}
    binder = f"{parameters} | {condition}" if condition else parameters
    seen = ":observability-conditions (default Full)"
    return "\n".join(
        [
            *(
                f"(:event says_{name} :parameters ({parameters}) :precondition {formula})"
                for name, formula in events.items()
            ),
            *(
                f"(:action {name} :parameters ({binder}) :action-type ({model}) {seen})"
                for name, model in models.items()
            ),
        ]
    )


def write_problem(
    name: str,
    *,
    action_types: Iterable[str],
    domain: str,
    objects: Mapping[str, Sequence[str]] | None = None,
    agents: Mapping[str, Sequence[str]],
    facts: Iterable[str] = (),
    init: Iterable[str],
    goals: Iterable[str],
) -> str:
    """The text of a problem.

    Args:
        name: of the domain.
        action_types: declarations of action types.
        domain: declarations of types, predicates, events and actions.
        objects: by type.
        agents: by type.
        facts: the atoms of static predicates that are true.
        init: the formulas of a finitary S5 theory.
        goals: the subgoals.
    """
    declared = [f"(:objects {_list_typed(objects)})"] if objects else []
    stated = [f"(:facts-init {' '.join(facts)})"] if (facts := list(facts)) else []
    library = "\n".join(action_types)
    body = "\n".join(
        [
            *declared,
            f"(:agents {_list_typed(agents)})",
            *stated,
            f"(:init (:and\n{_join_lines(init)}))",
            f"(:goal (and\n{_join_lines(goals)}))",
        ]
    )
    return f"""
(define (action-type-library shapes)
(:requirements {_list_used(library, ":partial-observability")})
{library})

(define (domain {name})
(:requirements {_list_used(domain, ":del", *([":knowing-whether"] if "Kw." in domain else []))})
(:action-type-libraries shapes)
{domain.strip()})

(define (problem {name}_problem)
(:domain {name})
(:requirements {_list_used(body, ":general-goals", ":general-list-formulas", ":finitary-S5-theories", ":typing")})
{body})
"""


def number_names(stem: str, count: int) -> list[str]:
    """A stem with the numbers from 1 on."""
    return [f"{stem}{number}" for number in range(1, count + 1)]


def state_count(count: int, atoms: Sequence[str]) -> Iterator[str]:
    """The formulas of a theory that say that it is common knowledge how many of the atoms are true."""
    yield from (f"([C. All] (or {' '.join(some)}))" for some in combinations(atoms, len(atoms) - count + 1))
    yield from limit_count(count, atoms)


def limit_count(count: int, atoms: Sequence[str]) -> Iterator[str]:
    """The formulas that say that it is common knowledge that no more of the atoms are true."""
    for some in combinations(atoms, count + 1):
        yield f"([C. All] (or {' '.join(f'(not {atom})' for atom in some)}))"


def write_parity(odd: bool, atoms: Sequence[str]) -> str:
    """The formula that says that an odd, or even, number of atoms is true; its size is the square of their number."""
    if len(atoms) == 1:
        return atoms[0] if odd else f"(not {atoms[0]})"
    half = len(atoms) // 2
    cases = ((write_parity(first, atoms[:half]), write_parity(first != odd, atoms[half:])) for first in (True, False))
    return f"(or {' '.join(f'(and {first} {second})' for first, second in cases)})"


def _list_pairs(events: Sequence[str], view: str) -> str:
    if view.startswith(">"):
        pairs = [(event, view[1:].strip()) for event in events]
    else:
        classes = [part.split() for part in view.split("|")]
        pairs = [(one, other) for members in classes for one in members for other in members]
    return " ".join(f"(?{one} ?{other})" for one, other in pairs)


def _list_variables(names: str) -> str:
    return " ".join(f"?{name}" for name in names.split())


def _list_typed(names: Mapping[str, Sequence[str]]) -> str:
    return " ".join(f"{' '.join(members)} - {kind}" for kind, members in names.items())


def _list_used(text: str, *always: str) -> str:
    return " ".join([*always, *(name for name, pattern in _REQUIREMENTS.items() if re.search(pattern, text))])


def _join_lines(formulas: Iterable[str]) -> str:
    return "\n".join(f"    {formula}" for formula in formulas)
