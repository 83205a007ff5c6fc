-- What the upstream's callbacks report beyond new messages and statuses.

-- The words of a contact's last opt-out or opt-in; null if it had none.
ALTER TABLE contacts ADD COLUMN consent_words text;

-- The upstream could not say yet what the message is; the real one may follow under the same id. `held`:
-- message.received waits for it, `told`: it was raised.
ALTER TABLE messages ADD COLUMN placeholder text;

-- What the upstream says about the price of a message: the newest that one of its statuses said. Nothing is known about
-- the price of other messages. Kept without its message, so that costs of a year can be summed.
CREATE TABLE message_prices (
  organization_id uuid NOT NULL,
  message_id      uuid NOT NULL,
  billable        boolean, -- the upstream is to leave it out
  model           text,
  type            text,
  category        text,
  country         text, -- of the recipient, ISO 3166
  status          text NOT NULL, -- the status that said so
  at              timestamptz NOT NULL,
  PRIMARY KEY (organization_id, message_id)
);

-- What the upstream reported about the account and its numbers, and the names of fields that this version does not know.
CREATE TABLE upstream_notices (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  digest          bytea NOT NULL, -- of what was reported, so that a repetition changes nothing
  instance_id     uuid, -- the instance whose number or account it is about; null: the organization's own
  field           text NOT NULL,
  kind            text,
  severity        text NOT NULL,
  title           text NOT NULL,
  advice          text,
  value           jsonb, -- as it came; null for unknown fields and large values
  at              timestamptz NOT NULL,
  until           timestamptz,
  closed_at       timestamptz, -- when a member has dealt with it
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, digest)
);
CREATE INDEX upstream_notices_newest ON upstream_notices (organization_id, at, id);

-- The quality that the upstream last reported (GREEN, YELLOW, RED, UNKNOWN), and when; null: it has reported none.
ALTER TABLE templates ADD COLUMN quality text;
ALTER TABLE templates ADD COLUMN quality_at timestamptz;

-- Who held the conversation when the message came or was sent, if not the organization: `upstream_agent`.
ALTER TABLE messages ADD COLUMN handled_by text;

-- When the upstream accepted the message and held it back, to see how the first recipients of its template react. Null
-- again once a status has come.
ALTER TABLE messages ADD COLUMN held_at timestamptz;
