"""The chart of accounts: names such as `Assets:Bank:Checking`, whose first part says what kind they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from ledger.errors import UnknownAccount


class Kind(Enum):
    """What an account measures; the value is the first part of its name."""

    ASSETS = "Assets"
    LIABILITIES = "Liabilities"
    EQUITY = "Equity"
    INCOME = "Income"
    EXPENSES = "Expenses"

    @property
    def is_flow(self) -> bool:
        """Whether it is counted over a period rather than at a day."""
        return self in (Kind.INCOME, Kind.EXPENSES)


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """One account of a chart."""

    name: str

    @property
    def kind(self) -> Kind:
        return Kind(self.name.partition(":")[0])

    @property
    def parents(self) -> list[str]:
        """The names above it, the top one first."""
        parts = self.name.split(":")
        return [":".join(parts[:length]) for length in range(1, len(parts))]


class Chart:
    """The accounts that may be used."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._accounts: dict[str, Account] = {}
        for name in names:
            self.open(name)

    def open(self, name: str) -> Account:
        """Add an account; adding it again changes nothing."""
        parts = name.split(":")
        kinds = [kind.value for kind in Kind]
        if len(parts) < 2 or not all(part.strip() == part and part for part in parts) or parts[0] not in kinds:
            raise ValueError(f"{name!r} is no account name; expected <kind>:<name>, with a kind of {', '.join(kinds)}")
        return self._accounts.setdefault(name, Account(name))

    def __getitem__(self, name: str) -> Account:
        if name not in self._accounts:
            near = get_close_matches(name, self._accounts, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownAccount(f"there is no account {name!r}{hint}")
        return self._accounts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._accounts

    def __iter__(self) -> Iterator[Account]:
        return iter(sorted(self._accounts.values()))

    def __len__(self) -> int:
        return len(self._accounts)
