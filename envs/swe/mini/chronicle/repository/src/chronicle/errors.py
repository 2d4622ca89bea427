"""What can go wrong, by what a caller may do about it."""

from __future__ import annotations


class ChronicleError(Exception):
    """Base of everything this package raises on purpose."""


class NaiveTime(ChronicleError, ValueError):
    """A moment without a zone."""


class UnknownEvent(ChronicleError, LookupError):
    """There is no event with this uid."""


class NoOccurrence(ChronicleError, LookupError):
    """The event does not happen at this moment."""


class FormatError(ChronicleError, ValueError):
    """A text that is no calendar."""
