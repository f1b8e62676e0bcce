"""The API's addresses, gathered from the apps."""

from django.urls import URLPattern, URLResolver, path

from apps.accounts.api import machines, me, people, sites
from apps.alarms import api as alarms
from apps.control import api as control
from apps.fleet.api import episodes, robots
from apps.journal import api as journal
from apps.telemetry import api as telemetry
from console.openapi import schema_view

app_name = "api"
_SITE = "sites/<slug:site_slug>/"
_PERSON = f"{_SITE}people/<uuid:person_id>/"
_ALARM = f"{_SITE}alarms/<uuid:alarm_id>/"
_STOP = f"{_SITE}stops/<uuid:stop_id>/"
_ROBOT = f"{_SITE}robots/<uuid:robot_id>/"
urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", schema_view(), name="schema"),
    path("me/", me.MeDetail.as_view(), name="me"),
    path("me/preferences/", me.PreferencesDetail.as_view(), name="preferences"),
    path("me/sessions/", me.SessionList.as_view(), name="session_list"),
    path("me/sessions/<int:session_id>/", me.SessionDetail.as_view(), name="session"),
    path("me/tokens/", me.TokenList.as_view(), name="token_list"),
    path("me/tokens/<uuid:token_id>/", me.TokenDetail.as_view(), name="token"),
    path("me/invitations/", me.AcceptInvitation.as_view(), name="accept_invitation"),
    path("sites/", sites.SiteList.as_view(), name="site_list"),
    path(_SITE, sites.SiteDetail.as_view(), name="site"),
    path(f"{_SITE}people/", people.MemberList.as_view(), name="member_list"),
    path(_PERSON, people.MemberDetail.as_view(), name="member"),
    path(f"{_PERSON}roles/<str:role>/", people.MemberRole.as_view(), name="member_role"),
    path(f"{_SITE}invitations/", people.InvitationList.as_view(), name="invitation_list"),
    path(f"{_SITE}invitations/<uuid:invitation_id>/", people.InvitationDetail.as_view(), name="invitation"),
    path(f"{_SITE}machines/", machines.MachineList.as_view(), name="machine_list"),
    path(f"{_SITE}machines/<uuid:credential_id>/", machines.MachineDetail.as_view(), name="machine"),
    path(f"{_SITE}subjects/<slug:subject_kind>/<uuid:subject_id>/series/", telemetry.SubjectSeries.as_view(), name="series"),
    path(f"{_SITE}robots/", robots.RobotList.as_view(), name="robot_list"),
    path(_ROBOT, robots.RobotDetail.as_view(), name="robot"),
    path(f"{_ROBOT}bridge/", robots.RobotBridge.as_view(), name="robot_bridge"),
    path(f"{_ROBOT}reset/", robots.RobotReset.as_view(), name="robot_reset"),
    path(f"{_ROBOT}faults/", robots.RobotFaults.as_view(), name="robot_faults"),
    path(f"{_ROBOT}faults/<str:fault>/", robots.RobotFault.as_view(), name="robot_fault"),
    path(f"{_SITE}orders/<uuid:order_id>/", robots.OrderDetail.as_view(), name="order"),
    path(f"{_SITE}episodes/", episodes.EpisodeList.as_view(), name="episode_list"),
    path(f"{_SITE}episodes/<uuid:episode_id>/", episodes.EpisodeDetail.as_view(), name="episode"),
    path(f"{_SITE}bridges/", episodes.BridgeList.as_view(), name="bridge_list"),
    path(f"{_SITE}alarms/", alarms.AlarmList.as_view(), name="alarm_list"),
    path(f"{_SITE}alarms/definitions/", alarms.DefinitionList.as_view(), name="alarm_definition_list"),
    path(f"{_SITE}alarms/load/", alarms.LoadDetail.as_view(), name="alarm_load"),
    path(_ALARM, alarms.AlarmDetail.as_view(), name="alarm"),
    path(f"{_ALARM}acknowledge/", alarms.AlarmAcknowledge.as_view(), name="alarm_acknowledge"),
    path(f"{_ALARM}reset/", alarms.AlarmReset.as_view(), name="alarm_reset"),
    path(f"{_ALARM}shelf/", alarms.AlarmShelf.as_view(), name="alarm_shelf"),
    path(f"{_SITE}stops/", control.StopList.as_view(), name="stop_list"),
    path(f"{_SITE}stops/policy/", control.StopPolicyDetail.as_view(), name="stop_policy"),
    path(_STOP, control.StopDetail.as_view(), name="stop"),
    path(f"{_STOP}clear/", control.StopClears.as_view(), name="stop_clears"),
    path(f"{_STOP}clear/<uuid:clear_id>/", control.StopClear.as_view(), name="stop_clear"),
    path(f"{_SITE}journal/", journal.EventList.as_view(), name="event_list"),
    path(f"{_SITE}journal/seal/", journal.Seal.as_view(), name="seal"),
    path(f"{_SITE}journal/export/", journal.Export.as_view(), name="event_export"),
    path(f"{_SITE}journal/<uuid:event_id>/", journal.EventDetail.as_view(), name="event"),
]
