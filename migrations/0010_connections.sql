-- Connecting numbers, and whether they stay connected.

-- A number that is being connected. The row keeps a second attempt of the organization away, and the upstream may
-- verify the callback address with its token meanwhile, at any process.
CREATE TABLE connection_attempts (
  organization_id   uuid PRIMARY KEY REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                uuid NOT NULL,
  verify_token_hash bytea NOT NULL,
  expires_at        timestamptz NOT NULL -- then its process has died
);
CREATE INDEX connection_attempts_verify_token ON connection_attempts (verify_token_hash);

-- What the last check of an organization's number at the upstream has found, and when its last callback came.
CREATE TABLE number_states (
  organization_id     uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  phone_number_id     text NOT NULL,
  state               text, -- ok, warning or failed; null: not checked yet
  facts               jsonb NOT NULL DEFAULT '{}', -- what the upstream said about it
  steps               jsonb NOT NULL DEFAULT '[]', -- what was found: reasons with their values
  problems            text[] NOT NULL DEFAULT '{}', -- the reasons that are not ok, in order
  token_expires_at    timestamptz, -- null: never, or not known
  expiry_told_days    integer, -- how many days before the end of the token it was told last
  checked_at          timestamptz, -- the last check that the upstream answered
  unanswered          integer NOT NULL DEFAULT 0, -- checks since then
  last_callback_at    timestamptz, -- to the minute
  PRIMARY KEY (organization_id, phone_number_id)
);
