"""Compares the declared requirements of EPDDL files with the used ones, and warns about differences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from epigym.language.epddl import syntax, terms
from epigym.language.epddl.readings import RequirementWarning
from epigym.language.epddl.terms import Symbol
from epigym.language.source import SourceText
from epigym.names import unknown

File: TypeAlias = syntax.DomainFile | syntax.ProblemFile | syntax.LibraryFile
Use: TypeAlias = tuple[str, Symbol]

_KINDS = ("negative", "disjunctive", "modal", "existential", "universal", "quantified", "general")
_PLACES = ("preconditions", "postconditions", "obs-conditions", "goals", "list-formulas")
_PLAIN = """
    typing equality pal del ontic-actions partial-observability multi-pointed-models conditional-effects
    common-knowledge static-common-knowledge knowing-whether group-modalities agent-groups lists
    list-comprehensions facts finitary-S5-theories events-conditions general-frames KD45-frames
"""
_THEORY = "a theory"
_WITHOUT_EFFECT = frozenset({":pal", ":general-frames", ":KD45-frames"})


def _list_implications() -> dict[str, list[str]]:
    """The requirements that each requirement directly implies."""
    implied: dict[str, list[str]] = {name: [] for name in _PLAIN.split()}
    for kind in _KINDS:
        implied[f"{kind}-formulas"] = [f"{kind}-{place}" for place in _PLACES]
        for place in _PLACES:
            implied[f"{kind}-{place}"] = ["conditional-effects"] if place == "postconditions" else []
    for place in ("formulas", *_PLACES):
        implied[f"general-{place}"] += [f"{kind}-{place}" for kind in _KINDS if kind != "general"]
        implied[f"quantified-{place}"] += [f"universal-{place}", f"existential-{place}"]
        implied[f"negative-{place}"].append(f"disjunctive-{place}")
    del implied["modal-list-formulas"]
    implied["del"] = ["typing", "equality", "partial-observability", "ontic-actions", "multi-pointed-models"]
    implied["del"].append("general-formulas")
    implied["finitary-S5-theories"] = ["common-knowledge", "knowing-whether"]
    implied["common-knowledge"] = ["group-modalities", "static-common-knowledge"]
    implied["agent-groups"] = implied["group-modalities"] = ["lists"]
    return {f":{name}": [f":{other}" for other in others if other in implied] for name, others in implied.items()}


_IMPLIED = _list_implications()


def expand_requirements(declared: Iterable[str]) -> frozenset[str]:
    """Expand declared requirements by all requirements that they imply."""
    declared = list(map(str, declared))
    found: set[str] = set()
    queue = list(declared)
    if ":static-common-knowledge" in declared:
        queue += [":group-modalities", ":facts"]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue += _IMPLIED[name]
    return frozenset(found)


def check_requirements(file: File, source: SourceText, facts: frozenset[str]) -> None:
    """Check the names of requirements, and warn about missing and unused ones.

    Args:
        file: the parsed file.
        source: its text.
        facts: the names of the predicates that are facts.

    Raises:
        ParseError: for an unknown requirement.
    """
    for name in file.requirements:
        if name not in _IMPLIED:
            raise source.error(unknown("requirement", name, _IMPLIED), name)
    declared = expand_requirements(file.requirements)
    uses = _Uses(facts)
    used: dict[str, Symbol] = {}
    for requirement, place in uses.list_uses(file):
        used.setdefault(requirement, place)
    missing = [f"{name} ({place.location})" for name, place in used.items() if name not in declared]
    if missing:
        message = f"{source.file}: used but not declared in :requirements: {', '.join(missing)}"
        warnings.warn(message, RequirementWarning, stacklevel=2)
    known = uses.optional.union(used, _WITHOUT_EFFECT)
    unused = [name for name in file.requirements if expand_requirements([name]).isdisjoint(known)]
    if unused:
        message = f"{source.file}: declared in :requirements but not used: {', '.join(unused)}"
        warnings.warn(message, RequirementWarning, stacklevel=2)


class _Uses:
    """Lists the requirements of the constructs of a file, with their places.

    Attributes:
        optional: requirements that constructs of the file use but do not need.
    """

    def __init__(self, facts: frozenset[str]) -> None:
        self.facts = facts
        self.optional: set[str] = set()

    def list_uses(self, node: object, where: str = "") -> Iterator[Use]:
        """The requirements of a piece of syntax, then those of its parts; `where` is the context of formulas."""
        match node:
            case syntax.DomainFile():
                yield from ((":partial-observability", name) for name in node.libraries)
                yield from ((":typing", declared.name) for declared in node.types)
            case syntax.ProblemFile():
                if any(declared.types for declared in (*node.objects, *node.agents)):
                    self.optional.add(":typing")
            case syntax.Predicate(fact=Symbol()):
                yield ":facts", node.name
            case syntax.EventSchema():
                yield from self.list_uses(node.precondition, "preconditions")
                if node.effects is not None:
                    yield ":ontic-actions", node.name
                    yield from self.list_uses(node.effects)
                return
            case syntax.Conditional(place=word):
                yield ":conditional-effects", word
                where = "postconditions"
            case syntax.ActionSchema():
                if node.action_type != "basic":
                    yield ":partial-observability", node.action_type
                if node.observability is not None:
                    yield ":partial-observability", node.name
                where = "obs-conditions"
            case syntax.ActionType():
                yield ":partial-observability", node.name
                yield from ((":multi-pointed-models", event) for event in node.designated[1:])
                yield from ((":events-conditions", conditions[0]) for _, conditions in node.conditions)
            case syntax.AgentGroup():
                yield ":agent-groups", node.name
            case syntax.FactsInit(place=word):
                yield ":facts", word
            case syntax.ExplicitModel():
                yield from ((":multi-pointed-models", world) for world in node.designated[1:])
            case syntax.Init(place=word, model=model) if not isinstance(model, syntax.ExplicitModel):
                yield ":finitary-S5-theories", word
                if list(terms.items(model)):
                    self.optional.update(f":{kind}-list-formulas" for kind in _KINDS if kind != "modal")
                where = _THEORY
            case syntax.Goal():
                where = "goals"
            case terms.Several(place=word) if node is not terms.NOTHING:
                yield ":lists", word
            case terms.Each(place=word):
                self.optional.add(":list-comprehensions")
                yield ":lists", word
            case terms.Binder(condition=condition) if condition is not None:
                yield ":list-comprehensions", condition.place
                where = "list-formulas"
            case terms.Junction() if not node.is_conjunction:
                yield f":disjunctive-{'list-formulas' if where == _THEORY else where}", node.place
            case _ if where == _THEORY:  # other formulas of a theory have no requirements
                pass
            case terms.Negation(operand=terms.Atom()) if where == "list-formulas":
                self.optional.add(":negative-list-formulas")
            case terms.Negation(place=word) | terms.Implication(place=word):
                yield f":negative-{where}", word
            case terms.Equality(place=word):
                yield ":equality", word
            case terms.Quantified(place=word):
                yield f":{'universal' if node.is_universal else 'existential'}-{where}", word
            case terms.Modal(place=word):
                yield f":modal-{where}", word
                yield from self.list_modality_uses(node)
        for part in terms.parts(node):
            if part is not None and not isinstance(part, Symbol):
                yield from self.list_uses(part, where)

    def list_modality_uses(self, modal: terms.Modal) -> Iterator[Use]:
        if modal.kind == "Kw.":
            yield ":knowing-whether", modal.place
        if modal.kind == "C.":
            atoms = (part for part in terms.subformulas(modal.operand) if isinstance(part, terms.Atom))
            static = all(atom.predicate in self.facts for atom in atoms)
            yield (":static-common-knowledge" if static else ":common-knowledge"), modal.place
        if modal.group == "All" or not isinstance(modal.group, Symbol):
            yield ":group-modalities", modal.place
