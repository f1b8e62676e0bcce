"""What keeps the sockets of pages and machines safe, each switched off in turn.

The serving processes of these tests switch the guard off in themselves: see `tests.guarded_asgi`.
"""

import unicodedata
from contextlib import suppress

from tests.guards import guard
from tests.mutations import Mutation

_HANDSHAKE = "tests/integration/realtime/test_handshake.py::"
_RIGHTS = "tests/integration/realtime/test_rights.py::"
_FRAMES = "tests/integration/realtime/test_frames.py::test_closed_without_growth_and_nobody_else_minds"
_FOLLOWING = "tests/integration/realtime/test_following.py::"
_HINTS = "tests/integration/realtime/test_hints.py::"
_MACHINE = "tests/integration/ingest/test_machine.py::"
_FAULTS = "tests/faults/test_sockets.py::"


@guard("page origin")
def _origin() -> None:
    from apps.realtime import middleware

    middleware._is_ours = lambda scope: True


@guard("page host")
def _host() -> None:
    from apps.realtime import middleware

    middleware._host_is_ours = lambda scope: True


@guard("page token")
def _token() -> None:
    from apps.realtime import middleware

    middleware._may_carry_token = lambda scope: False


@guard("sockets of a person")
def _per_person() -> None:
    from apps.realtime.consumers import socket

    socket.PER_PERSON.most = 10**9


@guard("end of a page socket")
def _end() -> None:
    from apps.realtime.consumers.socket import PageSocket

    PageSocket.end = lambda self, code: None


@guard("check before each delivery")
def _check() -> None:
    """Rights are read once a second only, whatever is delivered meanwhile."""
    import time

    from apps.realtime.consumers import survey

    read, kept = survey.standing_of, {}

    def seldom(sessions):
        wanted = dict(sessions)
        for key, person in wanted.items():
            if key not in kept or time.monotonic() - kept[key][0] > 1.0:
                kept[key] = (time.monotonic(), read([(key, person)]).get(key))
        return {key: kept[key][1] for key in wanted if kept[key][1] is not None}

    survey.standing_of = seldom


@guard("right to a topic")
def _right() -> None:
    from apps.realtime.consumers import hub, socket

    hub.refusal_of = socket.refusal_of = lambda actor, named: None


@guard("names of topics")
def _names() -> None:
    """A name is tidied up before it is read."""
    from apps.realtime.consumers import socket

    parse = socket.parse
    socket.parse = lambda text: parse(unicodedata.normalize("NFKC", text).strip("\0\n ").lower())


@guard("count of frames")
def _frames() -> None:
    from console import websocket

    del websocket.BoundedWebSocket.read_frame


@guard("count of messages")
def _messages() -> None:
    """Both counts: the one of frames would close the same flood a little later."""
    from apps.realtime.consumers import socket

    _frames()
    socket.MESSAGES_BURST = 1e9


@guard("size of messages")
def _size() -> None:
    from console import websocket

    begin = websocket.BoundedWebSocket.__init__

    def unbounded(self, config, *args, **options):
        config.ws_max_size = 2**30
        begin(self, config, *args, **options)

    websocket.BoundedWebSocket.__init__ = unbounded


@guard("no compression")
def _compression() -> None:
    from console import websocket

    begin = websocket.BoundedWebSocket.__init__

    def packed(self, config, *args, **options):
        config.ws_per_message_deflate = True
        begin(self, config, *args, **options)

    websocket.BoundedWebSocket.__init__ = packed


@guard("bad frames")
def _bad_frames() -> None:
    from apps.realtime.consumers.socket import PageSocket
    from apps.realtime.types import Close

    close = PageSocket._close

    async def forgiving(self, code):
        if code is not Close.BAD_FRAME:
            await close(self, code)

    PageSocket._close = forgiving


@guard("deadline of a send")
def _deadline() -> None:
    from console import websocket

    websocket.BoundedWebSocket.send_deadline_s = 1e6


@guard("state, not differences")
def _state() -> None:
    """Deliver only what follows the page's position directly, as a layer of messages would."""
    from apps.realtime.consumers.hub import Followed

    frame = Followed.frame
    Followed.frame = lambda self, audience, at: frame(self, audience, at) if self.head == at + 1 else None


@guard("poll of heads")
def _poll() -> None:
    from apps.realtime.consumers import hub

    hub.LOOK_EVERY_S = 3600.0


@guard("valkey in readiness")
def _readiness() -> None:
    from console import probes

    probes.valkey_parts = lambda: [probes.Part(name="valkey", vital=False)]


@guard("leaving the hub")
def _leaving() -> None:
    from apps.realtime.consumers.hub import Hub

    Hub.leave = lambda self, follower: None


@guard("hints in a thread of their own")
def _hints_apart() -> None:
    """The act that appended sends the hint itself, and waits."""
    from asgiref.sync import async_to_sync
    from redis.exceptions import RedisError

    from apps.realtime import reactions

    notifier = reactions.Notifier()

    def wait(stream, sequence):
        with suppress(TimeoutError, OSError, RedisError):
            async_to_sync(notifier._send)({stream: sequence})

    reactions._NOTIFIER.wake = wait


@guard("machine without cookie")
def _cookie() -> None:
    from apps.ingest.gateway import handshake

    handshake.fault_of = lambda scope: None


@guard("addresses out of logs")
def _logs() -> None:
    import logging

    from console import websocket

    websocket._LOG.setLevel(logging.INFO)


@guard("what a credential is bound to")
def _bound() -> None:
    from apps.ingest.gateway import machine

    machine._refusal_of = lambda connection, hello: None


@guard("watch over credentials")
def _watch() -> None:
    from apps.ingest.gateway import reconcile

    reconcile.EVERY_S = 3600.0


@guard("newest bridge wins")
def _newest() -> None:
    """Both: the look at the database would close the older one a little later."""
    from apps.ingest.gateway.bridges import Bridges
    from apps.ingest.gateway.reconcile import Reconciler

    Bridges.named = lambda self, connection, bridge: None
    Reconciler._bridges = staticmethod(lambda claimed, epochs: None)


CASES = [
    Mutation("page origin", f"{_HANDSHAKE}test_no_other_origin_gets_in[null]"),
    Mutation("page host", f"{_HANDSHAKE}test_a_rebound_host_does_not_get_in"),
    Mutation("page token", f"{_HANDSHAKE}test_a_token_is_no_way_in_for_a_page[True-header]"),
    Mutation("sockets of a person", f"{_HANDSHAKE}test_one_person_has_so_many_sockets_and_no_more"),
    Mutation("end of a page socket", f"{_RIGHTS}test_the_socket_closes_and_tells_nothing_more[role]"),
    Mutation("check before each delivery", f"{_RIGHTS}test_the_socket_closes_and_tells_nothing_more[session]"),
    Mutation("right to a topic", f"{_RIGHTS}test_another_sites_topics_do_not_exist"),
    Mutation("names of topics", f"{_RIGHTS}test_names_in_any_other_spelling_are_bad[newline]"),
    Mutation("count of frames", f"{_FRAMES}[5,000 pings]"),
    Mutation("count of messages", f"{_FRAMES}[1,000 good frames]"),
    Mutation("size of messages", f"{_FRAMES}[64 KiB and one]"),
    Mutation("no compression", "tests/integration/realtime/test_frames.py::test_compression_is_not_agreed_to"),
    Mutation("bad frames", f"{_FRAMES}[1,000 junk frames]"),
    Mutation("state, not differences", f"{_FOLLOWING}test_a_thousand_events_while_slow_end_in_the_servers_state"),
    Mutation("poll of heads", f"{_HINTS}test_pages_stay_live_without_valkey"),
    Mutation("poll of heads", f"{_HINTS}test_pages_follow_when_everything_in_valkey_goes"),
    Mutation("valkey in readiness", f"{_HINTS}test_readiness_tells_that_valkey_is_away_and_that_it_is_back"),
    Mutation("hints in a thread of their own", f"{_HINTS}test_valkey_slows_no_act[hung]"),
    Mutation("deadline of a send", f"{_FAULTS}test_pages_that_never_read_are_dropped[short]"),
    Mutation("leaving the hub", f"{_FAULTS}test_pages_that_come_and_go_leave_nothing[short]"),
    Mutation("machine without cookie", f"{_MACHINE}test_no_way_in_but_a_credential"),
    Mutation("addresses out of logs", f"{_MACHINE}test_no_way_in_but_a_credential"),
    Mutation("what a credential is bound to", f"{_MACHINE}test_a_hello_beyond_the_credential_is_refused[bridge]"),
    Mutation("watch over credentials", f"{_MACHINE}test_the_socket_closes_within_a_second[True-_revoke]"),
    Mutation("newest bridge wins", f"{_MACHINE}test_the_newest_connection_of_a_bridge_wins"),
]
