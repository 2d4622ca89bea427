import unittest
from datetime import date
from decimal import Decimal

from ledger import Chart, Entry, Journal, Money, Posting, RateTable, in_currency

JAN, FEB, MAR, APR = (date(2024, month, 10) for month in (1, 2, 3, 4))


def euros(text):
    return Money.parse(text, "EUR")


def paid(day, account, amount, currency="USD"):
    money = Money.parse(amount, currency)
    return Entry(day, "paid", (Posting("Assets:Bank", money), Posting(account, -money)))


class Rates(unittest.TestCase):
    def setUp(self):
        self.rates = RateTable("EUR")
        self.rates.add(date(2024, 1, 1), "USD", "EUR", "0.90")
        self.rates.add(date(2024, 3, 1), "EUR", "USD", "1.25")

    def test_the_later_of_both_directions_counts(self):
        assert self.rates.rate("USD", "EUR", FEB) == Decimal("0.90")
        assert self.rates.rate("USD", "EUR", MAR) == Decimal("0.8")
        assert self.rates.rate("EUR", "USD", MAR) == Decimal("1.25")

    def test_a_later_rate_of_the_asked_direction_counts_again(self):
        self.rates.add(date(2024, 4, 1), "USD", "EUR", "0.5")
        assert self.rates.rate("USD", "EUR", APR) == Decimal("0.5")
        assert self.rates.rate("EUR", "USD", APR) == Decimal("2")
        assert self.rates.rate("USD", "EUR", MAR) == Decimal("0.8")

    def test_the_same_holds_through_the_base(self):
        self.rates.add(date(2024, 1, 1), "EUR", "JPY", "160")
        assert self.rates.rate("USD", "JPY", JAN) == Decimal("144")
        assert self.rates.rate("USD", "JPY", MAR) == Decimal("128")


class Reports(unittest.TestCase):
    def setUp(self):
        self.rates = RateTable("EUR")
        self.rates.add(date(2024, 1, 1), "USD", "EUR", "0.90")
        self.rates.add(date(2024, 3, 1), "EUR", "USD", "1.25")
        self.journal = Journal(Chart(["Assets:Bank", "Income:Sales", "Income:Fees", "Expenses:Travel"]))
        self.journal.add(paid(JAN, "Income:Sales", "100"))
        self.journal.add(paid(MAR, "Income:Sales", "100"))

    def period(self, first=date(2024, 1, 1), last=date(2024, 3, 31)):
        return in_currency(self.journal, self.rates, "EUR", first=first, last=last)

    def test_income_is_worth_what_it_was_on_its_day(self):
        assert self.period() == {"Income": euros("-170"), "Income:Sales": euros("-170")}

    def test_a_shorter_period(self):
        assert self.period(last=FEB)["Income"] == euros("-90")
        assert self.period(first=FEB)["Income"] == euros("-80")

    def test_expenses_and_parents(self):
        self.journal.add(paid(JAN, "Income:Fees", "10"))
        self.journal.add(paid(FEB, "Expenses:Travel", "-50"))
        self.journal.add(paid(MAR, "Expenses:Travel", "-50"))
        report = self.period()
        assert report["Income"] == euros("-179")
        assert report["Income:Fees"] == euros("-9")
        assert report["Expenses"] == euros("85")

    def test_the_balance_sheet_keeps_to_the_rates_of_its_day(self):
        sheet = in_currency(self.journal, self.rates, "EUR", last=date(2024, 3, 31))
        assert sheet["Assets:Bank"] == euros("160")
        assert sheet["Equity:Unclosed"] == euros("-160")
        earlier = in_currency(self.journal, self.rates, "EUR", last=FEB)
        assert earlier["Assets:Bank"] == euros("90")

    def test_amounts_in_the_currency_itself_stay(self):
        self.journal.add(paid(FEB, "Income:Fees", "12.34", "EUR"))
        assert self.period()["Income:Fees"] == euros("-12.34")
