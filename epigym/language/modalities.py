"""The modalities of EPDDL as formulas."""

from __future__ import annotations

from epigym.task.formula import FALSE, TRUE, Formula, and_, believes, common, everybody, knows_whether, not_


def make_modal(kind: str, is_box: bool, agents: tuple[str, ...], formula: Formula, *, one_by_one: bool) -> Formula:
    """Build the box of agents over a formula, or its dual, the diamond; the box of no agents is true.

    Args:
        kind: `C` for common knowledge, `Kw` for knowing whether, `E` for the operator of everybody even over one
            agent, empty for belief.
        is_box: whether it is a box; the diamond of `Kw` is the negated box.
        agents: names.
        formula: the formula.
        one_by_one: whether a diamond over a group is the conjunction of the agents' diamonds, as in the toolkit.
    """
    if one_by_one and not is_box and kind != "C":
        return and_(*(make_modal(kind, False, (agent,), formula, one_by_one=False) for agent in agents))
    if not agents:
        return TRUE if is_box else FALSE
    inner = formula if is_box or kind == "Kw" else not_(formula)
    if kind == "Kw":
        box = and_(*(knows_whether(agent, inner) for agent in agents))
    elif kind == "C":
        box = common(agents, inner)
    else:
        box = believes(agents[0], inner) if len(agents) == 1 and not kind else everybody(agents, inner)
    return box if is_box else not_(box)
