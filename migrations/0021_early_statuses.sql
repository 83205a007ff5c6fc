-- Statuses of messages that are not known yet: what is written on the phone of a number may be reported after its
-- statuses. They wait for a day.
CREATE TABLE early_statuses (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  upstream_id     text NOT NULL,
  status          text NOT NULL,
  reported        jsonb NOT NULL, -- without the recipient (storage/messages/early-statuses)
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, upstream_id, status)
);
CREATE INDEX early_statuses_old ON early_statuses (received_at);
