"""Bank statements: CSV files in, booked entries out, and nothing twice."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256

from ledger.entries import Entry, Posting
from ledger.errors import StatementError
from ledger.journal import Journal
from ledger.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFormat:
    """How one bank writes its files."""

    day: str = "Date"
    memo: str = "Description"
    amount: str = "Amount"
    day_format: str = "%Y-%m-%d"
    decimal: str = "."
    delimiter: str = ","


@dataclass(frozen=True, slots=True)
class StatementLine:
    """What the bank says happened: money in is positive."""

    day: date
    memo: str
    amount: Money


def read_statement(text: str, fmt: StatementFormat, currency: str) -> list[StatementLine]:
    """The lines of a file, in its order; raises `StatementError` for one that cannot be read."""
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=fmt.delimiter)
    missing = {fmt.day, fmt.memo, fmt.amount} - set(reader.fieldnames or ())
    if missing:
        raise StatementError(1, f"the columns {', '.join(sorted(missing))} are missing")
    lines = []
    for row in reader:
        try:
            day = datetime.strptime(row[fmt.day].strip(), fmt.day_format).date()
            amount = Money.parse(row[fmt.amount], currency, decimal=fmt.decimal)
            memo = " ".join(row[fmt.memo].split())
        except (ValueError, AttributeError) as cause:
            raise StatementError(reader.line_num, str(cause)) from cause
        lines.append(StatementLine(day, memo, amount))
    return lines


def import_statement(journal: Journal, lines: Iterable[StatementLine], *, account: str, counter: str) -> list[Entry]:
    """Book the lines that are not booked yet, and return the new entries."""
    booked = []
    seen: Counter[str] = Counter()
    for line in lines:
        # A bank writes whole days, so equal lines of one file are different events: the first, the second, ...
        identity = line_identity(account, line)
        seen[identity] += 1
        key = f"{identity}-{seen[identity]}"
        if journal.has_key(key):
            continue
        postings = (Posting(account, line.amount), Posting(counter, -line.amount))
        entry = Entry(line.day, line.memo, postings, key)
        journal.add(entry)
        booked.append(entry)
    return booked


def line_identity(account: str, line: StatementLine) -> str:
    """What lines that cannot be told apart have in common, whatever file they stand in."""
    parts = (account, line.day.isoformat(), line.memo.casefold(), str(line.amount))
    return sha256("\x1f".join(parts).encode("utf-8")).hexdigest()[:24]
