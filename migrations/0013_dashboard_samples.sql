-- When the sample that the App Dashboard sends of a callback came last; null: never.
ALTER TABLE number_states ADD COLUMN last_sample_at timestamptz;

-- A sample names no number: the organizations that were connected last are those whose secret may have signed it.
CREATE INDEX upstream_settings_updated_at ON upstream_settings (updated_at);
