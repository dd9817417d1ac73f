"""Plain English: formulas, e-states, the text environment, and questions about beliefs."""

import pickle
import re
import warnings
from dataclasses import replace
from functools import reduce
from itertools import islice, product
from pathlib import Path

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo

import epigym
import search
from epigym import EpigymError, EState, KripkeModel, LimitError, Task
from epigym.drawing.english import describe_formula, describe_model
from epigym.envs.questions import Question, generate_questions
from epigym.envs.text import TextEnv
from epigym.errors import UsageError
from epigym.language import parse_formula, parse_mastar
from epigym.reference import semantics as reference
from epigym.task.formula import Formula, believes, fluent, literal, not_
from tests.helpers.policy_tasks import random_task


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("tail", "tail is true"),
        ("-tail", "tail is false"),
        ("B(a, -B(b, tail))", "a believes that b does not believe that tail is true"),
        ("-B(a, tail | (opened, -tail))",
         "a does not believe that (tail is true or (opened is true and tail is false))"),
        ("E([a,b], tail)", "each of a and b believes that tail is true"),
        ("-C([a,b,c], tail)", "it is not the case that a, b and c commonly believe that tail is true"),
    ],
)  # fmt: skip
def test_formulas_in_english(formula: str, text: str) -> None:
    assert describe_formula(parse_formula(formula, fluents=("tail", "opened"), agents=("a", "b", "c"))) == text


def test_gymnasium_accepts_the_text_environment() -> None:
    env = gymnasium.make("epi/Text-v0", problem="coin_in_the_box/pl_3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.reset(seed=0)
    env.step("open_a")
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step("peek_a")[0] == env.step("peek_a")[0]


def test_a_plan_by_name_reaches_the_goal() -> None:
    env = gymnasium.make("epi/Text-v0", problem="coin_in_the_box/pl_3")
    text, info = env.reset(seed=0)
    assert "opened is false" in text
    assert "a is unsure about tail" in text
    assert text.endswith("Available actions: open_a, signal_a_b and signal_a_c.")
    plan = search.plan("coin_in_the_box/pl_3", agent="bfs").plan
    for number, name in enumerate(plan, start=1):
        assert name in text.splitlines()[-1]
        text, reward, terminated, _, info = env.step(name)
        assert reward == -1
        assert terminated is info["is_goal"] is (number == len(plan))
        assert text in env.observation_space
    assert "does not hold" not in text


def test_other_texts_change_nothing_or_are_refused() -> None:
    env = gymnasium.make("epi/Text-v0", problem="coin_in_the_box/pl_3")
    text, _ = env.reset()
    after, _, terminated, _, info = env.step("fly")
    assert (after, terminated, info["invalid_action"]) == (text, False, True)
    strict = gymnasium.make("epi/Text-v0", problem="coin_in_the_box/pl_3", invalid_action="error")
    strict.reset()
    with pytest.raises(EpigymError, match="unknown action 'opn_a': did you mean 'open_a'"):
        strict.step("opn_a")


def test_ansi_and_human_show_the_same_text(capsys: pytest.CaptureFixture[str]) -> None:
    ansi = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3", render_mode="ansi")
    human = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3", render_mode="human")
    ansi.reset()
    human.reset()
    shown = [ansi.render()]
    action = ansi.unwrapped.action_names.index("open_a")
    ansi.step(action)
    human.step(action)
    shown.append(ansi.render())
    assert shown[0] != shown[1]
    assert capsys.readouterr().out == "".join(f"{text}\n\n" for text in shown)


def test_agents_show_the_start_once_and_then_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    human = gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3", render_mode="human")
    turns, rounds = epigym.EpistemicAECEnv(human), epigym.EpistemicParallelEnv(human)
    step, step_all = lambda: turns.step(0), lambda: rounds.step(dict.fromkeys(rounds.agents, 0))
    for acts in ((turns.reset, step, step), (rounds.reset, step_all, step_all)):
        for act in acts:
            act()
            assert capsys.readouterr().out.count("Facts: ") == 1


def test_videos_are_recorded(tmp_path: Path) -> None:
    env = RecordVideo(
        gymnasium.make("epi/CoinInTheBox-v0", instance="pl_3", render_mode="rgb_array"),
        str(tmp_path / "videos"),
        disable_logger=True,
    )
    env.reset(seed=0)
    env.step(env.unwrapped.action_names.index("open_a"))
    env.close()
    [video] = tmp_path.glob("videos/*.mp4")
    assert b"ftyp" in video.read_bytes()[:16]


def test_inconsistent_and_unknown_beliefs_are_named() -> None:
    estate = epigym.EState(
        (frozenset({"p"}), frozenset()), ((frozenset(), frozenset()), (frozenset({0}), frozenset({1}))), (0, 1)
    )
    assert describe_model(KripkeModel(("p", "q"), ("a", "b"), estate)) == (
        "Facts: q is false.\nUnknown: p.\na has inconsistent beliefs.\n"
        "b believes that q is false; it is unknown what b believes about p."
    )


PROBLEMS = (
    "coin_in_the_box/pl_3",
    "grapevine/3_pl_4",
    "selective_communication/4_4_pl_5",
    "active_muddy_child/amc_03_02_clean",
)


def answer(question: Question, agents: tuple[str, ...], fluents: tuple[str, ...], *, right: bool) -> bool:
    """By the core: what the asked agent sees, or, from the wrong perspective, what is the case."""
    [agent], [rest] = question.formula.agents, question.formula.children
    model = KripkeModel(fluents, agents, question.end)
    return (model.perspective(agent) if right else model).holds(rest)


def read_text(text: str) -> Formula:
    """The formula of the text of a question, or of a clause in it."""
    if question := re.fullmatch(r"Does (\w+) believe that (.+)\?", text):
        return believes(question[1], read_text(question[2]))
    if belief := re.fullmatch(r"(\w+) believes that (.+)", text):
        return believes(belief[1], read_text(belief[2]))
    fact = re.fullmatch(r"(\S+) is (true|false)", text)
    assert fact, text
    return literal(fact[1], fact[2] == "true")


def assert_right(question: Question, problem: str | Task, depth: int) -> None:
    task = epigym.load_problem(problem) if isinstance(problem, str) else problem
    assert read_text(question.text) == question.formula
    actions = {action.name: action for action in task.actions}
    estate, parts = task.initial, [question.formula]
    while parts[-1].agents:
        parts.append(parts[-1].children[0])
    assert len(parts) == depth + 1
    for name, changes in zip(question.plan, question.changes, strict=True):
        before, estate = estate, reference.apply(task, estate, actions[name])
        for part in parts:
            truths = [reference.holds(one, task.agents, part) for one in (before, estate)]
            if part in changes:
                assert truths[1] is changes[part]
            else:
                assert truths[0] is truths[1]
    assert reference.canonical(estate, task.fluents) == reference.canonical(question.end, task.fluents)
    assert question.answer is answer(question, task.agents, task.fluents, right=True)
    assert reference.holds(question.end, task.agents, question.formula) is question.answer


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_questions_have_one_right_answer(problem: str, depth: int) -> None:
    for question in islice(generate_questions(problem, depth=depth, steps=4, seed=depth), 4):
        assert_right(question, problem, depth)
        assert question.prompt.endswith("Answer yes or no.")
        assert len(question.story) == 1 + len(question.plan)


@pytest.mark.parametrize("seed", [0, 1, 4, 7, 8])
def test_questions_about_random_tasks_name_the_agents_of_their_formulas(seed: int) -> None:
    task, depth = random_task(seed), 1 + seed % 3
    for question in islice(generate_questions(task, depth=depth, steps=3, seed=seed), 3):
        assert_right(question, task, depth)


def test_stories_leave_out_actions_on_which_designated_worlds_disagree() -> None:
    task = parse_mastar(
        """
        fluent p, q; action look, peek; agent a, b;
        look determines p; a observes look; b observes look if q; b aware_of look;
        peek determines p; a observes peek;
        initially C([a,b], p | q), p, q; initially C([a,b], -B(a, p), -B(a, -p)), C([a,b], -B(b, p), -B(b, -p));
        goal B(a, p);
        """
    )
    assert "look" in play(task)
    both = [world for world, true in enumerate(task.initial.valuations) if "p" in true]
    assert len(both) == 2
    assert play(replace(task, initial=replace(task.initial, designated=tuple(both)))) == {"peek"}


BACK = """
fluent here, boxed, back; action leave, sneak, move; agent owen, eve;
leave causes -here if here; owen observes leave; eve observes leave;
sneak causes here; executable sneak if -here; owen observes sneak;
move causes boxed; owen observes move if here; eve observes move;
initially here, -boxed, -back, C([owen,eve], here), C([owen,eve], -boxed), C([owen,eve], -back);
goal boxed;
"""
"""Owen leaves and sneaks back, unseen by Eve, who sees the move and believes that he is away."""


def test_questions_that_depend_on_where_types_are_decided_are_left_out() -> None:
    task = parse_mastar(BACK)
    leave, sneak, move = task.actions
    moved = believes("eve", believes("owen", fluent("boxed")))
    away = believes("eve", not_(fluent("here")))
    ends = []
    for apply in (reference.apply, reference.apply_with_local_types):
        estate = reduce(lambda estate, action: apply(task, estate, action), (leave, sneak, move), task.initial)
        ends.append([reference.holds(estate, task.agents, formula) for formula in (away, moved)])
    assert ends == [[True, True], [True, False]]
    questions = list(islice(generate_questions(task, depth=2, steps=3, seed=0), 200))
    assert sum(question.left_out for question in questions) > 0
    asked = [(question.plan, question.formula) for question in questions]
    assert ((leave.name, sneak.name, move.name), moved) not in asked
    for question in questions:
        actions = [next(one for one in task.actions if one.name == name) for name in question.plan]
        local = reduce(lambda estate, one: reference.apply_with_local_types(task, estate, one), actions, task.initial)
        assert reference.holds(local, task.agents, question.formula) is question.answer


def play(task: Task) -> set[str]:
    """The actions of the stories of some questions."""
    questions = islice(generate_questions(task, depth=1, steps=2, seed=0), 20)
    return {name for question in questions for name in question.plan}


def test_a_task_without_fluents_has_no_questions() -> None:
    task = Task("empty", (), ("a",), (), EState((frozenset(),), ((frozenset({0}),),), (0,)), ())
    with pytest.raises(EpigymError, match=r"^empty has no fluents, and questions are about beliefs in fluents$"):
        next(generate_questions(task, depth=1, steps=2, seed=0))


@pytest.mark.slow
def test_a_thousand_questions_have_one_right_answer() -> None:
    for number, problem in enumerate(PROBLEMS):
        for depth in (1, 2, 3, 4, 5):
            for question in islice(generate_questions(problem, depth=depth, steps=1 + number + depth, seed=9), 50):
                assert_right(question, problem, depth)


def test_the_wrong_perspective_scores_below_the_right_one() -> None:
    score = {True: 0, False: 0}
    for problem in PROBLEMS[:3]:
        task = epigym.load_problem(problem)
        for question in islice(generate_questions(problem, depth=2, steps=5, seed=1), 40):
            for right in score:
                score[right] += question.answer is answer(question, task.agents, task.fluents, right=right)
    assert score[True] == 120
    assert score[False] < 110


def test_questions_repeat_with_a_seed_and_ask_both_answers() -> None:
    first, second = ([*islice(generate_questions(PROBLEMS[0], depth=1, steps=3, seed=5), 30)] for _ in range(2))
    assert [one.prompt for one in first] == [one.prompt for one in second]
    assert {one.answer for one in first} == {True, False}
    assert len({one.prompt for one in first}) > 20
    with pytest.raises(EpigymError, match="depth=0: expected at least 1"):
        next(generate_questions(PROBLEMS[0], depth=0, steps=3, seed=0))
    with pytest.raises(EpigymError, match="steps=-1: expected at least 0"):
        next(generate_questions(PROBLEMS[0], depth=1, steps=-1, seed=0))
    with pytest.raises(EpigymError, match="seed=-1: expected at least 0"):
        next(generate_questions(PROBLEMS[0], depth=1, steps=3, seed=-1))


def test_every_step_is_told_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    env = TextEnv("coin_in_the_box/pl_3", nature="sampled", render_mode="human")
    env.reset(seed=0)
    shown = capsys.readouterr().out
    *_, info = env.step("fly")
    assert (info["invalid_action"], info["outcome"]) == (True, None)
    assert capsys.readouterr().out == shown != ""


def test_a_goal_that_does_not_fit_the_observation_space_is_refused() -> None:
    env = TextEnv("coin_in_the_box/pl_3")
    goals = [reduce(lambda inner, agent: believes(agent, inner), agents, literal("tail", True))
             for length in range(1, 6) for agents in product("abc", repeat=length)]  # fmt: skip
    text, _ = env.reset(options={"goal": goals[:60]})
    assert text in env.observation_space
    before = env.central.clone_state()
    with pytest.raises(LimitError, match=r"^the text of the goal has [\d,]+ characters, .* give fewer or shorter"):
        env.reset(options={"goal": goals[-200:]})
    assert env.central.clone_state() == before


@pytest.mark.parametrize("name", ["encoding", "path"])
def test_what_a_text_does_not_have_is_no_argument(name: str) -> None:
    with pytest.raises(UsageError, match=f"^unknown argument '{name}'"):
        TextEnv("coin_in_the_box/pl_3", **{name: "hash"})


def test_search_starts_where_the_text_environment_is() -> None:
    env = gymnasium.make("epi/Text-v0", problem="coin_in_the_box/pl_3")
    env.reset(seed=0)
    before = search.plan(env, agent="bfs").plan
    env.step(before[0])
    assert len(search.plan(env, agent="bfs").plan) == len(before) - 1
