-- no transaction
-- The callbacks of 0017 that wait, in the order of their arrival by the server's clock: the clocks of the processes, which make the ids,
-- may differ.
CREATE INDEX CONCURRENTLY IF NOT EXISTS callbacks_waiting ON callbacks (organization_id, received_at, id)
  WHERE waiting;
