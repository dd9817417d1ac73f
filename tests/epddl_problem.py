"""A small EPDDL problem in files, for the tests of what reads problem files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

LIBRARY = """
(define (action-type-library kinds)
  (:requirements :partial-observability :multi-pointed-models :lists)
  (:action-type public :events (?e) :observability-types (Full)
    :relations (Full (?e ?e)) :designated (?e) :conditions ())
  (:action-type sensing :events (?pos ?neg) :observability-types (Full Half)
    :relations (Full (:forall (?x - event) (?x ?x)) Half (:forall (?x ?y - event) (?x ?y)))
    :designated (?pos ?neg) :conditions ()))
"""
DOMAIN = """
(define (domain coin)
  (:action-type-libraries kinds)
  (:requirements :partial-observability :ontic-actions :negative-preconditions :modal-preconditions :lists)
  (:predicates (open) (tail))
  (:event opens :precondition (not (open)) :effects (open))
  (:event heard :parameters (?i - agent) :precondition (and (open) ([?i] (tail))))
  (:event is-tail :precondition (and (open) (tail)))
  (:event is-head :precondition (and (open) (not (tail))))
  (:action lift :parameters (?i - agent) :action-type (public (opens))
    :observability-conditions (default Full))
  (:action shout :parameters (?i - agent) :action-type (public (heard ?i))
    :observability-conditions (default Full))
  (:action look :parameters (?i - agent) :action-type (sensing (is-tail) (is-head))
    :observability-conditions (:and (?i Full) (default Half))))
"""
PROBLEM = """
(define (problem coin-1) (:domain coin)
  (:requirements :finitary-S5-theories :modal-goals :negative-goals)
  (:agents Ann Bob)
  (:init (:and (tail) (not (open)) ([C. All] (not (open)))))
  (:goal (and ([Ann] (tail)) (not ([Bob] (tail))))))
"""
PLANS = (["lift_Ann", "look_Ann"], ["lift_Bob", "look_Ann"])


@dataclass(frozen=True)
class Files:
    """Where the problem lies; `spec` names the other files relative to itself."""

    domain: Path
    library: Path
    problem: Path
    spec: Path


def write_problem(folder: Path, problem: str = PROBLEM) -> Files:
    """Write the files into `folder`."""
    files = Files(*(folder / name for name in ("coin.epddl", "kinds.epddl", "coin-1.epddl", "coin-1.json")))
    files.domain.write_text(DOMAIN)
    files.library.write_text(LIBRARY)
    files.problem.write_text(problem)
    files.spec.write_text(
        json.dumps({"domain": "coin.epddl", "problem": "coin-1.epddl", "action-type-libraries": ["kinds.epddl"]})
    )
    return files
