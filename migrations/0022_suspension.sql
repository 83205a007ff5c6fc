-- Moving an organization to another cell (docs/decisions/moving-an-organization.md).

-- Since when it stands still; null: it works.
ALTER TABLE organization_rows ADD COLUMN suspended_at timestamptz;

-- The organizations that work: neither deleted nor suspended. Statements use it, so none of them has to check that.
-- A migration that adds a column to the table adds it here and below, too.
CREATE OR REPLACE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at,
  attribution_window_days, language_chosen, retention_days, message_retention_days, media_retention_days, legal_hold,
  suspended_at
FROM organization_rows
WHERE deleted_at IS NULL AND suspended_at IS NULL;

-- The same with suspended ones: for operators, and to answer whoever asks for one of them.
CREATE VIEW kept_organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at,
  attribution_window_days, language_chosen, retention_days, message_retention_days, media_retention_days, legal_hold,
  suspended_at
FROM organization_rows
WHERE deleted_at IS NULL;

-- Where the old links of an organization lead that has moved. The row outlives the organization.
CREATE TABLE forwards (
  organization_id uuid PRIMARY KEY,
  url             text NOT NULL, -- of the cell where it is now, such as https://us1.chat.example.com
  created_at      timestamptz NOT NULL DEFAULT now()
);
