-- Several numbers of one organization (docs/decisions/several-numbers.md). A further number is an instance of kind
-- business_api with a phone_number_id.

-- The instance of the business number that the contact last wrote to; null: the organization's own number, or none.
ALTER TABLE contacts ADD COLUMN wrote_to uuid;
-- paced_until of further numbers: {instance id: time}.
ALTER TABLE contacts ADD COLUMN paces jsonb;

-- Messages per second that the upstream allows the number; null: not read yet.
ALTER TABLE upstream_settings ADD COLUMN throughput integer;
ALTER TABLE instances ADD COLUMN throughput integer;

-- The id of the number that sends it; null: for each recipient, the one that it last wrote to, else the first.
ALTER TABLE broadcasts ADD COLUMN from_number text;
-- The instance whose number sends the message; null: the organization's own.
ALTER TABLE broadcast_deferrals ADD COLUMN instance_id uuid;
