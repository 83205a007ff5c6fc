-- The history of a number that is also used on a phone: up to six months of messages, which the upstream posts in chunks.

-- True: the message came with a history only, and nothing was told about it. Null again once it came as a message.
ALTER TABLE messages ADD COLUMN only_in_history boolean;

-- What has been taken in of the history of each number.
CREATE TABLE phone_histories (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  instance_id     uuid, -- the instance whose number it is of; null: the organization's own
  status          text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'refused')),
  progress        integer NOT NULL DEFAULT 0, -- percent, as the upstream says
  phase           integer, -- 0: the last day, 1: up to 90 days, 2: up to 180 days
  messages        bigint NOT NULL DEFAULT 0, -- those that were not known before
  error           jsonb, -- {code, text} of a refusal
  started_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  finished_at     timestamptz,
  PRIMARY KEY (organization_id, id),
  UNIQUE NULLS NOT DISTINCT (organization_id, instance_id)
);

-- Callbacks with parts of a history that are not taken in yet, or not whole.
CREATE TABLE phone_history_chunks (
  organization_id uuid NOT NULL,
  callback_id     uuid NOT NULL,
  reached         integer NOT NULL DEFAULT 0, -- how many of its messages are taken in
  added           integer NOT NULL DEFAULT 0, -- how many of these were not known before
  attempts        integer NOT NULL DEFAULT 0, -- how often it was begun since some of its messages were taken in
  erased          text[] NOT NULL DEFAULT '{}', -- addresses of people who were erased since it came
  PRIMARY KEY (organization_id, callback_id),
  FOREIGN KEY (organization_id, callback_id) REFERENCES callbacks (organization_id, id) ON DELETE CASCADE
);

CREATE INDEX phone_history_chunks_next ON phone_history_chunks (organization_id, attempts, callback_id);
