"""People as such, and what is theirs alone."""

from uuid import UUID

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from apps.accounts import events, projections
from apps.accounts.lifecycle import decide_deactivation, decide_reactivation
from apps.accounts.models import Person, RoleGrant, Site
from apps.accounts.services.sites import authorise, clean_name, lock_site, site_roles
from apps.accounts.types import DENSITIES, THEMES, Display
from apps.journal.services import Operation, append_fast, operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotFound
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, Role, SubjectRef


def create_person(
    *,
    actor: Actor,
    email: str,
    name: str,
    password: str | None = None,
    is_scripted: bool = False,
    is_staff: bool = False,
    idempotency_key: str | None = None,
) -> Person:
    """Make a person without an invitation: for the console itself only. Raises Conflict for a known address."""
    authorise(actor, "accounts.create_person")
    email, name = clean_email(email), clean_name(name)
    request = {"email": email, "name": name, "is_scripted": is_scripted, "is_staff": is_staff}
    with operation(actor, "accounts.create_person", key=idempotency_key, request=request) as act:
        if act.is_replay:
            return Person.objects.get(id=act.replayed["person_id"])
        person = add_person(act, email=email, name=name, password=password, is_scripted=is_scripted, is_staff=is_staff)
        act.done({"person_id": str(person.id)})
        return person


def add_person(
    act: Operation,
    *,
    email: str,
    name: str,
    password: str | None,
    is_scripted: bool = False,
    is_staff: bool = False,
    person_id: UUID | None = None,
) -> Person:
    """Add a person inside an act that was authorised. The password is checked and kept hashed, never recorded."""
    person_id = person_id or new_id()
    if password is not None:
        check_password_strength(password, Person(id=person_id, email=email, name=name))
    fact = events.PersonCreated(
        person_id=person_id, email=email, name=name, is_scripted=is_scripted, is_staff=is_staff, created_at=clock.now()
    )
    try:
        with transaction.atomic():
            projections.apply_payloads([fact])
    except IntegrityError as error:
        raise Conflict("Somebody with this address exists already.", code="email_taken") from error
    act.append(events.person_stream(person_id), [fact])
    person = Person.objects.get(id=person_id)
    if password is not None:
        person.set_password(password)
        person.save(update_fields=["password"])
    return person


def deactivate_person(*, actor: Actor, person_id: UUID, idempotency_key: str | None = None) -> Person:
    """Switch somebody off everywhere. For the console and its staff: a site's admin takes roles at that site away.

    Raises Conflict where a site would be left without an admin.
    """
    return _switch(actor, person_id, on=False, idempotency_key=idempotency_key)


def reactivate_person(*, actor: Actor, person_id: UUID, idempotency_key: str | None = None) -> Person:
    """Undo `deactivate_person`; the roles are those still held."""
    return _switch(actor, person_id, on=True, idempotency_key=idempotency_key)


def _switch(actor: Actor, person_id: UUID, *, on: bool, idempotency_key: str | None) -> Person:
    verb = "accounts.reactivate_person" if on else "accounts.deactivate_person"
    with operation(actor, verb, key=idempotency_key, request={"person_id": person_id}) as act:
        authorise(actor, "accounts.deactivate_person")
        # Sites before the person, in the order of their ids, as every change of roles does.
        site_ids = RoleGrant.objects.filter(person_id=person_id, role=Role.ADMIN).order_by("site_id")
        sites = [lock_site(site_id) for site_id in site_ids.values_list("site_id", flat=True)]
        person = Person.objects.select_for_update(no_key=True).filter(id=person_id).first()
        if person is None:
            raise NotFound("There is nothing here.")
        if act.is_replay:
            return person
        facts: list[Payload]
        if on:
            facts = decide_reactivation(person_id=person.id, is_active=person.is_active)
        else:
            left = [site.name for site in sites if _is_last_admin(site, person)]
            facts = decide_deactivation(person_id=person.id, is_active=person.is_active, left_without_admin=left)
        act.append(events.person_stream(person.id), facts)
        projections.apply_payloads(facts)
        act.done({})
        return Person.objects.get(id=person_id)


def _is_last_admin(site: Site, person: Person) -> bool:
    return site_roles(site).admins == {person.id}


def change_preferences(
    *, actor: Actor, theme: str, density: str, single_keys: bool, idempotency_key: str | None = None
) -> Display:
    """Keep how the console looks and behaves for the actor. Raises Invalid."""
    if actor.id is None:
        raise NotFound("There is nothing here.")
    authorise(actor, "accounts.own_preferences", SubjectRef("person", actor.id, owner_id=actor.id))
    _check_word("theme", theme, THEMES)
    _check_word("density", density, DENSITIES)
    chosen = Display(theme, density, single_keys)
    request = {"theme": theme, "density": density, "single_keys": single_keys}
    fact = events.PreferencesChanged(person_id=actor.id, theme=theme, density=density, single_keys=single_keys)
    verb, stream = "accounts.change_preferences", events.person_stream(actor.id)
    statement = projections.preferences_statement(fact)
    if append_fast(actor, verb, stream=stream, payloads=[fact], key=idempotency_key, request=request, project=statement):
        return chosen
    with operation(actor, verb, key=idempotency_key, request=request) as act:
        if act.is_replay:
            return chosen
        act.append(stream, [fact])
        projections.apply_payloads([fact])
        act.done({})
        return chosen


def clean_email(text: str) -> str:
    """An address in the one spelling it is kept in. Raises Invalid."""
    email = text.strip().lower()
    try:
        validate_email(email)
    except ValidationError as error:
        raise Invalid("The address is wrong.", fields={"email": ["Give an e-mail address."]}) from error
    if len(email) > 254 or not email.isascii():
        raise Invalid("The address is wrong.", fields={"email": ["Give an e-mail address in plain letters."]})
    return email


def check_password_strength(password: str, person: Person) -> None:
    """Raise Invalid for a password that is too easy to guess."""
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise Invalid("The password is too weak.", fields={"password": list(error.messages)}) from error


def _check_word(field: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise Invalid(f"The {field} is not known.", fields={field: [f"Give one of: {', '.join(words)}."]})
