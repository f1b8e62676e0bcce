"""The declarations hold together: names, needs, pools, ports."""

from dataclasses import replace

from console.processes import APPLICATIONS, PROCESSES, WEB, chosen, connections_needed, max_connections, table


def test_needs_are_declared_before() -> None:
    seen: set[str] = set()
    for process in PROCESSES:
        assert set(process.needs) <= seen, process.name
        assert process.name not in seen
        seen.add(process.name)


def test_what_is_needed_fits_what_postgres_is_given() -> None:
    assert connections_needed() <= max_connections()
    more = (*PROCESSES, replace(WEB, name="more", count=4, pool=20))
    assert connections_needed(more) == connections_needed() + 80
    assert connections_needed(more) <= max_connections(more)


def test_a_pool_counts_once_for_every_process_that_holds_one() -> None:
    forked = replace(WEB, count=2, pool=3, pools=4)
    assert connections_needed((forked,)) - connections_needed(()) == 24


def test_ports_do_not_meet() -> None:
    offsets = [process.listen.offset for process in PROCESSES if process.listen]
    assert len(offsets) == len(set(offsets))


def test_message_limits() -> None:
    assert APPLICATIONS["web"][1] == 64 * 1024
    assert APPLICATIONS["gateway"][1] == 1024 * 1024


def test_profiles_add_to_the_core() -> None:
    extra = replace(WEB, name="extra", profile="farm")
    assert extra not in chosen((), (*PROCESSES, extra))
    assert extra in chosen(("farm",), (*PROCESSES, extra))


def test_table_names_every_process() -> None:
    text = table()
    assert all(f"| {process.name} |" in text for process in PROCESSES)
