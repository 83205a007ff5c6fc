-- no transaction
-- The deliveries of an event, for the trace of a message.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_event ON webhook_deliveries (organization_id, event_seq);
