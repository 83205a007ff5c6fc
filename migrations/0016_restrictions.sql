-- What the upstream refuses to send for the organization's account (model/organizations/restriction), as its newest
-- report says, and when that was reported; null: nothing is known to be refused.
ALTER TABLE upstream_settings ADD COLUMN restrictions jsonb;
ALTER TABLE upstream_settings ADD COLUMN restricted_at timestamptz;
