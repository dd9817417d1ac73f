"""The agents' own environment: what each sees, may do and is told, and what PettingZoo asks of it."""

import pickle
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import TransformObservation
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

import domains
import epigym
from epigym import EpigymError, EpistemicAECEnv, EpistemicEnv, KripkeModel
from epigym.envs.aec import WAIT
from epigym.envs.registration import camel_case
from epigym.language import parse_mastar
from epigym.reference import semantics as reference
from epigym.task.formula import and_, believes, or_
from epigym.task.task import Action
from tests.helpers.benchmark_files import ROOT

DOMAINS = ["CoinInTheBox", "Grapevine", "ConsecutiveNumbers", "SearchAndRescue"]
KNOWING = "(B(b, tail) | B(b, -tail))"
PLAN = ["signal_a_b", "open_a", "peek_b"]
DOCUMENTED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    'We recommend agents to be named in the format <descriptor>_<number>, like "player_0"',
    "unknown reset option 'options': expected one of 'goal', 'state'; it is ignored",
}
"""Warnings of PettingZoo's test: graphs and padded graphs are no arrays, and agents have the names of the problem."""


def make(domain: str = "CoinInTheBox", *, padded: bool = False, rounds: int = 100, **arguments: Any) -> EpistemicAECEnv:
    env = gymnasium.make(f"epi/{domain}-v0", **arguments)
    return EpistemicAECEnv(epigym.PaddedObservation(env, max_edges=4096) if padded else env, max_rounds=rounds)


def coin(**arguments: Any) -> EpistemicAECEnv:
    return make(instance="pl_3", **arguments)


ENVS = {domain: make(domain) for domain in DOMAINS}


def walk(env: EpistemicAECEnv, choices: Sequence[int]) -> None:
    """Take turns; each choice picks one of the actions that the mask has."""
    env.reset()
    for choice in choices:
        if any(env.terminations.values()):
            break
        allowed = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
        env.step(allowed[choice % len(allowed)])


def act(env: EpistemicAECEnv, *names: str) -> None:
    """Take turns by the names of actions."""
    for name in names:
        env.step(env.action_names[env.agent_selection].index(name))


def after(*names: str) -> KripkeModel:
    """The e-state of the coin's problem after actions of the central planner."""
    env = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3").unwrapped
    _, info = env.reset()
    for name in names:
        assert info["action_mask"][env.action_names.index(name)]
        *_, info = env.step(env.action_names.index(name))
    return env.model()


def seen_by_all(env: EpistemicAECEnv) -> list[Any]:
    return [env.observe(agent) for agent in env.possible_agents]


def is_same(first: Any, second: Any) -> bool:
    return bool(data_equivalence(first, second, exact=True))


turns = st.lists(st.integers(0, 50), max_size=12)


@pytest.mark.parametrize("domain", [camel_case(name) for name in domains.DOMAINS])
def test_the_test_of_pettingzoo_passes_with_the_documented_warnings(domain: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(domain, padded=True, rounds=2), num_cycles=3)
    assert {str(warning.message) for warning in caught} == DOCUMENTED


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("domain", DOMAINS)
def test_equal_seeds_give_equal_episodes(domain: str, padded: bool) -> None:
    seed_test(lambda: make(domain, padded=padded, random_goals=True), num_cycles=8)


def test_actors() -> None:
    env = coin()
    assert env.possible_agents == ["a", "b", "c"]
    assert env.action_names["b"] == (
        "wait", "open_b", "peek_b", "signal_b_a", "signal_b_c", "distract_b_a", "distract_b_c", "shout_tail_b",
    )  # fmt: skip
    assert all(env.action_space(agent).n == len(env.action_names[agent]) for agent in env.possible_agents)
    env = make("AssemblyLine")
    assert env.action_names == {
        "a": ("wait", "sense_a", "tell_a_b", "act_assemble", "act_res"),
        "b": ("wait", "sense_b", "tell_b_a", "act_assemble", "act_res"),
    }
    single = gymnasium.make("epi/AssemblyLine-v0")
    assert (env.actors["sense_b"], env.actors["act_res"]) == ("b", None)
    env = EpistemicAECEnv(single, actors={"act_assemble": "a", "act_res": "b"})
    assert (env.actors["sense_b"], env.actors["act_res"]) == ("b", "b")
    assert (env.action_names["a"][-1], env.action_names["b"][-1]) == ("act_assemble", "act_res")
    moves = [action.name for action in gymnasium.make("epi/SelectiveCommunication-v0").unwrapped.task.actions]
    env = EpistemicAECEnv(gymnasium.make("epi/SelectiveCommunication-v0"), actors=dict.fromkeys(moves, "a"))
    assert env.possible_agents == ["a"]
    assert env.action_names["a"] == ("wait", *moves)


@pytest.mark.parametrize("domain", DOMAINS)
@given(choices=turns)
def test_the_mask_has_what_the_agent_believes_applicable(domain: str, choices: list[int]) -> None:
    env = ENVS[domain]
    walk(env, choices)
    task, estate = env.central.task, env.central.model().state
    actions = {action.name: action for action in task.actions}

    def believed(agent: str, action: Action) -> bool:
        possible = or_(*(action.events[event].precondition for event in action.designated))
        return reference.holds(estate, task.agents, believes(agent, and_(action.applicability, possible)))

    for agent in env.possible_agents:
        wait, *own = env.action_names[agent]
        mask = env.action_mask(agent)
        assert (wait, mask[WAIT], mask.dtype) == ("wait", 1, np.int8)
        assert mask[1:].tolist() == [believed(agent, actions[name]) for name in own]
        assert env.infos[agent]["action_mask"].tolist() == mask.tolist()


@pytest.mark.parametrize("domain", DOMAINS)
@given(choices=turns)
def test_what_an_agent_considers_possible_looks_the_same_to_it(domain: str, choices: list[int]) -> None:
    env = ENVS[domain]
    walk(env, choices)
    model = env.central.model()
    for agent in env.possible_agents:
        env.reset(options={"state": model})
        observation = env.observe(agent)
        assert observation in env.observation_space(agent)
        for world in model.perspective(agent).designated:
            env.reset(options={"state": replace(model.state, designated=(world,))})
            assert is_same(env.observe(agent), observation)


def test_an_agent_observes_the_e_state_of_its_perspective() -> None:
    env = coin()
    env.reset(options={"state": after("open_a", "peek_a"), "goal": KNOWING})
    single = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    for agent in env.possible_agents:
        seen = env.central.model().perspective(agent)
        assert env.central.space.model(env.perspective(agent)).holds("opened") == seen.holds("opened") == (agent == "a")
        expected, _ = single.reset(options={"state": seen, "goal": KNOWING})
        assert is_same(env.observe(agent), expected)
    expected, _ = single.reset(options={"state": env.central.model(), "goal": KNOWING})
    assert is_same(env.state(), expected)
    assert env.state() in env.state_space


def test_a_plan_is_carried_out_turn_by_turn() -> None:
    env = coin()
    env.reset()
    returns = dict.fromkeys(env.possible_agents, 0.0)
    script = iter(["signal_a_b", "wait", "wait", "open_a", "peek_b"])
    taken = []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        returns[agent] += reward
        name = None if terminated else next(script)
        taken.append((agent, name))
        assert (truncated, info["failed"], info["invalid_action"]) == (False, False, False)
        env.step(None if name is None else info["action_names"].index(name))
    ended = [("c", None), ("a", None), ("b", None)]
    assert taken == [("a", "signal_a_b"), ("b", "wait"), ("c", "wait"), ("a", "open_a"), ("b", "peek_b"), *ended]
    assert returns == {"a": -5.0, "b": -5.0, "c": -5.0}
    assert env.central.model() == after(*PLAN)
    assert env.agents == []


def test_rounds_are_limited_and_episodes_start_anew() -> None:
    env = coin(rounds=2)
    for _ in range(2):
        env.reset()
        for turn in range(6):
            assert env.agent_selection == "abc"[turn % 3]
            assert not any(env.truncations.values())
            env.step(WAIT)
        assert env.truncations == {"a": True, "b": True, "c": True}
        assert not any(env.terminations.values())
        for _ in range(3):
            env.step(None)
        assert env.agents == []


def test_a_goal_at_the_end_or_the_start() -> None:
    env = coin(rounds=1)
    env.reset(options={"state": after("signal_a_c"), "goal": "looking_b"})
    act(env, "wait", "wait", "signal_c_b")
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    env = coin()
    env.reset(options={"goal": "tail"})
    assert not any(env.terminations.values())
    before = env.central.model()
    act(env, "signal_a_b")
    assert all(env.terminations.values())
    assert env.central.model() == before


def test_wrappers_of_observations_hold_for_agents() -> None:
    padded = epigym.PaddedObservation(gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3"))
    size = Box(0, 128, (), np.int64)
    env = EpistemicAECEnv(TransformObservation(padded, lambda arrays: arrays["node_mask"].sum(), size))
    env.reset(options={"state": after("signal_a_b", "open_a")})
    worlds = [len(env.central.space.model(state).worlds) for state in (env.perspective("c"), env.central.state)]
    assert worlds[1] > worlds[0]
    assert env.state() - env.observe("c") == worlds[1] - worlds[0]
    assert env.observation_space("c") is env.state_space is size


def test_what_an_agent_wrongly_believes_applicable_changes_nothing_and_nobody_notices() -> None:
    env = coin(invalid_action="error")
    env.reset(options={"state": after("signal_a_c", "signal_c_b")})  # b looks, and a does not know it
    before, seen = env.central.model(), seen_by_all(env)
    masks = [env.infos[agent]["action_mask"] for agent in env.possible_agents]
    act(env, "signal_a_b")
    assert [env.infos[agent]["failed"] for agent in env.possible_agents] == [True, False, False]
    assert env.central.model() == before
    assert is_same(seen_by_all(env), seen)
    assert is_same([env.infos[agent]["action_mask"] for agent in env.possible_agents], masks)
    act(env, "wait", "wait", "wait")
    assert not env.infos["a"]["failed"]  # it tells of the last turn


DOOR = """
    fluent open, inside; agent a, b; action enter, look_b;
    executable enter if open; enter causes inside; a observes enter; b observes enter;
    look_b determines open; b observes look_b; a aware_of look_b;
    initially open, -inside; initially C([a,b], -inside); goal inside;
"""


def test_the_documented_plan_names_an_action_without_an_actor() -> None:
    """Where it would find nothing."""
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(re.search(r"def coordinated_plan.*?return None\n", text, re.DOTALL)[0], names)  # type: ignore[index]
    env = EpistemicAECEnv(EpistemicEnv(parse_mastar(DOOR)), actors={"enter": "a"})
    env.reset()
    with pytest.raises(ValueError, match=r"^look_b has no actor: .*actors={'look_b': agent}"):
        names["coordinated_plan"](env, "a")


@pytest.mark.parametrize("invalid_action", ["noop", "error"])
def test_what_is_possible_but_not_believed_so_is_not_done(invalid_action: Any) -> None:
    single = EpistemicEnv(parse_mastar(DOOR), invalid_action=invalid_action)
    env = EpistemicAECEnv(single, actors={"look_b": "b"})
    env.reset()
    assert single.action_masks().tolist() == [True, True]  # nobody but the planner knows that the door is open
    assert env.infos["a"]["action_mask"].tolist() == [1, 0]
    if invalid_action == "error":
        with pytest.raises(EpigymError, match=r"'a' does not believe that 'enter' is applicable: .*action_mask.*noop"):
            act(env, "enter")
        return
    before = single.model()
    act(env, "enter")
    assert (env.infos["a"]["invalid_action"], env.infos["a"]["failed"]) == (True, False)
    assert single.model() == before
    act(env, "look_b", "wait", "enter")
    assert not env.infos["b"]["invalid_action"]
    assert all(env.terminations.values())


def test_a_mask_that_the_caller_changes_changes_no_turn() -> None:
    env = EpistemicAECEnv(EpistemicEnv(parse_mastar(DOOR)), actors={"look_b": "b"})
    env.reset()
    env.infos["a"]["action_mask"][:] = 1
    env.infos["b"]["action_mask"][:] = 0
    act(env, "enter", "look_b")
    assert [env.infos[agent]["invalid_action"] for agent in "ab"] == [True, False]
    assert not any(env.terminations.values())


@pytest.mark.parametrize("padded", [False, True])
def test_who_believes_everything_sees_the_goal_alone_and_waits(padded: bool) -> None:
    env = make("CoinInTheBox", instance="pl_3", semantics="update_model", padded=padded)
    model = after("signal_a_c", "signal_c_b")
    env.reset(options={"state": model, "goal": KNOWING})
    space, central = env.central.space, env.central
    number = [action.name for action in central.task.actions].index("distract_b_a")
    deluded = space.successor(space.intern(model.state), number)  # a did not know that b looks
    assert not any(space.model(deluded).successors("a", world) for world in space.model(deluded).designated)
    env.reset(options={"state": deluded, "goal": KNOWING})
    assert env.perspective("a") is None
    assert env.infos["a"]["action_mask"].tolist() == [1] + [0] * 7
    observation = env.observe("a")
    assert observation in env.observation_space("a")
    if not padded:
        nodes = len(observation.nodes)
        assert is_same(observation.nodes, env.state().nodes[:nodes])
        assert len(env.state().nodes) == nodes + len(space.model(deluded).worlds)
        inside = (env.state().edge_links < nodes).all(axis=1)
        assert is_same(observation.edges, env.state().edges[inside])
        assert is_same(observation.edge_links, env.state().edge_links[inside])
    act(env, "wait")
    assert env.central.state == deluded


def test_resets_and_pictures() -> None:
    with pytest.warns(UserWarning, match="unknown reset option 'gaol': did you mean 'goal'.*it is ignored"):
        coin().reset(options={"gaol": "tail"})
    env = coin(render_mode="svg")
    env.reset()
    act(env, "signal_a_b")
    assert env.render_mode == "svg"
    assert env.render() == env.central.render() is not None
    assert coin().render() is None
    env.close()


def test_a_pickled_environment_goes_on_alike() -> None:
    env = coin()
    walk(env, range(30))  # e-states get other ids than in an environment that starts
    env.reset(options={"goal": KNOWING})
    act(env, "signal_a_b", "wait")
    twin = pickle.loads(pickle.dumps(env))
    for name in ("wait", "open_a", "peek_b"):
        assert is_same(seen_by_all(twin), seen_by_all(env))
        assert is_same(twin.infos, env.infos)
        assert twin.central.model() == env.central.model()
        act(env, name)
        act(twin, name)
    assert all(twin.terminations.values())


def test_what_is_wrong_is_refused() -> None:
    for other in (gymnasium.make("CartPole-v1"), "coin_in_the_box/pl_3"):
        with pytest.raises(TypeError, match="needs an environment of epigym"):
            EpistemicAECEnv(other)  # type: ignore[arg-type]
    with pytest.raises(EpigymError, match="make env without consistent_beliefs"):
        coin(consistent_beliefs=True)
    with pytest.raises(EpigymError, match="nature='sampled' is for a central planner"):
        coin(nature="sampled")
    for actors in ({"open": "a"}, {"open_a": "d"}):
        with pytest.raises(EpigymError, match=r"^actors.*: unknown (action 'open'|agent 'd')"):
            EpistemicAECEnv(gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3"), actors=actors)
    env = coin()
    with pytest.raises(EpigymError, match="no episode is running: call reset first"):
        env.step(WAIT)
    with pytest.raises(EpigymError, match="reset options are a mapping"):
        env.reset(options=[("state", 0)])
    env.reset()
    for ask in (env.observation_space, env.action_space, env.observe, env.action_mask, env.perspective):
        with pytest.raises(EpigymError, match="unknown agent 'd'"):
            ask("d")


@pytest.mark.parametrize("action", [-1, 8, 1.5, "wait", None, True])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = coin()
    env.reset()
    with pytest.raises(EpigymError, match="an action of 'a' is a whole number from 0 to 7"):
        env.step(action)
    assert env.agent_selection == "a"
