"""Answers that are words: a text, yes or no."""

from __future__ import annotations

from agent_envs.verifiers.web._kind import Kind, Unreadable, brief, one_line, quoted

_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})


class Text(Kind, frozen=True, tag="text"):
    """A text. Blanks, quotes around the whole, kinds of dashes and one final full stop do not count."""

    ignore_case: bool = True

    def value(self, text: str) -> str:
        """The text in one spelling."""
        line = one_line(text)
        if line.endswith(".") and not line.endswith(".."):
            line = line[:-1].rstrip()
        if not line:
            raise Unreadable("the text is empty")
        return line.casefold() if self.ignore_case else line


class Boolean(Kind, frozen=True, tag="boolean"):
    """Yes or no: `yes`, `y`, `true`, `no`, `n`, `false`."""

    def value(self, text: str) -> bool:
        """What one word says."""
        word = brief(text).removesuffix(".").casefold()
        if word not in _YES | _NO:
            raise Unreadable(f"{quoted(text)} is neither yes nor no")
        return word in _YES

    def gold(self, expected: object) -> bool:
        """`true` and `false` are themselves."""
        return expected if isinstance(expected, bool) else bool(super().gold(expected))
