"""Tables of alarms. Rows are projections of the journal; only `projections.py` writes them."""

from collections.abc import Collection
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q

from apps.alarms.types import DEFINITIONS, STANDING, UNSEEN, AlarmState, Definition, Priority, State
from apps.kernel.ids import new_id


class Alarm(models.Model):
    """One alarm from when it was raised until it was over. One of a cause stands at a time."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    definition = models.CharField(max_length=60)
    priority = models.PositiveSmallIntegerField()
    cause_kind = models.CharField(max_length=40)
    cause_id = models.UUIDField()
    state = models.CharField(max_length=20, choices=[(state.value, state.label) for state in State])
    version = models.PositiveIntegerField(default=1)
    annunciations = models.PositiveIntegerField(default=1)
    active_count = models.PositiveIntegerField(default=1)
    detail = models.CharField(max_length=200, default="")
    raised_at = models.DateTimeField()
    called_at = models.DateTimeField()
    returned_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.UUIDField(null=True)
    acknowledged_by_name = models.CharField(max_length=200, default="")
    closed_at = models.DateTimeField(null=True)
    shelved_until = models.DateTimeField(null=True)
    shelved_by_name = models.CharField(max_length=200, default="")
    shelve_reason = models.CharField(max_length=200, default="")
    escalated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "alarms_alarm"
        constraints = [
            models.UniqueConstraint(
                fields=["site", "definition", "cause_kind", "cause_id"],
                condition=Q(closed_at=None),
                name="alarms_one_stands",
            )
        ]
        indexes = [
            models.Index(fields=["site", "-id"], name="alarms_alarm_age"),
            models.Index(fields=["site", "-closed_at"], condition=Q(closed_at__isnull=False), name="alarms_closed"),
            models.Index(fields=["site", "priority"], condition=Q(closed_at=None), name="alarms_standing"),
        ]

    def __str__(self) -> str:
        return f"{self.definition}, {self.state}"

    @property
    def known(self) -> Definition | None:
        """Its definition, None where this version of the console has it no more."""
        return DEFINITIONS.get(self.definition)

    @property
    def title(self) -> str:
        """What it is called."""
        return self.known.title if self.known is not None else self.definition.replace("_", " ")

    @property
    def rank(self) -> Priority:
        """How urgently a person must act."""
        return Priority(self.priority)

    @property
    def cause(self) -> str:
        """What it is about, as `kind:id`."""
        return f"{self.cause_kind}:{self.cause_id}"

    @property
    def is_unseen(self) -> bool:
        """Whether it waits for an acknowledgement."""
        return State(self.state) in UNSEEN

    @property
    def is_standing(self) -> bool:
        """Whether it is not over."""
        return State(self.state) in STANDING

    @property
    def in_words(self) -> str:
        """Its state as people read it."""
        return "shelved" if self.shelved_until is not None else State(self.state).label

    def as_state(self, members: dict[str, bool]) -> AlarmState:
        """What decisions are made from."""
        return AlarmState(
            id=self.id,
            definition=self.definition,
            state=State(self.state),
            version=self.version,
            annunciations=self.annunciations,
            members=members,
            shelved_until=self.shelved_until,
        )


class SubjectManager(models.Manager["AlarmSubject"]):
    """Finds subjects of alarms."""

    def members(self, alarm_ids: Collection[UUID]) -> dict[UUID, dict[str, bool]]:
        """Of each alarm, every subject as `kind:id` and whether the condition holds for it: one query, without making rows."""
        found: dict[UUID, dict[str, bool]] = {alarm_id: {} for alarm_id in alarm_ids}
        rows = self.filter(alarm_id__in=found) if found else self.none()
        for alarm_id, kind, subject_id, is_active in rows.values_list("alarm_id", "kind", "subject_id", "is_active"):
            found[alarm_id][f"{kind}:{subject_id}"] = is_active
        return found


class AlarmSubject(models.Model):
    """One subject of one alarm. The id is made from both, so that a replay gives the same one."""

    id = models.UUIDField(primary_key=True, editable=False)
    alarm = models.ForeignKey(Alarm, on_delete=models.PROTECT, related_name="subjects")
    kind = models.CharField(max_length=40)
    subject_id = models.UUIDField()
    is_active = models.BooleanField(default=True)
    detail = models.CharField(max_length=200, default="")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects: ClassVar[SubjectManager] = SubjectManager()

    class Meta:
        db_table = "alarms_subject"
        constraints = [models.UniqueConstraint(fields=["alarm", "kind", "subject_id"], name="alarms_subject_once")]
        indexes = [models.Index(fields=["subject_id"], condition=Q(is_active=True), name="alarms_of_subject")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The subject as `kind:id`."""
        return f"{self.kind}:{self.subject_id}"


class Call(models.Model):
    """One time an alarm called for a person: what the load on people is counted from."""

    id = models.UUIDField(primary_key=True, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    alarm = models.ForeignKey(Alarm, on_delete=models.PROTECT, related_name="calls")
    definition = models.CharField(max_length=60)
    priority = models.PositiveSmallIntegerField()
    called_at = models.DateTimeField()

    class Meta:
        db_table = "alarms_call"
        indexes = [models.Index(fields=["site", "called_at"], name="alarms_call_age")]

    def __str__(self) -> str:
        return f"{self.definition} at {self.called_at}"
