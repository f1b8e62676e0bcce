"""Pages of accounts."""

from django.urls import path

from apps.accounts import views

app_name = "accounts"
urlpatterns = [
    path("sites/new/", views.site_create, name="site_create"),
    path("sites/<slug:site_slug>/settings/", views.site_settings, name="site_settings"),
    path("sites/<slug:site_slug>/people/", views.site_people, name="site_people"),
    path("sites/<slug:site_slug>/people/invite/", views.person_invite, name="person_invite"),
    path(
        "sites/<slug:site_slug>/people/invitations/<uuid:invitation_id>/revoke/",
        views.invitation_revoke,
        name="invitation_revoke",
    ),
    path("sites/<slug:site_slug>/people/<uuid:person_id>/grant/", views.role_grant, name="role_grant"),
    path("sites/<slug:site_slug>/people/<uuid:person_id>/revoke/", views.role_revoke, name="role_revoke"),
    path("sites/<slug:site_slug>/people/<uuid:person_id>/remove/", views.person_remove, name="person_remove"),
    path("sites/<slug:site_slug>/machines/", views.machine_list, name="machine_list"),
    path("sites/<slug:site_slug>/machines/new/", views.machine_create, name="machine_create"),
    path("sites/<slug:site_slug>/machines/<uuid:credential_id>/revoke/", views.machine_revoke, name="machine_revoke"),
    path("me/tokens/", views.token_list, name="token_list"),
    path("me/tokens/new/", views.token_create, name="token_create"),
    path("me/tokens/<uuid:token_id>/revoke/", views.token_revoke, name="token_revoke"),
    path("me/preferences/", views.preferences, name="preferences"),
    path("invitation/<str:link_text>/", views.invitation, name="invitation"),
]
