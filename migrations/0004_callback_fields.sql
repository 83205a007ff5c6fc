-- What the upstream's callbacks report beyond new messages and statuses.

-- When its author edited or deleted the message, as the upstream says; see storage/messages/incoming-changes.
ALTER TABLE messages ADD COLUMN edited_at timestamptz;
ALTER TABLE messages ADD COLUMN deleted_at timestamptz;

-- The words of a contact's last opt-out or opt-in; null if it had none.
ALTER TABLE contacts ADD COLUMN consent_words text;

-- The upstream could not say yet what the message is; the real one may follow under the same id. `held`:
-- message.received waits for it, `told`: it was raised.
ALTER TABLE messages ADD COLUMN placeholder text;
