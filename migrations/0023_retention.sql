-- How many days raw callbacks, events and webhook deliveries of the organization are kept.
ALTER TABLE organization_rows ADD COLUMN retention_days integer NOT NULL DEFAULT 30;
CREATE OR REPLACE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at, attribution_window_days,
  language_chosen, retention_days
FROM organization_rows
WHERE deleted_at IS NULL;
