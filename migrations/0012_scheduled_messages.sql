-- A message that was asked for, to be sent later (docs/api.md). It is in no conversation until it is sent; its message
-- then has the same id, so that it is recorded, and sent, at most once. A row that has ended is kept for a while: it
-- shows that a repeated request has had its effect.
CREATE TABLE scheduled_messages (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  contact_id      uuid NOT NULL,
  instance_id     uuid, -- the instance that sends it; null: the organization's own number
  member_id       uuid, -- the member who sends it; null: a program
  command         jsonb NOT NULL, -- what is sent (model/messages/scheduled); empty when it has ended
  shown           jsonb NOT NULL, -- how it will show: {message_type, text, media_type, content, template, language}
  has_file        boolean NOT NULL, -- its file is stored under its own id
  size            bigint NOT NULL, -- bytes of the file, command and shown; an organization's together have a limit
  cause           jsonb NOT NULL, -- who asked for it: {by, id, requestId, idempotencyKey}
  status          text NOT NULL CHECK (status IN ('scheduled', 'sending', 'paused', 'sent', 'failed', 'cancelled')),
  reason          text, -- why it is paused: restored, late
  error           jsonb, -- {code, text}: why the last attempt did not send it
  unsent          jsonb, -- its message, recorded, while the upstream has certainly not accepted it; null during a call
  scheduled_at    timestamptz NOT NULL,
  ended_at        timestamptz,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id),
  -- Without a cascade: an older process, which knows no scheduled messages, cannot lose them by merging two contacts.
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id)
);
CREATE INDEX scheduled_messages_waiting ON scheduled_messages (organization_id, scheduled_at, id) INCLUDE (size)
  WHERE ended_at IS NULL;
CREATE INDEX scheduled_messages_ended ON scheduled_messages (organization_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX scheduled_messages_contact ON scheduled_messages (organization_id, contact_id, scheduled_at, id);

-- The scheduled messages of the contact that is gone, which an undo gives back.
ALTER TABLE contact_merges ADD COLUMN scheduled uuid[];
