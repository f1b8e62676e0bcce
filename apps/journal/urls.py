"""Pages of the journal."""

from django.urls import path

from apps.journal import views

app_name = "journal"
urlpatterns = [
    path("sites/<slug:site_slug>/journal/", views.event_list, name="event_list"),
    path("sites/<slug:site_slug>/journal/export/", views.event_export, name="event_export"),
]
