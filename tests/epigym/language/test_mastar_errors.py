"""Errors in mA*: every message has the place, the unexpected text and a fix."""

import warnings
from pathlib import Path

import pytest

from epigym.errors import LimitError, ParseError, ProblemWarning
from epigym.language import load, parse_formula, parse_mastar, theories
from epigym.language.mastar.syntax import BEGINNING
from epigym.reference.semantics import apply, holds
from epigym.task.formula import believes, fluent

HEAD = "fluent p, q;\naction act, say;\nagent ann, bob;\n"  # the wrong line is line 4
TAIL = "\ninitially p, -q;\ngoal B(ann, p);\n"


def error_of(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_mastar(text, file="some.txt")
    return caught.value


@pytest.mark.parametrize(
    ("wrong", "column", "message"),
    [
        # syntax
        ("executible act;", 12, "did you mean 'executable'?"),
        ("act announce p;", 5, "unexpected 'announce'; expected 'announces', 'aware_of'"),
        ("act announce p;", 5, "did you mean 'announces'?"),
        ("fluent r s;", 10, "unexpected 's'; expected ',' or ';'"),
        ("agent ;", 7, "unexpected ';'; expected a name"),
        ("fluent if;", 8, "unexpected 'if'; expected a name"),
        ("executable act if (p, q;", 24, "unexpected ';'; expected ')'"),
        ("executable act if B(ann p);", 25, "unexpected 'p'; expected ','"),
        ("executable act if p @ q;", 21, "unexpected character '@'"),
        ("goal p, ;", 9, "unexpected ';'; expected a formula"),
        ("goal E([], p);", 9, "unexpected ']'; expected a name"),
        (";", 1, "unexpected ';'; expected a statement"),
        ("fluent r\0s;", 9, r"unexpected character '\x00'"),
        # notations of other languages
        ("goal K(ann, p);", 6, "unknown fluent 'K(ann,p)': for knowledge write B(a, f), what agent a believes"),
        ("goal K(ann, -p);", 13, "unexpected '-'; expected a name; for knowledge write B(a, f)"),
        ("goal B(bob, K(ann, B(bob, p)));", 20, "; for knowledge write B(a, f)"),
        ("goal p -> q;", 8, "unexpected '-'; expected ',', ';' or '|'; for f -> g write (-f | g)"),
        ("goal p => q;", 8, "unexpected character '='; for f -> g write (-f | g)"),
        ("goal p <-> q;", 8, "unexpected character '<'; for f <-> g write (-f | g), (-g | f)"),
        ("agents cid;", 8, "; the keyword is 'agent', not 'agents'"),
        ("AGENT cid;", 7, "; the keyword is 'agent', not 'AGENT'"),
        ("goal p ∧ q;", 8, "unexpected character '∧'; for f and g write f, g"),
        ("goal ¬p;", 6, "unexpected character '¬'; for not f write -f"),
        ("fluents r, s;", 9, "; the keyword is 'fluent', not 'fluents'"),
        ("// what follows", 1, "unexpected character '/'; comments run from % to the end of the line"),
        ("fluent r; # more", 11, "unexpected character '#'; comments run from % to the end of the line"),
        ("goal p & q;", 8, "unexpected character '&'; for f and g write f, g"),
        ("goal p || q;", 9, "; for f or g write f | g"),
        ("goal not p;", 10, "; for not f write -f"),
        ("goal C(ann,bob, p);", 12, "unknown fluent 'bob': it is an agent, and a group of agents is written [a, b]"),
        ("goal: p;", 5, "unexpected character ':'; no colon follows a keyword: leave it out"),
        ("goal C({ann,bob}, p);", 8, "unexpected character '{'; a group of agents is written [a, b]"),
        # statements of EFP about attitudes
        ("ann has_attitude trusty wrt bob;", 5, "'has_attitude' is not supported: attitudes of agents in EFP"),
        ("ann executes say;", 5, "'executes' is not supported: attitudes of agents in EFP"),
        ("say dox_announces p;", 5, "leave such statements out, and write announcements with 'announces'"),
        ("goal p executes;", 8, "unexpected 'executes'; expected"),
        # names
        ("fluent b.1;", 9, "unexpected character '.'; names consist of letters, digits and '_'"),
        ("executable akt;", 12, "unknown action 'akt': did you mean 'act'?"),
        ("executable act if B(ann, -pp);", 27, "unknown fluent 'pp': did you mean 'p'?"),
        ("act causes r;", 12, "unknown fluent 'r': expected one of 'p', 'q'"),
        ("anne observes act;", 1, "unknown agent 'anne': did you mean 'ann'?"),
        ("ann observes sya;", 14, "unknown action 'sya': did you mean 'say'?"),
        ("ann observes act if C([ann, bop], p);", 29, "unknown agent 'bop': did you mean 'bob'?"),
        ("goal at(ann,1);", 6, "unknown fluent 'at(ann,1)'"),
        ("goal B([ann, bob], p);", 8, "B takes one agent, found 2: use E or C"),
        # actions
        ("act causes p; act determines q;", 15, "action 'act' is of kind ontic and cannot also be of kind sensing"),
        ("say determines p; say announces p;", 19, "'say' is of kind sensing and cannot also be of kind announcement"),
        ("act causes p, q, -p;", 18, "contradictory effects: 'p' and '-p'"),
        ("say announces -q, q;", 19, "contradictory effects: 'q' and '-q'"),
        ("act causes p, -p if q;", 15, "contradictory effects: 'p' and '-p'"),
        ("act causes p | q;", 12, "'causes' takes fluents and negated fluents joined by ',', found (p | q)"),
        ("say determines q, B(ann, p);", 19, "'determines' takes fluents and negated fluents joined by ','"),
        # the initial e-state
        ("initially B(ann, p);", 11, "cannot build an initial e-state from B(ann, p): expected a"),
        ("initially p | C([ann, bob], p);", 11, "cannot build an initial e-state from (p | C"),
        ("initially C([ann], p);", 13, "C must name all agents here: bob missing"),
        ("initially C([ann, bob], E([ann, bob], p));", 25, "cannot build an initial e-state from E("),
        ("initially C([ann, bob], p, -B(ann, p));", 28, "cannot build an initial e-state from -B(ann, p)"),
        ("initially C([ann, bob], B(ann, p) | B(bob, -p));", 25, "cannot build an initial e-state from (B(ann, p) |"),
        ("initially C([ann, bob], B(ann, B(bob, p)));", 25, "cannot build an initial e-state from B(ann, B(bob"),
        ("initially C([ann, bob], p), C([ann, bob], -p);", 43, "no world satisfies this and the statements before"),
        (
            "initially C([ann, bob], p | q), C([ann, bob], (p | -q), (-p | q), (-p | -q));",
            68,
            "no world satisfies this and the statements before it",
        ),
    ],
)
def test_wrong_texts(wrong: str, column: int, message: str) -> None:
    error = error_of(HEAD + wrong + TAIL)
    assert (error.file, error.line, error.column) == ("some.txt", 4, column)
    assert message in error.message
    assert "\n" not in error.message
    marker = " " * (column + 1) + "^"
    assert str(error).splitlines() == [f"some.txt:4:{column}: {error.message}", f"  {wrong}", marker]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "some.txt:1:1: the text is empty; a problem in mA* begins with declarations, such as 'fluent tail;'"),
        ("% a comment", "the text is empty; a problem in mA* begins with declarations"),
        ("hello world", "some.txt:1:7: unexpected 'world'; expected 'announces', 'aware_of', 'causes', 'determines' or "
         "'observes'; a problem in mA* begins with declarations"),
        ("<html>", "some.txt:1:1: unexpected character '<'; a problem in mA* begins with declarations"),
        ("fluent < p;", "some.txt:1:8: unexpected character '<'"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_problem_is_answered_with_its_beginning(text: str, message: str) -> None:
    said = str(error_of(text)).splitlines()[0]
    assert message in said
    assert ("begins with" in said) is ("begins with" in message)


def test_places() -> None:
    error = error_of(HEAD + "executable act if p\nact causes q;" + TAIL)
    assert (error.line, error.column) == (5, 1)
    assert "unexpected 'act'" in error.message
    assert error.message.endswith("is a ';' missing before it?")
    assert str(error_of(HEAD + "\tgoal\tzz;" + TAIL)).splitlines()[1:] == ["   goal zz;", "        ^"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, f"the text is empty; {BEGINNING}"),
        ("\n \n\t\n", 1, 1, f"the text is empty; {BEGINNING}"),
        ("fluent p;\ninitially p; goal p;\n\n", 2, 21, "the problem has no 'agent' statement"),
        ("fluent p; agent a;\ngoal p;", 2, 8, "the problem has no 'initially' statement"),
        ("fluent p; agent a;\ninitially p; % and no goal", 2, 27, "the problem has no 'goal' statement"),
        ("fluent p; agent a;\ninitially p; goal (p", 2, 21, "unexpected end of the text; expected ')'"),
    ],
)
def test_incomplete_texts(text: str, line: int, column: int, message: str) -> None:
    error = error_of(text)
    assert (error.line, error.column, error.message) == (line, column, message)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "unexpected end of the text; expected a formula"),
        ("p p", 3, "unexpected 'p'; expected ',', '|' or the end of the text"),
        ("C([], p)", 4, "unexpected ']'; expected a name"),
        ("p-x", 2, "unexpected '-'; expected ',', '|' or the end of the text"),
        ("y-q, (p q-y)", 9, "unexpected 'q-y'; expected"),
        ("p, B(q-y, p)", 6, "unknown agent 'q-y': expected one of 'a'"),
        ("q-y, if", 6, "unexpected 'if'; expected"),
    ],
)
def test_wrong_formulas(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text, fluents=["p", "q-y", "y-q"], agents=["a"])
    assert str(caught.value).startswith(f"<formula>:1:{column}: {message}")


def test_the_initial_statements_must_pick_one_world() -> None:
    base = "fluent p, q, r;\nagent a;\ngoal p;\ninitially C([a], p);\n"
    error = error_of(base + "initially p, (q | r);\n")
    assert (error.line, error.column) == (5, 15)
    assert error.message == (
        "3 worlds satisfy the propositional 'initially' statements, exactly one must; left open: q, r; "
        "state them, they cannot all be false"
    )
    assert error_of(base).message.endswith("left open: q, r; state them, or semantics=efp makes them false")
    assert (error_of(base).line, error_of(base).column) == (4, 1)
    none = error_of(base + "initially q, r, -p;\n")
    assert (none.line, none.column) == (5, 17)
    assert none.message == "no world satisfies this and the statements before it"


def test_an_open_actual_world_is_refused_without_listing_the_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theories, "MAX_WORLDS", 4)
    names = [f"f{k}" for k in range(30)]
    error = error_of(f"fluent p, {', '.join(names)}; agent a; goal p; initially p | f7; initially C([a], p);")
    assert "more than 1048576 worlds satisfy" in error.message
    assert f"left open: {', '.join(names)}; state them, or semantics=efp" in error.message


def test_too_many_initial_worlds() -> None:
    fluents = [f"f{k}" for k in range(21)]
    text = f"fluent {', '.join(fluents)}; agent a; initially {', '.join(fluents)}; goal f0;"
    with pytest.raises(LimitError, match=r"^<string>: .* 2\^21 worlds, .* fixes f20, f19, .*'initially C"):
        parse_mastar(text)
    assert len(parse_mastar(text + f"initially C([a], {', '.join(fluents[4:])});").initial.valuations) == 16


def test_statements_without_effect_are_a_warning() -> None:
    text = HEAD + "act causes p; say announces p; bob aware_of say;\nann aware_of act;" + TAIL
    with pytest.warns(ProblemWarning, match=r"^some.txt:5:1: 'aware_of' has no effect: action 'act' is ontic$"):
        task = parse_mastar(text, file="some.txt")
    assert [len(conditions) for conditions in task.actions[0].observability] == [1, 1]
    text = HEAD + "act causes -q; act causes q; ann observes act;" + TAIL
    with pytest.warns(ProblemWarning, match="<string>:4:27: action 'act' both adds and deletes 'q'"):
        task = parse_mastar(text)
    assert holds(apply(task, task.initial, task.actions[0]), task.agents, believes("ann", fluent("q")))
    with pytest.warns(ProblemWarning, match="<string>:5:16: action 'say' announces both 'q' and '-q'"):
        parse_mastar(HEAD + "say announces q;\n say announces -q;" + TAIL)
    with pytest.warns(ProblemWarning, match="4:31: action 'act' both adds and deletes 'q' if p: it is added"):
        parse_mastar(HEAD + "act causes q if p; act causes -q if p; ann observes act;" + TAIL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_mastar(HEAD + "act causes q if p; act causes -q if -p; ann observes act;" + TAIL)


@pytest.mark.parametrize(
    ("statements", "place", "message"),
    [
        ("act causes p;", "2:1", "no agent observes any action: say who does, as in 'ann observes act;'"),
        ("ann observes act; goal q, -q;", "4:27", "the goal contradicts itself: no e-state satisfies -q and q"),
        (
            "ann observes act;\ngoal q, -B(ann, p);",
            "7:6",
            "the goal contradicts itself: no e-state satisfies B(ann, p) and -B(ann, p)",
        ),
    ],
)
def test_problems_that_cannot_be_meant_are_a_warning(statements: str, place: str, message: str) -> None:
    with pytest.warns(ProblemWarning) as caught:
        parse_mastar(HEAD + statements + TAIL, file="some.txt")
    assert [str(warning.message) for warning in caught] == [f"some.txt:{place}: {message}"]


@pytest.mark.parametrize(
    ("statement", "column", "message"),
    [
        ("fluent q, p;", 11, "fluent 'p' is already declared in line 1"),
        ("action act;", 8, "action 'act' is already declared in line 2"),
        ("agent cid, cid;", 12, "agent 'cid' is already declared in line 4"),
    ],
)
def test_repeated_declarations_are_a_warning(statement: str, column: int, message: str) -> None:
    with pytest.warns(ProblemWarning) as caught:
        parse_mastar(HEAD + statement + TAIL, file="some.txt")
    assert f"some.txt:4:{column}: {message}" in [str(warning.message) for warning in caught]


def test_errors_in_files_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "coin.txt"
    path.write_text("﻿" + HEAD + "executable akt;" + TAIL, encoding="utf-8")
    with pytest.raises(ParseError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:4:12: unknown action")
