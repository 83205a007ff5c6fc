-- An organization is deleted in two steps (docs/decisions/organization-deletion.md): deleted_at is set, and a job deletes its rows, the
-- organization's own last. Statements use the view, which leaves deleted organizations out, so none of them has to check deleted_at.
-- A migration that adds a column to the table adds it to the view, too (CREATE OR REPLACE VIEW, as the last column).
ALTER TABLE organizations ADD COLUMN deleted_at timestamptz;
ALTER TABLE organizations RENAME TO organization_rows;
CREATE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at, attribution_window_days,
  language_chosen
FROM organization_rows
WHERE deleted_at IS NULL;
