"""Reads of Stop."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Prefetch

from apps.control.models import Stop, StopPolicy, StopSubject
from apps.control.types import ActiveStop, Phase
from apps.kernel import filters
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort
from apps.kernel.pagination import Page

STOPS = Listing(
    filters=(
        Filter("phase", "phase", filters.choice(Phase), "One phase only."),
        Filter("subject", "subjects__subject_id", filters.identifier, "Stops that named or reached one subject."),
    ),
    sorts={"age": Sort("recorded_at", filters.moment)},
)


def active_stops(site_ids: Collection[UUID] | None = None) -> list[ActiveStop]:
    """Every Stop that is not cleared, at these sites or anywhere: two queries, by an index that holds only those."""
    rows = Stop.objects.exclude(phase=Phase.CLEARED)
    if site_ids is not None:
        rows = rows.filter(site_id__in=site_ids)
    found = rows.order_by("recorded_at", "id").prefetch_related(
        Prefetch("subjects", queryset=StopSubject.objects.only("id", "stop_id", "kind", "subject_id"))
    )
    return [
        ActiveStop(
            row.id, row.site_id, row.is_whole_site, frozenset(one.name for one in row.subjects.all()), row.pressed_by_name
        )
        for row in found
    ]


def cleared_among(stop_ids: Iterable[UUID]) -> set[UUID]:
    """Those of these Stops that were cleared: whoever still holds by one is to be told. An unknown one still holds."""
    wanted = set(stop_ids)
    return set(Stop.objects.filter(id__in=wanted, phase=Phase.CLEARED).values_list("id", flat=True)) if wanted else set()


def stops_page(site_id: UUID, parameters: Parameters) -> Page[Stop]:
    """Stops of one site, newest first, each with its subjects: two queries. Raises Invalid."""
    return STOPS.page(Stop.objects.filter(site_id=site_id).prefetch_related("subjects"), parameters)


def get_stop(site_id: UUID, stop_id: UUID) -> Stop:
    """One Stop with its subjects. Raises NotFound."""
    row = Stop.objects.filter(id=stop_id, site_id=site_id).prefetch_related("subjects").first()
    if row is None:
        raise NotFound("There is nothing here.")
    return row


def policy_of(site_id: UUID) -> StopPolicy:
    """How Stops of a site are cleared: by two people unless it was changed."""
    return StopPolicy.objects.filter(site_id=site_id).first() or StopPolicy(site_id=site_id)
