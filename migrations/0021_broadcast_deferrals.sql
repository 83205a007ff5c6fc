-- Recorded messages of broadcasts that the upstream certainly did not accept, because it was down or a limit was
-- reached. They are sent again at retry_at. A row is deleted before the call, so that no message is sent twice.
CREATE TABLE broadcast_deferrals (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  since           timestamptz NOT NULL, -- the time of the first call to the upstream
  attempts        integer NOT NULL,
  retry_at        timestamptz NOT NULL,
  PRIMARY KEY (organization_id, broadcast_id, n),
  FOREIGN KEY (organization_id, broadcast_id) REFERENCES broadcasts (organization_id, id) ON DELETE CASCADE
);
