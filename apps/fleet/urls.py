"""Addresses of the pages of fleet."""

from django.urls import path

from apps.fleet import views

app_name = "fleet"
_SITE = "sites/<slug:site_slug>/"
_ROBOT = f"{_SITE}robots/<uuid:robot_id>/"
urlpatterns = [
    path(f"{_SITE}robots/", views.robot_list, name="robot_list"),
    path(f"{_SITE}robots/new/", views.robot_register, name="robot_register"),
    path(_ROBOT, views.robot_detail, name="robot_detail"),
    path(f"{_ROBOT}log/", views.robot_log, name="robot_log"),
    path(f"{_ROBOT}release/", views.robot_release, name="robot_release"),
    path(f"{_ROBOT}reset/", views.scene_reset, name="scene_reset"),
    path(f"{_SITE}episodes/", views.episode_list, name="episode_list"),
    path(f"{_SITE}faults/", views.fault_knobs, name="fault_knobs"),
]
