-- no transaction
-- The callbacks of 0017 that wait.
CREATE INDEX CONCURRENTLY IF NOT EXISTS callbacks_waiting ON callbacks (organization_id, id) WHERE waiting;
