"""Formulas, e-states and actions in plain English, with the names of the task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from epigym.drawing.steps import Notice, witnesses
from epigym.space.kripke_model import KripkeModel
from epigym.task.formula import Formula, Op
from epigym.task.task import Action, EState, Task

_VERBS = {
    Notice.SAW: ("sees it", "see it"),
    Notice.NOTICED: ("notices it but not its outcome", "notice it but not its outcome"),
    Notice.MISSED: ("does not notice it", "do not notice it"),
}


def describe_formula(formula: Formula) -> str:
    """A formula as a clause, such as `a believes that tail is false`."""
    negated = formula.op is Op.NOT
    inner = formula.unnegated
    match inner.op:
        case Op.TRUE | Op.FALSE:
            return str((inner.op is Op.TRUE) is not negated).lower()
        case Op.FLUENT:
            return f"{inner.name} is {'false' if negated else 'true'}"
        case Op.BELIEVES:
            return f"{inner.agents[0]} {'does not believe' if negated else 'believes'} that {_part(inner.children[0])}"
    if negated:
        return f"it is not the case that {_part(inner)}"
    parts = [_part(child) for child in formula.children]
    match formula.op:
        case Op.AND | Op.OR:
            return (" and " if formula.op is Op.AND else " or ").join(parts)
        case Op.EVERYBODY:
            return f"each of {join_names(formula.agents)} believes that {parts[0]}"
        case Op.COMMON:
            return f"{join_names(formula.agents)} commonly believe that {parts[0]}"
    return f"at every designated world {parts[0]}"


def describe_model(model: KripkeModel) -> str:
    """The true fluents of an e-state, and the beliefs of each agent about single fluents, a line each."""
    certain, open_ = _literals(model, model.designated)
    lines = [
        f"Facts: {join_names(certain) or 'none is certain'}.",
        *([f"Unknown: {join_names(open_)}."] if open_ else []),
    ]
    for agent in model.agents:
        rows = [model.successors(agent, world) for world in model.designated]
        if not all(rows):
            lines.append(f"{agent} has inconsistent beliefs.")
            continue
        beliefs, open_ = _literals(model, {world for row in rows for world in row})
        unsure = f"{agent} is unsure about" if len(rows) == 1 else f"it is unknown what {agent} believes about"
        clauses = [*([f"{agent} believes that {join_names(beliefs)}"] if beliefs else []),
                   *([f"{unsure} {join_names(open_)}"] if open_ else [])]  # fmt: skip
        lines.append("; ".join(clauses) + ".")
    return "\n".join(lines)


def describe_action(task: Task, estate: EState, action: Action, after: EState) -> str:
    """A sentence that names an action, says which agents notice it, and which facts it changes.

    Args:
        task: to which the action belongs.
        estate: the e-state before it.
        action: the action.
        after: the e-state after it.

    Raises:
        TaskError: when designated worlds disagree about an agent's observability type.
    """
    agents: dict[Notice, list[str]] = {kind: [] for kind in _VERBS}
    for agent, kind in zip(task.agents, witnesses(task, estate, action), strict=True):
        agents[kind].append(agent)
    clauses = [f"{join_names(who)} {_VERBS[kind][len(who) > 1]}" for kind, who in agents.items() if who]
    old, new = (_literals(KripkeModel(task.fluents, task.agents, one), one.designated)[0] for one in (estate, after))
    changed = [clause for clause in new if clause not in old]
    return f"{action.name}: {'; '.join(clauses)}." + (f" Now {join_names(changed)}." if changed else "")


def join_names(names: Sequence[str]) -> str:
    """Names with commas and a final `and`; empty when there are none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _part(formula: Formula) -> str:
    text = describe_formula(formula)
    return f"({text})" if formula.op in (Op.AND, Op.OR) else text


def _literals(model: KripkeModel, worlds: Iterable[int]) -> tuple[list[str], list[str]]:
    """The literals that hold at all worlds, as clauses, and the other fluents."""
    valuations = [model.state.valuations[world] for world in worlds]
    truths = {name: {name in valuation for valuation in valuations} for name in model.fluents}
    certain = [f"{name} is {str(True in values).lower()}" for name, values in truths.items() if len(values) == 1]
    return certain, [name for name, values in truths.items() if len(values) > 1]
