-- no transaction
-- The rows of 0015 that have no type yet.
CREATE INDEX CONCURRENTLY IF NOT EXISTS messages_without_gateway_type ON messages (organization_id, id)
  WHERE gateway_type IS NULL;
