"""The sockets of pages.

`socket` talks to one page. `hub` is one per process: it asks the database once for all of them, renders once for all who
may see the same, and closes those whose session or right has ended. `survey` is that one look at the database.
`hints` shortens the wait for the next look when a stream has grown.
"""

from apps.realtime.consumers.socket import PageSocket

__all__ = ["PageSocket"]
