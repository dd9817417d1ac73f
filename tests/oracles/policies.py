"""Least depths of policies, by a fixpoint over all e-states that outcomes reach: the definition, without any search."""

from epigym.space.space import StateSpace

Options = dict[int, dict[int, set[int]]]


def all_options(space: StateSpace, most: int, most_worlds: int) -> Options | None:
    """The targets of each action in each e-state that outcomes reach; None where these are too many or too large."""
    options: Options = {space.initial: {}}
    for state in (queue := [space.initial]):
        found = space.outcomes([state])
        for action, target in zip(found.action.tolist(), found.target.tolist(), strict=True):
            options[state].setdefault(action, set()).add(target)
            if target not in options:
                options[target] = {}
                queue.append(target)
        if len(options) > most or space.world_counts(found.target).max(initial=0) > most_worlds:
            return None
    return options


def least_depths(space: StateSpace, options: Options) -> dict[int, int]:
    """The least depth of a strong policy from each e-state that has one."""
    solved = {state: 0 for state in options if space.is_goal([state])[0]}
    for depth in range(1, len(options) + 1):
        new = [
            state
            for state, actions in options.items()
            if state not in solved and any(targets <= solved.keys() for targets in actions.values())
        ]
        if not new:
            break
        solved.update(dict.fromkeys(new, depth))
    return solved


def strong_cyclic(space: StateSpace, options: Options) -> set[int]:
    """The e-states that have a strong cyclic policy."""
    goals = {state for state in options if space.is_goal([state])[0]}
    kept = set(options)
    while True:
        reaching = set(goals)
        while True:
            more = {
                state
                for state in kept - reaching
                if any(targets <= kept and targets & reaching for targets in options[state].values())
            }
            if not more:
                break
            reaching |= more
        if reaching == kept:
            return kept
        kept = reaching


def excludes_strong(space: StateSpace, most: int) -> bool:
    """Whether there is no strong policy even if all e-states are goals but the first ones, breadth first."""
    options: Options = {}
    reached = [space.initial]
    for state in reached:
        if len(options) == most:
            break
        found = space.outcomes([state])
        options[state] = {}
        for action, target in zip(found.action.tolist(), found.target.tolist(), strict=True):
            options[state].setdefault(action, set()).add(target)
            if target not in reached:
                reached.append(target)
    solved = {state for state in reached if state not in options or space.is_goal([state])[0]}
    for _ in options:
        solved |= {state for state, actions in options.items() if any(each <= solved for each in actions.values())}
    return space.initial not in solved
