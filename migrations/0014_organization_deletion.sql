-- An organization is deleted in two steps (docs/decisions/organization-deletion.md): from deleted_at on it is there for nobody, and a job
-- deletes what belongs to it, and its row at last. Everything reads and writes the view, so that nothing has to ask for deleted_at.
-- A column that is added to the table is added to the view as well (CREATE OR REPLACE VIEW, as the last one).
ALTER TABLE organizations ADD COLUMN deleted_at timestamptz;
ALTER TABLE organizations RENAME TO organization_rows;
CREATE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at, attribution_window_days,
  language_chosen
FROM organization_rows
WHERE deleted_at IS NULL;
