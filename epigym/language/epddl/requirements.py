"""Requirements of EPDDL files: which are declared, which are used, and warnings where the two differ."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from epigym.language.epddl import syntax, terms
from epigym.language.epddl.readings import RequirementWarning
from epigym.language.epddl.terms import Symbol
from epigym.language.source import Source
from epigym.names import unknown

File: TypeAlias = syntax.Domain | syntax.Problem | syntax.Library
Use: TypeAlias = tuple[str, Symbol]

_KINDS = ("negative", "disjunctive", "modal", "existential", "universal", "quantified", "general")
_PLACES = ("preconditions", "postconditions", "obs-conditions", "goals", "list-formulas")
_PLAIN = """
    typing equality pal del ontic-actions partial-observability multi-pointed-models conditional-effects
    common-knowledge static-common-knowledge knowing-whether group-modalities agent-groups lists
    list-comprehensions facts finitary-S5-theories events-conditions general-frames KD45-frames
"""
_WITHOUT_EFFECT = frozenset({":pal", ":general-frames", ":KD45-frames"})


def _implications() -> dict[str, list[str]]:
    """What every requirement directly brings with it."""
    brings: dict[str, list[str]] = {name: [] for name in _PLAIN.split()}
    for kind in _KINDS:
        brings[f"{kind}-formulas"] = [f"{kind}-{place}" for place in _PLACES]
        for place in _PLACES:
            brings[f"{kind}-{place}"] = ["conditional-effects"] if place == "postconditions" else []
    for place in ("formulas", *_PLACES):
        brings[f"general-{place}"] += [f"{kind}-{place}" for kind in _KINDS if kind != "general"]
        brings[f"quantified-{place}"] += [f"universal-{place}", f"existential-{place}"]
        brings[f"negative-{place}"].append(f"disjunctive-{place}")
    del brings["modal-list-formulas"]
    brings["del"] = [
        "typing",
        "equality",
        "partial-observability",
        "ontic-actions",
        "multi-pointed-models",
        "general-formulas",
    ]
    brings["finitary-S5-theories"] = ["common-knowledge", "knowing-whether"]
    brings["common-knowledge"] = ["group-modalities", "static-common-knowledge"]
    brings["agent-groups"] = brings["group-modalities"] = ["lists"]
    return {f":{name}": [f":{other}" for other in others if other in brings] for name, others in brings.items()}


_BRINGS = _implications()


def expanded(declared: Iterable[str]) -> frozenset[str]:
    """The declared requirements and all that they bring with them."""
    declared = list(map(str, declared))
    found: set[str] = set()
    queue = list(declared)
    if ":static-common-knowledge" in declared:
        queue += [":group-modalities", ":facts"]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue += _BRINGS[name]
    return frozenset(found)


def check_requirements(file: File, source: Source, facts: frozenset[str]) -> None:
    """Check the names of requirements and warn about those that are missing or useless.

    Args:
        file: the parsed file.
        source: its text.
        facts: the names of the predicates that are facts.

    Raises:
        ParseError: for an unknown requirement.
    """
    for name in file.requirements:
        if name not in _BRINGS:
            raise source.error(unknown("requirement", name, _BRINGS), name)
    declared = expanded(file.requirements)
    uses = _Uses(facts)
    used: dict[str, Symbol] = {}
    for requirement, place in uses.file(file):
        used.setdefault(requirement, place)
    missing = [f"{name} ({place.location})" for name, place in used.items() if name not in declared]
    if missing:
        message = f"{source.file}: used but not declared in :requirements: {', '.join(missing)}"
        warnings.warn(message, RequirementWarning, stacklevel=2)
    known = uses.welcome.union(used, _WITHOUT_EFFECT)
    idle = [name for name in file.requirements if expanded([name]).isdisjoint(known)]
    if idle:
        message = f"{source.file}: declared in :requirements but not used: {', '.join(idle)}"
        warnings.warn(message, RequirementWarning, stacklevel=2)


class _Uses:
    """Walks a file and yields every requirement that some construct needs, with its place.

    Attributes:
        welcome: requirements for what the file does, of which it may do that much without them.
    """

    def __init__(self, facts: frozenset[str]) -> None:
        self.facts = facts
        self.welcome: set[str] = set()

    def file(self, file: File) -> Iterator[Use]:
        if isinstance(file, syntax.Domain):
            yield from self.domain(file)
        elif isinstance(file, syntax.Problem):
            yield from self.problem(file)
        else:
            for kind in file.action_types:
                yield from self.action_type(kind)

    def domain(self, domain: syntax.Domain) -> Iterator[Use]:
        for name in domain.libraries:
            yield ":partial-observability", name
        for declared in domain.types:
            yield ":typing", declared.name
        for predicate in domain.predicates:
            if predicate.is_fact:
                yield ":facts", predicate.name
        for event in domain.events:
            yield from self.formula(event.precondition, "preconditions")
            if event.effects is not None:
                yield ":ontic-actions", event.name
                yield from self.list(event.effects)
                for effect in terms.items(event.effects):
                    if isinstance(effect, syntax.Conditional):
                        yield ":conditional-effects", effect.place
                        yield from self.formula(effect.condition, "postconditions")
                        yield from self.list(effect.literals)
        for action in domain.actions:
            yield from self.binder(action.binder)
            if action.action_type != "basic":
                yield ":partial-observability", action.action_type
            if action.observability is not None:
                yield ":partial-observability", action.name
                yield from self.list(action.observability)
                for entry in terms.items(action.observability):
                    if isinstance(entry, syntax.Observer):
                        for condition, _ in entry.branches:
                            yield from self.formula(condition, "obs-conditions")

    def action_type(self, kind: syntax.ActionType) -> Iterator[Use]:
        yield ":partial-observability", kind.name
        if len(kind.designated) > 1:
            yield ":multi-pointed-models", kind.designated[1]
        for _, pairs in kind.relations:
            yield from self.list(pairs)
        for _, conditions in kind.conditions:
            yield ":events-conditions", conditions[0]

    def problem(self, problem: syntax.Problem) -> Iterator[Use]:
        if any(declared.type is not None for declared in (*problem.objects, *problem.agents)):
            self.welcome.add(":typing")
        for group in problem.groups:
            yield ":agent-groups", group.name
            yield from self.list(group.members)
        for section in problem.facts:
            yield ":facts", section.place
        for init in problem.inits:
            yield from self.init(init)
        for goal in problem.goals:
            yield from self.formula(goal.formula, "goals")

    def init(self, init: syntax.Init) -> Iterator[Use]:
        if isinstance(init.model, syntax.ExplicitModel):
            if len(init.model.designated) > 1:
                yield ":multi-pointed-models", init.model.designated[1]
            for _, pairs in init.model.relations:
                yield from self.list(pairs)
            for _, atoms in init.model.labels:
                yield from self.list(atoms)
            return
        yield ":finitary-S5-theories", init.place
        yield from self.list(init.model)
        for formula in terms.items(init.model):
            yield from self.theory(formula)

    def theory(self, formula: terms.Formula) -> Iterator[Use]:
        """Formulas of a theory need a requirement for disjunction only."""
        self.welcome.update(f":{kind}-list-formulas" for kind in _KINDS if kind != "modal")
        for part in _parts(formula):
            if isinstance(part, terms.Junction) and not part.conjunctive:
                yield ":disjunctive-list-formulas", part.place
            elif isinstance(part, terms.Quantified):
                yield from self.binder(part.binder)

    def list(self, elements: terms.List[terms.T]) -> Iterator[Use]:
        """Lists of more than one written element, and conditions of comprehensions."""
        if isinstance(elements, terms.Several) and elements.parts:
            yield ":lists", elements.place
            for part in elements.parts:
                yield from self.list(part)
        elif isinstance(elements, terms.Each):
            self.welcome.add(":list-comprehensions")
            yield ":lists", elements.place
            yield from self.binder(elements.binder)
            yield from self.list(elements.body)

    def binder(self, binder: terms.Binder) -> Iterator[Use]:
        if binder.condition is not None:
            yield ":list-comprehensions", binder.condition.place
            yield from self.formula(binder.condition, "list-formulas")

    def formula(self, formula: terms.Formula | None, place: str) -> Iterator[Use]:
        for part in () if formula is None else _parts(formula):
            match part:
                case terms.Negation(terms.Atom()) if place == "list-formulas":
                    self.welcome.add(":negative-list-formulas")
                case terms.Negation(place=word) | terms.Implication(place=word):
                    yield f":negative-{place}", word
                case terms.Junction(conjunctive=False, place=word):
                    yield f":disjunctive-{place}", word
                case terms.Equality(place=word):
                    yield ":equality", word
                case terms.Quantified(universal, binder, _, word):
                    yield f":{'universal' if universal else 'existential'}-{place}", word
                    yield from self.binder(binder)
                case terms.Modal():
                    yield f":modal-{place}", part.place
                    yield from self.modality(part)

    def modality(self, modal: terms.Modal) -> Iterator[Use]:
        if modal.kind == "Kw.":
            yield ":knowing-whether", modal.place
        if modal.kind == "C.":
            atoms = [part for part in _parts(modal.operand) if isinstance(part, terms.Atom)]
            static = all(atom.predicate in self.facts for atom in atoms)
            yield (":static-common-knowledge" if static else ":common-knowledge"), modal.place
        if modal.group == "All" or not isinstance(modal.group, Symbol):
            yield ":group-modalities", modal.place
        if not isinstance(modal.group, Symbol):
            yield from self.list(modal.group)


def _parts(formula: terms.Formula) -> Iterator[terms.Formula]:
    """A formula and its subformulas."""
    yield formula
    for child in terms.children(formula):
        yield from _parts(child)
