"""PPO on graphs: its estimator, its mask, and what it learns."""

import csv
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epigym import EpigymError, StateSpace, to_pyg
from epigym.encoding.encoder import Encoder
from epigym.envs.domain_env import DomainEnv
from epigym.envs.vector import EpistemicVectorEnv
from epigym.task.formula import and_
from learn.graph_ppo import GraphPpo
from learn.graph_ppo import train as command
from learn.reinforcement.goal_reaching import summarize
from learn.reinforcement.goals import GoalsEnv, measure_shortest_plans, play, sample_goals, split_goals
from learn.reinforcement.graph_ppo import GraphPolicy, estimate_advantages, make_distribution, train
from learn.reinforcement.options import Hyperparameters
from learn.training.seeds import average_over_seeds
from tests.helpers.commands import compose
from tests.helpers.structures import follow

CHOICES = Hyperparameters(
    learning_rate=3e-3, rollout=8, epochs=4, minibatches=2, gamma=0.9, trace=0.95, clip=0.2, entropy=0.01, value=1.0,
    gradient=0.5, size=16, layers=1,
)  # fmt: skip


def coin(**arguments: object) -> GoalsEnv:
    return GoalsEnv("coin_in_the_box", **{"instance": "pl_2", "encoding": "bitmask", **arguments})


def vector(env: GoalsEnv, count: int = 8) -> EpistemicVectorEnv:
    return EpistemicVectorEnv(env, count, 8, "SameStep")


def by_definition(rewards: np.ndarray, values: np.ndarray, ended: np.ndarray, gamma: float, trace: float) -> np.ndarray:
    """The sum of discounted temporal differences up to the end of each episode."""
    result = np.zeros(rewards.shape)
    for start in range(len(rewards)):
        for env in range(rewards.shape[1]):
            for step in range(start, len(rewards)):
                following = 0.0 if ended[step, env] else values[step + 1, env]
                delta = rewards[step, env] + gamma * following - values[step, env]
                result[start, env] += (gamma * trace) ** (step - start) * delta
                if ended[step, env]:
                    break
    return result


@given(seed=st.integers(0, 1000), gamma=st.floats(0, 1), trace=st.floats(0, 1), length=st.integers(1, 7))
def test_advantages_are_what_they_are_by_definition(seed: int, gamma: float, trace: float, length: int) -> None:
    rng = np.random.default_rng(seed)
    rewards = rng.normal(size=(length, 3)).astype(np.float32)
    values = rng.normal(size=(length + 1, 3)).astype(np.float32)
    ended = rng.random((length, 3)) < 0.3
    found = estimate_advantages(rewards, values, ended, gamma=gamma, trace=trace)
    assert np.allclose(found, by_definition(rewards, values, ended, gamma, trace), atol=1e-4)


def test_advantages_of_two_steps() -> None:
    rewards, values = np.float32([[-1], [-1]]), np.float32([[0.5], [0.25], [2]])
    found = estimate_advantages(rewards, values, np.array([[False], [True]]), gamma=0.5, trace=0.5)
    assert found.ravel().tolist() == [-1 + 0.125 - 0.5 + 0.25 * (-1 - 0.25), -1.25]


def test_masked_actions_have_no_probability() -> None:
    logits = torch.tensor([[50.0, 1.0, 1.0], [3.0, 2.0, 1.0], [0.0, 0.0, 1.0]], requires_grad=True)
    masks = torch.tensor([[False, True, True], [True, False, False], [False, False, False]])
    distribution = make_distribution(logits, masks)
    assert distribution.probs[0].tolist() == [0.0, 0.5, 0.5]
    assert distribution.probs[1].tolist() == [1.0, 0.0, 0.0]
    assert torch.allclose(distribution.probs[2], torch.softmax(logits[2], 0))  # a dead end, where nothing does anything
    assert not distribution.sample((1000,))[:, 0].eq(0).any()
    distribution.entropy().sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_a_policy_never_takes_what_is_not_allowed() -> None:
    env = coin(random_goals=True, invalid_action="error")  # which a step that is not allowed would raise
    *_, (policy, row) = train(vector(env), CHOICES, steps=256, seed=0)
    assert row["steps"] == 256
    graphs = env.encoder.graphs(np.arange(len(env.space)))
    masks = env.space.allowed(np.arange(len(env.space)))
    assert masks[np.arange(len(masks)), policy.choose(graphs, masks)].all()


def test_the_same_seed_gives_the_same_numbers() -> None:
    def curve(seed: int) -> list[dict[str, float]]:
        return [row for _, row in train(vector(coin(random_goals=True)), CHOICES, steps=256, seed=seed)]

    assert str(curve(1)) == str(curve(1)) != str(curve(2))


def test_other_environments_are_refused() -> None:
    with pytest.raises(EpigymError, match="autoreset_mode='SameStep'"):
        next(train(EpistemicVectorEnv(coin(), 2, 8), CHOICES, steps=1, seed=0))
    with pytest.raises(EpigymError, match=r"'relational' .*: use 'map' or 'hash' or 'bitmask'"):
        next(train(vector(coin(encoding="relational")), CHOICES, steps=8, seed=0))


@pytest.mark.slow
def test_a_small_problem_is_learned_to_the_optimum() -> None:
    env = coin()
    goals = [env.task.goal]
    best = measure_shortest_plans(env.space, goals)
    *_, (policy, _) = train(vector(env), CHOICES, steps=3000, seed=0)
    assert play(env.space, env.encoder, goals, policy.choose, 8).tolist() == best.tolist() == [2]


def test_the_network_tells_goals_and_order_of_graphs_apart() -> None:
    env = coin()
    torch.manual_seed(0)
    policy = GraphPolicy(len(env.action_names), len(env.task.agents), size=16)
    envs = EpistemicVectorEnv(env, 2)
    goals = [goal for goal, _ in sample_goals(env, 6, seed=0)]
    with torch.no_grad():
        found = []
        for goal in goals:
            envs.reset()
            envs.goals.change([0], [goal])
            logits, values = policy(to_pyg(envs.goals.graphs(envs.states)))
            assert logits.shape == (2, len(env.action_names))
            found.append((logits[0], values[0]))
            assert torch.allclose(logits[1], policy(to_pyg(env.encoder.graphs([0])))[0][0], atol=1e-5)
    for one, other in combinations(found, 2):
        assert (one[0] - other[0]).abs().max() > 1e-3


def test_the_network_does_not_see_how_formulas_are_numbered() -> None:
    env = coin()
    torch.manual_seed(0)
    policy = GraphPolicy(len(env.action_names), len(env.task.agents), size=16)
    goal = env.goal_option("B(b, B(a, tail)), -B(a, B(b, tail)), looking_b", env.np_random)
    one, other = (env.encoder.under(some).graphs([0]) for some in (goal, goal[::-1]))
    assert sorted(map(bytes, one.nodes)) == sorted(map(bytes, other.nodes))
    assert not np.array_equal(one.edge_index, other.edge_index)
    with torch.no_grad():
        assert torch.allclose(policy(to_pyg(one))[0], policy(to_pyg(other))[0], atol=1e-5)


def test_drawn_goals_are_different_reachable_and_follow_from_the_seed() -> None:
    env = coin(goal_steps=3)
    drawn = sample_goals(env, 12, seed=4)
    goals = [goal for goal, _ in drawn]
    assert len(set(goals)) == 12
    assert drawn == sample_goals(coin(goal_steps=3), 12, seed=4) != sample_goals(env, 12, seed=5)
    lengths = measure_shortest_plans(env.space, goals)
    assert lengths.min() >= 1
    assert lengths.max() <= 3
    with pytest.raises(EpigymError, match="different goals, not 100: ask for fewer"):
        sample_goals(coin(goal_steps=1, goal_size=1), 100, seed=0)


def test_goals_held_out_are_as_rare_as_those_to_learn_from() -> None:
    env, rng = coin(), np.random.default_rng(0)
    often = env.goal_option("looking_b", rng)  # what one action reaches, and so one of the first drawn
    drawn = [[goal for goal, _ in sample_goals(env, 12, seed)] for seed in range(40)]
    places = [goals.index(often) for goals in drawn if often in goals]
    assert min(places) < 3 < 8 < max(places)


def test_no_goal_held_out_is_learned_from() -> None:
    env = coin(agents=3)
    learned, others = split_goals(env, 30, 20, 60, seed=0)
    goals = [goal for goal, _ in learned]
    assert len(set(goals)) == len(goals) > 60
    assert len(set(others)) == 20
    assert not set(others) & set(goals)
    assert max(map(len, others)) == 2
    assert max(map(len, goals)) == 3
    assert {goal for goal, _ in split_goals(env, 30, 20, 0, seed=0)[0]} < set(goals)
    assert split_goals(env, 30, 20, 0, seed=0)[1] == others


def test_the_way_to_a_goal_is_a_walk_that_stops_before_it() -> None:
    env = coin()
    for goal, way in sample_goals(env, 10, seed=0):
        assert way[0] == env.space.initial
        for state, following in pairwise(way):
            assert following in env.space.expand([state]).target
        assert not any(env.space.model(state).holds(and_(*goal)) for state in way)
        assert any(env.space.model(state).holds(and_(*goal)) for state in env.space.expand(way[-1:]).target.tolist())


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_episodes_have_goals_of_the_list_and_start_on_the_way_to_them(share: float) -> None:
    env = coin(agents=3)
    env.goals, env.on_the_way = sample_goals(env, 20, seed=0), share
    ways = dict(env.goals)
    envs = vector(env, 256)
    envs.reset(seed=0)
    assert {envs.goals[index].goal for index in range(256)} == set(ways)
    assert all(envs.states[index] in ways[envs.goals[index].goal] for index in range(256))
    expected = np.mean([share * (1 - way.count(0) / len(way)) for way in ways.values()])
    assert np.mean(envs.states != env.space.initial) == pytest.approx(expected, abs=0.1)
    envs.reset(options={"goal": "looking_b", "state": 0})
    assert not envs.states.any()
    assert len({envs.goals[index].goal for index in range(256)}) == 1


def test_playing_counts_steps_up_to_the_goal() -> None:
    env = DomainEnv("coin_in_the_box", instance="pl_3")
    names = list(env.action_names)
    plan = iter([names.index(name) for name in ("signal_a_b", "open_a", "peek_b", "peek_b")])
    space = StateSpace(env.task)

    def choose(graphs: object, allowed: np.ndarray) -> np.ndarray:
        return np.full(len(allowed), next(plan))

    looking = env.goal_option("looking_b", env.np_random)
    goals = [env.task.goal, looking, env.goal_option("looking_a, B(c, tail)", env.np_random)]
    taken = play(space, Encoder(space, "hash"), goals, choose, 4)
    states = follow(space, ("signal_a_b", "open_a", "peek_b"))
    holds = [[space.model(state).holds(and_(*goal)) for goal in goals] for state in states]
    first = [column.index(True) if True in column else 4 for column in map(list, zip(*holds, strict=True))]
    assert taken.tolist() == first
    assert first[0] == 3


def test_the_command_writes_curves_goals_and_policies(tmp_path: Path) -> None:
    few = ["goals=5", "held_out=3", "larger_goals=4", "envs=4", "steps=64", "evaluate_every=1", "seeds=[3,4]"]
    small = ["ppo.rollout=8", "ppo.epochs=1", "ppo.minibatches=1", "ppo.size=8", "ppo.layers=1"]
    command(compose(GraphPpo, "graph_ppo", "+problem.instance=pl_2", *few, *small, f"run_dir={tmp_path}"))
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["steps"]) for row in rows] == [("3", "32"), ("3", "64"), ("4", "32"), ("4", "64")]
    assert all(0 <= float(row["optimal"]) <= 1 for row in rows)
    with (tmp_path / "goals.csv").open() as file:
        goals = list(csv.DictReader(file))
    assert len(goals) == 6
    assert all(int(goal["shortest"]) <= int(goal["steps"]) <= 20 for goal in goals)
    last = [goal for goal in goals if goal["seed"] == "4"]
    ratio = sum(int(goal["shortest"]) for goal in last) / sum(int(goal["steps"]) for goal in last)
    assert float(rows[-1]["optimal"]) == pytest.approx(ratio)
    assert {path.name for path in tmp_path.iterdir()} >= {"curve.png", "policy_3.pt", "policy_4.pt"}
    assert torch.load(tmp_path / "policy_3.pt", weights_only=True)


def test_intervals() -> None:
    assert summarize([0.9]) == "90.0 % of the optimal return on goals held out, one seed"
    assert summarize([0.9, 0.95, 1.0]) == "95.0 ± 12.4 % of the optimal return on goals held out, 3 seeds"
    draws = np.random.default_rng(0).normal(size=(2000, 3))
    found = [average_over_seeds(list(row)) for row in draws]
    assert np.mean([abs(mean) <= half for mean, half in found]) == pytest.approx(0.95, abs=0.015)
    assert average_over_seeds([0.9]) == (0.9, 0.0)
