"""Reads of the journal."""

from apps.journal.selectors.chain import chain_faults, size, trouble
from apps.journal.selectors.events import (
    EVENTS,
    OF_STREAM,
    as_recorded,
    counts_of_sites,
    earlier_asked,
    event_of_site,
    event_page,
    events_after,
    events_of_site,
    heads,
    newest_events,
    stream_page,
)
from apps.journal.selectors.tail import seal_status, tail_lag_s

__all__ = [
    "EVENTS",
    "OF_STREAM",
    "as_recorded",
    "chain_faults",
    "counts_of_sites",
    "earlier_asked",
    "event_of_site",
    "event_page",
    "events_after",
    "events_of_site",
    "heads",
    "newest_events",
    "seal_status",
    "size",
    "stream_page",
    "tail_lag_s",
    "trouble",
]
