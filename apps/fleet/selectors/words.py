"""What robots, bridges and gateways are called, for apps below that know them by kind and id only."""

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from apps.fleet.models import Bridge, GatewayNode, Robot
from apps.fleet.types import gateway_id
from apps.kernel.selectors import SubjectWords


def robot_words(ids: Collection[UUID]) -> dict[UUID, SubjectWords]:
    """Robots by name, each with its page: one query."""
    rows = Robot.objects.filter(id__in=ids).values_list("id", "name", "site__slug")
    return {one: SubjectWords(name, reverse("fleet:robot_detail", args=[slug, one])) for one, name, slug in rows}


def bridge_words(ids: Collection[UUID]) -> dict[UUID, SubjectWords]:
    """Bridges by name, each with the page that lists it: one query."""
    rows = Bridge.objects.filter(id__in=ids).values_list("id", "name", "site__slug")
    return {
        one: SubjectWords(f"bridge {name}", reverse("fleet:robot_list", args=[slug]) + f"#bridge-{one}")
        for one, name, slug in rows
    }


def gateway_words(ids: Collection[UUID]) -> dict[UUID, SubjectWords]:
    """Gateways by name: one query, of few rows."""
    names = GatewayNode.objects.values_list("name", flat=True)
    return {gateway_id(name): SubjectWords(f"gateway {name}") for name in names if gateway_id(name) in ids}
