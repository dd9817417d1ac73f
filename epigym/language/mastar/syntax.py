"""Parses mA* text into a syntax tree, with positions for errors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lark import Token, Tree, UnexpectedCharacters, UnexpectedToken
from lark.lexer import PatternStr

from epigym.errors import ParseError
from epigym.language.grammars import load_parser
from epigym.language.source import SourceText, position
from epigym.names import did_you_mean, unknown
from epigym.task.formula import MAX_LEVELS, Formula, and_, believes, common, everybody, fluent, not_, or_, too_deep

Node = Tree[Token]

_GRAMMAR = Path(__file__).with_name("mastar.lark"), "problem", "formula"
_FORMULA = frozenset({"MINUS", "LPAR", "OPERATOR", "NAME"})
_WORD = re.compile(r"(?<!\w)[^\W\d][\w-]*")
_STATEMENT = frozenset({"FLUENT", "ACTION", "AGENT", "EXECUTABLE", "INITIALLY", "GOAL"})
_KEYWORDS = _STATEMENT | {"CAUSES", "DETERMINES", "ANNOUNCES", "OBSERVES", "AWARE_OF"}
# Statements of EFP about attitudes, in the place of a verb such as `causes`.
_ATTITUDES = frozenset({"has_attitude", "executes", "dox_announces"})

BEGINNING = "a problem in mA* begins with declarations, such as 'fluent tail;'"
_NAMES = "names consist of letters, digits and '_'"

# Notations of other languages with their mA* counterparts.
_KNOWLEDGE = "(?:K|Kw|[Kk]nows?)"
_REMEDIES = (
    (r"<->|<=>|↔|⇔", "for f <-> g write (-f | g), (-g | f)"),
    (r"->|=>|→|⇒", "for f -> g write (-f | g)"),
    (r"//|/\*|#", "comments run from % to the end of the line"),
    (r"&&?|\band\b|∧", "for f and g write f, g"),
    (r"\|\||\bor\b|∨", "for f or g write f | g"),
    (r"[!~¬]|\bnot\b", "for not f write -f"),
    (r"\{", "a group of agents is written [a, b]"),
    (r":", "no colon follows a keyword: leave it out"),
    (rf"\b{_KNOWLEDGE}\s*\([^()]*", "for knowledge write B(a, f), what agent a believes"),
)


@dataclass(frozen=True, slots=True)
class Names:
    """The declared names, and the formulas over them.

    Attributes:
        source: the text, for errors.
        declared: for each kind (`fluent`, `action`, `agent`) the names in declared order and their lines.
    """

    source: SourceText
    declared: dict[str, dict[str, int]] = field(default_factory=lambda: {"fluent": {}, "action": {}, "agent": {}})

    def declare(self, kind: str, name: Node) -> None:
        """Add a name; a repeated declaration, as in published problems, is a warning."""
        known = self.declared[kind]
        text = name_text(name)
        if text in known:
            self.source.warn(f"{kind} {text!r} is already declared in line {known[text]}", name)
        else:
            known[text] = position(name)[0]

    def find(self, kind: str, name: Node) -> str:
        """The text of a name, which must be declared as a `kind`."""
        text = name_text(name)
        if text not in self.declared[kind]:
            advice = self._advise(text) if kind == "fluent" else ""
            message = f"unknown fluent {text!r}: {advice}" if advice else unknown(kind, text, self.declared[kind])
            raise self.source.error(message, name)
        return text

    def _advise(self, name: str) -> str:
        """The advice for an undeclared fluent that is an agent, or looks like an operator of knowledge; or nothing."""
        if name in self.declared["agent"]:
            return "it is an agent, and a group of agents is written [a, b]"
        return _REMEDIES[-1][1] if re.match(rf"{_KNOWLEDGE}\(", name) else ""

    def agents(self, group: Node) -> tuple[str, ...]:
        """The agents of a modality."""
        return tuple(self.find("agent", name) for name in subtrees(group))

    def formula(self, tree: Node) -> Formula:
        """The formula of a syntax tree."""
        built: dict[int, Formula] = {}
        for node in tree.iter_subtrees():
            parts = [built[id(child)] for child in subtrees(node) if id(child) in built]
            match node.data:
                case "atom":
                    built[id(node)] = fluent(self.find("fluent", subtrees(node)[0]))
                case "negation":
                    built[id(node)] = not_(*parts)
                case "conjunction":
                    built[id(node)] = and_(*parts)
                case "disjunction":
                    built[id(node)] = or_(*parts)
                case "modality":
                    built[id(node)] = self._modality(node, parts[0])
            if id(node) in built and built[id(node)].levels > MAX_LEVELS:
                raise self.source.error(str(too_deep()), node)
        return built[id(tree)]

    def _modality(self, node: Node, body: Formula) -> Formula:
        group = subtrees(node)[0]
        agents = self.agents(group)
        match str(node.children[0]):
            case "E":
                return everybody(agents, body)
            case "C":
                return common(agents, body)
            case _ if len(agents) > 1:
                raise self.source.error(f"B takes one agent, found {len(agents)}: use E or C for a group", group)
            case _:
                return believes(agents[0], body)


def parse(source: SourceText, start: str = "problem", names: Iterable[str] = ()) -> Node:
    """Parse a `problem`, whose children are the statements, or a `formula`.

    Args:
        source: the text.
        start: `problem` or `formula`.
        names: words of other languages that are names here, though they contain `-` or are keywords.

    Raises:
        ParseError: when the text violates the grammar, with the place.
    """
    text, words = _replace_words(source.text, names)
    try:
        tree = load_parser(*_GRAMMAR, positions=True).parse(text, start=start)
    except UnexpectedCharacters as error:
        place = error.pos_in_stream or 0
        advice = source.find_remedy(place, _REMEDIES) or _advise_beginning(source, place)
        advice = advice or (_NAMES if re.search(r"\w\Z", text[:place]) else "")
        raise source.error(f"unexpected character {error.char!r}{f'; {advice}' if advice else ''}", error) from None
    except UnexpectedToken as error:
        raise _syntax_error(source, error) from None
    for name in tree.find_data("name") if words else ():
        name.children = [words.get(child, child) for child in name.children]
    return tree


def _replace_words(text: str, names: Iterable[str]) -> tuple[str, dict[Any, Token]]:
    """Replace names that the grammar cannot read by letters, of equal length so that places stay, and list these."""
    keywords = {
        terminal.pattern.value
        for terminal in load_parser(*_GRAMMAR, positions=True).terminals
        if isinstance(terminal.pattern, PatternStr)
    }
    unreadable = {name for name in names if name in keywords or "-" in name}
    letters = (letter for letter in map(chr, range(0x4E00, 0xA000)) if letter not in text)
    found = sorted(unreadable.intersection(_WORD.findall(text))) if unreadable else []
    replaced = {name: next(letters) * len(name) for name in found}
    words = {letter: Token("NAME", name) for name, letter in replaced.items()}
    return _WORD.sub(lambda word: replaced.get(word[0], word[0]), text) if replaced else text, words


def subtrees(node: Node) -> list[Node]:
    """The children that are nodes, without tokens and missing parts."""
    return [child for child in node.children if isinstance(child, Tree)]


def conjuncts(tree: Node) -> list[Node]:
    """The parts of a conjunction, nested ones included; any other formula itself."""
    parts: list[Node] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.data == "conjunction":
            stack.extend(reversed(subtrees(node)))
        else:
            parts.append(node)
    return parts


def name_text(name: Node) -> str:
    """A name without blanks: `f` or `f(x,y)`."""
    head, *arguments = (str(token) for token in name.children if token is not None)
    return f"{head}({','.join(arguments)})" if arguments else head


def _syntax_error(source: SourceText, error: UnexpectedToken) -> ParseError:
    """The error with the unexpected word, the words that the grammar allows, and a suggested fix."""
    expected = frozenset(error.accepts or error.expected)
    if error.token in _ATTITUDES and "CAUSES" in expected:
        return source.error(
            f"{str(error.token)!r} is not supported: attitudes of agents in EFP have no counterpart here; "
            "leave such statements out, and write announcements with 'announces'",
            error.token,
        )
    words: list[str] = []
    for group, meaning in ((_STATEMENT, "a statement"), (_FORMULA, "a formula")):
        if group <= expected:
            words.append(meaning)
            expected -= group | {"NAME"}
    words += sorted(map(_terminal, expected - {"LPAR"} if len(expected) > 1 else expected))
    allowed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    if error.token.type == "$END":
        return source.error(f"unexpected end of the text; expected {allowed}")
    hint = _hint(source, error, expected)
    found = source.text[error.token.start_pos : error.token.end_pos]
    return source.error(f"unexpected {found!r}; expected {allowed}{hint}", error.token)


def _hint(source: SourceText, error: UnexpectedToken, expected: frozenset[str]) -> str:
    """A suggested fix: for a foreign notation, for a misspelt keyword here or one word before, or for a missing `;`."""
    if advice := source.find_remedy(error.pos_in_stream or 0, _REMEDIES):
        return f"; {advice}"
    line = source.text.split("\n")[error.line - 1]
    if "SEMICOLON" in expected and not line[: error.column - 1].strip():
        return "; is a ';' missing before it?"
    words = [(str(error.token), expected)]
    if "CAUSES" in expected and error.interactive_parser:
        words.append((str(error.interactive_parser.parser_state.value_stack[-1]), _STATEMENT))
    for word, terminals in words:
        keyword = word.lower().removesuffix("s")
        if keyword.upper() in terminals:
            return f"; the keyword is {keyword!r}, not {word!r}"
        if hint := did_you_mean(word, map(str.lower, terminals)):
            return f"; {hint}"
    advice = _advise_beginning(source, error.token.end_pos or 0)
    return f"; {advice}" if advice else ""


def _advise_beginning(source: SourceText, offset: int) -> str:
    """How a problem begins, where the text up to an offset has no statement and no keyword; or else nothing."""
    words = _WORD.findall(source.text[:offset])
    is_strange = source.file != "<formula>" and ";" not in source.text[:offset]
    return BEGINNING if is_strange and not any(word.upper() in _KEYWORDS for word in words) else ""


def _terminal(name: str) -> str:
    if name in ("NAME", "$END"):
        return "a name" if name == "NAME" else "the end of the text"
    pattern = load_parser(*_GRAMMAR, positions=True).get_terminal(name).pattern
    return repr(pattern.value) if isinstance(pattern, PatternStr) else "B, E or C"
