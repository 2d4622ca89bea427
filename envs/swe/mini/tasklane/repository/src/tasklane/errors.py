"""What can go wrong, one class per decision that a caller makes."""


class TasklaneError(Exception):
    """The base of all errors of this package."""


class BadDuration(TasklaneError, ValueError):
    """A text is no duration."""


class JobMissing(TasklaneError, LookupError):
    """There is no such job, or it is not in the state that the call needs."""


class LeaseLost(TasklaneError):
    """The lease of a job ran out and somebody else has claimed it since."""


class StoreBusy(TasklaneError, TimeoutError):
    """Another process held the file for too long; try again."""


class UnknownHandler(TasklaneError, LookupError):
    """No handler is registered for this kind of job."""
