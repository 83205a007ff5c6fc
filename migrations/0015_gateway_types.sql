-- The gateway's name for the type of a message, which clients filter by. Written with the message; rows of earlier
-- versions get it in batches, at the end of `parley migrate` and daily (src/storage/instances/gateway-types.ts).
ALTER TABLE messages ADD COLUMN gateway_type text;
