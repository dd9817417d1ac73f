"""What every registered environment promises, and how `EpistemicEnv` behaves."""

import copy
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete, Graph, GraphInstance
from gymnasium.utils.env_checker import check_env, data_equivalence

import domains
from epigym import EpigymError, EpistemicEnv, StateSpace, TaskError, drawing
from epigym.drawing.steps import walk
from epigym.encoding.encoder import ENCODINGS
from epigym.envs.domain_env import DomainEnv
from epigym.envs.registration import camel_case
from epigym.language import parse_mastar
from epigym.problem import domain_problem, load_problem, vocabulary
from epigym.task.formula import and_, believes, fluent

LANGUAGES = {f"epi/{camel_case(domain.name)}-v0": domain.language for domain in domains.DOMAINS.values()}
DOMAIN_IDS = list(LANGUAGES)
IDS = [name for name in gymnasium.registry if name.startswith("epi/") and name != "epi/Text-v0"]  # see test_text.py
PLAN = ["signal_a_b", "open_a", "peek_b"]  # coin_in_the_box/pl_3: B(b, tail)


def make(name: str, **arguments: Any) -> gymnasium.Env[GraphInstance, np.int64]:
    """An environment of any registered id."""
    return gymnasium.make(name, **({"path": "coin_in_the_box/pl_3"} if name == "epi/Problem-v0" else {}), **arguments)


def coin(**arguments: Any) -> EpistemicEnv:
    return EpistemicEnv(load_problem("coin_in_the_box/pl_3"), **arguments)


def rollout(env: gymnasium.Env[GraphInstance, np.int64], seed: int, steps: int) -> list[Any]:
    """Masked random actions; everything that the environment returned."""
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    seen: list[Any] = [(observation, info)]
    for _ in range(steps):
        seen.append(env.step(env.action_space.sample(info["action_mask"])))
        info = seen[-1][-1]
    return seen


def test_environments_of_domains_and_files(tmp_path: Path) -> None:
    assert sorted(IDS) == sorted(["epi/Problem-v0", *DOMAIN_IDS])
    assert all(gymnasium.spec(name).max_episode_steps == 100 for name in IDS)
    path = tmp_path / "coin.txt"
    path.write_text(domains.write("coin_in_the_box/pl_3"))
    by_file = gymnasium.make("epi/Problem-v0", path=str(path))
    by_name = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3")
    assert data_equivalence(rollout(by_file, seed=1, steps=6), rollout(by_name, seed=1, steps=6), exact=True)


@pytest.mark.parametrize("name", IDS)
def test_the_environment_checker_is_silent(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_equal_seeds_give_equal_rollouts(name: str) -> None:
    random_goals = {"random_goals": True} if name in DOMAIN_IDS else {}
    first, second = (rollout(make(name, **random_goals), seed=7, steps=12) for _ in range(2))
    assert data_equivalence(first, second, exact=True)


@pytest.mark.parametrize("name", IDS)
def test_a_pickled_environment_goes_on_alike(name: str) -> None:
    env = make(name)
    rollout(env, seed=3, steps=5)
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    assert all(twin.unwrapped.model() == env.unwrapped.model() for twin in twins)
    onwards = rollout(env, seed=4, steps=5)
    assert all(data_equivalence(rollout(twin, seed=4, steps=5), onwards, exact=True) for twin in twins)


@pytest.mark.parametrize("name", IDS)
def test_a_stored_spec_makes_the_environment_again(name: str) -> None:
    chosen = {"encoding": "map"} if LANGUAGES.get(name) == "EPDDL" else {"semantics": "efp"}
    spec = gymnasium.envs.registration.EnvSpec.from_json(make(name, **chosen).spec.to_json())
    assert data_equivalence(gymnasium.make(spec).reset(seed=1), make(name, **chosen).reset(seed=1), exact=True)


def test_the_spaces() -> None:
    env = coin()
    observation, info = env.reset(seed=0)
    assert isinstance(env.action_space, Discrete)
    assert env.action_space.n == len(env.task.actions)
    assert info["action_names"] == env.action_names == tuple(action.name for action in env.task.actions)
    assert "action_names" not in env.step(np.int64(0))[-1]
    assert isinstance(env.observation_space, Graph)
    assert observation.nodes.dtype == np.uint8
    assert observation.nodes.shape[1] == 64
    assert observation.edges.dtype == observation.edge_links.dtype == np.int64
    assert observation.edge_links.shape == (len(observation.edges), 2)
    assert (int(observation.edges.min()), int(observation.edges.max())) == (1, 6)  # 3 agents, 1 subgoal


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_gives_observations_of_the_space(encoding: str) -> None:
    env = coin(encoding=encoding)
    assert all(step[0] in env.observation_space for step in rollout(env, seed=1, steps=8))


def test_a_plan_gives_minus_its_length() -> None:
    env = coin()
    _, info = env.reset(seed=0)
    total = 0.0
    for number, name in enumerate(PLAN, start=1):
        assert not info["is_goal"]
        action = env.action_names.index(name)
        assert info["action_mask"][action] == 1
        _, reward, terminated, truncated, info = env.step(np.int64(action))
        total += reward
        assert (terminated, truncated, info["invalid_action"]) == (number == len(PLAN), False, False)
    assert total == -3
    assert info["is_goal"]


def test_the_mask_is_what_the_state_space_calls_applicable() -> None:
    env = coin()
    _, info = env.reset(seed=5)
    space = StateSpace(env.task)
    state = space.initial
    env.action_space.seed(5)
    for _ in range(20):
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].tolist() == space.applicable([state])[0].astype(int).tolist()
        assert env.action_masks().tolist() == space.applicable([state])[0].tolist()
        action = env.action_space.sample(info["action_mask"])
        *_, info = env.step(action)
        if not space.is_goal([state])[0]:
            state = space.successor(state, int(action))
        assert env.model() == space.model(state)


def test_an_inapplicable_action_changes_nothing_by_default() -> None:
    env = coin()
    before, info = env.reset()
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, terminated, truncated, info = env.step(np.int64(action))
    assert data_equivalence(before, after, exact=True)
    assert (reward, terminated, truncated, info["invalid_action"]) == (-1.0, False, False, True)


def test_the_time_limit_truncates_and_can_be_chosen() -> None:
    env = make("epi/CoinInTheBox-v0", max_episode_steps=4)
    _, info = env.reset()
    useless = np.int64(np.flatnonzero(info["action_mask"] == 0)[0])
    assert [env.step(useless)[3] for _ in range(4)] == [False, False, False, True]


def test_a_goal_at_reset_is_reported_and_the_first_step_ends_the_episode() -> None:
    env = coin()
    _, info = env.reset(options={"goal": "tail"})
    assert info["is_goal"]
    before = env.model()
    _, reward, terminated, truncated, info = env.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    assert (reward, terminated, truncated, info["is_goal"]) == (-1.0, True, False, True)
    assert env.model() == before


def test_a_goal_may_be_given_at_reset_and_lasts_one_episode() -> None:
    env = coin()
    by_text = env.reset(options={"goal": "B(c, tail), looking_c"})
    by_parts = env.reset(options={"goal": [believes("c", fluent("tail")), "looking_c"]})
    assert data_equivalence(by_text, by_parts, exact=True)
    assert env.goal == (believes("c", fluent("tail")), fluent("looking_c"))
    for name in ("signal_a_c", "open_a", "peek_c"):
        *_, terminated, _, info = env.step(np.int64(env.action_names.index(name)))
    assert terminated
    assert info["is_goal"]
    env.reset()
    assert env.goal == env.task.goal


def test_an_episode_may_start_anywhere() -> None:
    env = coin()
    names = env.reset()[1]["action_names"]
    env.step(np.int64(names.index("signal_a_b")))
    met, model = env.state, env.model()
    for state in (met, np.int64(met), model, model.state):
        env.reset()
        env.reset(options={"state": state})
        assert (env.state, env.model()) == (met, model)


@pytest.mark.parametrize(
    "options", [7, {"gaol": "tail"}, {"goal": 3}, {"goal": ["tail", 3]}, {"state": 99}, {"state": True}]
)
def test_wrong_reset_options_are_refused(options: Any) -> None:
    with pytest.raises(EpigymError, match="reset option"):
        coin().reset(options=options)


def test_a_goal_or_state_of_another_task_is_refused() -> None:
    env = coin()
    with pytest.raises(TaskError, match="tial"):
        env.reset(options={"goal": fluent("tial")})
    other = StateSpace(load_problem("grapevine")).model(0)
    with pytest.raises(TaskError, match="other fluents or agents"):
        env.reset(options={"state": other})


@pytest.mark.parametrize("action", [-1, 21, 1.5, "open_a", None, True, np.bool_(False)])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = coin()
    env.reset()
    with pytest.raises(EpigymError, match="a whole number from 0 to 20"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int64, np.array])
def test_an_action_is_a_number_or_an_array_without_dimensions(kind: Any) -> None:
    env = coin()
    env.reset()
    assert env.step(kind(0))[-1]["invalid_action"] is False


@pytest.mark.slow  # PyTorch is imported
def test_an_action_may_be_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    env = coin()
    env.reset()
    assert env.step(torch.tensor(0))[-1]["invalid_action"] is False
    for wrong in (torch.tensor([0]), torch.tensor(0.0), torch.tensor(True)):
        with pytest.raises(EpigymError, match="a whole number from 0 to 20"):
            env.step(wrong)


def test_cloning_and_restoring_replays_the_same_trajectory() -> None:
    env = coin()
    rollout(env, seed=2, steps=3)
    env.reset(options={"goal": "B(c, tail)"})
    env.step(np.int64(env.action_names.index("signal_a_c")))
    snapshot = env.clone_state()

    def onwards(some: EpistemicEnv) -> list[Any]:
        return [some.step(np.int64(action)) for action in (0, 5, 8)]

    first = onwards(env)
    env.reset()
    env.restore_state(snapshot)
    assert env.clone_state() == snapshot
    assert data_equivalence(onwards(env), first, exact=True)
    other = coin()
    other.reset()
    other.restore_state(pickle.loads(pickle.dumps(snapshot)))
    assert data_equivalence(onwards(other), first, exact=True)
    assert first[-1][2]


def test_a_dead_end_has_an_empty_mask_and_runs_on() -> None:
    text = """
        fluent p, q; agent a; action burn;
        executable burn if -p; burn causes p; a observes burn;
        initially -p; initially -q; initially C([a], -p); initially C([a], -q); goal q;
    """
    env = EpistemicEnv(parse_mastar(text))
    env.reset()
    *_, terminated, truncated, info = env.step(np.int64(0))
    assert not info["action_mask"].any()
    assert (terminated, truncated) == (False, False)
    *_, info = env.step(np.int64(0))
    assert info["invalid_action"]


def test_rendering() -> None:
    assert coin().render() is None
    env = coin(render_mode="svg")
    assert env.render() == drawing.render_svg(env.model())
    pixels = coin(render_mode="rgb_array").render()
    assert (pixels.shape, pixels.dtype) == ((720, 960, 3), np.uint8)


def run(script: str) -> list[str]:
    """The words that a fresh process prints."""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_registration() -> None:
    found = run("import epigym, gymnasium; print(*(name for name in gymnasium.registry if name.startswith('epi/')))")
    assert set(found) == {"epi/Problem-v0", "epi/Text-v0", *(f"epi/{camel_case(name)}-v0" for name in domains.DOMAINS)}
    script = (
        "import gymnasium as gym; env = gym.make('epigym:epi/CoinInTheBox-v0'); print(env.reset()[0].nodes.shape[1])"
    )
    assert run(script) == ["64"]
    loaded = run("import sys, epigym; print(*sys.modules)")
    assert "epigym" in loaded
    assert {"lark", "epigym._core", "epigym.envs.env", "domains.grapevine"}.isdisjoint(loaded)


def test_environments_are_registered_when_gymnasium_is_imported() -> None:
    """However often it is looked for before; the module itself is as without epigym."""
    find = "importlib.util.find_spec('gymnasium').origin"
    script = f"""
import importlib.util, json, sys, epigym
assert {find} == {find}
assert 'gymnasium' not in sys.modules
from gymnasium.spaces import Text  # a part of it
import gymnasium
print('epi/Problem-v0' in gymnasium.registry, type(gymnasium.__loader__) is type(sys.modules['json'].__loader__))
"""
    assert run(script) == ["True", "True"]


OWN_AGENT = """
import gc, sys
from search.agents.breadth_first import BreadthFirst

class Mine(BreadthFirst):
    def search(self, run):
        assert "gymnasium" not in sys.modules and gc.isenabled()
        import gymnasium
        gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3").reset(seed=0)
        return super().search(run)
"""


def test_an_agent_of_a_command_makes_environments(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_AGENT)
    words = ["-m", "search.solve", "coin_in_the_box/pl_3", "agent._target_=own.Mine"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "solved" in done.stdout


DOMAINS = list(domains.DOMAINS)


def make_domain(domain: str = "coin_in_the_box", **arguments: Any) -> DomainEnv:
    return DomainEnv(domain, **arguments)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_task_is_that_of_the_domain(domain: str) -> None:
    for instance in (None, *domains.DOMAINS[domain].test[:1]):
        env = gymnasium.make(f"epi/{camel_case(domain)}-v0", instance=instance)
        assert env.unwrapped.task == domain_problem(f"{domain}/{instance}" if instance else domain)


def test_parameters_are_arguments_and_override_the_instance() -> None:
    assert make_domain(agents=5).task == domain_problem("coin_in_the_box", agents=5)
    assert make_domain(instance="pl_5", agents=4).task == domain_problem("coin_in_the_box/pl_5", agents=4)
    assert make_domain(semantics="update_model").task != make_domain().task


def test_the_reading_of_several_literals_is_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """fluent p, q; agent a; action look; look determines p, q; a observes look;
    initially p, -q, C([a], (p | q)); goal B(a, -q);"""
    (tmp_path / "two.txt").write_text(text)
    monkeypatch.setattr(domains, "write", lambda name, **parameters: text)
    for name, place in (("Problem", {"path": str(tmp_path / "two.txt")}), ("CoinInTheBox", {})):
        for determines in ("formula", "literals"):
            env = gymnasium.make(f"epi/{name}-v0", determines=determines, **place)
            env.reset(seed=0)
            _, _, terminated, _, _ = env.step(0)
            assert terminated is (determines == "literals")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal_steps": 0}, "goal_steps=0: expected at least 1"),
        ({"goal_size": 0}, "goal_size=0: expected at least 1"),
        ({"random_goals": "yes"}, "random_goals=yes: expected true or false"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EpigymError, match=message):
        make_domain(**arguments)


@pytest.mark.parametrize("domain", [name for name in DOMAINS if domains.DOMAINS[name].language == "EPDDL"])
def test_a_reading_of_mastar_is_refused_by_domains_in_epddl(domain: str) -> None:
    for name, value in (("semantics", "efp"), ("determines", "literals")):
        with pytest.raises(EpigymError) as caught:
            gymnasium.make(f"epi/{camel_case(domain)}-v0", **{name: value})
        assert str(caught.value) == f"{domain} is written in EPDDL: {name}={value} does not apply to it"


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_episode_ends_with_reward_minus_one_a_step_when_its_random_goal_is_reached(domain: str) -> None:
    env = make_domain(domain, random_goals=True, goal_steps=2, goal_size=1)
    env.action_space.seed(0)
    reached = 0
    parts = {part for formula in vocabulary(domain)[1] for part in (formula, *formula.children)}
    for seed in range(12):
        _, info = env.reset(seed=seed)
        assert set(env.goal) <= parts
        assert not info["is_goal"]
        terminated = info["is_goal"]
        for _ in range(30):
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            assert (reward, truncated, terminated) == (-1.0, False, info["is_goal"])
            assert terminated == env.model().holds(and_(*env.goal))
            assert observation in env.observation_space
            if terminated or not info["action_mask"].any():
                break
        reached += terminated
    assert reached


def test_a_random_goal_can_be_asked_for_at_reset() -> None:
    asked, always = make_domain(), make_domain(random_goals=True)
    asked.reset(seed=4, options={"goal": "random"})
    always.reset(seed=4)
    assert asked.goal == always.goal != asked.task.goal
    asked.reset()
    assert asked.goal == asked.task.goal
    always.reset(options={"goal": "B(a, tail)"})
    assert [str(part) for part in always.goal] == ["B(a, tail)"]


def test_observations_show_the_goal() -> None:
    env = make_domain(random_goals=True)
    by_goal: dict[Any, bytes] = {}
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        shown = b"".join(np.asarray(part).tobytes() for part in observation)
        assert by_goal.setdefault(env.goal, shown) == shown
    assert len(set(by_goal.values())) == len(by_goal) > 3


@pytest.mark.parametrize("nature", ["none", "sampled"])
def test_after_a_refused_reset_everything_is_as_before(nature: Any) -> None:
    env = EpistemicEnv(domain_problem("search_and_rescue"), nature=nature)
    env.reset(seed=0)
    before = env.clone_state(), env.goal, env.encoder
    wrong = fluent("nope")
    [other] = np.unique(env.space.expand([env.state]).target)[-1:].tolist()
    for _ in range(2):
        with pytest.raises(TaskError, match="nope"):
            env.reset(options={"state": other, "goal": wrong})
        with pytest.raises(TaskError, match="nope"):
            env.restore_state(replace(before[0], goal=(wrong,)))
        assert (env.clone_state(), env.goal, env.encoder) == before


def test_a_random_goal_is_false_where_the_episode_starts() -> None:
    env = DomainEnv("coin_in_the_box", "pl_3")
    state = walk(env.space, PLAN)[-1]
    starts = [env.reset(seed=seed, options={"state": state, "goal": "random"})[1]["is_goal"] for seed in range(30)]
    assert starts == [False] * 30
