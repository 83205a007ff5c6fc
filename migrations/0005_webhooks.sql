-- Webhooks that arrive: endpoints of organizations, how far their events have been handed on, and the log of deliveries.

-- The order of events. Whoever waits for a row that another transaction holds raises its event after that one's, so the numbers
-- stand in the order of cause and effect, which transaction ids, given before the wait, do not. What a reader has not seen yet is told
-- by the transaction ids (storage/events).
CREATE SEQUENCE events_seq AS bigint;
ALTER TABLE events ADD COLUMN seq bigint NOT NULL DEFAULT nextval('events_seq');
ALTER SEQUENCE events_seq OWNED BY events.seq;
ALTER TABLE events DROP CONSTRAINT events_pkey, ADD PRIMARY KEY (organization_id, seq);
CREATE INDEX events_window ON events (organization_id, transaction_id, seq);

-- How far this server's transactions are known to have come. Where it lies ahead, the database was restored from another server.
CREATE TABLE transaction_clock (
  singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id()
);
INSERT INTO transaction_clock DEFAULT VALUES;

CREATE TABLE webhooks (
  organization_id       uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  id                    uuid NOT NULL,
  url                   text NOT NULL,
  description           text,
  events                text[] NOT NULL,
  secret                bytea NOT NULL, -- sealed
  previous_secret       bytea,          -- sealed; signs as well until previous_secret_until
  previous_secret_until timestamptz,
  active                boolean NOT NULL DEFAULT true,
  disabled_reason       text,           -- why it was disabled by itself
  failing_since         timestamptz,    -- the first failure since the last success
  -- Only events with a higher number are for it: those that are raised after it was set or enabled.
  since_seq             bigint NOT NULL DEFAULT nextval('events_seq'),
  created_at            timestamptz NOT NULL DEFAULT now(),
  updated_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

-- How far an organization's events have become deliveries, and the process that sees to it. One row as soon as it has a webhook.
CREATE TABLE webhook_feeds (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  window_from     pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
  window_to       pg_snapshot, -- null: the next window is yet to be opened
  seq             bigint,      -- up to which number the window is worked off
  holder          integer -- processes.id; one that is not there any more holds nothing
);

-- An event for an endpoint. No foreign keys: it is written for every event, and outlives its webhook until the sweep.
CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  webhook_id      uuid NOT NULL,
  event_seq       bigint NOT NULL,
  event_id        uuid NOT NULL,
  event_type      text NOT NULL,
  contact_id      uuid,
  in_order        boolean NOT NULL, -- false: a replay, a test, an event without a contact; waits for nothing
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts        jsonb NOT NULL DEFAULT '[]', -- {at, response_status, error, duration_ms, response_body}
  next_attempt_at timestamptz, -- null: it has ended, or waits for an earlier event of its contact
  attempted_at    timestamptz, -- when the last attempt was recorded
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (organization_id, webhook_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (organization_id, webhook_id, contact_id, event_seq)
  WHERE status = 'pending' AND in_order;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (organization_id, webhook_id, id) INCLUDE (status);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (organization_id, webhook_id, id) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_attempted ON webhook_deliveries (organization_id, attempted_at, id) WHERE attempted_at IS NOT NULL;
