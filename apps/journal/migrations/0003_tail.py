"""One order over all streams, and how far its readers have come."""

from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is insert-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER journal_tail_insert_only BEFORE UPDATE OR DELETE ON journal_tail
    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();
CREATE TRIGGER journal_tail_no_truncate BEFORE TRUNCATE ON journal_tail
    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pilothouse_app') THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON journal_tail FROM pilothouse_app;
    END IF;
END
$$;
"""
BACKWARD = """
DROP TRIGGER journal_tail_no_truncate ON journal_tail;
DROP TRIGGER journal_tail_insert_only ON journal_tail;
"""


class Migration(migrations.Migration):
    """Adds the tail, its state and the cursors of reactions."""

    dependencies = [("journal", "0002_insert_only")]
    operations = [
        migrations.CreateModel(
            name="TailEntry",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("position", models.BigIntegerField(unique=True)),
            ],
            options={"db_table": "journal_tail"},
        ),
        migrations.CreateModel(
            name="TailState",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("number", models.BigIntegerField(default=0)),
                ("horizon", models.BigIntegerField(default=0)),
                ("caught_up_at", models.DateTimeField()),
            ],
            options={
                "db_table": "journal_tail_state",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="journal_tail_state_one_row"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Cursor",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("number", models.BigIntegerField(default=0)),
                ("fault", models.TextField(blank=True, default="")),
                ("failures", models.IntegerField(default=0)),
                ("moved_at", models.DateTimeField()),
            ],
            options={"db_table": "journal_cursor"},
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
