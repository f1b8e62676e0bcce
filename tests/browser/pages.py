"""Every page of the console, once: what shows it, where, and to whom. A page template that is not here fails a test.

`{robot}` and `{alarm}` in an address stand for identifiers that the seed made.
"""

from dataclasses import dataclass
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


@dataclass(frozen=True)
class Visit:
    """One page: its template, its address, and the role that opens it (None: nobody is signed in)."""

    template: str
    path: str
    who: str | None = "admin"

    def __str__(self) -> str:
        return self.path.strip("/").replace("/", "-") or "home"


VISITS = (
    Visit("account/login.html", "/account/login/", None),
    Visit("account/signup_closed.html", "/account/signup/", None),
    Visit("account/account_inactive.html", "/account/inactive/", None),
    Visit("account/password_reset.html", "/account/password/reset/", None),
    Visit("account/password_reset_done.html", "/account/password/reset/done/", None),
    Visit("allauth: password_change", "/account/password/change/"),
    Visit("account/reauthenticate.html", "/account/reauthenticate/"),
    Visit("account/logout.html", "/account/logout/"),
    Visit("mfa/index.html", "/account/2fa/"),
    Visit("allauth: totp", "/account/2fa/totp/activate/"),
    Visit("allauth: webauthn add", "/account/2fa/webauthn/add/"),
    Visit("allauth: webauthn list", "/account/2fa/webauthn/"),
    Visit("usersessions/usersession_list.html", "/account/sessions/"),
    Visit("shell/floor.html", "/sites/hall-b/floor/"),
    Visit("shell/floor.html", "/sites/hall-b/floor/", "viewer"),
    Visit("shell/floor_first_use.html", "/sites/lab/floor/", "auditor"),
    Visit("shell/no_site.html", "/", "newcomer"),
    Visit("shell/component_gallery.html", "/help/components/"),
    Visit("shell/key_sheet.html", "/help/keys/"),
    Visit("accounts/site_people.html", "/sites/hall-b/people/"),
    Visit("accounts/site_people.html", "/sites/hall-b/people/", "auditor"),
    Visit("accounts/person_invite.html", "/sites/hall-b/people/invite/"),
    Visit("accounts/machine_list.html", "/sites/hall-b/machines/"),
    Visit("accounts/machine_create.html", "/sites/hall-b/machines/new/"),
    Visit("accounts/token_list.html", "/me/tokens/"),
    Visit("accounts/token_create.html", "/me/tokens/new/"),
    Visit("accounts/preferences.html", "/me/preferences/"),
    Visit("accounts/site_create.html", "/sites/new/"),
    Visit("accounts/site_settings.html", "/sites/hall-b/settings/"),
    Visit("accounts/site_settings.html", "/sites/hall-b/settings/", "auditor"),
    Visit("journal/event_list.html", "/sites/hall-b/journal/"),
    Visit("fleet/robot_list.html", "/sites/hall-b/robots/"),
    Visit("fleet/robot_detail.html", "/sites/hall-b/robots/{robot}/"),
    Visit("fleet/robot_detail.html", "/sites/hall-b/robots/{robot}/", "viewer"),
    Visit("fleet/robot_log.html", "/sites/hall-b/robots/{robot}/log/"),
    Visit("fleet/robot_register.html", "/sites/hall-b/robots/new/"),
    Visit("fleet/episode_list.html", "/sites/hall-b/episodes/"),
    Visit("fleet/fault_knobs.html", "/sites/hall-b/faults/"),
    Visit("alarms/alarm_list.html", "/sites/hall-b/alarms/"),
    Visit("alarms/alarm_detail.html", "/sites/hall-b/alarms/{alarm}/", "operator"),
    Visit("alarms/alarm_history.html", "/sites/hall-b/alarms/history/"),
    Visit("alarms/definition_list.html", "/sites/hall-b/alarms/definitions/"),
    Visit("control/stop_list.html", "/sites/hall-b/stops/"),
    Visit("alarms/alarm_list.html", "/sites/hall-b/alarms/"),
    Visit("alarms/alarm_history.html", "/sites/hall-b/alarms/history/"),
    Visit("alarms/definition_list.html", "/sites/hall-b/alarms/definitions/"),
    Visit("control/stop_list.html", "/sites/hall-b/stops/"),
    Visit("control/stop_list.html", "/sites/hall-b/stops/", "viewer"),
    Visit("errors/404.html", "/no/such/page/"),
    Visit("errors/404.html", "/sites/lab/floor/"),
    Visit("errors/403.html", "/sites/hall-b/journal/", "viewer"),
)
# Shown by a server that fails or refuses in a way no address asks for: drawn from the template alone.
ERRORS = (400, 409, 412, 422, 429, 500, 503)
# Reached only by doing something first; test_accessibility does it.
AFTER_AN_ACT = frozenset({"alarms/alarm_detail.html", "accounts/secret_shown.html", "accounts/invitation.html"})
# Parts and layouts are not pages.
PARTS = ("components/", "realtime/", "allauth/", "account/messages/", "account/snippets/")
LAYOUTS = frozenset({"base.html", "entrance.html", "errors/page.html", "account/base_reauthenticate.html"})


def page_templates() -> set[str]:
    """Every template of ours that is a page."""
    found = {str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html")}
    return {
        name for name in found if not name.startswith(PARTS) and name not in LAYOUTS and not Path(name).name.startswith("_")
    }
