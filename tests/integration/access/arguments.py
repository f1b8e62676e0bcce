"""What stands in the place of each URL argument: real objects of one site, or of one person."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib.admin.utils import quote
from django.contrib.auth.tokens import default_token_generator
from django.contrib.contenttypes.models import ContentType

from apps.accounts.models import Person
from apps.accounts.types import Secret, SecretKind
from tests.factories.everything import make_invitation, make_passkey, make_session, make_token
from tests.integration.access.routes import Route
from tests.integration.access.world import Member, Place, World

# Objects of a site, by argument.
AT_SITE: dict[str, Callable[[Place], Any]] = {
    "site_slug": lambda place: place.site.slug,
    "person_id": lambda place: place.objects["accounts.Person"].pk,
    "credential_id": lambda place: place.objects["accounts.MachineCredential"].pk,
    "invitation_id": lambda place: place.objects["accounts.Invitation"].pk,
    "subject_kind": lambda _place: "robot",
    "subject_id": lambda place: place.objects["telemetry.Layout"].subject_id,
    "robot_id": lambda place: place.objects["fleet.Robot"].pk,
    "episode_id": lambda place: place.objects["fleet.Episode"].pk,
    "order_id": lambda place: place.objects["fleet.Order"].pk,
    "alarm_id": lambda place: place.objects["alarms.Alarm"].pk,
    "stop_id": lambda place: place.objects["control.Stop"].pk,
    "clear_id": lambda place: place.objects["control.Stop"].clear_id,
    "fault": lambda _place: "gripper_slip",
    "event_id": lambda place: place.objects["journal.Event"].id,
    "content_type_id": lambda _place: ContentType.objects.get_for_model(Person).pk,
    "app_label": lambda _place: "accounts",
    "url": lambda _place: "nowhere",
    "role": lambda _place: "viewer",
}
# Objects of a person, by argument.
OWN: dict[str, Callable[[World, Person], Any]] = {
    "token_id": lambda world, person: make_token(world.here.site, person).pk,
    "session_id": lambda _world, person: make_session(person).pk,
    "pk": lambda _world, person: make_passkey(person).pk,
}
# What only the holder of a link knows.
SECRET: dict[str, Callable[[World], Any]] = {
    "link_text": lambda world: _invite(world),
    "uidb36": lambda world: _base36(world.here.person),
    "key": lambda world: default_token_generator.make_token(world.here.person),
}


def sides_of(route: Route) -> tuple[str, ...]:
    """The sides from which an address is tried."""
    if "site_slug" in route.arguments:
        return ("here", "there")
    return ("mine", "theirs") if route.arguments & OWN.keys() else ("here",)


def arguments_of(world: World, route: Route, place: Place, member: Member, *, mine: bool) -> dict[str, Any]:
    """A value for each argument of a route. Raises LookupError for an argument nobody thought of."""
    values: dict[str, Any] = {}
    for name in route.arguments:
        if name == "object_id":
            values[name] = quote(str(_row_of(route, place).pk))
        elif name in AT_SITE:
            values[name] = AT_SITE[name](place)
        elif name in OWN:
            values[name] = OWN[name](world, _owner(world, place, member, mine=mine))
        elif name in SECRET:
            values[name] = SECRET[name](world)
        else:
            raise LookupError(f"{route.name} has the argument {name}: say in arguments.py what stands there")
    return values


def _row_of(route: Route, place: Place) -> Any:
    """A row of the table that a page of the admin site is about; a person where it says none."""
    found = re.match(r"admin/([a-z]+)/([a-z]+)/<path:object_id>", route.pattern)
    wanted = ".".join(found.groups()) if found else "accounts.person"
    return next(row for label, row in place.objects.items() if label.lower() == wanted)


def _owner(world: World, place: Place, member: Member, *, mine: bool) -> Person:
    if member.person is None:
        return world.here.person
    if mine:
        return member.person
    return place.person if place.person != member.person else world.here.person


def _invite(world: World) -> str:
    secret = Secret.new(SecretKind.INVITATION)
    row = make_invitation(world.here.site, world.here.person, f"Guest {secret.prefix}")
    type(row).objects.filter(pk=row.pk).update(prefix=secret.prefix, digest=secret.digest)
    return secret.text


def _base36(person: Person) -> str:
    from allauth.account.utils import user_pk_to_url_str

    return str(user_pk_to_url_str(person))
