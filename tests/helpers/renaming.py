"""The same task under other names, declared in another order."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from epigym.task.formula import Formula, Op
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Action, Effect, EState, Event, Task


def rename_task(task: Task, seed: int, *, operands: bool = False) -> tuple[Task, dict[str, str]]:
    """The task with everything renamed and reordered, its structure too, and the new names of its actions.

    All new names begin with z.

    Args:
        task: the task.
        seed: of the names and orders.
        operands: whether operands of conjunctions and disjunctions are reordered, too.
    """
    maker = _Renaming(task, Random(seed), operands)
    return maker.task(), maker.actions


class _Renaming:
    def __init__(self, task: Task, random: Random, operands: bool) -> None:
        self._task, self._random, self._operands = task, random, operands
        structure = task.structure
        self._fluents = self._draw_names("zf", task.fluents)
        self._objects = self._draw_names("zo", (*task.agents, *(structure.types if structure else ())))
        self.actions = self._draw_names("za", (action.name for action in task.actions))
        lifted = (*structure.fluents, *structure.actions, *structure.facts) if structure else ()
        self._symbols = self._draw_names("zs", (one.symbol for one in lifted))
        kinds = structure.types.values() if structure else ()
        self._kinds = self._draw_names("zk", (kind for own in kinds for kind in own))
        self._agent_order = self._order(len(task.agents))
        self._fluent_order = self._order(len(task.fluents))
        self._action_order = self._order(len(task.actions))

    def task(self) -> Task:
        old, fluents, agents = self._task, self._task.fluents, self._task.agents
        return Task(
            name="zother",
            fluents=tuple(self._fluents[fluents[place]] for place in self._fluent_order),
            agents=tuple(self._objects[agents[place]] for place in self._agent_order),
            actions=tuple(self._action(old.actions[place]) for place in self._action_order),
            initial=self._estate(old.initial),
            goal=tuple(self._formula(goal) for goal in self._random.sample(old.goal, len(old.goal))),
            structure=old.structure and self._structure(old.structure),
        )

    def _draw_names(self, start: str, names: Iterable[str]) -> dict[str, str]:
        known = list(dict.fromkeys(names))
        numbers = self._random.sample(range(9 * len(known)), len(known))
        return {name: f"{start}{number}" for name, number in zip(known, numbers, strict=True)}

    def _order(self, count: int) -> list[int]:
        return self._random.sample(range(count), count)

    def _formula(self, formula: Formula) -> Formula:
        children = [self._formula(child) for child in formula.children]
        if self._operands and formula.op in (Op.AND, Op.OR):
            self._random.shuffle(children)
        agents = sorted(self._objects[agent] for agent in formula.agents)
        name = self._fluents[formula.name] if formula.op is Op.FLUENT else ""
        return Formula(formula.op, name, tuple(agents), tuple(children))

    def _action(self, old: Action) -> Action:
        rows = [old.observability[place] for place in self._agent_order]
        return replace(
            old,
            name=self.actions[old.name],
            applicability=self._formula(old.applicability),
            events=tuple(self._event(event, number) for number, event in enumerate(old.events)),
            relations={f"z{kind}": row for kind, row in old.relations.items()},
            observability=tuple(tuple((self._formula(one), f"z{kind}") for one, kind in row) for row in rows),
        )

    def _event(self, old: Event, number: int) -> Event:
        effects = [Effect(self._fluents[e.fluent], e.value, self._formula(e.condition)) for e in old.effects]
        self._random.shuffle(effects)
        return Event(f"ze{number}", self._formula(old.precondition), tuple(effects))

    def _estate(self, old: EState) -> EState:
        worlds = self._order(len(old.valuations))
        place = {world: number for number, world in enumerate(worlds)}
        return EState(
            valuations=tuple(frozenset(self._fluents[name] for name in old.valuations[world]) for world in worlds),
            successors=tuple(
                tuple(frozenset(place[target] for target in old.successors[agent][world]) for world in worlds)
                for agent in self._agent_order
            ),
            designated=tuple(sorted(place[world] for world in old.designated)),
        )

    def _structure(self, old: Structure) -> Structure:
        actors = [old.actors[place] for place in self._action_order] if old.actors else []
        return Structure(
            fluents=tuple(self._rename(old.fluents[place]) for place in self._fluent_order),
            actions=tuple(self._rename(old.actions[place]) for place in self._action_order),
            types={
                self._objects[name]: tuple(self._kinds[kind] for kind in old.types[name])
                for name in self._random.sample(list(old.types), len(old.types))
            },
            facts=tuple(self._rename(fact) for fact in self._random.sample(old.facts, len(old.facts))),
            actors=tuple(None if actor is None else self._objects[actor] for actor in actors),
        )

    def _rename(self, old: Lifted) -> Lifted:
        return Lifted(self._symbols[old.symbol], tuple(self._objects[name] for name in old.arguments))
