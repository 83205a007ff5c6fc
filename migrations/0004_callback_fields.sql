-- What the upstream's callbacks report beyond new messages and statuses.

-- When its author edited or deleted the message, as the upstream says; see storage/messages/incoming-changes.
ALTER TABLE messages ADD COLUMN edited_at timestamptz;
ALTER TABLE messages ADD COLUMN deleted_at timestamptz;

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
