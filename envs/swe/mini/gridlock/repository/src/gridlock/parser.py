"""From the text of a formula to its tree, by recursive descent; docs/formulas.md has the table of operators."""

from __future__ import annotations

from collections.abc import Callable

from gridlock.errors import FormulaError
from gridlock.nodes import Area, Binary, Call, Cell, Constant, Negative, Node
from gridlock.refs import Ref
from gridlock.tokens import Token, tokens
from gridlock.values import Fault

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def parse(formula: str) -> Node:
    """The tree of a formula without its `=`; raises `FormulaError` where it cannot be read."""
    parser = _Parser(formula)
    node = parser.comparison()
    parser.expect("end", "")
    return node


class _Parser:
    def __init__(self, formula: str) -> None:
        self._tokens = [token for token in tokens(formula) if token.kind != "space"]
        self._next = 0

    def comparison(self) -> Node:
        return self._chain(self._joined, *COMPARISONS)

    def _joined(self) -> Node:
        return self._chain(self._sum, "&")

    def _sum(self) -> Node:
        return self._chain(self._product, "+", "-")

    def _product(self) -> Node:
        return self._chain(self._signed, "*", "/")

    def _signed(self) -> Node:
        if self._take("-"):
            return Negative(self._signed())
        if self._take("+"):
            return self._signed()
        return self._power()

    def _power(self) -> Node:
        base = self._atom()
        # The exponent may have a sign of its own, and is a power again: 2^-3^2 is 2^(-(3^2)).
        return Binary("^", base, self._signed()) if self._take("^") else base

    def _chain(self, operand: Callable[[], Node], *signs: str) -> Node:
        node = operand()
        while sign := self._take(*signs):
            node = Binary(sign, node, operand())
        return node

    def _atom(self) -> Node:
        token = self._advance()
        match token.kind:
            case "number":
                return Constant(float(token.text))
            case "text":
                return Constant(token.text[1:-1].replace('""', '"'))
            case "fault":
                return Constant(Fault(token.text))
            case "cell":
                return self._cell_or_area(token)
            case "name":
                return self._call_or_truth(token)
            case "sign" if token.text == "(":
                node = self.comparison()
                self.expect("sign", ")")
                return node
        raise FormulaError(f"unexpected {token.text!r}" if token.text else "unexpected end", token.position)

    def _cell_or_area(self, token: Token) -> Node:
        first = _ref(token)
        if not self._take(":"):
            return Cell(first)
        return Area(first, _ref(self.expect("cell", "")))

    def _call_or_truth(self, token: Token) -> Node:
        name = token.text.upper()
        if name in ("TRUE", "FALSE"):
            return Constant(name == "TRUE")
        self.expect("sign", "(")
        arguments: list[Node] = []
        if not self._take(")"):
            arguments.append(self.comparison())
            while self._take(","):
                arguments.append(self.comparison())
            self.expect("sign", ")")
        return Call(name, tuple(arguments))

    def expect(self, kind: str, text: str) -> Token:
        """The next token, which must be of this kind and, unless empty, have this text."""
        token = self._advance()
        if token.kind != kind or (text and token.text != text):
            wanted = text or {"end": "the end", "cell": "a cell"}[kind]
            raise FormulaError(f"expected {wanted}, found {token.text or 'the end'}", token.position)
        return token

    def _take(self, *signs: str) -> str:
        """The next token's text, if it is one of these signs; otherwise nothing, and it stays."""
        token = self._tokens[self._next]
        if token.kind == "sign" and token.text in signs:
            self._next += 1
            return token.text
        return ""

    def _advance(self) -> Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token


def _ref(token: Token) -> Ref:
    return Ref.parse(token.text.replace("$", ""))
