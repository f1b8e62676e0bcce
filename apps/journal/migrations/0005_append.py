"""An append in one statement: key, head, events and chain, for services that are called often.

The digest is computed here from what `services.fast` encodes: the body of an event as canonical JSON, cut where its
sequence stands, since only the lock on the head tells that number. `events` is a list of [id, type, version, payload, body up
to the sequence, body after it], all but the version text.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION journal_append(
    stream_name text, site uuid, expected bigint,
    key_id uuid, key_actor text, key_verb text, key_text text, key_request bytea, key_result text,
    events text,
    by_kind text, by_id uuid, by_name text, correlation text, at timestamptz
) RETURNS TABLE (event_sequence bigint, event_position bigint) LANGUAGE plpgsql AS $$
DECLARE
    head record;
    link bytea;
    chained bytea;
    one jsonb;
BEGIN
    IF key_id IS NOT NULL THEN
        INSERT INTO journal_idempotency_key (id, actor, verb, key, request, result, created_at)
        VALUES (key_id, key_actor, key_verb, key_text, key_request, key_result::jsonb, at)
        ON CONFLICT (actor, verb, key) DO NOTHING;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the key was used before' USING ERRCODE = 'PHJ01';
        END IF;
    END IF;
    SELECT sequence, digest, site_id INTO head FROM journal_stream WHERE name = stream_name FOR UPDATE;
    IF NOT FOUND OR head.sequence = 0 THEN
        RAISE EXCEPTION 'the stream is new' USING ERRCODE = 'PHJ02';
    END IF;
    IF head.site_id IS DISTINCT FROM site THEN
        RAISE EXCEPTION 'the stream is of another site' USING ERRCODE = 'PHJ03';
    END IF;
    IF expected IS NOT NULL AND head.sequence <> expected THEN
        RAISE EXCEPTION 'the stream went on' USING ERRCODE = 'PHJ04';
    END IF;
    event_sequence := head.sequence;
    link := head.digest;
    FOR one IN SELECT value FROM jsonb_array_elements(events::jsonb) LOOP
        event_sequence := event_sequence + 1;
        chained := sha256(link || convert_to((one ->> 4) || event_sequence || (one ->> 5), 'UTF8'));
        INSERT INTO journal_event (id, stream, sequence, type, version, payload, site_id, actor_kind, actor_id, actor_name,
            correlation_id, recorded_at, previous, digest)
        VALUES ((one ->> 0)::uuid, stream_name, event_sequence, one ->> 1, (one ->> 2)::int, (one ->> 3)::jsonb, site, by_kind,
            by_id, by_name, correlation, at, link, chained)
        RETURNING position INTO event_position;
        link := chained;
        RETURN NEXT;
    END LOOP;
    UPDATE journal_stream SET sequence = event_sequence, digest = link WHERE name = stream_name;
END
$$;
"""
BACKWARD = "DROP FUNCTION journal_append"


class Migration(migrations.Migration):
    """Adds the function."""

    dependencies = [("journal", "0004_seal")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
