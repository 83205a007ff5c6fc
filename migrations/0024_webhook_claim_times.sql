-- When the delivery was claimed (process_id). A claim that its process does not know after a while came with an answer
-- that was lost. Processes of an older version leave the column as it is; only a process's own claims are looked at.
ALTER TABLE webhook_deliveries ADD COLUMN claimed_at timestamptz;
