"""The example of PPO on graphs: its estimator, its mask, its steps, and what it learns."""

import re
from collections import deque
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import search
from docs.examples import graph_ppo
from docs.examples.graph_ppo import (
    GAMMA,
    ROLLOUT,
    TRACE,
    GraphPolicy,
    collect_rollouts,
    estimate_advantages,
    main,
    make_distribution,
    make_envs,
    make_printer,
    play,
    train,
)
from epigym.envs.vector import EpistemicVectorEnv
from epigym.space.rows import GraphBatch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As the example: small graphs gain nothing from more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def coin(count: int = 8, **settings: Any) -> EpistemicVectorEnv:
    return make_envs("epi/CoinInTheBox-v0", count, **{"instance": "pl_2", **settings})


def make_policy(envs: EpistemicVectorEnv) -> GraphPolicy:
    torch.manual_seed(0)
    return GraphPolicy(len(envs.action_names), len(envs.task.agents), size=16)


def advantages_by_definition(
    rewards: np.ndarray, values: np.ndarray, terminated: np.ndarray, truncated: np.ndarray
) -> np.ndarray:
    """The sum of discounted temporal differences up to the end of each episode."""
    result = np.zeros(rewards.shape)
    for start, env in np.ndindex(*rewards.shape):
        for step in range(start, len(rewards)):
            following = 0.0 if terminated[step, env] else values[step + 1, env]
            delta = rewards[step, env] + GAMMA * following - values[step, env]
            result[start, env] += (GAMMA * TRACE) ** (step - start) * delta
            if terminated[step, env] or truncated[step, env]:
                break
    return result


@given(seed=st.integers(0, 1000), length=st.integers(1, 7))
def test_advantages_are_what_they_are_by_definition(seed: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = (
        rng.normal(size=(length, 3)).astype(np.float32),
        rng.normal(size=(length + 1, 3)).astype(np.float32),
        rng.random((length, 3)) < 0.3,
        rng.random((length, 3)) < 0.3,
    )
    found = estimate_advantages(*map(torch.from_numpy, arrays)).numpy()
    assert np.allclose(found, advantages_by_definition(*arrays), atol=1e-4)


@pytest.mark.parametrize(("terminated", "after"), [(True, 0.0), (False, 2.0)])
def test_advantages_of_two_steps(terminated: bool, after: float) -> None:
    rewards, values = torch.tensor([[-1.0], [-1.0]]), torch.tensor([[0.5], [0.25], [2.0]])
    ends = torch.tensor([[False], [terminated]]), torch.tensor([[False], [True]])
    last = -1 + 0.9 * after - 0.25
    expected = [-1 + 0.9 * 0.25 - 0.5 + 0.9 * 0.8 * last, last]
    assert estimate_advantages(rewards, values, *ends).ravel().tolist() == pytest.approx(expected)


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
    envs = coin(random_goals=True, invalid_action="error")  # which a step that is not allowed would raise
    policy = train(envs, 256, seed=0)
    graphs = envs.single.encoder.graphs(np.arange(len(envs.space)))
    masks = envs.space.allowed(np.arange(len(envs.space)))
    assert len(masks) > 8
    assert masks[np.arange(len(masks)), policy.choose(graphs, masks)].all()


def test_the_same_seed_gives_the_same_weights() -> None:
    one, same, other = (
        torch.cat([part.flatten() for part in train(coin(random_goals=True), 256, seed).state_dict().values()])
        for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_rollouts_leave_out_the_steps_that_start_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = coin()
    step, taken, ended = envs.step, list[np.ndarray](), [np.zeros(8, np.bool_)]
    lengths, expected = np.zeros(8, int), list[tuple[float, bool]]()

    def record(actions: np.ndarray) -> Any:
        _, _, terminated, truncated, _ = result = step(actions)
        taken.append(actions.copy())
        lengths[~ended[-1]] += 1
        ended.append(terminated | truncated)
        expected.extend((-float(lengths[k]), bool(terminated[k])) for k in np.flatnonzero(ended[-1]))
        lengths[ended[-1]] = 0
        return result

    monkeypatch.setattr(envs, "step", record)
    episodes = deque[tuple[float, bool]]()
    rollouts = collect_rollouts(envs, make_policy(envs), 0, episodes)
    for first in (0, ROLLOUT):
        rollout = next(rollouts)
        counts = ~np.array(ended[first : first + ROLLOUT])
        assert 0 < counts.sum() < counts.size
        assert rollout.actions.tolist() == np.array(taken[first:])[counts].tolist()
        assert [len(column) for column in rollout[1:]] == [counts.sum()] * 5
        assert len(rollout.graphs.node_ptr) == counts.sum() + 1
    assert [*episodes] == expected
    assert {reached for _, reached in expected} == {True, False}


def test_lines_have_the_return_and_the_success_of_the_last_episodes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def collect(*arguments: Any) -> Iterator[None]:
        episodes = arguments[-1]
        for length in (2, 4, 6):
            episodes.extend([(-float(length), length < 6)] * 75)
            yield None

    monkeypatch.setattr(graph_ppo, "collect_rollouts", collect)
    monkeypatch.setattr(graph_ppo, "improve", lambda *_: None)
    monkeypatch.setattr(graph_ppo, "PAUSE", 0.0)
    train(coin(), 3 * ROLLOUT * 8, seed=0)
    assert capsys.readouterr().out.splitlines() == [
        "128 steps: mean return -2.00, 100% of 75 episodes reached their goal",
        "256 steps: mean return -3.50, 100% of 100 episodes reached their goal",
        "384 steps: mean return -5.50, 25% of 100 episodes reached their goal",
    ]


def test_lines_come_often_enough_and_not_too_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(graph_ppo, "monotonic", lambda: now)
    say = make_printer()
    for second in range(60):
        now = float(second)
        say(str(second), second in (5, 59))
    times = [int(line) for line in capsys.readouterr().out.splitlines()]
    assert times == [5, 15, 25, 35, 45, 55, 59]
    assert max(np.diff([0, *times])) < 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "0"], "--steps and --episodes are at least 1"),
        (["--episodes", "0"], "--steps and --episodes are at least 1"),
        (["--episodes", "two"], "argument --episodes: invalid int value: 'two'"),
        (["--seed", "-1"], "--steps and --episodes are at least 1, and --seed is from 0 to 2^32 - 1"),
        (["--seed", str(2**32)], "--steps and --episodes are at least 1, and --seed is from 0 to 2^32 - 1"),
        (["--env", "epi/Nope-v0"], "--env epi/Nope-v0: Environment `Nope` doesn't exist in namespace epi."),
        (["--env", "CartPole-v1"], "--env CartPole-v1: "),
        (["--env", "epi/Text-v0"], "--env epi/Text-v0: unknown argument 'encoding'"),
        (["fast"], "unrecognized arguments: fast"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_odd_arguments_are_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    output = capsys.readouterr()
    assert (stop.value.code, output.out, output.err.count("\n")) == (2, "", 1)
    assert f"error: {said}" in output.err


@pytest.mark.slow
def test_a_small_problem_is_learned_to_the_optimum() -> None:
    envs = coin()
    shortest = search.plan(envs.task, agent="bfs").plan_length
    steps, reached = play(envs, train(envs, 3000, seed=0).choose, seed=0)
    assert reached.all()
    assert {*steps.tolist()} == {shortest} == {2}


def test_the_network_tells_goals_apart_and_not_the_order_of_graphs() -> None:
    envs = coin(6, random_goals=True, goal_size=3)
    graphs, _ = envs.reset(seed=0)
    policy = make_policy(envs)
    goals = [envs.goals[index].goal for index in range(6)]
    assert len(set(goals)) > 3
    with torch.no_grad():
        logits, values = policy(graphs)
        order = np.array([3, 0, 5, 1, 2, 4])
        assert (logits.shape, values.shape) == ((6, len(envs.action_names)), (6,))
        assert torch.allclose(policy(graphs.take(order))[0], logits[order], atol=1e-5)
    for one, other in combinations(range(6), 2):
        assert ((logits[one] - logits[other]).abs().max() > 1e-3) == (goals[one] != goals[other])


def test_playing_counts_the_steps_of_first_episodes() -> None:
    envs = make_envs("epi/CoinInTheBox-v0", 2, instance="pl_3")
    names = list(envs.action_names)
    plan = ("signal_a_b", "open_a", "peek_b")
    chosen = iter([names.index(name) for name in (*plan, *["open_a"] * 20)])

    def choose(graphs: GraphBatch, masks: np.ndarray) -> np.ndarray:
        return np.array([next(chosen), names.index("open_a")])

    steps, reached = play(envs, choose, seed=0)
    assert (steps.tolist(), reached.tolist()) == ([3, 12], [True, False])


@pytest.mark.slow
def test_training_comes_near_to_shortest_plans(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--steps", "50000", "--episodes", "60"])
    rows = re.findall(r"^(\w+ \w+) +([\d.]+)% +(-[\d.]+)$", capsys.readouterr().out, flags=re.MULTILINE)
    reached, returns = ({name: float(row[k]) for name, *row in rows} for k in (0, 1))
    assert list(returns) == ["random actions", "trained policy", "shortest plans"]
    assert reached["random actions"] + 5 < reached["trained policy"] <= reached["shortest plans"] == 100
    excess = {name: returns["shortest plans"] - returns[name] for name in returns}
    assert 0 <= excess["trained policy"] < 0.25 * excess["random actions"]
