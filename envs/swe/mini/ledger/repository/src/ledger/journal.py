"""The journal: all entries, in the order of their days."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from datetime import date

from ledger.accounts import Chart
from ledger.entries import Entry
from ledger.money import Money, total


class Journal:
    """Entries over a chart of accounts; those of one day stay in the order they were added."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._entries: list[Entry] = []
        self._keys: set[str] = set()

    def add(self, entry: Entry) -> None:
        """Book an entry; raises `UnknownAccount`, or `ValueError` where its key is taken."""
        for posting in entry.postings:
            self.chart[posting.account]
        if entry.key in self._keys:
            raise ValueError(f"the key {entry.key!r} is in the journal already")
        if entry.key:
            self._keys.add(entry.key)
        insort(self._entries, entry, key=lambda known: known.day)

    def has_key(self, key: str) -> bool:
        return key in self._keys

    def entries(self, first: date | None = None, last: date | None = None) -> Iterator[Entry]:
        """The entries between two days, both included, in order."""
        for entry in self._entries:
            if (first is None or first <= entry.day) and (last is None or entry.day <= last):
                yield entry

    def balance(self, account: str, until: date | None = None) -> dict[str, Money]:
        """The sums on one account by currency, at the end of a day."""
        self.chart[account]
        return total(
            posting.amount
            for entry in self.entries(last=until)
            for posting in entry.postings
            if posting.account == account
        )

    def __len__(self) -> int:
        return len(self._entries)
