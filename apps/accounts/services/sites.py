"""Make sites and change their settings."""

import re
import zoneinfo
from uuid import UUID

from django.db import IntegrityError, transaction

from apps.accounts import events, projections
from apps.accounts.lifecycle import SiteRoles, refuse_stale
from apps.accounts.models import RoleGrant, Site
from apps.journal.services import operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor, ActorKind, Role

NAME_LENGTH = 100
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RESERVED = frozenset({"new"})  # /sites/new/ is a page


def create_site(
    *,
    actor: Actor,
    slug: str,
    name: str,
    time_zone: str = "UTC",
    is_simulated: bool = False,
    idempotency_key: str | None = None,
) -> Site:
    """Make a site; a person who makes one is its first admin. Only the console itself makes simulated ones.

    Raises Invalid, Conflict for a slug that is taken, NotAllowed.
    """
    authorise(actor, "accounts.create_site")
    name = clean_name(name)
    _check_slug(slug)
    _check_time_zone(time_zone)
    if is_simulated and actor.kind is not ActorKind.SYSTEM:
        raise NotAllowed("Only the console's own demo makes simulated sites.")
    request = {"slug": slug, "name": name, "time_zone": time_zone, "is_simulated": is_simulated}
    with operation(actor, "accounts.create_site", key=idempotency_key, request=request) as act:
        if act.is_replay:
            return Site.objects.get(id=act.replayed["site_id"])
        site_id, now = new_id(), clock.now()
        created = events.SiteCreated(
            site_id=site_id, slug=slug, name=name, time_zone=time_zone, is_simulated=is_simulated, created_at=now
        )
        try:
            with transaction.atomic():
                projections.apply_payloads([created])
        except IntegrityError as error:
            raise Conflict("A site with this short name exists already.", code="slug_taken") from error
        facts: list[Payload] = [created]
        if actor.kind is ActorKind.PERSON and actor.id is not None:
            # The one case of a role given to oneself: a site nobody can manage would be of no use.
            first = events.RoleGranted(
                grant_id=new_id(),
                person_id=actor.id,
                site_id=site_id,
                role=Role.ADMIN.value,
                granted_by=actor.id,
                granted_at=now,
            )
            projections.apply_payloads([first])
            facts.append(first)
        act.append(events.site_stream(site_id), facts, site_id=site_id)
        act.done({"site_id": str(site_id)})
        return Site.objects.get(id=site_id)


def change_site_settings(
    *,
    actor: Actor,
    site_id: UUID,
    name: str,
    time_zone: str,
    expected: int | None = None,
    idempotency_key: str | None = None,
) -> Site:
    """Change a site's name and time zone. `expected` is the `version` the page showed. Raises Stale, Invalid."""
    request = {"site_id": site_id, "name": name, "time_zone": time_zone, "expected": expected}
    with operation(actor, "accounts.change_site_settings", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, "accounts.change_site_settings", site)
        if act.is_replay:
            return site
        refuse_stale(expected, site.version, "The settings of this site")
        name = clean_name(name)
        _check_time_zone(time_zone)
        if (name, time_zone) == (site.name, site.time_zone):
            act.done({})
            return site
        fact = events.SiteSettingsChanged(site_id=site.id, name=name, time_zone=time_zone, version=site.version + 1)
        act.append(events.site_stream(site.id), [fact], site_id=site.id)
        projections.apply_payloads([fact])
        act.done({})
        return Site.objects.get(id=site_id)


def authorise(actor: Actor, verb: str, subject: object | None = None) -> None:
    """Raise the refusal of `can`, if any. The console itself passes: its commands run where its secrets lie.

    `can` would refuse it every act that asks a person for a fresh proof, which is right everywhere but in these acts.
    """
    if actor.kind is not ActorKind.SYSTEM:
        require(actor, verb, subject)


def lock_site(site_id: UUID) -> Site:
    """One site, its row locked until the transaction ends, which orders all changes of its roles. Raises NotFound."""
    # Not FOR UPDATE: rows that point at the site may be inserted meanwhile.
    site = Site.objects.select_for_update(no_key=True).filter(id=site_id).first()
    if site is None:
        raise NotFound("There is nothing here.")
    return site


def site_roles(site: Site) -> SiteRoles:
    """What a decision about roles needs to know of a site."""
    rows = RoleGrant.objects.filter(site=site, role=Role.ADMIN, person__is_active=True, person__is_scripted=False)
    return SiteRoles(site.id, frozenset(rows.values_list("person_id", flat=True)), site.is_simulated)


def clean_name(text: str, field: str = "name") -> str:
    """A name of 1 to 100 printable characters, without space around it. Raises Invalid."""
    name = text.strip()
    if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable():
        raise Invalid("The name is wrong.", fields={field: [f"Give 1 to {NAME_LENGTH} printable characters."]})
    return name


def _check_slug(slug: str) -> None:
    if not _SLUG.fullmatch(slug) or len(slug) > 50 or slug in _RESERVED:
        reason = "Give small letters, digits and single hyphens, at most 50; not the word new."
        raise Invalid("The short name is wrong.", fields={"slug": [reason]})


def _check_time_zone(name: str) -> None:
    if name not in zoneinfo.available_timezones():
        raise Invalid("The time zone is not known.", fields={"time_zone": ["Give a name such as Europe/Paris or UTC."]})
