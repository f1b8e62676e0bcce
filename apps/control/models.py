"""Tables of Stop. Rows are projections of the journal; only `projections.py` writes them."""

from django.db import models
from django.db.models import Q

from apps.control.types import ClearRequest, Phase, StopState, SubjectState


class Stop(models.Model):
    """One Stop: who pressed it, whom it holds, and how it was cleared. Its id was made where it was pressed."""

    id = models.UUIDField(primary_key=True, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    phase = models.CharField(max_length=20, choices=[(phase.value, phase.value) for phase in Phase])
    round = models.PositiveIntegerField(default=1)
    is_recorded = models.BooleanField(default=False)
    is_whole_site = models.BooleanField(default=False)
    pressed_by = models.UUIDField(null=True)
    pressed_by_name = models.CharField(max_length=200, default="")
    pressed_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)
    gateway = models.CharField(max_length=100, default="")
    recorded_at = models.DateTimeField()
    clear_id = models.UUIDField(null=True)
    clear_by = models.UUIDField(null=True)
    clear_by_name = models.CharField(max_length=200, default="")
    clear_requested_at = models.DateTimeField(null=True)
    clear_expires_at = models.DateTimeField(null=True)
    cleared_by = models.UUIDField(null=True)
    cleared_by_name = models.CharField(max_length=200, default="")
    cleared_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "control_stop"
        indexes = [
            models.Index(fields=["site", "-recorded_at", "-id"], name="control_stop_age"),
            models.Index(fields=["site"], condition=~Q(phase=Phase.CLEARED.value), name="control_stop_active"),
        ]

    def __str__(self) -> str:
        return f"Stop {self.id}, {self.phase}"

    @property
    def is_cleared(self) -> bool:
        """Whether it holds nobody any more."""
        return self.phase == Phase.CLEARED

    @property
    def clear(self) -> ClearRequest | None:
        """What somebody asked, where a second person has not answered."""
        if self.clear_id is None or self.clear_by is None or self.clear_requested_at is None or self.clear_expires_at is None:
            return None
        return ClearRequest(self.clear_id, self.clear_by, self.clear_requested_at, self.clear_expires_at)

    def state(self, sent_to: frozenset[str] = frozenset()) -> StopState:
        """What decisions are made from."""
        return StopState(
            id=self.id,
            site_id=self.site_id,
            phase=Phase(self.phase),
            round=self.round,
            is_recorded=self.is_recorded,
            cleared_at=self.cleared_at,
            clear=self.clear if self.phase == Phase.CLEAR_REQUESTED else None,
            sent_to=sent_to,
        )


class StopSubject(models.Model):
    """One subject of one Stop, by its own reports. The id is made from both, so that a replay gives the same one."""

    id = models.UUIDField(primary_key=True, editable=False)
    stop = models.ForeignKey(Stop, on_delete=models.PROTECT, related_name="subjects")
    kind = models.CharField(max_length=40)
    subject_id = models.UUIDField()
    latched_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    released_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "control_stop_subject"
        constraints = [models.UniqueConstraint(fields=["stop", "kind", "subject_id"], name="control_stop_subject_once")]
        indexes = [models.Index(fields=["kind", "subject_id"], name="control_stop_of_subject")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The subject as `kind:id`."""
        return f"{self.kind}:{self.subject_id}"

    @property
    def state(self) -> SubjectState:
        """What the subject said last."""
        if self.released_at is not None:
            return SubjectState.RELEASED
        return SubjectState.UNCONFIRMED if self.latched_at is None else SubjectState.LATCHED


class StopPolicy(models.Model):
    """How Stops of one site are cleared."""

    site = models.OneToOneField("accounts.Site", on_delete=models.PROTECT, primary_key=True, related_name="+")
    one_person_clears = models.BooleanField(default=False)
    version = models.BigIntegerField(default=1)

    class Meta:
        db_table = "control_stop_policy"
        verbose_name_plural = "stop policies"

    def __str__(self) -> str:
        return f"policy of {self.site_id}"
