-- When the sample that the App Dashboard sends of a callback came last; null: never.
ALTER TABLE number_states ADD COLUMN last_sample_at timestamptz;
