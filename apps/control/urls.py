"""Addresses of the pages of Stop."""

from django.urls import path

from apps.control import views

app_name = "control"
_SITE = "sites/<slug:site_slug>/stops/"
_CLEAR = f"{_SITE}<uuid:stop_id>/clear/"
urlpatterns = [
    path(_SITE, views.stop_list, name="stop_list"),
    path(f"{_SITE}policy/", views.policy_change, name="policy_change"),
    path(_CLEAR, views.clear_request, name="clear_request"),
    path(f"{_CLEAR}<uuid:clear_id>/withdraw/", views.clear_withdraw, name="clear_withdraw"),
    path(f"{_CLEAR}<uuid:clear_id>/confirm/", views.clear_confirm, name="clear_confirm"),
]
