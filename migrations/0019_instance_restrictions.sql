-- What the upstream refuses to send from the number of a business instance, and when that was reported, like the columns
-- of upstream_settings.
ALTER TABLE instances ADD COLUMN restrictions jsonb;
ALTER TABLE instances ADD COLUMN restricted_at timestamptz;
