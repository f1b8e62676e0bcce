"""Pages of the shell."""

from django.urls import path

from apps.shell import views

app_name = "shell"
urlpatterns = [
    path("", views.home, name="home"),
    path("sites/<slug:site_slug>/floor/", views.floor, name="floor"),
    path("help/components/", views.components, name="components"),
    path("help/keys/", views.keys, name="keys"),
]
