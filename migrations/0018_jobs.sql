-- Work that follows from a row is enqueued by the statement that writes the row, and run by the worker processes
-- (storage/jobs). A job is free, claimed by a process, or failed on every attempt; a finished one is deleted. Jobs of
-- the service itself have an organization_id of zeros.
CREATE TABLE jobs (
  organization_id uuid NOT NULL,
  id              bigint GENERATED ALWAYS AS IDENTITY,
  class           text NOT NULL, -- tasks of a class share places (model/jobs)
  task            text NOT NULL,
  key             text, -- an organization has at most one job of a task with it
  payload         jsonb NOT NULL,
  run_at          timestamptz NOT NULL DEFAULT now(),
  attempts        integer NOT NULL DEFAULT 0,
  process_id      integer, -- processes.id of the process that has claimed it
  claimed_at      timestamptz,
  repeat          boolean NOT NULL DEFAULT false, -- it was requested again while it was running
  failed_at       timestamptz, -- after its last attempt
  error           text, -- of its last attempt
  requested_at    timestamptz NOT NULL DEFAULT now(), -- the last request
  PRIMARY KEY (organization_id, id)
) WITH (
  -- Each job leaves several dead rows. The table is nearly empty, so vacuum goes by their number, not by a fraction.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX jobs_key ON jobs (organization_id, task, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_turns ON jobs (class, organization_id, run_at, id) WHERE process_id IS NULL AND failed_at IS NULL;
CREATE INDEX jobs_claimed ON jobs (process_id) WHERE process_id IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (organization_id, id) WHERE failed_at IS NOT NULL;

-- Moves the jobs of older versions, which are in the tables of a library, and returns their number. It is called after
-- a migration, and every minute in case processes of an older version are still running. Jobs that such a process is
-- running stay there. Recurring tasks are left out, because they have jobs here already. Callbacks need no job.
CREATE FUNCTION carry_over_jobs() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  moved integer;
BEGIN
  IF to_regclass('graphile_worker._private_jobs') IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE $move$
    WITH movable AS (
      SELECT j.id FROM graphile_worker._private_jobs j
      WHERE j.locked_by IS NULL OR NOT EXISTS (
        SELECT FROM processes p JOIN pg_locks l ON l.objid = p.id
        WHERE j.locked_by = ANY (p.worker_ids) AND l.locktype = 'advisory' AND l.classid = 1885434476 AND l.objsubid = 2 AND l.granted
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      )
      ORDER BY j.id
      LIMIT 10000
      FOR UPDATE OF j SKIP LOCKED
    ), old AS (
      DELETE FROM graphile_worker._private_jobs j USING movable, graphile_worker._private_tasks t
      WHERE j.id = movable.id AND t.id = j.task_id
      RETURNING j.id, t.identifier, j.payload::jsonb AS payload, j.run_at, j.attempts, j.attempts >= j.max_attempts AS has_failed,
        j.last_error, j.created_at
    ), named AS (
      SELECT old.*, coalesce(renamed.task, old.identifier) AS task, classes.class
      FROM old
      LEFT JOIN (VALUES ('sweep_organization', 'delete_organization')) renamed (identifier, task) USING (identifier)
      JOIN (VALUES
        ('fetch_media', 'media'), ('send_broadcast', 'broadcasts'), ('prepare_broadcast', 'preparation'),
        ('transcribe_voice_note', 'transcription'), ('index_conversation', 'search'),
        ('sync_templates', 'sync'), ('sync_orders', 'sync'), ('erase_traces', 'erasure'), ('remove_media', 'erasure'),
        ('sweep_webhook', 'erasure'), ('delete_organization', 'erasure')
      ) classes (task, class) ON classes.task = coalesce(renamed.task, old.identifier)
    ), keyed AS (
      SELECT named.*, (payload ->> 'organizationId')::uuid AS organization_id, CASE task
        WHEN 'send_broadcast' THEN concat_ws(' ', payload ->> 'broadcastId', payload ->> 'lane')
        WHEN 'prepare_broadcast' THEN payload ->> 'broadcastId'
        WHEN 'index_conversation' THEN payload ->> 'contactId'
        WHEN 'sync_templates' THEN 'all'
        WHEN 'sync_orders' THEN 'all'
        WHEN 'delete_organization' THEN 'all'
      END AS key
      FROM named
    ), inserted AS (
      INSERT INTO jobs (organization_id, class, task, key, payload, run_at, attempts, failed_at, error, requested_at)
      SELECT DISTINCT ON (organization_id, task, coalesce(key, id::text)) organization_id, class, task, key,
        payload - 'organizationId'
          || CASE identifier WHEN 'sweep_organization' THEN '{"isLast": true}' WHEN 'send_broadcast' THEN '{"lanes": 4}' ELSE '{}' END::jsonb,
        run_at, attempts, CASE WHEN has_failed THEN now() END, left(last_error, 500), created_at
      FROM keyed
      ORDER BY organization_id, task, coalesce(key, id::text), has_failed, (payload ->> 'generation')::int DESC, id
      ON CONFLICT DO NOTHING
    ), waiting AS (
      -- Callbacks no longer have jobs.
      UPDATE callbacks c SET waiting = true FROM old
      WHERE old.identifier = 'receive_callback' AND NOT old.has_failed
        AND c.organization_id = (old.payload ->> 'organizationId')::uuid AND c.id = (old.payload ->> 'callbackId')::uuid
    ), failed AS (
      INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, error, failed_at)
      SELECT c.organization_id, c.id, '{}', old.attempts, now(), left(old.last_error, 500), now()
      FROM old
      JOIN callbacks c ON c.organization_id = (old.payload ->> 'organizationId')::uuid AND c.id = (old.payload ->> 'callbackId')::uuid
      WHERE old.identifier = 'receive_callback' AND old.has_failed
      ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM old
  $move$ INTO moved;
  RETURN moved;
END
$$;
