-- Callbacks are a queue of their own: `waiting` ones are not processed yet, and none has a job. An older process stores
-- rows that are not waiting, each with a job.
ALTER TABLE callbacks ADD COLUMN waiting boolean NOT NULL DEFAULT false;

-- Callbacks that failed, and later ones that name the same people or messages. They are no longer waiting.
CREATE TABLE set_aside_callbacks (
  organization_id uuid NOT NULL,
  callback_id     uuid NOT NULL,
  keys            text[] NOT NULL, -- the addresses and message ids that it names
  attempts        integer NOT NULL, -- 0: it was not attempted, because it is behind another one
  run_at          timestamptz NOT NULL, -- of the next attempt
  error           text, -- of the last attempt
  failed_at       timestamptz, -- of the last attempt; then it is not retried
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, callback_id),
  FOREIGN KEY (organization_id, callback_id) REFERENCES callbacks (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX set_aside_callbacks_due ON set_aside_callbacks (organization_id, run_at) WHERE failed_at IS NULL;
CREATE INDEX set_aside_callbacks_keys ON set_aside_callbacks USING gin (organization_id, keys) WHERE failed_at IS NULL;
