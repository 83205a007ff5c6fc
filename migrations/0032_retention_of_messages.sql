-- Retention of messages and files (docs/decisions/retention.md). Null: they are kept for ever. The columns say how many
-- days after its recording a message is deleted, and the file of a message is removed. legal_hold: {reason, by, since} of
-- the hold that is on; while it is, nothing of the organization is deleted.
ALTER TABLE organization_rows
  ADD COLUMN message_retention_days integer,
  ADD COLUMN media_retention_days integer,
  ADD COLUMN legal_hold jsonb;
CREATE OR REPLACE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at, attribution_window_days,
  language_chosen, retention_days, message_retention_days, media_retention_days, legal_hold
FROM organization_rows
WHERE deleted_at IS NULL;

-- Holds that were released.
CREATE TABLE released_holds (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  hold            jsonb NOT NULL, -- {reason, by, since}
  released_by     text NOT NULL,
  released_at     timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Messages of the conversation up to this number were deleted after their retention time. The kept ones are numbered from
-- the next one on, without a gap.
ALTER TABLE contacts ADD COLUMN pruned_seq bigint NOT NULL DEFAULT 0;
