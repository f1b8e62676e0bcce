"""Signed checkpoints of the tree over all events, and what verifications found."""

from django.db import migrations, models

import apps.kernel.ids

FORWARD = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pilothouse_app') THEN
        REVOKE UPDATE, TRUNCATE ON journal_checkpoint FROM pilothouse_app;
    END IF;
END
$$;
"""


class Migration(migrations.Migration):
    """Adds the tables of sealing."""

    dependencies = [("journal", "0003_tail")]
    operations = [
        migrations.AddField(
            model_name="tailstate",
            name="seal_fault",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("size", models.BigIntegerField(primary_key=True, serialize=False)),
                ("root", models.BinaryField()),
                ("frontier", models.BinaryField()),
                ("note", models.TextField()),
                ("key", models.TextField()),
                ("sealed_at", models.DateTimeField()),
            ],
            options={"db_table": "journal_checkpoint"},
        ),
        migrations.CreateModel(
            name="Verification",
            fields=[
                ("id", models.UUIDField(default=apps.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField()),
                ("events", models.BigIntegerField()),
                ("sealed", models.BigIntegerField()),
                ("faults", models.JSONField(default=list)),
                ("is_seal_checked", models.BooleanField()),
            ],
            options={"db_table": "journal_verification"},
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
    ]
