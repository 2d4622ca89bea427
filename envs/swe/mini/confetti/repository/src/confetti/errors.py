"""What can go wrong, one class per decision that a caller makes."""


class ConfettiError(Exception):
    """The base of all errors of this package."""


class BadSource(ConfettiError, ValueError):
    """A file or variable cannot be read as configuration."""


class MissingKey(ConfettiError, KeyError):
    """No layer has this key."""

    def __str__(self) -> str:
        return str(self.args[0])


class BadValue(ConfettiError, ValueError):
    """A value is not of the type that is asked for."""


class InterpolationError(ConfettiError, ValueError):
    """A reference leads nowhere, in a circle, or to something that is no part of a text."""


class Invalid(ConfettiError, ValueError):
    """A configuration does not fit its schema; `problems` has one line for each reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
