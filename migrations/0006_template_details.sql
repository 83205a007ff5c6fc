-- What the upstream says about a template besides its status.

-- Why it was rejected or paused, in the upstream's words (INVALID_FORMAT, FIRST_PAUSE); null: it was not, or the
-- upstream does not say. And since when it has its status, as far as that was seen.
ALTER TABLE templates ADD COLUMN status_reason text;
ALTER TABLE templates ADD COLUMN status_at timestamptz;
