"""Every view says what it needs, and the middleware holds it to that before the view runs.

A view without a declaration is refused, so a forgotten one fails closed and the matrix test names it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from rest_framework.permissions import BasePermission

from apps.kernel.errors import NotFound, WrongMethod
from apps.kernel.permissions import Scope, require, verb_named
from apps.kernel.types import ANONYMOUS, Actor, SiteLike

View = TypeVar("View", bound=Callable[..., Any])
PUBLIC = "public"
SIGNED_IN = "signed_in"


@dataclass(frozen=True)
class Access:
    """Verb needed for each HTTP method, and the URL argument that holds the site's slug."""

    verbs: Mapping[str, str]
    site_argument: str = "site_slug"


class SiteRequest(HttpRequest):
    """What a view with a site in its address gets, for annotations: `site` is the row that the access rule loaded."""

    actor: Actor
    site: Any


_THIRD_PARTY: dict[str, Access] = {}
_find_site: Callable[[str], SiteLike | None] | None = None


def access(verb: str = "", *, site_argument: str = "site_slug", **by_method: str) -> Callable[[View], View]:
    """Declare what a view needs: one verb for GET and HEAD, or a verb for each method by name."""
    verbs = dict(by_method) or {"GET": verb}
    if "GET" in verbs:
        verbs.setdefault("HEAD", verbs["GET"])

    def mark(view: View) -> View:
        view.access = Access(verbs, site_argument)  # type: ignore[attr-defined]
        return view

    return mark


def declare_third_party(url_name: str, **by_method: str) -> None:
    """Declare what a view of a library needs, by its full URL name."""
    verbs = dict(by_method)
    if "GET" in verbs:
        verbs.setdefault("HEAD", verbs["GET"])
    _THIRD_PARTY[url_name] = Access(verbs)


def declare_third_party_namespace(namespace: str, **by_method: str) -> None:
    """Declare what every view of a library's URL namespace needs (for instance `admin`)."""
    declare_third_party(f"{namespace}:*", **by_method)


def use_site_finder(finder: Callable[[str], SiteLike | None]) -> None:
    """Set by the app that owns sites: finds a site by slug."""
    global _find_site
    _find_site = finder


def declared(view: Callable[..., Any], url_name: str) -> Access | None:
    """The declaration of a view, or None."""
    for holder in (view, getattr(view, "cls", None), getattr(view, "view_class", None)):
        found = getattr(holder, "access", None)
        if isinstance(found, Access):
            return found
    return _THIRD_PARTY.get(url_name) or _THIRD_PARTY.get(f"{url_name.partition(':')[0]}:*")


def actor_of(request: Any) -> Actor:
    """Who makes this request."""
    actor = getattr(request, "actor", None) or getattr(getattr(request, "_request", None), "actor", None) or ANONYMOUS
    # A page asks hundreds of things of its actor: once loaded, each goes to the actor itself and not through the proxy.
    return cast("Actor", actor._wrapped) if isinstance(actor, SimpleLazyObject) else cast("Actor", actor)


def enforce(request: HttpRequest, found: Access, arguments: Mapping[str, Any]) -> None:
    """Raise a refusal unless the actor may use this method of this view. Sets `request.site` where the URL names one."""
    verb = found.verbs.get(request.method or "GET")
    if verb is None:  # a function view would run whatever the method
        raise WrongMethod("This address does not know this method.", allowed=tuple(sorted(found.verbs)))
    slug = arguments.get(found.site_argument)
    if slug is None and verb_named(verb).scope is Scope.PUBLIC:
        return  # without looking at who asks: probes and sign-in pages must not need the database for that
    subject: object | None = None
    if slug is not None:
        site = next((one for one in actor_of(request).sites if one.slug == slug), None)
        if site is None and _find_site is not None:
            site = _find_site(slug)
        subject = _AtSite(site.id if site else None)
        request.site = site  # type: ignore[assignment]
    elif verb.partition(".")[0] != "kernel":
        subject = _Own(actor_of(request).id)
    require(actor_of(request), verb, subject)
    if slug is not None and subject is not None and getattr(subject, "site_id", None) is None:
        raise NotFound("There is nothing here.")


@dataclass(frozen=True)
class _AtSite:
    site_id: UUID | None


@dataclass(frozen=True)
class _Own:
    """Stands for the actor's own things where a URL names no subject; services check the loaded one."""

    owner_id: UUID | None
    site_id: UUID | None = None


class DeclaredAccess(BasePermission):
    """The same rule for the API, after its own authentication has set the actor."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """True, or a refusal raised."""
        found = declared(type(view), getattr(request.resolver_match, "view_name", "") or "")
        if found is None:
            return False
        enforce(request._request, found, view.kwargs)
        return True
