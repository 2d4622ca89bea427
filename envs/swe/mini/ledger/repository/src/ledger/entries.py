"""Entries: what happened on a day, as postings that balance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ledger.errors import Unbalanced
from ledger.money import Money, total


@dataclass(frozen=True, slots=True)
class Posting:
    """An amount on an account; positive is debit."""

    account: str
    amount: Money


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. Refuses to exist where its postings do not balance in every currency."""

    day: date
    memo: str
    postings: tuple[Posting, ...]
    key: str = ""
    """Where it came from, unique in a journal; empty for entries made by hand."""

    def __post_init__(self) -> None:
        if len(self.postings) < 2:
            raise Unbalanced(f"{self.memo!r} has {len(self.postings)} postings; expected at least two")
        left = total(posting.amount for posting in self.postings)
        if left:
            sums = ", ".join(str(amount) for amount in left.values())
            raise Unbalanced(f"{self.memo!r} of {self.day} is off by {sums}")
