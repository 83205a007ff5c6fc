-- Recorded messages of broadcasts that the upstream certainly did not accept, because it was down or over a limit. They are sent again
-- at retry_at. A row is deleted before the call, so that no message is sent twice.
CREATE TABLE broadcast_deferrals (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  since           timestamptz NOT NULL, -- of the first call
  attempts        integer NOT NULL,
  retry_at        timestamptz NOT NULL,
  PRIMARY KEY (organization_id, broadcast_id, n),
  FOREIGN KEY (organization_id, broadcast_id) REFERENCES broadcasts (organization_id, id) ON DELETE CASCADE
);
