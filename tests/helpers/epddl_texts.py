"""Small EPDDL texts for the tests: the parts that matter are given, the rest is filled in."""

from epigym.language.epddl import ground_texts
from epigym.language.source import SourceText
from epigym.language.specification import GroundSpecification
from epigym.task.task import Action, Task

LIBRARY = """
(define (action-type-library lib)
  (:action-type public :events (?e) :observability-types (Full)
    :relations (Full (?e ?e)) :designated (?e) :conditions ())
  (:action-type private :events (?e ?nil) :observability-types (Full Blind)
    :relations (Full (:forall (?x - event) (?x ?x)) Blind (:forall (?x - event) (?x ?nil)))
    :designated (?e) :conditions (?nil (:trivial-event)))
  (:action-type sensing :events (?pos ?neg) :observability-types (Full Half)
    :relations (Full (:forall (?x - event) (?x ?x)) Half (:forall (?x ?y - event) (?x ?y)))
    :designated (?pos ?neg)))
"""
PREDICATES = "(:predicates (p) (q) (r ?i - agent) (:fact ok ?i - agent))"
NO_EVENT = "(:event nil)"
PUBLIC = ":observability-conditions (default Full)"
ONE_WORLD = ":worlds (w) :relations (A (w w) B (w w)) :labels (w ()) :designated (w)"


def domain_text(items: str, predicates: str = PREDICATES) -> str:
    """A domain of the name `d`."""
    return f"(define (domain d)\n{predicates}\n{NO_EVENT}\n{items}\n)"


def problem_text(
    *, agents: str = "A B", init: str = ONE_WORLD, goal: str = "(p)", facts: str = "", declared: str = ""
) -> str:
    """A problem of the name `prob`."""
    facts = f"(:facts-init {facts})" if facts else ""
    return (
        f"(define (problem prob) (:domain d)\n(:agents {agents})\n{declared}\n{facts}\n(:init {init})\n(:goal {goal}))"
    )


def specification(
    items: str = "", *, predicates: str = PREDICATES, library: str = LIBRARY, plank_compat: bool = False, **problem: str
) -> GroundSpecification:
    """The ground specification of a domain's items and the parts of a problem."""
    return ground_texts(
        SourceText("p.epddl", problem_text(**problem)),
        SourceText("d.epddl", domain_text(items, predicates)),
        [SourceText("l.epddl", library)],
        plank_compat=plank_compat,
    )


def task(items: str = "", *, plank_compat: bool = False, **parts: str) -> Task:
    """The task of a domain's items and the parts of a problem."""
    return specification(items, plank_compat=plank_compat, **parts).task


def actions(items: str, *, plank_compat: bool = False, **parts: str) -> dict[str, Action]:
    """The ground actions by name."""
    return {action.name: action for action in task(items, plank_compat=plank_compat, **parts).actions}
