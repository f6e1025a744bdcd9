"""Walking over the tokens of a line, and the constant expressions in it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from lanewise.text.diagnostics import Refusal, Span, did_you_mean
from lanewise.text.neuron.lexer import Kind, Token
from lanewise.text.neuron.scalars import Form, Number, float_number, negated

_DEEPEST = 40
_LARGEST = 1 << 64
_LARGEST_EXPONENT = 400
_SPECIAL_FLOATS = ("inf", "nan")
_CLOSERS = {"[": "]", "(": ")"}

_OPERATORS: Mapping[str, tuple[int, Callable[[int, int], int]]] = {
    "|": (1, lambda a, b: a | b),
    "^": (2, lambda a, b: a ^ b),
    "&": (3, lambda a, b: a & b),
    "<<": (4, lambda a, b: a << b),
    ">>": (4, lambda a, b: a >> b),
    "+": (5, lambda a, b: a + b),
    "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b),
    "/": (6, lambda a, b: a // b),
    "%": (6, lambda a, b: a % b),
}


class Cursor:
    """A position in the tokens of one line.

    ``constants`` have values; ``broken`` are names whose definitions were wrong.
    """

    def __init__(
        self, tokens: list[Token], constants: Mapping[str, Number], broken: Collection[str]
    ) -> None:
        self._tokens = tokens
        self._constants = constants
        self._broken = broken
        self._at = 0
        #: The token to be read next; the END is never passed.
        self.token = tokens[0]

    @property
    def following(self) -> Token:
        """The token after the next (END stays END)."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    @property
    def previous(self) -> Token:
        """The token read last."""
        return self._tokens[max(self._at - 1, 0)]

    def advance(self) -> Token:
        """Read a token."""
        token = self.token
        if token.kind is not Kind.END:
            self._at += 1
            self.token = self._tokens[self._at]
        return token

    def at_sign(self, *signs: str) -> bool:
        """Whether one of these signs is next."""
        return self.token.kind is Kind.SIGN and self.token.text in signs

    def at_word(self, word: str) -> bool:
        """Whether this name is next."""
        return self.token.kind is Kind.NAME and self.token.text.casefold() == word

    def take_sign(self, sign: str) -> bool:
        """Read a sign if it is next."""
        if self.token.text == sign and self.token.kind is Kind.SIGN:
            self.advance()
            return True
        return False

    def take_word(self, word: str) -> bool:
        """Read a name if it is next."""
        if self.at_word(word):
            self.advance()
            return True
        return False

    def expect_sign(self, sign: str, purpose: str) -> Token:
        """Read a sign that must be next."""
        if not self.at_sign(sign):
            raise self.unexpected(f"{sign!r} {purpose}")
        return self.advance()

    def expect(self, kind: Kind, purpose: str) -> Token:
        """Read a token of a kind that must be next."""
        if self.token.kind is not kind:
            raise self.unexpected(purpose)
        return self.advance()

    def unexpected(self, expected: str, suggestion: str = "") -> Refusal:
        """The refusal of the next token."""
        is_end = self.token.kind is Kind.END
        message = "the line ends here" if is_end else f"{self.token.shown} does not belong here"
        return Refusal(self.token.span, message, expected=expected, suggestion=suggestion)

    def is_constant(self, token: Token) -> bool:
        """Whether a name stands for a number of this file."""
        return token.text in self._constants

    def skip_argument(self) -> None:
        """Go on to the comma that ends an argument, past everything in brackets, or to the end."""
        open_brackets: list[str] = []
        while self.token.kind is not Kind.END:
            if self.token.kind is Kind.SIGN:
                text = self.token.text
                if text in _CLOSERS:
                    open_brackets.append(_CLOSERS[text])
                elif open_brackets and text == open_brackets[-1]:
                    open_brackets.pop()
                elif text == "," and not open_brackets:
                    return
            self.advance()

    @contextlib.contextmanager
    def lookahead(self) -> Iterator[None]:
        """What is read inside is read again afterwards."""
        at = self._at
        yield
        self._at = at
        self.token = self._tokens[at]

    # Numbers and expressions

    def number(self, purpose: str) -> Number:
        """A number: one literal or constant with a sign, or an expression of whole numbers."""
        if self.token.kind is Kind.NUMBER and self.following.text not in _OPERATORS:
            return _literal(self.advance())
        return self._expression(0, 0, purpose)

    def integer(self, purpose: str, low: int, high: int) -> int:
        """A whole number between ``low`` and ``high``, both inclusive."""
        token = self.token
        start = token.start
        if token.text.isdecimal() and self._tokens[self._at + 1].text not in _OPERATORS:
            # The usual case, without the detour over a Number.
            usual = int(token.text)
            if low <= usual <= high:
                self.advance()
                return usual
        number = self.number(purpose)
        value = number.value
        if isinstance(value, int) and low <= value <= high:
            return value
        span = Span(start, self.previous.end)
        if not isinstance(value, int):
            raise Refusal(span, f"{purpose} is a whole number, not a float")
        shown = f"{value:#x}" if number.form is Form.BITS else str(value)
        raise Refusal(span, f"{purpose} is {shown}", expected=f"{low}..{_limit(high)}")

    def _expression(self, lowest: int, depth: int, purpose: str) -> Number:
        start = self.token.span
        left = self._primary(depth, purpose)
        while self.token.kind is Kind.SIGN and self.token.text in _OPERATORS:
            strength, function = _OPERATORS[self.token.text]
            if strength <= lowest:
                break
            sign = self.advance()
            right = self._expression(strength, depth + 1, purpose)
            left = _combined(left, sign, right, function, start.to(self.previous.span))
        return left

    def _primary(self, depth: int, purpose: str) -> Number:
        if depth > _DEEPEST:
            raise Refusal(self.token.span, "an expression nested this deep is refused")
        token = self.token
        if self.take_sign("-"):
            return negated(self._primary(depth + 1, purpose))
        if self.take_sign("+"):
            return self._primary(depth + 1, purpose)
        if self.take_sign("~"):
            inner = self._primary(depth + 1, purpose)
            if not isinstance(inner.value, int):
                raise Refusal(token.span, "'~' needs a whole number")
            return Number(Form.INTEGER, ~inner.value)
        if self.take_sign("("):
            inner = self._expression(0, depth + 1, purpose)
            self.expect_sign(")", "to close the bracket")
            return inner
        if token.kind is Kind.NUMBER:
            self.advance()
            return _literal(token)
        if token.kind is Kind.NAME:
            found = self._constants.get(token.text)
            if found is None and token.text.casefold() in _SPECIAL_FLOATS:
                found = float_number(token.text, negative=False)
            if found is None and token.text in self._broken:
                # Its definition has been reported; this is no trouble of its own.
                raise Refusal.silent(token.span)
            if found is None:
                known = (*self._constants, *_SPECIAL_FLOATS)
                raise Refusal(
                    token.span,
                    f"{token.shown} is no constant of this file",
                    expected=f"{purpose}",
                    suggestion=did_you_mean(token.text, known),
                )
            self.advance()
            return found
        raise self.unexpected(purpose)


def _limit(high: int) -> str:
    return str(high) if high < 1 << 17 else f"{high:#x}"


def _combined(
    left: Number, sign: Token, right: Number, function: Callable[[int, int], int], span: Span
) -> Number:
    if not isinstance(left.value, int) or not isinstance(right.value, int):
        raise Refusal(span, f"{sign.text!r} takes whole numbers, not floats")
    if sign.text in ("/", "%") and right.value == 0:
        raise Refusal(span, "a division by zero")
    if sign.text in ("<<", ">>") and not 0 <= right.value <= 64:
        raise Refusal(span, f"a shift by {right.value}", expected="0..64")
    result = function(left.value, right.value)
    if not -_LARGEST < result < _LARGEST:
        raise Refusal(span, "a number beyond 64 bits")
    return Number(Form.INTEGER, result)


_INTEGER = re.compile(r"[0-9]+(?:_[0-9]+)*")
_BITS = re.compile(r"0x[0-9a-f]+(?:_[0-9a-f]+)*|0b[01]+(?:_[01]+)*")
_FLOAT = re.compile(r"[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?(?:e([+-]?[0-9]+))?")


def _literal(token: Token) -> Number:
    if token.text.isdecimal():
        return _bounded(Number(Form.INTEGER, int(token.text)), token)
    text = token.text.casefold()
    if _BITS.fullmatch(text):
        return _bounded(Number(Form.BITS, int(text, 0)), token)
    if _INTEGER.fullmatch(text):
        return _bounded(Number(Form.INTEGER, int(text)), token)
    match = _FLOAT.fullmatch(text)
    if match is None:
        raise Refusal(
            token.span,
            f"{token.shown} is no number",
            expected="a decimal number, 0x and hex digits, 0b and binary digits",
        )
    if match[1] is not None and abs(int(match[1])) > _LARGEST_EXPONENT:
        raise Refusal(token.span, f"an exponent beyond {_LARGEST_EXPONENT}")
    return float_number(text, negative=False)


def _bounded(number: Number, token: Token) -> Number:
    assert isinstance(number.value, int)
    if number.value >= _LARGEST:
        raise Refusal(token.span, "a number beyond 64 bits")
    return number
