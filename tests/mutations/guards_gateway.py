"""What keeps the live floor true and Stop quick, each switched off in turn in the gateways of the tests."""

from tests.guards import guard
from tests.mutations import Mutation

_CONTROL = "tests/integration/ingest/test_control.py::"
_CLOSES = f"{_CONTROL}test_the_socket_closes_within_a_second_and_tells_nothing_more"
_FLOOR = "tests/integration/ingest/test_floor.py::"
_STOP = "tests/integration/ingest/test_stop.py::"
_LINKS = "tests/integration/ingest/test_links.py::"
_FACTS = "tests/integration/ingest/test_facts.py::"
_CLOCKS = "tests/integration/ingest/test_clocks.py::"
_CONDITIONS = "tests/integration/ingest/test_conditions.py::"


@guard("control origin")
def _origin() -> None:
    from apps.ingest.gateway import people

    people._origin_is_ours = lambda scope: True


@guard("control token")
def _token() -> None:
    from apps.ingest.gateway import people

    people._may_carry_token = lambda scope: False


@guard("body of a posted stop")
def _json() -> None:
    from apps.ingest.gateway import posts

    posts._is_json = lambda scope: True


@guard("right to a floor")
def _floor() -> None:
    from apps.ingest.gateway import control

    control.require = lambda actor, verb, subject: None


@guard("subjects of one site")
def _site() -> None:
    from apps.ingest.gateway.live import Live

    Live.find = lambda self, subject_id, site_id: self.subjects.get(subject_id)


@guard("right to stop")
def _stop() -> None:
    from apps.ingest.gateway import stops

    stops._require = lambda actor, site_id: None


@guard("a posted stop from memory")
def _posted() -> None:
    """Whoever posts is looked up first, whatever is known of them already."""
    from apps.ingest.gateway import posts

    actor = posts._actor

    async def looked_up(here, key):
        await posts.ask(posts.people.admit, key)
        return await actor(here, key)

    posts._actor = looked_up


@guard("a stop that cannot be recorded alone")
def _bad_stop() -> None:
    """Whatever recording one Stop meets ends the recording of all."""
    from apps.ingest.gateway import stops
    from apps.kernel.errors import Unavailable

    stops.Exception = Unavailable


@guard("the word of the newest boot")
def _newest_boot() -> None:
    """What an earlier boot said of Stops counts for the next one, too."""
    from apps.ingest.gateway.live import Subject

    Subject.latched = property(lambda self: self.report.latched if self.report is not None else ())


@guard("watch over open pages")
def _pages() -> None:
    from apps.ingest.gateway.reconcile import Reconciler

    Reconciler._sessions = lambda self, operators, standings: None


@guard("roles of open pages")
def _roles() -> None:
    from apps.ingest.gateway.operators import Operator

    Operator.hold = lambda self, roles: None


@guard("a rate of its own for stop")
def _own_rate() -> None:
    from apps.ingest.gateway import control

    control.STOPS_PER_SECOND, control.STOPS_BURST = 0.0, 5.0


@guard("subjects of the hello")
def _hello() -> None:
    """A place beyond the hello names another robot of the process."""
    from apps.ingest.gateway.running import Gateway

    taking = Gateway.taking

    def any_subject(self, connection, boot):
        made = taking(self, connection, boot)
        others = [one for one in self.live.subjects.values() if one not in made._subjects]
        made._subjects = [*(one for one in made._subjects if one is not None), *others]
        for one in others:
            one.source = connection
        return made

    Gateway.taking = any_subject


@guard("finite values")
def _finite() -> None:
    from apps.ingest.gateway import samples

    samples._unsound = lambda values: ""


@guard("order of states")
def _order() -> None:
    """Whatever comes is the newest."""
    from apps.ingest.gateway.samples import Taking

    states = Taking.states

    def newest(self, message, received_ms, refuse):
        for one in self._subjects:
            if one is not None:
                one.sequence = -1
        states(self, message, received_ms, refuse)

    Taking.states = newest


@guard("orders by the shared clock")
def _shared() -> None:
    """Whoever places it counts by their own clock."""
    from apps.fleet.services import orders
    from apps.kernel import clock

    class Own:
        now = shared = staticmethod(lambda: clock.now())

    orders.clock = Own  # type: ignore[attr-defined, assignment]


@guard("newest by sequence")
def _by_time() -> None:
    """The newest is what the device says was measured last."""
    from apps.ingest.gateway.samples import Taking

    states = Taking.states

    def by_time(self, message, received_ms, refuse):
        message.states[:] = [one for one in message.states if one.at_ms >= self._subjects[one.subject].device_ms]
        states(self, message, received_ms, refuse)

    Taking.states = by_time


@guard("sent before recorded")
def _first() -> None:
    from apps.ingest.gateway import stops
    from apps.ingest.gateway.database import STOPS

    press = stops.Stops.press

    async def recorded_first(self, pressed, viewer=None):
        await STOPS.ask(stops.record, pressed, self._gateway.name)
        return await press(self, pressed, viewer)

    stops.Stops.press = recorded_first


@guard("stop without valkey")
def _valkey() -> None:
    """Tell every gateway by the channel layer first, as sockets of Channels do."""
    from channels.layers import get_channel_layer

    from apps.ingest.gateway import stops

    press = stops.Stops.press

    async def by_the_layer(self, pressed, viewer=None):
        await get_channel_layer().group_send("stops", {"type": "stop", "stop": str(pressed.stop)})
        return await press(self, pressed, viewer)

    stops.Stops.press = by_the_layer


@guard("changed since the last it took")
def _since() -> None:
    """A page is told what changed since the last beat, whether or not it took that."""
    from apps.ingest.gateway import viewers

    floor = viewers.Viewer._floor

    def lately(self, watched):
        watched.changed = max(watched.changed, self._live.stamp - 1 - viewers.FLOOR_EVERY)
        return floor(self, watched)

    viewers.Viewer._floor = lately


@guard("spool of stops")
def _spool() -> None:
    from apps.ingest.gateway.spool import Spool

    Spool._write = lambda self, line, sync: None


@guard("stops sent again")
def _again() -> None:
    from apps.ingest.gateway.reconcile import Reconciler

    Reconciler._stops = lambda self, subjects, answer: None


@guard("secret of links")
def _secret() -> None:
    from apps.ingest.gateway import linked

    linked.is_one_of_us = lambda scope: True


@guard("stops over links")
def _relay() -> None:
    from apps.ingest.gateway.links import Links

    Links.relay = lambda self, pressed: None


@guard("epoch of a bridge at gateways")
def _epoch() -> None:
    from apps.ingest.gateway.reconcile import Reconciler

    Reconciler._bridges = staticmethod(lambda claimed, epochs: None)


@guard("facts acknowledged after the commit")
def _commit() -> None:
    from apps.ingest.gateway.facts import FactsDesk

    async def at_once(self, message, received_at):
        return message.facts[-1].sequence

    FactsDesk._take = at_once


@guard("look for frozen cameras")
def _frozen() -> None:
    from apps.ingest.gateway import cameras

    cameras._is_frozen = lambda shown, now: False


@guard("look for black cameras")
def _black() -> None:
    from apps.ingest.gateway import cameras

    cameras._is_dark = lambda jpeg: False


@guard("look for foreign pictures")
def _foreign() -> None:
    from apps.ingest.gateway.cameras import Cameras

    Cameras._is_foreign = lambda self, subject, shown, now: False


@guard("question before a bridge is called lost")
def _moved() -> None:
    from apps.ingest.gateway.conditions import Conditions

    async def never(self, subjects):
        return None

    Conditions._forget_moved = never


CASES = [
    Mutation("control origin", f"{_CONTROL}test_no_page_of_another_origin_gets_in[null]"),
    Mutation("control origin", f"{_STOP}test_no_other_page_posts_it"),
    Mutation("control token", f"{_CONTROL}test_a_page_signs_in_by_its_session_alone"),
    Mutation("body of a posted stop", f"{_STOP}test_no_other_page_posts_it"),
    Mutation("right to a floor", f"{_CONTROL}test_another_sites_floor_does_not_exist"),
    Mutation("subjects of one site", f"{_CONTROL}test_another_sites_floor_does_not_exist"),
    Mutation("subjects of one site", f"{_STOP}test_every_role_of_the_site_stops_and_nobody_else[viewer]"),
    Mutation("a posted stop from memory", f"{_STOP}TestWithoutTheDatabase::test_stop_works_and_is_recorded_later"),
    Mutation("a stop that cannot be recorded alone", f"{_STOP}test_one_that_cannot_be_recorded_keeps_no_other_from_it"),
    Mutation("the word of the newest boot", f"{_STOP}test_a_bridge_that_begins_anew_is_told_whatever_it_said_before"),
    Mutation("right to stop", f"{_STOP}test_every_role_of_the_site_stops_and_nobody_else[viewer]"),
    Mutation("watch over open pages", f"{_CLOSES}[_sign_out-4401]"),
    Mutation("roles of open pages", f"{_CLOSES}[_remove_role-4403]"),
    Mutation("roles of open pages", f"{_CONTROL}test_a_role_that_was_lost_stops_nothing"),
    Mutation("a rate of its own for stop", f"{_CONTROL}test_a_page_that_asks_too_much_can_still_stop"),
    Mutation("subjects of the hello", f"{_FLOOR}test_nobody_speaks_for_a_robot_that_is_not_theirs"),
    Mutation("finite values", f"{_FLOOR}test_what_is_no_number_is_refused_and_never_shown[nan]"),
    Mutation("order of states", f"{_FLOOR}test_late_and_repeated_states_are_counted_and_not_shown"),
    Mutation("orders by the shared clock", f"{_CLOCKS}test_a_web_process_whose_clock_is_an_hour_wrong[ahead]"),
    Mutation("orders by the shared clock", f"{_CLOCKS}test_a_web_process_whose_clock_is_an_hour_wrong[behind]"),
    Mutation("newest by sequence", f"{_CLOCKS}test_a_bridge_whose_clock_is_ten_minutes_ahead"),
    Mutation("sent before recorded", f"{_STOP}TestWithoutTheDatabase::test_stop_works_and_is_recorded_later"),
    Mutation("stop without valkey", "tests/faults/test_gateway.py::test_stop_at_full_load_without_valkey[short]"),
    Mutation("changed since the last it took", f"{_CONTROL}test_a_slow_page_ends_in_what_the_gateway_has"),
    Mutation("spool of stops", f"{_STOP}TestWithoutTheDatabase::test_a_killed_gateway_loses_no_stop"),
    Mutation("stops sent again", f"{_STOP}test_it_is_sent_again_until_the_robot_says_that_it_holds"),
    Mutation("stops sent again", f"{_STOP}test_what_was_cleared_is_told_to_who_still_holds"),
    Mutation("secret of links", f"{_LINKS}test_nobody_else_links[Bearer wrong]"),
    Mutation("stops over links", f"{_LINKS}test_stop_reaches_the_other_gateway_at_once"),
    Mutation("epoch of a bridge at gateways", f"{_LINKS}test_a_bridge_that_moves_is_shown_from_where_it_is"),
    Mutation("facts acknowledged after the commit", f"{_FACTS}test_taken_after_the_commit_and_once"),
    Mutation("look for frozen cameras", f"{_CONDITIONS}test_a_camera_that_shows_nothing_true[frozen]"),
    Mutation("look for black cameras", f"{_CONDITIONS}test_a_camera_that_shows_nothing_true[black]"),
    Mutation("look for foreign pictures", f"{_CONDITIONS}test_a_camera_that_shows_nothing_true[foreign]"),
    Mutation("question before a bridge is called lost", f"{_CONDITIONS}test_a_bridge_that_came_back_elsewhere_is_not_lost"),
]
