"""What may go wrong with an embedded deployment, as one line a person can act on."""


class Fault(Exception):
    """A reason not to start or go on. The message is one clear line; no traceback is shown for it."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
