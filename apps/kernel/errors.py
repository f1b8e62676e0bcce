"""Typed refusals. Services raise them; edges map each once (`problems.py`)."""

from collections.abc import Mapping


class Refusal(Exception):
    """Base of every refusal. `message` is shown to the person; nothing was changed when it is raised."""

    code = "refused"

    def __init__(self, message: str, *, code: str | None = None, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.fields = dict(fields or {})


class NotFound(Refusal):
    """No such thing, or none that this actor may know of."""

    code = "not_found"


class NotSignedIn(Refusal):
    """The act needs a known actor."""

    code = "not_signed_in"


class NotAllowed(Refusal):
    """The actor may see the subject but not do this."""

    code = "not_allowed"


class StepUpNeeded(NotAllowed):
    """The act needs a sign-in proof younger than the step-up limit."""

    code = "step_up_needed"


class WrongMethod(Refusal):
    """The address knows other methods only; `allowed` names them."""

    code = "wrong_method"

    def __init__(self, message: str, *, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


class TooLarge(Refusal):
    """The request body is larger than anything that is accepted here."""

    code = "too_large"


class Conflict(Refusal):
    """The state does not admit the act, or an idempotency key was reused for another request."""

    code = "conflict"


class Stale(Refusal):
    """The actor decided on a version that is no longer the current one."""

    code = "stale"


class Invalid(Refusal):
    """Bad input. `fields` names each field and its reasons."""

    code = "invalid"


class TooMany(Refusal):
    """A rate limit was reached; `retry_after_s` says when to come back."""

    code = "too_many"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(Refusal):
    """A needed service does not answer now."""

    code = "unavailable"

    def __init__(self, message: str, *, retry_after_s: int = 5, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s
