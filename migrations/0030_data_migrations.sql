-- The version of Parley that the process runs, such as 0.2.0. Versions before 0.2 leave it null.
ALTER TABLE processes ADD COLUMN version text;

-- How far the service is with changing old rows (core/runtime/data-migrations). One row for each change.
CREATE TABLE data_migrations (
  name        text PRIMARY KEY,
  position    jsonb, -- the row after which the next batch begins; null: at the first one
  done        bigint NOT NULL DEFAULT 0, -- the rows that this pass has changed
  total       bigint NOT NULL, -- the rows to be changed, counted when the pass began
  started_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz -- when the pass ended
);
