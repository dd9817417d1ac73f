"""Grounds a checked EPDDL specification into a task.

Fluents are in declaration order of their predicates, then in entity order of their arguments, the last one fastest;
actions likewise. Facts that no effect changes are no fluents: constants replace them in all formulas. Actions that are
never applicable because of such a fact are not generated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from epigym.language.epddl import syntax, terms
from epigym.language.epddl.expansion import Assignment, Expander, limit_instances
from epigym.language.epddl.initial import build_initial_state
from epigym.language.epddl.readings import Readings
from epigym.language.epddl.types import BASIC, Specification
from epigym.language.specification import GroundSpecification
from epigym.task.formula import FALSE, TRUE, Formula, and_, conjuncts, not_, or_
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Effect, Event, Task

# A ground effect on one atom: atom, sign, condition.
_Change: TypeAlias = tuple[tuple[str, ...], bool, Formula]
_Chain: TypeAlias = tuple[tuple[Formula, str], ...]


def ground(spec: Specification, *, plank_compat: bool) -> GroundSpecification:
    """Ground a checked specification.

    Args:
        spec: the specification.
        plank_compat: whether to reproduce the official toolkit's reading.

    Raises:
        ParseError: if an agent has no observability type, names collide, or no world satisfies the theory.
        LimitError: if the initial state has too many worlds, or a predicate, an action, a quantifier or a list too many
            instances.
    """
    return _Grounder(spec, Readings(plank_compat)).ground()


class _Grounder:
    def __init__(self, spec: Specification, readings: Readings) -> None:
        self.spec = spec
        self.readings = readings
        self.expander = Expander(spec, readings)
        self.expander.rigid -= self.find_changed_predicates()
        self.schemas: dict[str, _EventSchema] = {}

    def ground(self) -> GroundSpecification:
        spec = self.spec
        atoms = dict(self.ground_atoms())
        fluents = tuple(name for name, atom in atoms.items() if atom[0] not in self.expander.rigid)
        types: dict[str, str] = {}
        actions: list[Action] = []
        lifted: list[Lifted] = []
        for schema in spec.actions.values():
            for action, arguments in self.ground_actions(schema):
                if action.name in types:
                    raise spec.domain_source.error(f"two ground actions are called {action.name!r}", schema.name)
                types[action.name] = str(schema.action_type)
                actions.append(action)
                lifted.append(Lifted(str(schema.name), arguments))
        goal = and_(*(self.expander.compile_formula(goal.formula)({}) for goal in spec.problem.goals))
        task = Task(
            name=str(spec.problem.name),
            fluents=fluents,
            agents=self.expander.members(("agent",)),
            actions=tuple(actions),
            initial=build_initial_state(self.expander, fluents),
            goal=conjuncts(goal),
            domain=str(spec.domain.name),
            instance=str(spec.problem.name),
            structure=Structure(
                fluents=tuple(_lift(atoms[name]) for name in fluents),
                actions=tuple(lifted),
                types={str(name): spec.types.ancestors(kind) for name, kind in spec.entities.items()},
                facts=tuple(
                    _lift(a) for a in atoms.values() if a in self.expander.facts and a[0] in self.expander.rigid
                ),
            ),
        )
        self.readings.warn()
        return GroundSpecification(
            task=task,
            domain=str(spec.domain.name),
            problem=str(spec.problem.name),
            libraries=spec.libraries,
            requirements=spec.requirements,
            atoms=tuple(atoms),
            facts=tuple(name for name, atom in atoms.items() if atom in self.expander.facts),
            action_types=types,
        )

    # Atoms

    def find_changed_predicates(self) -> set[str]:
        """Find the predicates in effects and in explicit labels of worlds."""
        changed = {
            str(literal.atom.predicate)
            for event in self.spec.domain.events
            if event.effects is not None
            for effect in terms.items(event.effects)
            for literal in _literals(effect)
        }
        model = self.spec.problem.inits[0].model
        if isinstance(model, syntax.ExplicitModel):
            changed.update(str(atom.predicate) for _, atoms in model.labels for atom in terms.items(atoms))
        return changed

    def ground_atoms(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Ground all predicates: the name and the parts of every atom."""
        seen: dict[str, tuple[str, ...]] = {}
        for predicate in self.spec.domain.predicates:
            for atom in limit_instances(self.expander.ground_atoms(predicate), "predicate", predicate.name):
                name = "_".join(atom)
                if name in seen:
                    message = f"the atoms ({' '.join(seen[name])}) and ({' '.join(atom)}) are both called {name!r}"
                    raise self.spec.domain_source.error(f"{message}; rename one of them", predicate.name)
                seen[name] = atom
                yield name, atom

    # Actions

    def ground_actions(self, schema: syntax.ActionSchema) -> Iterator[tuple[Action, tuple[str, ...]]]:
        """Ground a schema: its actions with their arguments."""
        if not schema.binder.variables:
            self.readings.note("no parameters", schema.name)
            if self.readings.plank_compat:
                return
        kind = self.spec.action_types[schema.action_type]
        events = [self.compile_event(call, schema, kind is BASIC) for call in schema.events]
        relations = self.expand_relations(kind)
        designated = tuple(index for index, name in enumerate(kind.events) if name in kind.designated)
        observability = self.compile_observability(schema, kind)
        parameters = [str(variable.name) for variable in schema.binder.variables]
        assignments = self.expander.compile_assignments(self.join_conditions(schema, designated), "object")({})
        for assignment in limit_instances(assignments, "action", schema.name):
            arguments = tuple(assignment[parameter] for parameter in parameters)
            name = "_".join([str(schema.name), *arguments])
            instances = _number_duplicates([event(assignment) for event in events])
            if not self.readings.plank_compat and all(instances[e].precondition is FALSE for e in designated):
                continue
            chains = observability(assignment, name)
            yield Action(name, TRUE, instances, designated, relations, chains), arguments

    def join_conditions(self, schema: syntax.ActionSchema, designated: tuple[int, ...]) -> terms.Binder:
        """Join the condition of the parameters with the static conditions that all designated events share."""
        if self.readings.plank_compat:
            return schema.binder
        first, *others = (self.find_static_conditions(schema.events[index]) for index in designated)
        shared = [condition for condition in first if all(condition in other for other in others)]
        conditions = (*terms.conjuncts(schema.binder.condition), *shared)
        return terms.Binder(schema.binder.variables, terms.Junction(terms.Symbol("and"), conditions))

    def find_static_conditions(self, call: syntax.EventCall) -> list[terms.Formula]:
        """Find the conjuncts of an event's precondition that depend on rigid facts and equality only."""
        event = self.spec.events[call.name]
        formals = (str(formal.name) for formal in event.parameters)
        arguments = dict(zip(formals, call.arguments, strict=True))
        return [
            terms.rename(conjunct, arguments)
            for conjunct in terms.conjuncts(event.precondition)
            if self.expander.is_static(conjunct)
        ]

    def expand_relations(self, kind: syntax.ActionType) -> Mapping[str, tuple[frozenset[int], ...]]:
        events = tuple(map(str, kind.events))
        relations = {str(name): (frozenset[int](),) * len(events) for name in kind.types}
        relations.update(
            (str(name), self.expander.expand_relation(pairs, "event", events)) for name, pairs in kind.relations
        )
        return relations

    # Events

    def compile_event(
        self, call: syntax.EventCall, action: syntax.ActionSchema, is_basic: bool
    ) -> Callable[[Assignment], Event]:
        """Compile an event into its instances under an action's assignments."""
        if call.name not in self.schemas:
            self.schemas[call.name] = _EventSchema(self.spec.events[call.name], self.expander)
        schema = self.schemas[call.name]
        arguments = tuple(map(str, call.arguments))
        if schema.formals != arguments:
            self.readings.note("arguments", call.name)
            if self.readings.plank_compat:
                arguments = self.capture_arguments(call, action, schema.formals)
        if is_basic and schema.has_effects:
            self.readings.note("basic effects", call.name)
        without_effects = is_basic and self.readings.plank_compat

        def instance(values: Assignment) -> Event:
            return schema.instantiate(tuple(values.get(term, term) for term in arguments), without_effects)

        return instance

    def capture_arguments(
        self, call: syntax.EventCall, action: syntax.ActionSchema, formals: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Determine the toolkit's arguments of an event: the action's variables with the names of the event's."""
        bound = {str(variable.name) for variable in action.binder.variables}
        lost = [formal for formal in formals if formal not in bound]
        if lost:
            message = f"the toolkit crashes here: the action has no variable {lost[0]!r} for event {str(call.name)!r}"
            raise self.spec.domain_source.error(f"{message}; drop plank_compat", call.name)
        return formals

    # Observability

    def compile_observability(
        self, schema: syntax.ActionSchema, kind: syntax.ActionType
    ) -> Callable[[Assignment, str], tuple[_Chain, ...]]:
        """Compile observability conditions into the chains of all agents under an assignment; equal ones are shared."""
        agents = self.expander.members(("agent",))
        if schema.observability is None:
            chains = (((TRUE, str(kind.types[0])),),) * len(agents)
            return lambda assignment, name: chains
        expand = self.expander.compile_list(schema.observability, "agent", self.compile_observer)
        default = next(
            (entry.type for entry in terms.items(schema.observability) if isinstance(entry, syntax.DefaultObserver)),
            None,
        )
        mentioned = terms.variables(schema.observability)
        keys = [str(variable.name) for variable in schema.binder.variables if variable.name in mentioned]
        known: dict[tuple[str, ...], tuple[_Chain, ...]] = {}

        def chains_of(assignment: Assignment, name: str) -> tuple[_Chain, ...]:
            key = tuple(assignment[variable] for variable in keys)
            if key not in known:
                entries: dict[str, tuple[tuple[Formula, str | None], ...]] = {}
                for agent, chain in expand(dict(assignment)):
                    if entries.setdefault(agent, chain) != chain:
                        message = f"action {name!r} gives agent {agent!r} two observability conditions; keep one"
                        raise self.spec.domain_source.error(message, schema.name)
                known[key] = tuple(
                    self.simplify_chain(entries.get(agent, ()), default, agent, name, schema) for agent in agents
                )
            return known[key]

        return chains_of

    def compile_observer(self, entry: syntax.Observability) -> Callable[[Assignment], Iterable[tuple[str, _OpenChain]]]:
        """Compile an entry into (agent, conditions and types); the last type is None if the default applies."""
        if isinstance(entry, syntax.DefaultObserver):
            return lambda assignment: ()
        agent = str(entry.agent)
        conditions = [(self.expander.compile_formula(condition), str(kind)) for condition, kind in entry.branches]
        otherwise = None if entry.otherwise is None else str(entry.otherwise)
        if len(conditions) > 1:
            self.readings.note("else-if", entry.branches[1][1])
            if self.readings.plank_compat:
                # In the toolkit the first else-if applies whenever the first condition fails.
                conditions, otherwise = conditions[:1], conditions[1][1]

        def expand(values: Assignment) -> list[tuple[str, _OpenChain]]:
            chain = (*((build(values), kind) for build, kind in conditions), (TRUE, otherwise))
            return [(values.get(agent, agent), chain)]

        return expand

    def simplify_chain(
        self, entry: _OpenChain, default: str | None, agent: str, action: str, schema: syntax.ActionSchema
    ) -> _Chain:
        """Simplify the chain of one agent, so that it ends in an unconditional type."""
        chain: list[tuple[Formula, str]] = []
        for condition, kind in entry or ((TRUE, None),):
            if kind is None and default is None:
                message = f"action {action!r} does not say what agent {agent!r} observes; add (default TYPE) or an else"
                raise self.spec.domain_source.error(message, schema.name)
            if condition is not FALSE:
                chain.append((condition, str(kind or default)))
            if condition is TRUE:
                break
        while len(chain) > 1 and chain[-2][1] == chain[-1][1]:
            chain[-2:] = [chain[-1]]
        return tuple(chain)


_OpenChain: TypeAlias = tuple[tuple[Formula, str | None], ...]


class _EventSchema:
    """A compiled event; instances with equal arguments are one object."""

    def __init__(self, event: syntax.EventSchema, expander: Expander) -> None:
        self.name = event.name
        self.formals = tuple(str(formal.name) for formal in event.parameters)
        self.has_effects = event.effects is not None and any(True for _ in terms.items(event.effects))
        self._readings = expander.readings
        self._expander = expander
        self._precondition = (
            expander.compile_formula(event.precondition) if event.precondition else lambda assignment: TRUE
        )
        self._effects = expander.compile_list(event.effects or terms.NOTHING, "object", self._compile_effect)
        self._known: dict[tuple[tuple[str, ...], bool], Event] = {}

    def instantiate(self, arguments: tuple[str, ...], without_effects: bool) -> Event:
        key = (arguments, without_effects)
        if key not in self._known:
            assignment = dict(zip(self.formals, arguments, strict=True))
            effects = () if without_effects else tuple(self._join_changes(self._effects(assignment)))
            self._known[key] = Event(str(self.name), self._precondition(assignment), effects)
        return self._known[key]

    def _compile_effect(self, effect: syntax.Effect) -> Callable[[Assignment], Iterable[_Change]]:
        if isinstance(effect, syntax.Literal):
            key, positive = self._expander.compile_key(effect.atom), effect.positive

            def literal(assignment: Assignment) -> Iterable[_Change]:
                atom = key(assignment)
                return (atom, positive, TRUE), (atom, not positive, FALSE)

            return literal
        condition, both_ways = self._expander.compile_formula(effect.condition), effect.place == "iff"
        literals = self._expander.compile_list(effect.literals, "object", self._compile_effect)

        def conditional(assignment: Assignment) -> Iterable[_Change]:
            holds = condition(assignment)
            for atom, positive, counts in literals(assignment):
                if counts is TRUE:
                    yield atom, positive, holds
                elif both_ways:
                    yield atom, positive, not_(holds)

        return conditional

    def _join_changes(self, changes: Iterable[_Change]) -> Iterator[Effect]:
        """Join the changes of each atom. Adding overrides deleting; atoms without changes keep their values."""
        conditions: dict[tuple[str, ...], tuple[list[Formula], list[Formula]]] = {}
        for atom, positive, condition in changes:
            conditions.setdefault(atom, ([], []))[not positive].append(condition)
        for atom, (adding, deleting) in conditions.items():
            add, delete = or_(*adding), or_(*deleting)
            if not deleting and add is not TRUE:
                self._readings.note("inertia", self.name)
                if self._readings.plank_compat:
                    delete = TRUE
            name = self._expander.fluent(atom).name
            if add is not FALSE:
                yield Effect(name, True, add)
            if delete is not FALSE and add is not TRUE:
                yield Effect(name, False, delete)


def _lift(atom: tuple[str, ...]) -> Lifted:
    return Lifted(atom[0], atom[1:])


def _literals(effect: syntax.Effect) -> Iterator[syntax.Literal]:
    if isinstance(effect, syntax.Literal):
        yield effect
    else:
        yield from terms.items(effect.literals)


def _number_duplicates(events: list[Event]) -> tuple[Event, ...]:
    """Number repeated names of events, which are bound to several variables of the action type."""
    seen: dict[str, int] = {}
    for index, event in enumerate(events):
        seen[event.name] = seen.get(event.name, 0) + 1
        if seen[event.name] > 1:
            events[index] = Event(f"{event.name}.{seen[event.name]}", event.precondition, event.effects)
    return tuple(events)
