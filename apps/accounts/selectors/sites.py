"""Reads of sites."""

from uuid import UUID

from apps.accounts.models import Site
from apps.kernel.errors import NotFound
from apps.kernel.types import Actor


def find_site(slug: str) -> Site | None:
    """The site with this slug, or None."""
    return Site.objects.filter(slug=slug).first()


def first_site() -> Site | None:
    """The site made first, or None."""
    return Site.objects.order_by("id").first()


def get_site(site_id: UUID) -> Site:
    """One site. Raises NotFound."""
    site = Site.objects.filter(id=site_id).first()
    if site is None:
        raise NotFound("There is nothing here.")
    return site


def sites_of(actor: Actor) -> list[Site]:
    """Sites at which the actor holds a role, by name."""
    if actor.sites:
        return [site for site in actor.sites if isinstance(site, Site)]
    return list(Site.objects.filter(id__in=list(actor.roles)).order_by("name"))


def every_site_id() -> list[UUID]:
    """Every site, oldest first: for the console's own parts, whose faults concern all of them."""
    return list(Site.objects.order_by("id").values_list("id", flat=True))
