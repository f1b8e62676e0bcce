"""Tags of the shell: icons, ages, form controls, the frame of a page, the import map."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, HiddenInput, RadioSelect
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.kernel import clock
from apps.kernel.types import Role
from apps.shell import selectors
from apps.shell.types import Display, FloorView, Frame, Told

register = template.Library()
TINYKEYS = "vendor/tinykeys-3.1.0/tinykeys.module.js"
_JS = Path(settings.ROOT) / "static" / "js"


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """One drawing of the sprite, silent to screen readers: words stand beside it."""
    return _drawing(name, extra)


@lru_cache(maxsize=500)
def _drawing(name: str, extra: str) -> SafeString:
    """Kept, since a page has some twenty."""
    return format_html(
        '<svg class="i{}" aria-hidden="true"><use href="{}#i-{}"/></svg>',
        f" {extra}" if extra else "",
        _sprite(),
        name,
    )


@register.simple_tag
def priority(level: int, *, acknowledged: bool = False) -> SafeString:
    """Priority mark: shape, letter and colour; filled means nobody has acknowledged it."""
    letter, word = {1: ("U", "Urgent"), 2: ("H", "High"), 3: ("N", "Normal"), 4: ("A", "Advisory")}[level]
    return format_html(
        '<span class="pri p{0}{1}"><svg aria-hidden="true"><use href="{2}#p{0}"/></svg>'
        '<span aria-hidden="true">{3}</span><span class="vh">{4}{5}</span></span>',
        level,
        " ack" if acknowledged else "",
        _sprite(),
        letter,
        word,
        ", acknowledged" if acknowledged else "",
    )


def _sprite() -> str:
    return static("icons/sprite.svg")


@register.simple_tag
def age(when: datetime | None, limit_s: float | None = None) -> SafeString:
    """How old a value is; counted on by the browser, right without it."""
    limit = format_html(' limit="{}"', limit_s) if limit_s is not None else ""
    if when is None:
        return format_html('<age-text class="age"{}>none yet</age-text>', limit)
    since_ms = int(when.timestamp() * 1000)
    return format_html(
        '<age-text class="age" since="{}"{}>{}</age-text>',
        since_ms,
        limit,
        age_words((clock.now() - when).total_seconds()),
    )


def age_words(seconds: float) -> str:
    """The same words as static/js/clock.js."""
    s = max(0.0, seconds)
    if s < 9.95:
        return f"{s:.1f} s"
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if s < limit:
            return f"{int(s // size)} {unit}"
    return f"{int(s // 86400)} d"


@register.filter
def control(field: BoundField) -> SafeString:
    """A form control with our classes, and tied to its hint and its error for screen readers."""
    widget = field.field.widget
    attrs: dict[str, Any] = {"placeholder": False}  # the label says it, and stays while one types
    if not isinstance(widget, CheckboxInput | HiddenInput):
        attrs["class"] = "in"
    described = [f"{field.auto_id}-{part}" for part, there in (("hint", field.help_text), ("wrong", field.errors)) if there]
    if described:
        attrs["aria-describedby"] = " ".join(described)
    return field.as_widget(attrs=attrs)


@register.filter
def is_tick(field: BoundField) -> bool:
    """Whether a field is one tick box, whose label stands behind it."""
    return isinstance(field.field.widget, CheckboxInput)


@register.filter
def in_order(roles: Iterable[Role]) -> list[Role]:
    """Roles in their one order, so that a line never reshuffles."""
    held = set(roles)
    return [role for role in Role if role in held]


@register.filter
def others(roles: Iterable[Role]) -> list[Role]:
    """The roles somebody does not hold."""
    held = set(roles)
    return [role for role in Role if role not in held]


@register.filter
def told(events: Sequence[Any]) -> list[Told]:
    """Facts of the journal with the sentence that tells each."""
    return selectors.told(events)


@register.filter
def has_passed(when: datetime) -> bool:
    """Whether a time is over."""
    return when <= clock.now()


@register.filter
def browser_words(user_agent: str) -> str:
    """A browser and system in two words, for people who look for a session that is not theirs."""
    browsers = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
    systems = (
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    )
    browser = next((word for mark, word in browsers if mark in user_agent), "")
    system = next((word for mark, word in systems if mark in user_agent), "")
    return f"{browser} on {system}" if browser and system else browser or user_agent[:60] or "unknown"


@register.filter
def is_set(field: BoundField) -> bool:
    """Whether a field is several boxes under one heading."""
    return isinstance(field.field.widget, CheckboxSelectMultiple | RadioSelect)


@register.simple_tag(takes_context=True)
def page_frame(context: Context) -> Frame | None:
    """What surrounds the page, None where nobody is signed in."""
    request = context.get("request")
    return selectors.frame(request) if request is not None and request.user.is_authenticated else None


@register.simple_tag(takes_context=True)
def page_display(context: Context) -> Display:
    """Theme, density and keys of this person."""
    return selectors.display(context.get("request"))


@register.simple_tag
def now_ms() -> int:
    """The server's time for ages counted in the browser."""
    return int(clock.now().timestamp() * 1000)


@register.simple_tag
def sprite() -> str:
    """Where the drawings lie, for a drawing that a script changes."""
    return _sprite()


@register.simple_tag
def robot_about(site: Any, detail: Any) -> dict[str, Any]:
    """What the scripts of a robot's page must know before its socket speaks."""
    robot = detail.robot
    url = f"/api/v1/sites/{site.slug}/subjects/robot/{robot.id}/series/"
    channels = [{"low": None, "high": None, "headline": False, "unit": ""} | dict(channel) for channel in detail.channels]
    return {"id": str(robot.id), "name": robot.name, "zone": site.time_zone, "seriesUrl": url, "channels": channels}


@register.filter
def words(name: str) -> str:
    """A name of the protocol as words: `grip_force` is grip force."""
    return name.replace("_", " ")


@register.filter
def counted(outcomes: Mapping[str, int]) -> str:
    """How many of each, most first, in words. A template cannot ask a counter itself: to it, every name is a count of 0."""
    of_each = sorted(outcomes.items(), key=lambda one: (-one[1], one[0]))
    return f"of the last {sum(outcomes.values())}: " + ", ".join(f"{count} {outcome}" for outcome, count in of_each)


@register.filter
def outcome_icon(outcome: str) -> str:
    """The drawing of how an episode ended: shapes, never green and red."""
    return {"success": "ok", "failure": "no", "unsafe": "no", "aborted": "dash"}.get(outcome, "half")


@register.simple_tag
def robot_marks(page: FloorView) -> SafeString:
    """Every robot as one small link. Made in one go: as a loop of the template a thousand of them take too long, and too much.

    A mark tells its robot's number, or the first letters of its name; the script beside it reads the rest from it.
    """
    return format_html_join(
        "",
        '<a class="mark" data-row href="../robots/{}/" title="{}" data-need="{}">{}</a>',
        ((one.id, one.name, one.need.value, _mark_name(one.name)) for one in page.robots),
    )


def _mark_name(name: str) -> str:
    number = re.search(r"\d+$", name)
    return number[0][-5:] if number else name[:5]


@register.simple_tag
def control_url() -> str:
    """Where a page opens its one socket to the robots."""
    return f"{settings.GATEWAY_URL}/control"


@register.simple_tag(takes_context=True)
def import_map(context: Context) -> SafeString:
    """Where each module lies, under its hashed name. The one inline script of a page, admitted by its nonce."""
    nonce = getattr(context.get("request"), "csp_nonce", "")
    return format_html('<script type="importmap" nonce="{}">{}</script>', str(nonce), _imports())


@lru_cache(maxsize=1)
def _imports() -> SafeString:
    """The map itself; the files do not change while the process lives."""
    found = [path.relative_to(_JS) for path in sorted(_JS.rglob("*.js"))]
    modules = {f"pilothouse/{path.with_suffix('')}": static(f"js/{path}") for path in found}
    modules["tinykeys"] = static(TINYKEYS)
    return mark_safe(json.dumps({"imports": modules}).replace("<", "\\u003c"))  # noqa: S308 - our own names
