"""Reads EPDDL text into the syntax of `epigym.language.epddl.syntax`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token, Transformer, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from epigym.errors import ParseError
from epigym.language.epddl.syntax import (
    ActionSchema,
    ActionType,
    AgentGroup,
    Conditional,
    DefaultObserver,
    Domain,
    EventCall,
    EventSchema,
    ExplicitModel,
    FactsInit,
    Goal,
    Init,
    Library,
    Literal,
    Observer,
    Predicate,
    Problem,
    TypedName,
)
from epigym.language.epddl.terms import (
    Atom,
    Binder,
    Constant,
    Each,
    Equality,
    Implication,
    Item,
    Junction,
    Modal,
    Negation,
    Quantified,
    Several,
    Symbol,
    Variable,
)
from epigym.language.grammars import parser
from epigym.language.source import Source
from epigym.names import did_you_mean
from epigym.task.formula import MAX_LEVELS, too_deep

_SHOWN = 8
_MAX_NESTING = 2 * MAX_LEVELS + 20  # a negation before each level, and what formulas stand in
_NAMES = {"NAME": "a name", "VARIABLE": "a variable", "KEYWORD": "a :keyword"}


def parse_domain(source: Source) -> Domain:
    """Read a domain file.

    Raises:
        ParseError: at the first word that does not fit.
    """
    return cast(Domain, _parse(source, "domain"))


def parse_problem(source: Source) -> Problem:
    """Read a problem file.

    Raises:
        ParseError: at the first word that does not fit.
    """
    return cast(Problem, _parse(source, "problem"))


def parse_library(source: Source) -> Library:
    """Read an action-type library file.

    Raises:
        ParseError: at the first word that does not fit.
    """
    return cast(Library, _parse(source, "library"))


def parse_whole(source: Source) -> tuple[Domain | Problem | Library, ...]:
    """Read a text that holds a problem with its domain and libraries, in any order.

    Raises:
        ParseError: at the first word that does not fit.
    """
    return cast(tuple[Domain | Problem | Library, ...], _parse(source, "whole"))


@cache
def _parser() -> Lark:
    # All words are known everywhere, which is what makes reserved words reserved.
    return parser(Path(__file__).with_name("epddl.lark"), start=["domain", "problem", "library", "whole"])


def _parse(source: Source, start: str) -> Any:
    try:
        tree = _parser().parse(source.text, start=start)
        _check_nesting(source, tree)
        return _Builder(source.file).transform(tree)
    except UnexpectedInput as error:
        raise _parse_error(source, error) from None
    except VisitError as error:
        raise error.orig_exc from error


def _check_nesting(source: Source, tree: Tree[Token]) -> None:
    """Refuse what is nested too deeply for those who call themselves for each part of a part."""
    nodes = [tree]
    for _ in range(_MAX_NESTING):
        nodes = [child for node in nodes for child in node.children if isinstance(child, Tree)]
        if not nodes:
            return
    subtrees = reversed(list(nodes[0].iter_subtrees()))  # parents before children
    words = (word for node in subtrees for word in node.children if isinstance(word, Token))
    raise source.error(str(too_deep()), next(words, None))


def _parse_error(source: Source, error: UnexpectedInput) -> ParseError:
    if isinstance(error, UnexpectedCharacters):
        return source.error(f"{error.char!r} starts no word; names start with a letter or '_'", error)
    assert isinstance(error, UnexpectedToken)
    token = error.token
    expected = _words(error.accepts or error.expected)
    if token.type == "$END":
        return source.error(f"the text ends too early, expected {_listed(expected)}")
    kind = "reserved word " if token.type not in _NAMES and token.isidentifier() and "a name" in expected else ""
    hint = did_you_mean(token, [word for word in expected if word not in _NAMES.values()])
    return source.error(f"found {kind}{str(token)!r}, expected {_listed(expected)}{hint and f'; {hint}'}", token)


def _words(terminals: Iterable[str]) -> list[str]:
    words = {terminal.name: terminal.pattern.value for terminal in _parser().terminals}
    return sorted({"$END": "the end of the text", **words, **_NAMES}[name] for name in terminals)


def _listed(words: list[str]) -> str:
    shown = " or ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} or {len(words) - _SHOWN} other words"


def _sections(parts: Iterable[Any], name: str) -> tuple[Any, ...]:
    """The contents of all sections `name`, in textual order."""
    return tuple(chain.from_iterable(content for key, content in parts if key == name))


def _section(name: str) -> Any:
    return lambda self, contents: (name, tuple(contents))


def _contents(self: Any, contents: list[Any]) -> tuple[Any, ...]:
    return tuple(contents)


def _section_of_names(name: str) -> Any:
    def build(self: Any, names: list[TypedName]) -> tuple[str, tuple[TypedName, ...]]:
        types = _shared([declared.type for declared in names], None)
        return name, tuple(TypedName(declared.name, kind) for declared, kind in zip(names, types, strict=True))

    return build


def _shared(types: list[Any], missing: Any) -> list[Any]:
    """Every name gets the type written behind it or behind the next name that has one."""
    for index in range(len(types) - 2, -1, -1):
        if types[index] == missing:
            types[index] = types[index + 1]
    return types


def _variables(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    variables = list(variables)
    types = _shared([variable.types for variable in variables], ())
    return tuple(Variable(variable.name, kinds) for variable, kinds in zip(variables, types, strict=True))


class _Builder(Transformer[Token, Any]):
    """Turns the parse tree bottom-up into syntax; one method per grammar rule."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def __default_token__(self, token: Token) -> Symbol:
        return Symbol(token, token.line or 1, token.column or 1, self._file)

    def domain(self, parts: list[Any]) -> Domain:
        name, *sections = parts
        kinds = ("requirements", "libraries", "types", "constants", "predicates", "events", "actions")
        return Domain(name, *(_sections(sections, kind) for kind in kinds))

    def problem(self, parts: list[Any]) -> Problem:
        name, domain, *sections = parts
        kinds = ("requirements", "objects", "agents", "groups", "facts", "inits", "goals")
        return Problem(name, domain, *(_sections(sections, kind) for kind in kinds))

    def library(self, parts: list[Any]) -> Library:
        name, *sections = parts
        return Library(name, *(_sections(sections, kind) for kind in ("requirements", "action_types")))

    requirements = _section("requirements")
    libraries = _section("libraries")
    predicates = _section("predicates")
    agent_groups = _section("groups")
    types = _section_of_names("types")
    constants = _section_of_names("constants")
    objects = _section_of_names("objects")
    agents = _section_of_names("agents")

    whole = names = variables = keywords = group = type = event_pair = world_pair = else_if = modality = _contents
    event_relations = event_relation = event_conditions = event_condition = _contents
    world_relations = world_relation = labels = label = _contents

    def typed_name(self, parts: list[Any]) -> TypedName:
        return TypedName(*parts)

    def typed_variable(self, parts: list[Any]) -> Variable:
        name, types = parts
        return Variable(name, types or ())

    def parameters(self, parts: list[Any]) -> tuple[Variable, ...]:
        return _variables(parts)

    def predicate(self, parts: list[Any]) -> Predicate:
        fact, name, *parameters = parts
        return Predicate(name, _variables(parameters), fact is not None)

    def binder(self, parts: list[Any]) -> Binder:
        *variables, condition = parts
        return Binder(_variables(variables), condition)

    # Events and actions

    def event(self, parts: list[Any]) -> Any:
        name, parameters, precondition, effects = parts
        return "events", (EventSchema(name, parameters or (), precondition, effects),)

    def positive(self, parts: list[Any]) -> Literal:
        return Literal(parts[0], True)

    def negative(self, parts: list[Any]) -> Literal:
        return Literal(parts[1], False)

    def effect(self, parts: list[Any]) -> Literal:
        return cast(Literal, parts[0])

    def conditional(self, parts: list[Any]) -> Conditional:
        word, condition, literals = parts
        return Conditional(condition, literals, word == "iff", word)

    def action(self, parts: list[Any]) -> Any:
        name, binder, action_type, *events, observability = parts
        return "actions", (ActionSchema(name, binder, action_type, tuple(events), observability),)

    def event_call(self, parts: list[Any]) -> EventCall:
        name, *arguments = parts
        return EventCall(name, tuple(arguments))

    def observes(self, parts: list[Any]) -> Observer:
        agent, kind = parts
        return Observer(agent, (), kind)

    def observes_if(self, parts: list[Any]) -> Observer:
        agent, _, condition, first, *others, otherwise = parts
        branches = ((condition, first), *((condition, kind) for _, condition, kind in others))
        return Observer(agent, branches, otherwise)

    def observes_by_default(self, parts: list[Any]) -> DefaultObserver:
        word, kind = parts
        return DefaultObserver(kind, word)

    def action_type(self, parts: list[Any]) -> Any:
        name, events, types, relations, designated, conditions = parts
        return "action_types", (ActionType(name, events, types, relations, designated, conditions or ()),)

    # Problems

    def agent_group(self, parts: list[Any]) -> AgentGroup:
        return AgentGroup(*parts)

    def facts_init(self, parts: list[Any]) -> Any:
        place, *atoms = parts
        return "facts", (FactsInit(tuple(atoms), place),)

    def goal(self, parts: list[Any]) -> Any:
        place, formula = parts
        return "goals", (Goal(formula, place),)

    def init(self, parts: list[Any]) -> Any:
        place, model = parts
        return "inits", (Init(model, place),)

    def explicit(self, parts: list[Any]) -> ExplicitModel:
        return ExplicitModel(*parts)

    # Lists and formulas

    def item(self, parts: list[Any]) -> Item[Any]:
        return Item(parts[0])

    def several(self, parts: list[Any]) -> Several[Any]:
        place, *lists = parts
        return Several(tuple(lists), place)

    def nothing(self, parts: list[Any]) -> Several[Any]:
        return Several(())

    def each(self, parts: list[Any]) -> Each[Any]:
        place, binder, body = parts
        return Each(binder, body, place)

    def constant(self, parts: list[Any]) -> Constant:
        return Constant(parts[0] == "true", parts[0])

    def atom(self, parts: list[Any]) -> Atom:
        name, *arguments = parts
        return Atom(name, tuple(arguments))

    def equality(self, parts: list[Any]) -> Equality:
        sign, left, right = parts
        return Equality(left, right, sign == "/=", sign)

    def negation(self, parts: list[Any]) -> Negation:
        word, operand = parts
        return Negation(operand, word)

    def junction(self, parts: list[Any]) -> Junction:
        word, *operands = parts
        return Junction(word == "and", tuple(operands), word)

    def implication(self, parts: list[Any]) -> Implication:
        word, premise, conclusion = parts
        return Implication(premise, conclusion, word)

    def modal(self, parts: list[Any]) -> Modal:
        bracket, (kind, group), operand = parts
        return Modal(kind or "", bracket == "[", group, operand, bracket)

    def quantified(self, parts: list[Any]) -> Quantified:
        word, binder, body = parts
        return Quantified(word == "forall", binder, body, word)
