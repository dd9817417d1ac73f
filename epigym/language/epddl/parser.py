"""Parses EPDDL text into the syntax of `epigym.language.epddl.syntax`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from lark.visitors import Transformer_NonRecursive

from epigym.errors import ParseError
from epigym.language import grammars
from epigym.language.epddl import syntax, terms
from epigym.language.epddl.syntax import DomainFile, LibraryFile, Literal, ProblemFile
from epigym.language.epddl.terms import Symbol, Typed
from epigym.language.source import SourceText
from epigym.names import did_you_mean
from epigym.task.formula import MAX_LEVELS, too_deep

File = TypeVar("File", DomainFile, ProblemFile, LibraryFile)
_GRAMMAR = Path(__file__).with_name("epddl.lark"), "domain_file", "problem_file", "library_file", "whole"
_SHOWN = 8
_MAX_NESTING = 2 * MAX_LEVELS + 20  # a negation before each level, and the sections around formulas
# Notations of other languages with their EPDDL counterparts.
_REMEDIES = (
    (r"\((?:K|B|[Kk]nows?|[Bb]elieves?)\s+[\w?-]+", "belief of agent i is written ([i] (f))"),
    (r"\((?:Kw|[Kk]nows?-?[Ww]hether)\s+[\w?-]+", "knowing whether is written ([Kw. i] (f))"),
    (r"\((?:C|CK)\s+[\w?-]+", "common knowledge is written ([C. All] (f)), of some agents ([C. (i j)] (f))"),
    (r"[\[<](?:Kw|C)\b(?!\.)", "a dot follows Kw and C, as in ([Kw. i] (f)) and ([C. All] (f))"),
    (r"[\[<][KB]\b\.?", "belief of agent i is written ([i] (f)), of all agents ([All] (f))"),
    (r":predicates\s+\w+", "a predicate stands in parentheses, as in (at ?i - agent)"),
    (r"\(default\s+\(", "a default is one type; for conditions write (:forall (?i - agent) (?i (if (f) T else T)))"),
    (r"\((?:implies|->|=>)", "for f -> g write (imply (f) (g))"),
)
_BEGINNING = "a file in EPDDL begins with (define (problem …), (define (domain …) or (define (action-type-library …)"
_NAMES = {"NAME": "a name", "VARIABLE": "a variable", "KEYWORD": "a :keyword"}


def parse(source: SourceText, kind: type[File]) -> File:
    """Parse a file of a kind.

    Raises:
        ParseError: at the first unexpected word.
    """
    return cast(File, _parse(source, _name_rule(kind.__name__)))


def parse_whole(source: SourceText) -> tuple[DomainFile | ProblemFile | LibraryFile, ...]:
    """Parse a text with a problem, its domain and its libraries, in any order; errors as `parse`."""
    return cast(tuple[DomainFile | ProblemFile | LibraryFile, ...], _parse(source, "whole"))


def _parse(source: SourceText, start: str) -> Any:
    try:
        tree = grammars.load_parser(*_GRAMMAR).parse(source.text, start=start)
        _check_nesting(source, tree)
        return _Builder(source.file).transform(tree)
    except UnexpectedInput as error:
        raise _parse_error(source, error) from None
    except VisitError as error:
        raise error.orig_exc from error


def _check_nesting(source: SourceText, tree: Tree[Token]) -> None:
    """Raise an error for trees that are too deep for recursive functions."""
    nodes = [tree]
    for _ in range(_MAX_NESTING):
        nodes = [child for node in nodes for child in node.children if isinstance(child, Tree)]
        if not nodes:
            return
    subtrees = (tree for node in nodes for tree in reversed(list(node.iter_subtrees())))  # parents before children
    words = (word for tree in subtrees for word in tree.children if isinstance(word, Token))
    raise source.error(str(too_deep()), next(words, None))


def _parse_error(source: SourceText, error: UnexpectedInput) -> ParseError:
    advice = source.find_remedy(error.pos_in_stream or 0, _REMEDIES)
    if isinstance(error, UnexpectedCharacters):
        hint = advice or _advise_beginning(source) or _advise_name(source.text[: error.pos_in_stream])
        return source.error(f"unexpected character {error.char!r}; {hint}", error)
    assert isinstance(error, UnexpectedToken)
    token = error.token
    expected = _list_words(error.accepts or error.expected)
    if not source.text.strip():
        return source.error(f"the text is empty; {_BEGINNING}")
    if token.type == "$END":
        beginning = f"; {beginning}" if (beginning := _advise_beginning(source)) else ""
        return source.error(f"the text ends too early, expected {_format_words(expected)}{beginning}")
    kind = "reserved word " if token.type not in _NAMES and token.isidentifier() and "a name" in expected else ""
    hint = advice or did_you_mean(token, [word for word in expected if word not in _NAMES.values()])
    hint = hint or _advise_beginning(source)
    return source.error(f"found {kind}{str(token)!r}, expected {_format_words(expected)}{hint and f'; {hint}'}", token)


def _advise_beginning(source: SourceText) -> str:
    """How a file begins, where the text has no such beginning; or else nothing."""
    return "" if re.search(r"\(\s*define\b", source.text) else _BEGINNING


def _advise_name(before: str) -> str:
    """What names consist of, after a text that ends within a name; or else how they start."""
    is_inside = re.search(r"[\w-]\Z", before)
    return "names consist of letters, digits, '_' and '-'" if is_inside else "names start with a letter or '_'"


def _list_words(terminals: Iterable[str]) -> list[str]:
    words = {terminal.name: terminal.pattern.value for terminal in grammars.load_parser(*_GRAMMAR).terminals}
    return sorted({"$END": "the end of the text", **words, **_NAMES}[name] for name in terminals)


def _format_words(words: list[str]) -> str:
    shown = " or ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} or {len(words) - _SHOWN} other words"


def _name_rule(name: str) -> str:
    """The rule of the grammar for a class."""
    return re.sub("(?<!^)([A-Z])", r"_\1", name).lower()


_CLASSES: dict[str, Any] = {
    _name_rule(name): kind
    for module in (terms, syntax)
    for name, kind in vars(module).items()
    if isinstance(kind, type)
}
_SECTIONS = {section.name for kind in (DomainFile, ProblemFile, LibraryFile) for section in fields(kind)}


class _Builder(Transformer_NonRecursive[Token, Any]):
    """Transforms the parse tree bottom-up into syntax; rules have the names of the classes."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def __default_token__(self, token: Token) -> Symbol:
        return Symbol(token, token.line or 1, token.column or 1, self._file)

    def __default__(self, data: str, parts: list[Any], meta: object) -> Any:
        kind = _CLASSES.get(data)
        if kind in (DomainFile, ProblemFile, LibraryFile):
            sections = defaultdict[str, tuple[Any, ...]](tuple)
            for name, content in (part for part in parts if not isinstance(part, Symbol)):
                sections[name] += content
            return kind(*(part for part in parts if isinstance(part, Symbol)), **sections)
        if kind is not None:
            return kind(*parts)
        content = _with_types(parts)
        return (str(data), content) if data in _SECTIONS else content

    def positive(self, parts: list[Any]) -> Literal:
        return Literal(parts[0], True)

    def negative(self, parts: list[Any]) -> Literal:
        return Literal(parts[1], False)

    def junction(self, parts: list[Any]) -> terms.Junction:
        return terms.Junction(parts[0], tuple(parts[1:]))

    def nothing(self, parts: list[Any]) -> terms.List[Any]:
        return terms.NOTHING


def _with_types(parts: list[Any]) -> tuple[Any, ...]:
    """Give every name the types that follow it or the next name with types."""
    for index in reversed(range(len(parts) - 1)):
        if isinstance(parts[index], Typed) and not parts[index].types:
            parts[index] = Typed(parts[index].name, parts[index + 1].types)
    return tuple(parts)
