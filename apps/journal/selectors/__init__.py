"""Reads of the journal."""

from apps.journal.selectors.chain import chain_faults, size, trouble
from apps.journal.selectors.events import (
    EVENTS,
    as_recorded,
    counts_of_sites,
    event_of_site,
    event_page,
    events_after,
    events_of_site,
    heads,
)
from apps.journal.selectors.tail import tail_lag_s

__all__ = [
    "EVENTS",
    "as_recorded",
    "chain_faults",
    "counts_of_sites",
    "event_of_site",
    "event_page",
    "events_after",
    "events_of_site",
    "heads",
    "size",
    "tail_lag_s",
    "trouble",
]
