"""Events are inserted and never changed: a trigger refuses it to everybody, a missing grant to the runtime role."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'journal_event is insert-only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER journal_event_insert_only BEFORE UPDATE OR DELETE ON journal_event
    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();
CREATE TRIGGER journal_event_no_truncate BEFORE TRUNCATE ON journal_event
    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pilothouse_app') THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON journal_event FROM pilothouse_app;
        REVOKE DELETE, TRUNCATE ON journal_stream FROM pilothouse_app;
    END IF;
END
$$;
"""
BACKWARD = """
DROP TRIGGER journal_event_no_truncate ON journal_event;
DROP TRIGGER journal_event_insert_only ON journal_event;
DROP FUNCTION journal_refuse_change();
"""


class Migration(migrations.Migration):
    """Adds the triggers."""

    dependencies = [("journal", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
