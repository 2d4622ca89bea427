"""Reports: mappings from account names to amounts by currency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date

from ledger.accounts import Account, Kind
from ledger.entries import Entry
from ledger.journal import Journal
from ledger.money import Money, total
from ledger.rates import RateTable

Amounts = dict[str, Money]
Report = dict[str, Amounts]
UNCLOSED = "Equity:Unclosed"


def trial_balance(journal: Journal, until: date | None = None) -> Report:
    """The balance of every account with postings, in the order of their names; all of it adds up to zero."""
    amounts = _by_account(journal.entries(last=until))
    return {name: total(amounts[name]) for name in sorted(amounts)}


def balance_sheet(journal: Journal, day: date) -> Report:
    """What is owned and owed at the end of a day, with the sums of parent accounts."""
    amounts = _by_account(journal.entries(last=day))
    return _balance_sheet(amounts)


def income_statement(journal: Journal, first: date, last: date) -> Report:
    """What was earned and spent between two days, with the sums of parent accounts."""
    amounts = _by_account(journal.entries(first, last))
    return _with_parents({name: found for name, found in amounts.items() if Account(name).kind.is_flow})


def in_currency(
    journal: Journal, rates: RateTable, currency: str, *, first: date | None = None, last: date
) -> dict[str, Money]:
    """A report in one currency: the income statement where `first` is given, the balance sheet of `last` otherwise."""
    if first is None:
        report = balance_sheet(journal, last)
        at_day = _converter(rates, currency)
        return {
            name: _sum((at_day(amount, last) for amount in amounts.values()), currency)
            for name, amounts in report.items()
        }
    convert = _converter(rates, currency)
    amounts = _by_account(journal.entries(first, last), convert)
    flows = {name: found for name, found in amounts.items() if Account(name).kind.is_flow}
    return {name: _sum(sums.values(), currency) for name, sums in _with_parents(flows).items()}


def _by_account(
    entries: Iterable[Entry], convert: Callable[[Money, date], Money] | None = None
) -> dict[str, list[Money]]:
    found: dict[str, list[Money]] = {}
    for entry in entries:
        for posting in entry.postings:
            amount = convert(posting.amount, entry.day) if convert else posting.amount
            found.setdefault(posting.account, []).append(amount)
    return found


def _converter(rates: RateTable, currency: str) -> Callable[[Money, date], Money]:
    def convert(amount: Money, day: date) -> Money:
        return amount.converted(rates.rate(amount.currency, currency, day), currency)

    return convert


def _balance_sheet(amounts: Mapping[str, list[Money]]) -> Report:
    stocks = {name: list(found) for name, found in amounts.items() if not Account(name).kind.is_flow}
    unclosed = [amount for name, found in amounts.items() if Account(name).kind.is_flow for amount in found]
    if total(unclosed):
        stocks.setdefault(UNCLOSED, []).extend(unclosed)
    return _with_parents(stocks)


def _with_parents(amounts: Mapping[str, list[Money]]) -> Report:
    sums: dict[str, list[Money]] = {}
    for name, found in amounts.items():
        for place in (*Account(name).parents, name):
            sums.setdefault(place, []).extend(found)
    order = [kind.value for kind in Kind]
    names = sorted(sums, key=lambda name: (order.index(name.partition(":")[0]), name))
    return {name: total(sums[name]) for name in names}


def _sum(amounts: Iterable[Money], currency: str) -> Money:
    return total(amounts).get(currency, Money.zero(currency))
