"""Double-entry bookkeeping: a journal of balanced entries, bank statements, reports."""

from ledger.accounts import Account, Chart, Kind
from ledger.entries import Entry, Posting
from ledger.errors import (
    CurrencyMismatch,
    LedgerError,
    RateMissing,
    StatementError,
    Unbalanced,
    UnknownAccount,
)
from ledger.export import export_journal, load_journal
from ledger.journal import Journal
from ledger.money import Money
from ledger.rates import RateTable
from ledger.reports import balance_sheet, in_currency, income_statement, trial_balance
from ledger.statements import StatementFormat, StatementLine, import_statement, read_statement

__all__ = [
    "Account",
    "Chart",
    "CurrencyMismatch",
    "Entry",
    "Journal",
    "Kind",
    "LedgerError",
    "Money",
    "Posting",
    "RateMissing",
    "RateTable",
    "StatementError",
    "StatementFormat",
    "StatementLine",
    "Unbalanced",
    "UnknownAccount",
    "balance_sheet",
    "export_journal",
    "import_statement",
    "in_currency",
    "income_statement",
    "load_journal",
    "read_statement",
    "trial_balance",
]
