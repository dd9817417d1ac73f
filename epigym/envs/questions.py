"""Questions about beliefs after a story, with answers from the reference semantics, for tests of theory of mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from epigym.config.values import Count, Natural, convert
from epigym.drawing.english import describe_action, describe_formula, describe_model
from epigym.errors import EpigymError, TaskError
from epigym.reference import semantics as reference
from epigym.space.search_problem import SearchProblem, Source
from epigym.space.space import StateSpace
from epigym.task.formula import Formula, believes, literal, not_
from epigym.task.task import EState, Task

_STORIES, _FORMULAS = 20, 100
"""Stories tried for a question, and formulas for each of them; the first half has to change in the story."""


@dataclass(frozen=True, slots=True)
class Question:
    """A story and a question about its end.

    Attributes:
        story: the initial e-state in English, then a sentence for each action.
        text: the question, such as `Does b believe that a believes that tail is false?`
        answer: the right answer, yes or no.
        formula: the formula of the question, `B_1 … B_depth` before a literal.
        plan: the names of the actions.
        changes: for each action the formulas that it made true or false, among the asked one and those below its
            beliefs, with their new truth.
        end: the e-state after the story, to which the question refers.
        left_out: stories since the question before that were left out, as their answers depend on where an agent's
            observability type is decided, see `generate_questions`.
    """

    story: tuple[str, ...]
    text: str
    answer: bool
    formula: Formula
    plan: tuple[str, ...]
    changes: tuple[dict[Formula, bool], ...]
    end: EState = field(repr=False)
    left_out: int = 0

    @property
    def prompt(self) -> str:
        """Story and question, a line each."""
        return "\n".join([*self.story, f"{self.text} Answer yes or no."])


def generate_questions(source: Source, *, depth: int, steps: int, seed: int) -> Iterator[Question]:
    """Questions without end about random stories of a problem; yes and no are equally likely.

    A story is a random walk in which no agent gets inconsistent beliefs. It leaves out actions for which designated
    worlds disagree about an agent's observability type. A formula that designated worlds of the end disagree about is
    not asked.

    How an agent observes an action is decided at the designated world, so that all believe what is the case there: who
    wrongly believes that another one is away believes that it saw the action all the same. Stories where the truth of
    the asked formula, or of those below its beliefs, depends on it are left out and counted (`Question.left_out`): they
    are told again with `apply_with_local_types`.

    Args:
        source: the problem, see `SearchProblem.of`.
        depth: number of beliefs around the literal, of different agents in a row.
        steps: number of actions of a story.
        seed: of the random choices.

    Raises:
        EpigymError: when an argument is out of range, the task has no fluents, or no question is found in 20
            stories.
    """
    convert(depth, Count, "depth"), convert(steps, Natural, "steps"), convert(seed, Natural, "seed")
    problem = SearchProblem.of(source)
    task, rng = problem.space.task, np.random.default_rng(seed)
    if not task.fluents:
        raise EpigymError(f"{task.name} has no fluents, and questions are about beliefs in fluents")
    if depth > 1 and len(task.agents) < 2:
        raise EpigymError(
            f"depth={depth}: {task.name} has one agent, whose beliefs about itself are not asked: depth=1"
        )
    space = StateSpace(task, consistent_beliefs=True)
    start = space.intern(problem.space.model(problem.start).state)
    while True:
        wanted = bool(rng.integers(2))
        left_out = 0
        for _ in range(_STORIES):
            story = _Story(space, start, steps, rng)
            if (question := story.ask(wanted, depth, rng)) is None:
                continue
            if story.is_clear(question.formula):
                yield replace(question, left_out=left_out)
                break
            left_out += 1
        else:
            answer = "yes" if wanted else "no"
            raise EpigymError(
                f"{_STORIES} stories have no question with the answer {answer}, {left_out} as it would depend on where "
                "observability types are decided: try other depth or steps"
            )


class _Story:
    """A random walk, executed by the reference."""

    def __init__(self, space: StateSpace, start: int, steps: int, rng: np.random.Generator) -> None:
        self._task, state = space.task, start
        self._actions = {action.name: action for action in space.task.actions}
        first = space.model(start)
        self._estates, self._plan, self._text = [first.state], list[str](), [describe_model(first)]
        while len(self._plan) < steps:
            choices = [step for step in _list_steps(space, state) if step[1] != state]
            if not choices:
                break
            number, state = choices[rng.integers(len(choices))]
            action = self._task.actions[number]
            before, after = self._estates[-1], reference.apply(self._task, self._estates[-1], action)
            self._text.append(describe_action(self._task, before, action, after))
            self._estates.append(after)
            self._plan.append(action.name)

    def ask(self, answer: bool, depth: int, rng: np.random.Generator) -> Question | None:
        """A question with this answer; None where none is found."""
        for attempt in range(_FORMULAS):
            formulas = _sample_formulas(self._task, depth, rng)
            asked = formulas[-1]
            if self._truths(self._estates[-1], [asked]) != {asked: answer}:
                continue
            truths = [self._truths(estate, formulas) for estate in self._estates]
            changes = tuple(
                {one: truth for one, truth in after.items() if before.get(one) is not truth}
                for before, after in pairwise(truths)
            )
            if any(changes) or attempt >= _FORMULAS // 2:
                text = f"Does {asked.agents[0]} believe that {describe_formula(asked.children[0])}?"
                story, plan = tuple(self._text), tuple(self._plan)
                return Question(story, text, answer, asked, plan, changes, self._estates[-1])
        return None

    def is_clear(self, asked: Formula) -> bool:
        """Whether the formula and those below its beliefs have the same truth if observability types are local."""
        formulas = list(asked.subformulas())
        local = self._estates[0]
        for name, estate in zip(self._plan, self._estates[1:], strict=True):
            try:
                local = reference.apply_with_local_types(self._task, local, self._actions[name])
            except TaskError:  # it is not applicable
                return False
            if self._truths(local, formulas) != self._truths(estate, formulas):
                return False
        return True

    def _truths(self, estate: EState, formulas: Sequence[Formula]) -> dict[Formula, bool]:
        """The truth of the formulas about which the designated worlds agree."""
        agents = self._task.agents
        holds = {formula: reference.holds(estate, agents, formula) for formula in formulas}
        return {one: truth for one, truth in holds.items() if truth or reference.holds(estate, agents, not_(one))}


def _list_steps(space: StateSpace, state: int) -> Iterator[tuple[int, int]]:
    """The actions that are allowed in an e-state and have one successor, each with it."""
    for action in np.flatnonzero(space.allowed([state])).tolist():
        with suppress(TaskError):  # designated worlds disagree about an observability type
            yield action, space.successor(state, action)


def _sample_formulas(task: Task, depth: int, rng: np.random.Generator) -> list[Formula]:
    """A literal, a belief of an agent in it, and so on: depth + 1 formulas."""
    formulas, previous = [literal(str(rng.choice(task.fluents)), bool(rng.integers(2)))], ""
    for _ in range(depth):
        previous = str(rng.choice([agent for agent in task.agents if agent != previous]))
        formulas.append(believes(previous, formulas[-1]))
    return formulas
