"""From text to parse trees, and from the parser's dismay to a sentence."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from checker.notation.problem import Place, SyntaxProblem, shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lark import Lark, Token, Tree

    from checker.notation.problem import Node

EXPRESSION_DEPTH: Final = 200
"""The deepest expression: everything that walks over terms may recurse so far."""

STATEMENT_DEPTH: Final = 100
"""The deepest `if` or `while`."""


@lru_cache
def _parser(start: str) -> Lark:
    from lark import Lark

    grammar = files("checker.notation").joinpath("notation.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=start, propagate_positions=True, maybe_placeholders=False)


def parse(text: str, start: str, place: Place) -> Tree[Token]:
    """The parse tree of a text, no deeper than the limits above. Raises SyntaxProblem."""
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    session = _parser(start).parse_interactive(text)
    last: Token | None = None
    try:
        for token in session.lexer_thread.lex(session.parser_state):  # type: ignore[no-untyped-call]
            session.feed_token(token)
            last = token
        tree: Tree[Token] = session.feed_eof(last)  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as error:
        offset: int = error.pos_in_stream  # type: ignore[assignment]
        here, found = (error.line, error.column), text[offset]
        if text.startswith("/*", offset):
            raise SyntaxProblem("this comment never ends", place.at(*here), "Close it with */.") from None
        if not " " <= found <= "~":
            name = f"U+{ord(found):04X}"
            shown = f"{shortened(found)} ({name})" if found.isprintable() else name
            advice = "Programs are written in ASCII: <=, >=, !=, &&, <-."
            raise SyntaxProblem(f"the character {shown} has no place here", place.at(*here), advice) from None
    except UnexpectedToken as error:
        found = str(error.token)
        here = (error.token.line or 1, error.token.column or 1)
    else:
        _check_depth(tree, place)
        return tree
    tokens = [v for v in session.parser_state.value_stack if isinstance(v, Token)]
    accepted: set[str] = session.accepts()  # type: ignore[no-untyped-call]
    wanted = _wanted(accepted, tokens, last, found)
    if last is not None and (wanted.closing or not found):
        here = (last.end_line or 1, last.end_column or 1)
    raise SyntaxProblem(wanted.sentence, place.at(*here), wanted.advice)


class _Wanted(NamedTuple):
    """The token that was expected; `closing` where it is missing behind the last token rather than wrong at the
    next."""

    sentence: str
    advice: str = ""
    closing: bool = False


_THREE: Final = "A condition is {P; Q; X}; write _ for a part that is left to the tool."
_STATEMENTS: Final = "Statements: x <- e; A[e] <- e; skip; sync; if (e) {...} else {...} while (e) {...}."
_DECLARATIONS: Final = "Declare with param, local, global or shared; then comes begin ... end."
_ENDED_BY_SEMICOLON: Final = {
    "ARROW": "the assignment",
    "SKIP": "'skip'",
    "SYNC": "'sync'",
    "SPLIT": "'split'",
    "REQUIRES": "the requirement",
    **dict.fromkeys(("PARAM", "LOCAL", "GLOBAL", "SHARED"), "the declaration"),
}
_WORDS: Final = {
    "$END": "the end of the text",
    "ARROW": "'<-'",
    "BAR": "'|'",
    "COLON": "':'",
    "COMMA": "','",
    "HOLE": "'_'",
    "INT": "a number",
    "LBRACE": "'{'",
    "LPAR": "'('",
    "LSQB": "'['",
    "NAME": "a name",
    "NAME_OF_RULE": "the name of a rule",
    "RBRACE": "'}'",
    "RPAR": "')'",
    "RSQB": "']'",
    "SEMICOLON": "';'",
}


def _wanted(accepts: Collection[str], tokens: Sequence[Token], last: Token | None, found: str) -> _Wanted:
    """The expected tokens where the parser stands: the terminals that it would take, and the unfinished tokens behind
    it."""
    after = f" after {shortened(last)}" if last is not None else ""
    got = f", not {shortened(found)}" if found else ""
    part = "formula P"
    if "LBRACE" in (kinds := [t.type for t in tokens]) and "SEMICOLON" in kinds[-kinds[::-1].index("LBRACE") :]:
        part = "potential Q"
    opener = next((t for t in reversed(tokens) if t.type in _ENDED_BY_SEMICOLON or t.type == "LBRACE"), None)
    if "TRUE" in accepts:
        if "HOLE" in accepts:
            return _Wanted(f"expected the {part} of a condition, or _{got}", _THREE)
        return _Wanted(f"expected an expression{after}{got}")
    if "SEMICOLON" in accepts and opener is not None:
        if opener.type == "LBRACE":
            return _Wanted(f"expected ';' after the {part} of the condition", _THREE, True)
        return _Wanted(f"expected ';' after {_ENDED_BY_SEMICOLON[opener.type]}", "", True)
    for closer, openers in (("RPAR", ("LPAR",)), ("RSQB", ("LSQB", "INTERVAL"))):
        opened = next((t for t in reversed(tokens) if t.type in openers), None)
        if closer in accepts and opened is not None:
            where = f"line {opened.line}, column {opened.column}"
            return _Wanted(f"expected {_WORDS[closer]} to close the '{opened}' of {where}", "", True)
    if "IF" in accepts and "RBRACE" in accepts and opener is not None:
        where = f"line {opener.line}, column {opener.column}"
        return _Wanted(f"expected a statement, a condition or the '}}' to the '{{' of {where}{got}", _STATEMENTS)
    if "IF" in accepts and "END" in accepts:
        return _Wanted(f"expected a statement, a condition or 'end'{got}", _STATEMENTS)
    if "BEGIN" in accepts:
        return _Wanted(f"expected a declaration or 'begin'{got}", _DECLARATIONS)
    if "KERNEL" in accepts:
        return _Wanted(f"expected 'kernel' and its name{got}", "A text begins with 'kernel NAME'.")
    if "ARROW" in accepts:
        return _Wanted(f"expected '<-'{after}{got}", "Write x <- e; or A[e] <- e; for an assignment.")
    if "HOLE" in accepts and "LBRACE" in accepts:
        return _Wanted(f"expected the uniform variables X of the condition{got}", f"Such as {{i, j}} or {{}}. {_THREE}")
    if "OPERATOR" in accepts:
        return _Wanted(
            f"expected an operator or the end{after}{got}",
            "Equality is ==, at least >=, at most <=." if found == "=" else "",
        )
    if "$END" in accepts:
        return _Wanted(f"expected nothing more{after}{got}", "One file holds one kernel.")
    words = sorted(_WORDS.get(t, f"'{t.lower()}'") for t in accepts)
    listed = " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)
    return _Wanted(f"expected {listed}{after}{got}", "", "RBRACE" in accepts)


_EXPRESSIONS: Final = ("operation", "prefix", "ternary", "read", "call", "interval")
_STATEMENT_KINDS: Final = ("branch", "loop")


def _check_depth(tree: Tree[Token], place: Place) -> None:
    stack: list[tuple[Node, int, int]] = [(tree, 0, 0)]
    while stack:
        node, in_expression, in_statement = stack.pop()
        if isinstance(node, str):
            continue
        in_expression += node.data in _EXPRESSIONS
        in_statement += node.data in _STATEMENT_KINDS
        if in_expression > EXPRESSION_DEPTH:
            raise too_deep(node, place)
        if in_statement > STATEMENT_DEPTH:
            sentence = f"statements are nested more than {STATEMENT_DEPTH} levels deep"
            raise SyntaxProblem(sentence, place.of(node), "Flatten the program.")
        stack.extend((child, in_expression, in_statement) for child in node.children)


def too_deep(node: Node, place: Place) -> SyntaxProblem:
    """The complaint about an expression deeper than the limit."""
    sentence = f"the expression is nested more than {EXPRESSION_DEPTH} levels deep"
    return SyntaxProblem(sentence, place.of(node), "Split it with a local variable.")
