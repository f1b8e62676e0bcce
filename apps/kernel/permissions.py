"""`can(actor, verb, subject)`: the one place where every edge asks whether an act is allowed.

Each app registers its verbs as data in its own `permissions.py`; nothing is allowed that is not registered.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from apps.kernel import clock
from apps.kernel.errors import NotAllowed, NotFound, NotSignedIn, StepUpNeeded
from apps.kernel.types import Actor, ActorKind, Role

STEP_UP_LIMIT = timedelta(minutes=5)
EVERY_ROLE = frozenset(Role)


class Scope(StrEnum):
    """Where a verb's roles are looked up."""

    SITE = "site"  # at the subject's own site
    ANY_SITE = "any_site"  # at any site the actor has
    OWN = "own"  # the subject belongs to the actor
    SIGNED_IN = "signed_in"  # any known person
    STAFF = "staff"  # staff who gave a second factor in this session; no site role reaches it
    PUBLIC = "public"
    SYSTEM = "system"  # only the console's own parts


class Scoped(Protocol):
    """Whatever `can` is asked about. A missing attribute counts as None."""

    @property
    def site_id(self) -> UUID | None:
        """The one site the subject belongs to."""
        ...


@dataclass(frozen=True)
class Verb:
    """One thing an actor may do.

    `step_up`: needs a proof of identity from the last five minutes, hence a person at a browser.
    `people_only`: never by token, machine or system. `machines`: machines may (the subject check is the edge's).
    """

    name: str
    meaning: str
    scope: Scope = Scope.SITE
    roles: frozenset[Role] = frozenset()
    step_up: bool = False
    people_only: bool = False
    machines: bool = False


@dataclass(frozen=True)
class Decision:
    """The answer of `can`. Truthy when allowed; otherwise `refusal` says why, as an error ready to raise."""

    refusal: Exception | None = None

    def __bool__(self) -> bool:
        return self.refusal is None


_VERBS: dict[str, Verb] = {}


def register(*verbs: Verb) -> None:
    """Add verbs. A name may be registered again only with the same meaning and roles."""
    for verb in verbs:
        if _VERBS.setdefault(verb.name, verb) != verb:
            raise ValueError(f"verb {verb.name} is registered twice")


def registered() -> Iterable[Verb]:
    """Every verb, by name."""
    return (_VERBS[name] for name in sorted(_VERBS))


def verb_named(name: str) -> Verb:
    """One verb. Raises LookupError for a name that no app registered."""
    try:
        return _VERBS[name]
    except KeyError:
        raise LookupError(f"no app registers the verb {name!r}") from None


def can(actor: Actor, verb: str, subject: object | None = None, *, now: datetime | None = None) -> Decision:
    """Whether `actor` may do `verb` to `subject` (anything with `site_id` or `owner_id`)."""
    rule = verb_named(verb)
    if rule.scope is Scope.PUBLIC:
        return Decision()
    if not actor.is_known:
        return Decision(NotSignedIn("Sign in first."))
    if actor.kind is ActorKind.SYSTEM and not rule.people_only and not rule.step_up:
        return Decision()
    refused = _scope_allows(actor, rule, subject)
    if refused is None:  # a refusal is falsy, so `or` would skip it
        refused = _kind_allows(actor, rule, now or clock.now())
    return refused if refused is not None else Decision()


def _scope_allows(actor: Actor, rule: Verb, subject: object | None) -> Decision | None:
    """None when the actor's roles reach the subject, else the refusal."""
    site_id = getattr(subject, "site_id", None)
    if rule.scope is Scope.OWN:
        if actor.id is None or getattr(subject, "owner_id", None) != actor.id:
            return Decision(NotFound("There is nothing here."))
        return None
    if rule.scope is Scope.SYSTEM:
        return Decision(NotAllowed("Only the console itself does this."))
    if rule.scope is Scope.STAFF:
        return None if actor.is_staff else Decision(NotAllowed("This needs staff signed in with a second factor."))
    if rule.scope is Scope.ANY_SITE:
        held = frozenset().union(*actor.roles.values()) if actor.roles else frozenset()
    elif rule.scope is Scope.SITE:
        held = actor.roles_at(site_id)
        if not held and not (rule.machines and actor.kind is ActorKind.MACHINE):
            return Decision(NotFound("There is nothing here."))
    else:
        return None
    if actor.kind is ActorKind.MACHINE:
        return None if rule.machines else Decision(NotAllowed("Machines may not do this."))
    if rule.roles & held:
        return None
    names = ", ".join(sorted(role.label for role in rule.roles))
    return Decision(NotAllowed(f"This needs the role {names} at this site."))


def _kind_allows(actor: Actor, rule: Verb, now: datetime) -> Decision | None:
    """None when this kind of actor may use the verb, else the refusal."""
    if actor.kind is ActorKind.MACHINE and not rule.machines:
        return Decision(NotAllowed("Machines may not do this."))
    if (rule.people_only or rule.step_up) and actor.kind is not ActorKind.PERSON:
        return Decision(NotAllowed("Only a person signed in at a browser may do this."))
    if rule.step_up and (actor.proved_at is None or now - actor.proved_at > STEP_UP_LIMIT):
        return Decision(StepUpNeeded("Confirm who you are, then do it again."))
    return None


def require(actor: Actor, verb: str, subject: object | None = None, *, now: datetime | None = None) -> None:
    """Raise the refusal of `can`, if any."""
    decision = can(actor, verb, subject, now=now)
    if decision.refusal is not None:
        raise decision.refusal


register(
    Verb(
        "kernel.read_metrics",
        "Read the console's own figures",
        scope=Scope.ANY_SITE,
        roles=frozenset({Role.ADMIN, Role.AUDITOR}),
    )
)
