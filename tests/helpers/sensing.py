"""Tasks of one action with several outcomes."""

from epigym.task.formula import TRUE, Formula, and_, fluent, not_
from epigym.task.task import Action, Effect, EState, Event, Task

SEES, MISSES = (frozenset({0}), frozenset({1}), frozenset({2})), (frozenset({2}),) * 3


def looking(*conditions: tuple[Formula, str]) -> Task:
    """Find out whether p holds where it does or not; nobody knows. The first agent looks, b by the conditions."""
    events = (Event("yes", fluent("p")), Event("no", not_(fluent("p"))), Event("nothing"))
    observability = (((TRUE, "sees"),), (*conditions, (TRUE, "misses")))
    look = Action("look", TRUE, events, (0, 1), {"sees": SEES, "misses": MISSES}, observability)
    worlds = tuple(frozenset(world) for world in ("p", "pq", "", "q"))
    every = frozenset(range(4))
    initial = EState(worlds, ((every,) * 4,) * 2, (0, 1, 2))
    return Task("looking", ("p", "q"), ("a", "b"), (look,), initial, (and_(fluent("p"), fluent("q")),))


def tossing() -> Task:
    """Toss a coin that shows tails until it shows heads; everybody sees it."""
    events = (Event("heads", TRUE, (Effect("p", True),)), Event("tails", TRUE, (Effect("p", False),)))
    relations = {"sees": (frozenset({0}), frozenset({1}))}
    toss = Action("toss", TRUE, events, (0, 1), relations, (((TRUE, "sees"),),) * 2)
    initial = EState((frozenset(),), ((frozenset({0}),),) * 2, (0,))
    return Task("tossing", ("p",), ("a", "b"), (toss,), initial, (fluent("p"),))
