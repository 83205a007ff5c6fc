-- Files of messages, and what sending at the upstream's pace needs.

-- One row per stored file, written before its bytes are: what a killed process leaves behind can be found and removed.
CREATE TABLE media (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL, -- its blob's key is organization_id/id
  mime_type       text NOT NULL,
  size            bigint NOT NULL, -- bytes
  filename        text, -- the display name of a document
  message_id      uuid, -- null until the message is recorded
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX media_unattached ON media (organization_id, created_at) WHERE message_id IS NULL;

-- media_state: the file of an inbound message is 'awaited' until the first try to fetch it has ended, then 'retried', and
-- 'missing' when it is given up; null where there is none to fetch (any more).
ALTER TABLE messages
  ADD COLUMN media_id uuid,
  ADD COLUMN media_expires_at timestamptz, -- until when the file's address works
  ADD COLUMN media_state text CHECK (media_state IN ('awaited', 'retried', 'missing')),
  ADD COLUMN transcription text;

-- The upstream takes one message in 6 s for one person, and 45 ahead of time: the time at which all that was sent is paid off.
ALTER TABLE contacts ADD COLUMN paced_until timestamptz;

-- Up to when the seconds of a business number are spoken for. Unlogged: a crash forgets about a second.
CREATE UNLOGGED TABLE sending_paces (
  organization_id uuid NOT NULL,
  phone_number_id text NOT NULL,
  paced_until     timestamptz NOT NULL,
  PRIMARY KEY (organization_id, phone_number_id)
) WITH (fillfactor = 50);

-- A process may run more than one worker.
ALTER TABLE processes ADD COLUMN worker_ids text[] NOT NULL DEFAULT '{}';
UPDATE processes SET worker_ids = ARRAY[worker_id] WHERE worker_id IS NOT NULL;
ALTER TABLE processes DROP COLUMN worker_id;
