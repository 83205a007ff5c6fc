-- no transaction
-- Waiting callbacks in the order of their arrival by the server's clock. The ids do not give that order, because the
-- clocks of the processes, which make them, may differ.
CREATE INDEX CONCURRENTLY IF NOT EXISTS callbacks_waiting ON callbacks (organization_id, received_at, id)
  WHERE waiting;
