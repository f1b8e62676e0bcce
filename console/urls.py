"""Every address of the console."""

from django.urls import include, path

from apps.accounts import admin
from apps.accounts.adapters import views as sign_in
from console import health

urlpatterns = [
    path("", include("apps.shell.urls")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.journal.urls")),
    path("", include("apps.fleet.urls")),
    path("", include("apps.alarms.urls")),
    path("", include("apps.control.urls")),
    # These shadow pages of the sign-in library below, so that each leaves a fact; names and addresses are the library's.
    path("account/2fa/totp/activate/", sign_in.activate_codes, name="mfa_activate_totp"),
    path("account/2fa/totp/deactivate/", sign_in.deactivate_codes, name="mfa_deactivate_totp"),
    path("account/2fa/webauthn/add/", sign_in.add_passkey, name="mfa_add_webauthn"),
    path("account/2fa/webauthn/keys/<int:pk>/remove/", sign_in.remove_passkey, name="mfa_remove_webauthn"),
    path("account/2fa/recovery-codes/generate/", sign_in.make_recovery_codes, name="mfa_generate_recovery_codes"),
    path("account/sessions/", sign_in.sessions, name="usersessions_list"),
    path("account/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("console.api")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.measures, name="metrics"),
]
handler400 = "apps.shell.views.bad_request"
handler403 = "apps.shell.views.forbidden"
handler404 = "apps.shell.views.not_found"
handler500 = "console.health.failed"
