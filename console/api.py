"""The API's addresses, gathered from the apps."""

from django.urls import URLPattern, URLResolver, path

from apps.journal import api as journal
from console.openapi import schema_view

app_name = "api"
_SITE = "sites/<slug:site_slug>/"
urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", schema_view(), name="schema"),
    path(f"{_SITE}journal/", journal.EventList.as_view(), name="event_list"),
    path(f"{_SITE}journal/<uuid:event_id>/", journal.EventDetail.as_view(), name="event"),
]
