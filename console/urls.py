"""Every address of the console."""

from django.urls import include, path

urlpatterns = [
    path("", include("apps.shell.urls")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.journal.urls")),
    path("account/", include("allauth.urls")),
    path("api/v1/", include("console.api")),
]
handler400 = "apps.shell.views.bad_request"
handler403 = "apps.shell.views.forbidden"
handler404 = "apps.shell.views.not_found"
handler500 = "apps.shell.views.server_error"
