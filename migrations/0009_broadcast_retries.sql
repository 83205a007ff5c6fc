-- What was asked for by retry-failed: a request that is repeated goes on with it, and begins nothing new.
CREATE TABLE broadcast_retries (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id              uuid NOT NULL, -- of the request
  broadcast_id    uuid NOT NULL,
  until           timestamptz NOT NULL, -- messages that were recorded later are not tried once more
  retried         integer NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, id)
);
