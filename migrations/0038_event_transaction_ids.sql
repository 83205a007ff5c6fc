-- Events count in transaction ids of the server, plus an offset: a database that has moved to a server whose ids lie
-- behind goes on above all ids in use, and no row has to change (storage/events/transaction-clock).
ALTER TABLE transaction_clock ADD COLUMN ahead bigint NOT NULL DEFAULT 0;

CREATE FUNCTION event_transaction_id() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT CASE ahead WHEN 0 THEN pg_current_xact_id() ELSE (pg_current_xact_id()::text::bigint + ahead)::text::xid8 END
  FROM transaction_clock
$$;

CREATE FUNCTION event_snapshot() RETURNS pg_snapshot LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE ahead WHEN 0 THEN pg_current_snapshot() ELSE (
    (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ahead) || ':' ||
    (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ahead) || ':' || coalesce((
      SELECT string_agg((id::text::bigint + ahead)::text, ',' ORDER BY id)
      FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id)
    ), '')
  )::pg_snapshot END
  FROM transaction_clock
$$;

ALTER TABLE events ALTER COLUMN transaction_id SET DEFAULT event_transaction_id();
ALTER TABLE webhook_feeds ALTER COLUMN window_from SET DEFAULT event_snapshot();
