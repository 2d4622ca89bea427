"""What can go wrong, one class per decision that a caller makes."""


class LedgerError(Exception):
    """The base of all errors of this package."""


class CurrencyMismatch(LedgerError, ValueError):
    """Two amounts of different currencies met."""


class Unbalanced(LedgerError, ValueError):
    """The postings of an entry do not add up to zero in every currency."""


class UnknownAccount(LedgerError, LookupError):
    """The chart does not hold this account."""


class StatementError(LedgerError, ValueError):
    """A line of a CSV file cannot be read; `line` is its number, counted from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line


class RateMissing(LedgerError, LookupError):
    """No rate is known for a pair of currencies on or before a day."""
