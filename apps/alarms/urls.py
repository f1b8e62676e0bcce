"""Addresses of the pages of alarms."""

from django.urls import path

from apps.alarms import views

app_name = "alarms"
_SITE = "sites/<slug:site_slug>/alarms/"
_ALARM = f"{_SITE}<uuid:alarm_id>/"
urlpatterns = [
    path(_SITE, views.alarm_list, name="alarm_list"),
    path(f"{_SITE}history/", views.alarm_history, name="alarm_history"),
    path(f"{_SITE}definitions/", views.definition_list, name="definition_list"),
    path(_ALARM, views.alarm_detail, name="alarm_detail"),
    path(f"{_ALARM}acknowledge/", views.alarm_acknowledge, name="alarm_acknowledge"),
    path(f"{_ALARM}reset/", views.alarm_reset, name="alarm_reset"),
    path(f"{_ALARM}shelve/", views.alarm_shelve, name="alarm_shelve"),
    path(f"{_ALARM}unshelve/", views.alarm_unshelve, name="alarm_unshelve"),
]
