"""What frames a page: navigation, commands and the keyboard sheet, all from the tables below."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.accounts import selectors as accounts
from apps.fleet import selectors as fleet
from apps.kernel.access import actor_of
from apps.kernel.permissions import can
from apps.kernel.types import Actor, Role
from apps.shell.types import THEME_COOKIE, THEMES, Display, Frame, KeyGroup, KeyLine, NavEntry, NavLink, SiteLink

# A new part of the console is one line here: it then has its place in the rail, its key, its command and its line in the sheet.
NAVIGATION = (
    NavEntry("Floor", "floor", "g o", "shell:floor", "accounts.view_site"),
    NavEntry("Robots", "arm", "g r", "fleet:robot_list", "fleet.view"),
    NavEntry("Episodes", "run", "g e", "fleet:episode_list", "fleet.view"),
    NavEntry("Alarms", "bell", "g a", "alarms:alarm_list", "alarms.view"),
    NavEntry("Stops", "stop", "", "control:stop_list", "control.view_stops"),
    NavEntry("People", "people", "g p", "accounts:site_people", "accounts.view_people"),
    NavEntry("Machines", "machine", "", "accounts:machine_list", "accounts.view_machines"),
    NavEntry("Journal", "book", "g l", "journal:event_list", "journal.view"),
    NavEntry("Settings", "gear", "", "accounts:site_settings", "accounts.view_site_settings"),
)
ACCOUNT = (
    ("Preferences", "theme", "accounts:preferences"),
    ("Password", "lock", "account_change_password"),
    ("Two-factor and passkeys", "key", "mfa_index"),
    ("Sessions", "phone", "usersessions_list"),
    ("Access tokens", "link", "accounts:token_list"),
)
HELP = (("Components", "help", "shell:components"), ("Keyboard", "keys", "shell:keys"))

_EVERYWHERE = (
    KeyLine(("Ctrl", "K"), "find or do anything"),
    KeyLine(("?",), "this sheet", is_single=True),
    KeyLine(("/",), "filter, or find", is_single=True),
    KeyLine(("j",), "next row", is_single=True),
    KeyLine(("k",), "row before", is_single=True),
    KeyLine(("Enter",), "open the row"),
    KeyLine(("Space",), "pause live, go on", is_single=True),
    KeyLine(("R",), "apply the new order", is_single=True),
    KeyLine(("a",), "acknowledge the alarm shown", is_single=True),
    KeyLine((",",), "back in time, on a chart", is_single=True),
    KeyLine((".",), "on in time, on a chart", is_single=True),
    KeyLine(("Ctrl", "."), "stop the robot in focus, or this one"),
    KeyLine(("Ctrl", "Shift", "."), "stop the site"),
    KeyLine(("t",), "light or dark", is_single=True),
    KeyLine(("Esc",), "close what is open"),
)


@lru_cache(maxsize=1024)
def _address(url_name: str, *arguments: str) -> str:
    """An address of ours; a page has some twenty, and they never change while a process lives."""
    return reverse(url_name, args=list(arguments))


def display(request: HttpRequest | None) -> Display:
    """How this person wants pages to look. Without a person, the theme last used in this browser; never fails."""
    kept = request.COOKIES.get(THEME_COOKIE, "") if request is not None else ""
    theme = kept if kept in THEMES else ""
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return Display(theme, "compact", single_keys=True)
    chosen = accounts.display_of(person)
    return Display(chosen.theme if chosen.theme in THEMES else "", chosen.density, single_keys=chosen.single_keys)


def frame(request: HttpRequest) -> Frame:
    """Everything around the page of a signed-in person."""
    actor = actor_of(request)
    sites = accounts.sites_of(actor)
    site = getattr(request, "site", None)
    if site is None or not actor.knows_site(site.id):  # an error page says nothing of a site that this person does not know
        site = sites[0] if sites else None
    links = _site_links(request, actor, site)
    account_links = [_link(request, label, icon, name) for label, icon, name in ACCOUNT]
    roles = ", ".join(sorted(role.label for role in actor.roles_at(site.id))) if site else ""
    site_links = [
        SiteLink(one.name, _address("shell:floor", one.slug), site is not None and one.id == site.id) for one in sites
    ]
    return Frame(
        site,
        fleet.count_robots(site.id) if site else 0,
        roles,
        site_links,
        links,
        account_links,
        _commands(actor, site_links, account_links),
        key_groups(links),
    )


def _site_links(request: HttpRequest, actor: Actor, site: Any) -> list[NavLink]:
    if site is None:
        return []
    allowed = [entry for entry in NAVIGATION if can(actor, entry.verb, site)]
    return [_link(request, entry.label, entry.icon, entry.url_name, site.slug, keys=entry.keys) for entry in allowed]


def _link(request: HttpRequest, label: str, icon: str, url_name: str, *arguments: str, keys: str = "") -> NavLink:
    url = _address(url_name, *arguments)
    return NavLink(label, icon, keys, url, is_current=request.path.startswith(url))


def _commands(actor: Actor, sites: Sequence[SiteLink], account_links: Sequence[NavLink]) -> list[dict[str, Any]]:
    """Entries of the command menu that are not links of the page. `verb` names one of static/js/verbs.js."""
    found: list[dict[str, Any]] = [
        {"label": site.name, "href": site.url, "where": "Switch site", "icon": "floor"} for site in sites if not site.is_current
    ]
    if any(Role.ADMIN in held for held in actor.roles.values()):  # the page itself asks for the step-up
        found.append({"label": "Make a site", "href": _address("accounts:site_create"), "where": "Sites", "icon": "floor"})
    found += [{"label": link.label, "href": link.url, "where": "Your account", "icon": link.icon} for link in account_links]
    found += [{"label": label, "href": _address(name), "where": "Help", "icon": icon} for label, icon, name in HELP]
    found += [
        {"label": "Stop site", "verb": "stop-site", "keys": "Ctrl Shift .", "icon": "stop", "also": "all robots"},
        {"label": "Light or dark", "verb": "theme", "keys": "t", "icon": "theme", "also": "theme display"},
        {"label": "Pause live, go on", "verb": "pause", "keys": "Space", "icon": "pause"},
        {"label": "Keyboard sheet", "verb": "keys", "keys": "?", "icon": "keys", "also": "shortcuts help"},
        {"label": "Sign out", "post": _address("account_logout"), "icon": "out", "also": "log out leave"},
    ]
    return found


def key_groups(links: Sequence[NavLink]) -> list[KeyGroup]:
    """The keyboard sheet: what works everywhere, then where `g` goes for this person."""
    goes = [KeyLine(tuple(link.keys.split()), link.label.lower(), is_single=True) for link in links if link.keys]
    return [KeyGroup("Everywhere", _EVERYWHERE), KeyGroup("Go to", goes)] if goes else [KeyGroup("Everywhere", _EVERYWHERE)]
