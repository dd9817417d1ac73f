"""Symmetries of a task: exchanges of agents and objects that leave it as it is.

An exchange swaps two words in the names of agents and fluents, such as `b1` and `b2` in `on_b1_b2`, or two endings of
words, such as `a` and `b` in `sa`. Names only propose: an exchange is a symmetry when it is verified to map every
action to an action and the goal to itself, up to the order of conjuncts, disjuncts, effects and subgoals. The initial
e-state need not be symmetric.

Why one action of many is enough: let a symmetry σ map an e-state s to one that is bisimilar to s. The product update
asks for nothing but what σ preserves, so σ also maps the successor of s under an action a to that under σ(a), and the
plans that lead to a goal from the one to those from the other, which are equally long. So if a shortest plan from s
starts with an action, another one starts with the first action of its orbit under all such σ. By induction over the
length of the shortest plan, a search that tries only the first action of every orbit, at each e-state by itself, still
reaches a goal wherever there is one, and the nearest by as few steps as before. That also holds under
`consistent_beliefs`: σ maps e-states with inconsistent beliefs to such e-states.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

from epigym.task.formula import Formula, FormulaNumbers
from epigym.task.task import Task

_WORD = re.compile(r"[^\W_]+")

Swaps = tuple[tuple[int, int], ...]
Images = Mapping[str, str]  # of what changes


class Symmetry(NamedTuple):
    """The numbers that a symmetry swaps, as ascending pairs in declared order; all others stay.

    Attributes:
        agents: pairs of agents.
        fluents: pairs of fluents.
        actions: pairs of actions.
    """

    agents: Swaps
    fluents: Swaps
    actions: Swaps


def symmetries(task: Task) -> list[Symmetry]:
    """The symmetries of a task that exchange two words, or two endings of words, and move an action."""
    content = _Content(task)
    words = dict.fromkeys(word for name in (*task.agents, *task.fluents) for word in _WORD.findall(name))
    numbers = [number for word in words for number in re.findall(r"\D(\d+)$", word)]
    endings = dict.fromkeys([*(agent for agent in task.agents if agent in words), *numbers])

    @cache
    def verify(*images: tuple[str, str]) -> Symmetry | None:
        return content.symmetry(dict(images))

    found = [
        *_exchangeable(words, lambda one, other: verify(*sorted([(one, other), (other, one)]))),
        *_exchangeable(endings, lambda one, other: verify(*_endings_exchanged(words, one, other))),
    ]
    return [symmetry for symmetry in dict.fromkeys(found) if symmetry.actions]


def _exchangeable(things: Iterable[str], verify: Callable[[str, str], Symmetry | None]) -> Iterator[Symmetry]:
    """The exchanges of two things that are symmetries.

    Being exchangeable is an equivalence: a thing is compared with one member of every class only; the exchanges with
    the other members follow.
    """
    classes: dict[str, list[Symmetry]] = {}  # by the first thing: its exchanges with the others
    for thing in things:
        for first, exchanges in classes.items():
            if symmetry := verify(first, thing):
                exchanges.append(symmetry)
                break
        else:
            classes[thing] = []
    for exchanges in classes.values():
        yield from exchanges
        for one, other in combinations(exchanges, 2):
            yield Symmetry(*map(_move, other, one))


def _move(swaps: Swaps, by: Swaps) -> Swaps:
    """The same swaps between the images under other swaps."""
    image = {one: other for pair in by for one, other in (pair, pair[::-1])}
    return _swaps((image.get(one, one), image.get(other, other)) for one, other in swaps)


def _swaps(images: Iterable[tuple[int, int]]) -> Swaps:
    """The pairs of two, ascending, each once."""
    return tuple(sorted({(min(pair), max(pair)) for pair in images if pair[0] != pair[1]}))


def _endings_exchanged(words: Iterable[str], one: str, other: str) -> list[tuple[str, str]]:
    """The words that end in one of two endings and, with the other ending, are words too; with these."""
    images: dict[str, str] = {}
    for mine, theirs in ((one, other), (other, one)):
        for word in words:
            stem = word.removesuffix(mine)
            is_part = mine.isdigit() and stem[-1:].isdigit()  # of a longer number
            if stem != word and not is_part and stem + theirs in words:
                images[word] = stem + theirs
    is_exchange = all(images.get(image) == word for word, image in images.items())
    return sorted(images.items()) if is_exchange else []


class _Content:
    """The content of a task as comparable values, after an exchange of names."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._agents, self._fluents = _Names(task.agents), _Names(task.fluents)
        self._number: dict[Hashable, int] = {}  # of formulas
        self._goal = self._goal_after(FormulaNumbers(self._number, {}, {}))
        self._actions: defaultdict[Hashable, list[int]] = defaultdict(list)
        for number, value in enumerate(self._actions_after({}, {})):
            self._actions[value].append(number)

    def symmetry(self, words: Images) -> Symmetry | None:
        """The exchange of words with their images, or None when it is no symmetry or moves nothing."""
        agents, fluents = self._agents.exchange(words), self._fluents.exchange(words)
        if agents is None or fluents is None or not (agents or fluents):
            return None
        if self._goal_after(FormulaNumbers(self._number, agents, fluents)) != self._goal:
            return None
        images: list[int] = []
        met: Counter[Hashable] = Counter()
        for value in self._actions_after(agents, fluents):
            alike = self._actions.get(value, ())
            if met[value] == len(alike):
                return None
            images.append(alike[met[value]])
            met[value] += 1
        return Symmetry(self._agents.swaps(agents), self._fluents.swaps(fluents), _swaps(enumerate(images)))

    def _goal_after(self, number: Callable[[Formula], int]) -> frozenset[int]:
        return frozenset(map(number, self._task.goal))

    def _actions_after(self, agents: Images, fluents: Images) -> Iterator[Hashable]:
        number = FormulaNumbers(self._number, agents, fluents)
        for action in self._task.actions:
            events = tuple(
                (
                    number(event.precondition),
                    frozenset((fluents.get(e.fluent, e.fluent), e.value, number(e.condition)) for e in event.effects),
                )
                for event in action.events
            )
            observers = frozenset(
                (agents.get(agent, agent), tuple((number(condition), kind) for condition, kind in conditions))
                for agent, conditions in zip(self._task.agents, action.observability, strict=True)
            )
            relations = frozenset(action.relations.items())
            yield number(action.applicability), events, action.designated, relations, observers


class _Names:
    """Declared names and the words in them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._position = {name: number for number, name in enumerate(names)}
        self._having: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._position:
            for word in dict.fromkeys(_WORD.findall(name)):
                self._having[word].append(name)

    def exchange(self, words: Images) -> Images | None:
        """The names that change and their images when words do, or None when an image is no name."""
        images: dict[str, str] = {}
        for moved in words:
            for name in self._having.get(moved, ()):
                images[name] = _WORD.sub(lambda word: words.get(word[0], word[0]), name)
                if images[name] not in self._position:
                    return None
        return images

    def swaps(self, images: Images) -> Swaps:
        """The pairs that names form with their images, as numbers."""
        return _swaps((self._position[name], self._position[image]) for name, image in images.items())
