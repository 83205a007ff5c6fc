-- The gateway: instances (connected numbers and devices), what they send and receive, their sessions and their webhooks.

CREATE TABLE instances (
  organization_id     uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  id                  uuid NOT NULL,
  name                text NOT NULL,
  kind                text NOT NULL CHECK (kind IN ('linked_device', 'business_api', 'sandbox')),
  state               text NOT NULL CHECK (state IN ('open', 'connecting', 'close')),
  state_code          integer, -- the network's code of the last close
  state_changed_at    timestamptz NOT NULL DEFAULT now(),
  token               bytea NOT NULL, -- sealed; its owner may see it again
  token_hash          bytea NOT NULL,
  number              text,  -- as given when it was made
  owner               text,  -- digits of the number that is connected
  profile_name        text,
  profile_picture_url text,
  -- The number at the upstream (of a sandbox: at the simulator), where it has one of its own; else the organization's is used.
  phone_number_id     text,
  business_account_id text,
  access_token        bytea, -- sealed
  app_secret          bytea, -- sealed; without it the callbacks of its number are refused
  settings            jsonb NOT NULL DEFAULT '{}',
  qr_count            integer NOT NULL DEFAULT 0, -- how many codes have been shown since it last was closed
  wanted              boolean NOT NULL DEFAULT false, -- a linked device that some process is to keep connected
  holder              integer, -- processes.id of the one that runs it, until held_until
  held_until          timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, name)
);
CREATE UNIQUE INDEX instances_token ON instances (organization_id, token_hash);
CREATE UNIQUE INDEX instances_number ON instances (organization_id, phone_number_id) WHERE phone_number_id IS NOT NULL;
CREATE INDEX instances_wanted ON instances (organization_id, id) WHERE wanted;
CREATE INDEX instances_holder ON instances (holder) WHERE holder IS NOT NULL;

-- Up to when the process is sure to run linked devices, so that each takes its share of them; null = it runs none.
ALTER TABLE processes ADD COLUMN devices_until timestamptz;

-- The session of a linked device. All of it is sealed, and what belongs together is written in one transaction.
CREATE TABLE device_credentials (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  credentials     bytea NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, instance_id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);
CREATE TABLE device_keys (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  type            text NOT NULL,
  key_id          text NOT NULL,
  value           bytea NOT NULL,
  PRIMARY KEY (organization_id, instance_id, type, key_id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);

-- What another process asks of the one that runs an instance, and its answer, both sealed: codes and messages are in them. A row
-- goes when its answer has been read.
CREATE TABLE instance_commands (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  instance_id     uuid NOT NULL,
  command         bytea NOT NULL,
  connects        boolean NOT NULL, -- the instance is to be connected from then on
  expires_at      timestamptz NOT NULL, -- not begun by then, it is not begun any more
  begun_at        timestamptz,
  answer          bytea,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX instance_commands_waiting ON instance_commands (organization_id, instance_id, id) WHERE begun_at IS NULL;

-- instance_id: the connection that a message went through; null is the organization's own number at the upstream. network: what
-- only the network of a linked device tells of it ({remoteJid, participant, message}).
ALTER TABLE messages ADD COLUMN instance_id uuid, ADD COLUMN network jsonb;
-- What a connection shows, by time, how much it is, and with whom: read from the index alone. In conversations it tells what is whose.
CREATE INDEX messages_instance ON messages (organization_id, instance_id, created_at, id) INCLUDE (contact_id) WHERE seq IS NOT NULL;
DROP INDEX messages_conversation;
CREATE UNIQUE INDEX messages_conversation ON messages (organization_id, contact_id, seq) INCLUDE (instance_id);
-- How many numbered messages went through an instance: the sum of its rows. Writers add rows, a job folds them into one. The
-- organization's own number has none: its messages are those of all conversations but these. No foreign keys: who adds a row
-- waits for nobody, and the messages of an instance outlive it.
CREATE TABLE line_counts (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  id              uuid NOT NULL DEFAULT gen_random_uuid(),
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, instance_id, id)
);
-- What the network calls the chat of a contact without a number: a group, or a person who hides it.
ALTER TABLE contacts ADD COLUMN network_id text;

-- Two linked devices of one organization may see the same message, under the same id: each has its own record of it.
DROP INDEX messages_upstream;
CREATE UNIQUE INDEX messages_upstream ON messages (organization_id, upstream_id, instance_id) NULLS NOT DISTINCT
  WHERE upstream_id IS NOT NULL;
ALTER TABLE callbacks ADD COLUMN instance_id uuid;

-- A webhook of an instance speaks the gateway's language; one at most for each. headers are sealed.
ALTER TABLE webhooks
  ADD COLUMN instance_id uuid,
  ADD COLUMN by_events boolean NOT NULL DEFAULT false,
  ADD COLUMN with_base64 boolean NOT NULL DEFAULT false,
  ADD COLUMN headers bytea,
  ADD FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE;
CREATE UNIQUE INDEX webhooks_instance ON webhooks (organization_id, instance_id) WHERE instance_id IS NOT NULL;
