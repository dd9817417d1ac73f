"""Tiny tasks that stand for what agents and heuristics meet, small enough to check by hand."""

from epigym.language import parse_mastar
from epigym.task.task import Task

COIN = """
fluent open, tail;
action lift, look, shout;
agent a, b;
executable lift if -open;
executable look if open;
executable shout if B(a, tail), tail;
lift causes open;
look determines tail;
shout announces tail;
a observes lift; b observes lift;
a observes look; b aware_of look;
a observes shout; b observes shout;
initially C([a,b], -open), tail, -open;
initially C([a,b], -B(a, tail), -B(a, -tail));
initially C([a,b], -B(b, tail), -B(b, -tail));
goal B(b, tail);
goal B(a, B(b, tail));
"""

COUNTER = """
fluent p, q, r;
action first, second, third, undo;
agent a;
executable second if p;
executable third if q;
first causes p;
second causes q;
third causes r;
undo causes -p;
a observes first; a observes second; a observes third; a observes undo;
initially C([a], -p), C([a], -q), C([a], -r), -p, -q, -r;
goal r; goal -p;
"""

# Only a sees the flip, so b goes on believing heads; the shout then leaves b with nothing to believe in.
DELUDED = """
fluent tail, other;
action flip, shout;
agent a, b;
flip causes tail;
shout announces tail;
a observes flip; a observes shout; b observes shout;
initially C([a,b], -tail), -tail, other;
initially C([a,b], -B(a, other), -B(a, -other)), C([a,b], -B(b, other), -B(b, -other));
goal B(b, other); goal B(b, -other);
"""


def coin() -> Task:
    """Lift the lid, look, shout: the only plan of three actions."""
    return parse_mastar(COIN)


def counter() -> Task:
    """Three steps in a row, then undo the first."""
    return parse_mastar(COUNTER)


def hopeless() -> Task:
    """The coin, but nobody can shout: the second agent never learns how it lies."""
    return parse_mastar(COIN.replace("executable shout if B(a, tail), tail", "executable shout if tail, -tail"))


def delusion() -> Task:
    """Flip behind b's back, then tell it what it believes to be false: the only plan, after which b believes all."""
    return parse_mastar(DELUDED)


def trivial() -> Task:
    """A task whose goal holds at the start."""
    return parse_mastar(COUNTER.replace("goal r; goal -p;", "goal -p;"))


SOLVABLE = {"coin": coin, "counter": counter, "done": trivial}
