"""Gossip with an unreliable agent: agents tell each other secrets, and one of them always says the opposite.

Source: L. van den Berg and M. Gattinger, "Dealing with Unreliable Agents in Dynamic Gossip", DaLí 2020. Every agent
has a secret, a bit, and agents call each other to learn all secrets. Unreliable agents say the opposite of what is
the case; a reliable agent that hears two values of one secret can find them out.

Modelled: worlds say the value of each secret and who is unreliable. It is common knowledge that this is exactly one
agent, and not p1. An agent tells another one, or all, the value of a secret that it knows; the unreliable one says
the other value. All notice a call and about whose secret it is, and not the value. All shall know all secrets, and p1
who is unreliable.

Departures: in a call one agent speaks about one secret, instead of both about all; everybody has everybody's number;
in the paper agents do not know how many are unreliable. In the sensing version all is open but the secret of p1.
"""

from typing import Any

from tests.unknown.text import declare_action_type, number_names, state_count, write_problem

SIZES: dict[str, dict[str, Any]] = {"small": {"agents": 3}, "medium": {"agents": 4}, "large": {"agents": 6}}


def write(sensing: bool, agents: int) -> str:
    """The last agent is unreliable; agents with odd numbers have the secret one, the others zero.

    Args:
        sensing: whether the unreliable agent and the secrets of all but p1 are open.
        agents: how many, at least 3.
    """
    names = number_names("p", agents)
    shapes = {"call": {"Full": "actual | other", "Half": "actual other"}, "broadcast": {"Full": "actual | other"}}
    designated = "actual other" if sensing else "actual"
    said = {"one": "(says_one ?i ?k)", "zero": "(says_zero ?i ?k)"}
    models = (
        {"tell": " ".join(said.values())}
        if sensing
        else {"tell_one": " ".join(said.values()), "tell_zero": " ".join(reversed(said.values()))}
    )
    actions = "\n".join(
        f"""(:action {name} :parameters (?i ?j ?k - agent | (/= ?i ?j)) :action-type (call {events})
            :observability-conditions (:and (?i Full) (?j Full) (default Half)))
        (:action {name}_all :parameters (?i ?k - agent) :action-type (broadcast {events})
            :observability-conditions (default Full))"""
        for name, events in models.items()
    )
    holds, fails = "([?i] (secret ?k))", "([?i] (not (secret ?k)))"
    return write_problem(
        "unreliable_gossip",
        action_types=[declare_action_type(name, "actual other", designated, **views) for name, views in shapes.items()],
        domain=f"""
        (:predicates (secret ?i - agent) (unreliable ?i - agent))
        (:event says_one :parameters (?i ?k - agent)
            :precondition (or (and (not (unreliable ?i)) {holds}) (and (unreliable ?i) {fails})))
        (:event says_zero :parameters (?i ?k - agent)
            :precondition (or (and (not (unreliable ?i)) {fails}) (and (unreliable ?i) {holds})))
        {actions}""",
        agents={"agent": names},
        init=[
            "(secret p1)",
            *(_state_value(number) for number in range(2, agents + 1) if not sensing),
            *([] if sensing else [f"(unreliable {names[-1]})"]),
            "([C. All] (not (unreliable p1)))",
            *state_count(1, [f"(unreliable {name})" for name in names[1:]]),
            "(:forall (?i - agent) ([C. All] ([Kw. ?i] (secret ?i))))",
            "(:forall (?i - agent) ([C. All] ([Kw. ?i] (unreliable ?i))))",
        ],
        goals=["(forall (?i ?k - agent) ([Kw. ?i] (secret ?k)))", "(forall (?k - agent) ([Kw. p1] (unreliable ?k)))"],
    )


def _state_value(number: int) -> str:
    return f"(secret p{number})" if number % 2 else f"(not (secret p{number}))"


def construct_plan(sensing: bool, agents: int) -> list[str]:
    """Tell suspects the secret of p1 and listen to what they say about it; collect all secrets, and broadcast them."""
    names = number_names("p", agents)
    suspects = names[1:-1] if sensing else names[-1:]
    calls = [(*pair, "p1") for name in suspects for pair in (("p1", name), (name, "p1"))]
    calls += [(name, "p1", name) for name in names[1:]]

    def tell(speaker: str, about: str) -> str:
        if sensing:
            return "tell"
        lies = speaker == names[-1]
        return "tell_one" if int(about[1:]) % 2 != lies else "tell_zero"

    return [f"{tell(i, k)}_{i}_{j}_{k}" for i, j, k in calls] + [f"{tell('p1', k)}_all_p1_{k}" for k in names]
