"""Tables of telemetry. Samples are no facts: nothing here is journaled, and retention deletes it."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class Layout(models.Model):
    """The channels of one subject in the order of its numbers; kept as long as a block refers to it."""

    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    subject_kind = models.CharField(max_length=20)
    subject_id = models.UUIDField()
    digest = models.BinaryField()
    channels = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "telemetry_layout"
        constraints = [
            models.UniqueConstraint(fields=["subject_id", "site", "subject_kind", "digest"], name="telemetry_layout_once")
        ]

    def __str__(self) -> str:
        return f"{self.subject_kind}:{self.subject_id}, {len(self.channels)} channels"


class Block(models.Model):
    """Some seconds of one subject: compressed rows, and per channel what a wide chart needs. Times are of receipt, in ms."""

    id = models.UUIDField(primary_key=True, editable=False)
    layout = models.ForeignKey(Layout, on_delete=models.PROTECT, related_name="+", db_index=False)
    boot = models.UUIDField()
    is_late = models.BooleanField()
    count = models.IntegerField()
    first_sequence = models.BigIntegerField()
    last_sequence = models.BigIntegerField()
    since_ms = models.BigIntegerField()
    until_ms = models.BigIntegerField()
    lowest = ArrayField(models.FloatField(null=True))
    highest = ArrayField(models.FloatField(null=True))
    total = ArrayField(models.FloatField())
    known = ArrayField(models.IntegerField())
    data = models.BinaryField()

    class Meta:
        db_table = "telemetry_block"
        indexes = [
            models.Index(fields=["layout", "until_ms"], name="telemetry_block_series"),
            BrinIndex(fields=["until_ms"], name="telemetry_block_age", pages_per_range=16),
        ]

    def __str__(self) -> str:
        return f"{self.count} states from {self.since_ms} to {self.until_ms}"
