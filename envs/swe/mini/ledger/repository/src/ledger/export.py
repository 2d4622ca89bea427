"""The journal as CSV, one row per posting, and back."""

from __future__ import annotations

import csv
import io
from datetime import date
from itertools import groupby

from ledger.accounts import Chart
from ledger.entries import Entry, Posting
from ledger.errors import LedgerError, StatementError
from ledger.journal import Journal
from ledger.money import Money

COLUMNS = ["entry", "day", "memo", "account", "amount", "currency", "key"]


def export_journal(journal: Journal) -> str:
    """All entries, numbered from 1 in the order of the journal."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, entry in enumerate(journal.entries(), start=1):
        for posting in entry.postings:
            amount = posting.amount
            row = [number, entry.day.isoformat(), entry.memo, posting.account, amount.plain(), amount.currency]
            writer.writerow([*row, entry.key])
    return out.getvalue()


def load_journal(text: str, chart: Chart) -> Journal:
    """The journal that `export_journal` wrote; accounts that the chart lacks are opened."""
    journal = Journal(chart)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if reader.fieldnames != COLUMNS:
        raise StatementError(1, f"expected the columns {', '.join(COLUMNS)}")
    for _, rows in groupby(reader, key=lambda row: row["entry"]):
        group = list(rows)
        try:
            journal.add(_entry(group, chart))
        except (LedgerError, ValueError) as cause:
            raise StatementError(reader.line_num, str(cause)) from cause
    return journal


def _entry(rows: list[dict[str, str]], chart: Chart) -> Entry:
    first = rows[0]
    postings = tuple(
        Posting(chart.open(row["account"]).name, Money.parse(row["amount"], row["currency"])) for row in rows
    )
    return Entry(date.fromisoformat(first["day"]), first["memo"], postings, first["key"])
