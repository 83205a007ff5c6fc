-- no transaction
-- A sample of a callback names no number: the organizations that were connected last are those whose secret may have
-- signed it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS upstream_settings_updated_at ON upstream_settings (updated_at);
