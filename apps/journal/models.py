"""Tables of the journal. Written only by `services`; the event table refuses anything but INSERT by trigger and grant."""

from django.db import models

from apps.kernel.ids import new_id


class Stream(models.Model):
    """Head of one stream; its row lock orders the appends of that stream."""

    name = models.CharField(primary_key=True, max_length=200)
    site_id = models.UUIDField(null=True)
    sequence = models.BigIntegerField(default=0)
    digest = models.BinaryField(default=b"")

    class Meta:
        db_table = "journal_stream"

    def __str__(self) -> str:
        return f"{self.name} at {self.sequence}"


class Event(models.Model):
    """One fact, for good."""

    position = models.BigAutoField(primary_key=True)
    id = models.UUIDField(default=new_id, unique=True, editable=False)
    stream = models.CharField(max_length=200)
    sequence = models.BigIntegerField()
    type = models.CharField(max_length=100)
    version = models.PositiveSmallIntegerField()
    payload = models.JSONField()
    site_id = models.UUIDField(null=True)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=200, blank=True)
    correlation_id = models.CharField(max_length=64, blank=True)
    recorded_at = models.DateTimeField()
    previous = models.BinaryField()
    digest = models.BinaryField()

    class Meta:
        db_table = "journal_event"
        constraints = [models.UniqueConstraint(fields=["stream", "sequence"], name="journal_event_stream_sequence")]
        indexes = [
            models.Index(fields=["site_id", "-position"], name="journal_event_site"),
            models.Index(fields=["actor_id", "-position"], name="journal_event_actor"),
            models.Index(fields=["site_id", "type", "-position"], name="journal_event_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.stream}/{self.sequence}"


class TailEntry(models.Model):
    """The place of one event in the one order over all streams, given once its transaction had committed."""

    number = models.BigIntegerField(primary_key=True)
    position = models.BigIntegerField(unique=True)

    class Meta:
        db_table = "journal_tail"

    def __str__(self) -> str:
        return f"{self.number}: position {self.position}"


class TailState(models.Model):
    """How far the tail has come: one row. Every event at or below `horizon` has a number, or was rolled back."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    number = models.BigIntegerField(default=0)
    horizon = models.BigIntegerField(default=0)
    caught_up_at = models.DateTimeField()
    seal_fault = models.TextField(blank=True, default="")

    class Meta:
        db_table = "journal_tail_state"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="journal_tail_state_one_row")]

    def __str__(self) -> str:
        return f"tail at {self.number}"


class Cursor(models.Model):
    """How far one reaction has come in the tail, and what holds it up."""

    name = models.CharField(primary_key=True, max_length=100)
    number = models.BigIntegerField(default=0)
    fault = models.TextField(blank=True, default="")
    failures = models.IntegerField(default=0)
    moved_at = models.DateTimeField()

    class Meta:
        db_table = "journal_cursor"

    def __str__(self) -> str:
        return f"{self.name} at {self.number}"


class Checkpoint(models.Model):
    """The tree over the first `size` events as it was signed; the same text stands in a file outside the database."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    frontier = models.BinaryField()
    note = models.TextField()
    key = models.TextField()
    sealed_at = models.DateTimeField()

    class Meta:
        db_table = "journal_checkpoint"

    def __str__(self) -> str:
        return f"{self.size} events sealed"


class Verification(models.Model):
    """One walk through the whole journal, and what it found."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    events = models.BigIntegerField()
    sealed = models.BigIntegerField()
    faults = models.JSONField(default=list)
    is_seal_checked = models.BooleanField()

    class Meta:
        db_table = "journal_verification"

    def __str__(self) -> str:
        return f"{self.events} events, {len(self.faults)} faults"


class IdempotencyKey(models.Model):
    """A key an actor used for one verb, what was asked, and what was answered."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    actor = models.CharField(max_length=64)
    verb = models.CharField(max_length=100)
    key = models.CharField(max_length=100)
    request = models.BinaryField()
    result = models.JSONField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "journal_idempotency_key"
        constraints = [models.UniqueConstraint(fields=["actor", "verb", "key"], name="journal_idempotency_once")]

    def __str__(self) -> str:
        return f"{self.verb} {self.key}"
