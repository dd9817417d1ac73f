"""Many random updates, the core against the reference: `python -m tests.tools.many_updates 100000`.

Tasks of actions as people write them, in e-states from one world to beyond 4,096, over any frame, frames of agents who
know what they believe, and equivalences. Stops with an AssertionError at the first difference.
"""

import dataclasses
import itertools
import random
import sys
from collections import Counter

from tests.helpers import strategies
from tests.helpers.comparison import Comparison

SIZES = {5: 100, 20: 100, 50: 100, 63: 60, 64: 60, 65: 60, 128: 60, 200: 40, 512: 12, 513: 12, 1000: 6, 4097: 1}
"""Worlds of the first e-state, and how often."""
NAMES = tuple(f"p{k}" for k in range(10))
RELATIONS = ["any", "introspective", "equivalences"]
STEPS = 5
MOST_WORLDS = 10_000


def compare(updates: int) -> Counter[str]:
    """Compare so many updates, and count them by the worlds of the e-state that was updated."""
    counts: Counter[str] = Counter()
    for seed in itertools.count():
        rng = random.Random(seed)
        [worlds] = rng.choices(list(SIZES), list(SIZES.values()))
        task = strategies.telling_task(rng, NAMES[: rng.choice([3, len(NAMES)])])
        initial = strategies.random_estate(rng, worlds, task.fluents, task.agents, rng.choice(RELATIONS))
        if rng.random() < 0.5:
            initial = dataclasses.replace(initial, designated=initial.designated[:1])
        both = Comparison(dataclasses.replace(task, initial=initial), [])
        state: int | None = both.space.initial
        for _ in range(STEPS):
            if state is None or not both.actions[state] or both.space.world_counts([state])[0] > MOST_WORLDS:
                break
            size = int(both.space.world_counts([state])[0])
            label = next(
                name for most, name in ((64, "<= 64"), (512, "<= 512"), (MOST_WORLDS, "> 512")) if size <= most
            )
            targets = [both.step(state, action) for action in both.actions[state]]
            counts[label] += len(targets)
            state = rng.choice(targets)
        if counts.total() >= updates:
            return counts
    raise AssertionError("unreachable")


if __name__ == "__main__":
    counts = compare(int(sys.argv[1]))
    print(f"{counts.total():,} updates agree, by worlds before: {dict(counts)}")
