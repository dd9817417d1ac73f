"""The domains of the Blocks World in EPDDL: one robot, several agents, and several with clumsy ones among them.

As in the competition, a block stays clear when it is picked up, but not when it is unstacked.
"""

from __future__ import annotations

ONE_ROBOT = """
(define (domain blocks_world)
    (:requirements :typing :lists :partial-observability :ontic-actions)
    (:action-type-libraries action_types)
    (:types block)
    (:predicates
        (on ?x ?y - block)
        (on_table ?x - block)
        (clear ?x - block)
        (holding ?x - block)
        (arm_empty))

    (:event picks_up
        :parameters (?x - block)
        :precondition (and (on_table ?x) (clear ?x) (arm_empty))
        :effects (:and (not (on_table ?x)) (not (arm_empty)) (holding ?x)))
    (:action pick_up
        :parameters (?x - block)
        :action-type (public-ontic (picks_up ?x))
        :observability-conditions (default Fully))

    (:event puts_down
        :parameters (?x - block)
        :precondition (holding ?x)
        :effects (:and (not (holding ?x)) (clear ?x) (arm_empty) (on_table ?x)))
    (:action put_down
        :parameters (?x - block)
        :action-type (public-ontic (puts_down ?x))
        :observability-conditions (default Fully))

    (:event stacks
        :parameters (?x ?y - block)
        :precondition (and (holding ?x) (clear ?y))
        :effects (:and (not (holding ?x)) (not (clear ?y)) (clear ?x) (arm_empty) (on ?x ?y)))
    (:action stack
        :parameters (?x ?y - block)
        :action-type (public-ontic (stacks ?x ?y))
        :observability-conditions (default Fully))

    (:event unstacks
        :parameters (?x ?y - block)
        :precondition (and (on ?x ?y) (clear ?x) (arm_empty))
        :effects (:and (holding ?x) (clear ?y) (not (clear ?x)) (not (arm_empty)) (not (on ?x ?y))))
    (:action unstack
        :parameters (?x ?y - block)
        :action-type (public-ontic (unstacks ?x ?y))
        :observability-conditions (default Fully)))
"""

_PREDICATES = """
    (:predicates
        (on ?x ?y - block)
        (on_table ?x - block ?t - table)
        (clear ?x - block)
        (holding ?i - agent ?x - block)
        (arm_empty ?i - agent)
        (focused_on ?i ?j - agent)
        (can_move ?i - agent ?x - block)
        (:fact at ?i - agent ?t - table))
"""

_WATCHED = """:observability-conditions
            (:and
                (?i Fully)
                (:forall (?j - agent | (/= ?i ?j)) (?j (if (focused_on ?j ?i) Fully)))
                (default Oblivious))"""

# Who acts must keep its eyes on itself, and all who watch it must consider it possible that it can do so.
_PICK_UP_AND_PUT_DOWN = f"""
    (:event nothing)

    (:event picks_up
        :parameters (?i - precise ?x - block ?t - table)
        :precondition
            (and (on_table ?x ?t) (clear ?x) (arm_empty ?i) (at ?i ?t) (focused_on ?i ?i)
                (forall (?j - agent)
                    (imply (focused_on ?j ?i)
                        (<?j> (and (on_table ?x ?t) (clear ?x) (arm_empty ?i))))))
        :effects (:and (not (on_table ?x ?t)) (not (arm_empty ?i)) (holding ?i ?x)))
    (:action pick_up
        :parameters (?i - precise ?x - block ?t - table | (at ?i ?t))
        :action-type (private-ontic (picks_up ?i ?x ?t) (nothing))
        {_WATCHED})

    (:event puts_down
        :parameters (?i - precise ?x - block ?t - table)
        :precondition
            (and (holding ?i ?x) (at ?i ?t) (focused_on ?i ?i)
                (forall (?j - agent) (imply (focused_on ?j ?i) (<?j> (holding ?i ?x)))))
        :effects (:and (not (holding ?i ?x)) (clear ?x) (arm_empty ?i) (on_table ?x ?t)))
    (:action put_down
        :parameters (?i - precise ?x - block ?t - table | (at ?i ?t))
        :action-type (private-ontic (puts_down ?i ?x ?t) (nothing))
        {_WATCHED})
"""

_GIVE = """
    (:event gives
        :parameters (?i - precise ?j - receiver ?x - block)
        :precondition
            (and (can_move ?i ?x) (holding ?i ?x) (clear ?x) (focused_on ?i ?i) (focused_on ?j ?i)
                (forall (?k - agent)
                    (imply (focused_on ?k ?i)
                        (<?k> (and (can_move ?i ?x) (holding ?i ?x) (clear ?x))))))
        :effects (:and (not (holding ?i ?x)) (can_move ?j ?x) (not (can_move ?i ?x)) (holding ?j ?x)))
    (:action give
        :parameters (?i - precise ?j - receiver ?x - block | (/= ?i ?j))
        :action-type (private-ontic (gives ?i ?j ?x) (nothing))
        :observability-conditions
            (:and
                (?i Fully)
                (?j Fully)
                (:forall (?k - agent | (and (/= ?i ?k) (/= ?j ?k))) (?k (if (focused_on ?k ?i) Fully)))
                (default Oblivious)))
"""

_STACK = f"""
    (:event stacks
        :parameters (?i - precise ?x ?y - block)
        :precondition
            (and (holding ?i ?x) (clear ?y) (can_move ?i ?x) (can_move ?i ?y) (focused_on ?i ?i)
                (forall (?j - agent)
                    (imply (focused_on ?j ?i)
                        (<?j> (and (holding ?i ?x) (clear ?y) (can_move ?i ?x) (can_move ?i ?y))))))
        :effects (:and (not (holding ?i ?x)) (not (clear ?y)) (clear ?x) (arm_empty ?i) (on ?x ?y)))
    (:action stack
        :parameters (?i - precise ?x ?y - block | (/= ?x ?y))
        :action-type (private-ontic (stacks ?i ?x ?y) (nothing))
        {_WATCHED})
"""

_TRIES_TO_STACK = """
        :parameters (?i - clumsy ?x ?y - block ?t - table)
        :precondition
            (and (holding ?i ?x) (clear ?y) (at ?i ?t) (can_move ?i ?x) (can_move ?i ?y) (focused_on ?i ?i)
                (forall (?j - agent)
                    (imply (focused_on ?j ?i)
                        (<?j> (and (holding ?i ?x) (clear ?y) (can_move ?i ?x) (can_move ?i ?y))))))"""

_CLUMSY_STACK = f"""
    (:event stacks{_TRIES_TO_STACK}
        :effects (:and (not (holding ?i ?x)) (not (clear ?y)) (clear ?x) (arm_empty ?i) (on ?x ?y)))
    (:event drops{_TRIES_TO_STACK}
        :effects (:and (not (holding ?i ?x)) (clear ?x) (clear ?y) (arm_empty ?i) (on_table ?x ?t)))
    (:action clumsy_stack
        :parameters (?i - clumsy ?x ?y - block ?t - table | (and (/= ?x ?y) (at ?i ?t)))
        :action-type (private-nondeterministic-ontic (stacks ?i ?x ?y ?t) (drops ?i ?x ?y ?t) (nothing))
        {_WATCHED})
"""

_UNSTACK = f"""
    (:event unstacks
        :parameters (?i - precise ?x ?y - block)
        :precondition
            (and (on ?x ?y) (clear ?x) (arm_empty ?i) (can_move ?i ?x) (can_move ?i ?y) (focused_on ?i ?i)
                (forall (?j - agent)
                    (imply (focused_on ?j ?i)
                        (<?j> (and (on ?x ?y) (clear ?x) (arm_empty ?i) (can_move ?i ?x) (can_move ?i ?y))))))
        :effects (:and (holding ?i ?x) (clear ?y) (not (clear ?x)) (not (arm_empty ?i)) (not (on ?x ?y))))
    (:action unstack
        :parameters (?i - precise ?x ?y - block | (/= ?x ?y))
        :action-type (private-ontic (unstacks ?i ?x ?y) (nothing))
        {_WATCHED})
"""

_FOCUS_AND_TELL = """
    (:event focuses
        :parameters (?i ?j - agent)
        :precondition (not (focused_on ?i ?j))
        :effects
            (:and
                (focused_on ?i ?j)
                (:forall (?k - agent | (/= ?k ?j)) (when (focused_on ?i ?k) (not (focused_on ?i ?k))))))
    (:action focus
        :parameters (?i ?j - agent)
        :action-type (public-ontic (focuses ?i ?j))
        :observability-conditions (default Fully))

    (:event says
        :parameters (?i ?j - agent ?x ?y - block)
        :precondition (and ([?i] (on ?x ?y)) (<?j> ([?i] (on ?x ?y)))))
    (:action tell_block
        :parameters (?i ?j - agent ?x ?y - block | (and (/= ?i ?j) (/= ?x ?y)))
        :action-type (private-announcement (says ?i ?j ?x ?y) (nothing))
        :observability-conditions (:and (?i Fully) (?j Fully) (default Oblivious))))
"""


def _domain(types: str, *actions: str) -> str:
    head = f"""
(define (domain blocks_world)
    (:requirements :typing :equality :lists :list-comprehensions :facts :partial-observability :ontic-actions
        :conditional-effects :general-preconditions)
    (:action-type-libraries action_types)
    (:types {types})"""
    return head + "\n".join((_PREDICATES.rstrip(), _PICK_UP_AND_PUT_DOWN.rstrip(), *map(str.rstrip, actions)))


SEVERAL_AGENTS = _domain(
    "block table - object precise - agent",
    _GIVE.replace("receiver", "precise"),
    _STACK,
    _UNSTACK,
    _FOCUS_AND_TELL,
)
CLUMSY_AGENTS = _domain(
    "block table - object precise clumsy - agent",
    _GIVE.replace("receiver", "clumsy"),
    _CLUMSY_STACK,
    # As published: a block unstacked from itself is an action too, though never applicable.
    _UNSTACK.replace(" | (/= ?x ?y)", ""),
    _FOCUS_AND_TELL,
)
