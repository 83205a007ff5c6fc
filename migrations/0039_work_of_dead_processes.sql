-- Work whose processes die is set aside instead of ending one process after the other (docs/decisions/work.md).
ALTER TABLE jobs ADD COLUMN deaths integer NOT NULL DEFAULT 0; -- how many processes in a row have died while they ran it

ALTER TABLE set_aside_callbacks ADD COLUMN process_id integer; -- processes.id of the process of an attempt

-- One row for each organization whose callbacks are processed: what its turn takes. It is of interest only while the
-- process lives, and written twice for each batch of callbacks, so it needs no log and no flush.
CREATE UNLOGGED TABLE callback_turns (
  organization_id uuid PRIMARY KEY,
  process_id      integer, -- processes.id; null: the turn has ended
  callback_ids    uuid[] NOT NULL, -- what it takes, in order
  deaths          integer NOT NULL -- how many processes in a row have died while they processed some of them
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
