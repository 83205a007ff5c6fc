-- The histories of this database's transactions, oldest first. Positions of the feed name theirs, since a database that
-- was restored to an earlier moment uses transaction ids again (core/webhooks/positions).
CREATE TABLE event_histories (
  id       text PRIMARY KEY DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 12),
  n        integer GENERATED ALWAYS AS IDENTITY,
  server   text NOT NULL, -- the server and its timeline
  known_to pg_snapshot NOT NULL -- positions of earlier histories are valid up to this one
);
INSERT INTO event_histories (server, known_to)
VALUES ((pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), '1:1:');

-- What was visible when the clock was set. Processes of version 0.1 leave it as it is.
ALTER TABLE transaction_clock ADD COLUMN snapshot pg_snapshot;
