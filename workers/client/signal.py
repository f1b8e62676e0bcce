"""An event that one task waits for and any thread may set."""

import asyncio


class Signal:
    """Set from anywhere, awaited by one task; waiting clears it. What was set before anybody waited is not lost."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def bind(self) -> None:
        """The running loop is the one that waits. Called on it."""
        self._loop = asyncio.get_running_loop()

    def set(self) -> None:
        """Wake who waits."""
        loop = self._loop
        if loop is None:
            self._event.set()
            return
        try:
            loop.call_soon_threadsafe(self._event.set)
        except RuntimeError:  # the loop ended: nobody waits any more
            return

    async def wait(self) -> None:
        """Until it is set."""
        await self._event.wait()
        self._event.clear()
