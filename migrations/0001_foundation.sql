-- The frame of the house: who (organizations, keys, members), with whom (contacts), what (messages), and what happened (events, callbacks).
--
-- Every row of a tenant has organization_id first in its primary key and in every unique and foreign key, so that the schema
-- can be spread by organization over several machines. Ids are UUIDv7 made by the service. Tables that are written for every
-- message carry no foreign key to organizations: its row would be share-locked by every writer.

CREATE TABLE organizations (
  id              uuid PRIMARY KEY,
  name            text NOT NULL,
  slug            text NOT NULL,
  provider        text CHECK (provider IN ('upstream', 'gateway')),
  default_country text NOT NULL,
  timezone        text NOT NULL,
  currency        text NOT NULL,
  language        text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);

-- What must be found before the organization is known: slug, key hash, key id, phone-number id, business account id, member id.
-- Rows of kind api_key outlive their organization, so that its keys go on answering "Organization not found".
CREATE TABLE directory (
  kind            text NOT NULL,
  value_hash      bytea NOT NULL,
  organization_id uuid NOT NULL,
  PRIMARY KEY (kind, value_hash)
);
CREATE INDEX directory_organization ON directory (organization_id);

CREATE TABLE upstream_settings (
  organization_id     uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  phone_number_id     text NOT NULL,
  business_account_id text NOT NULL,
  access_token        bytea NOT NULL, -- sealed
  app_secret          bytea NOT NULL, -- sealed
  verify_token_hash   bytea NOT NULL,
  messages_per_second integer NOT NULL,
  pair_limit          boolean NOT NULL,
  updated_at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX upstream_settings_verify_token ON upstream_settings (verify_token_hash);

CREATE TABLE storefront_settings (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  url             text NOT NULL,
  access_token    bytea NOT NULL, -- sealed
  webhook_secret  bytea NOT NULL, -- sealed
  updated_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  name            text NOT NULL,
  prefix          text NOT NULL, -- the first characters of the key, to recognize it by
  hash            bytea NOT NULL,
  scopes          text[] NOT NULL,
  expires_at      timestamptz,
  revoked_at      timestamptz, -- in the future while a rotated key's overlap lasts
  last_used_at    timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, hash)
);

CREATE TABLE members (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  email           text NOT NULL,
  full_name       text NOT NULL,
  role            text NOT NULL CHECK (role IN ('owner', 'agent', 'analyst')),
  password_hash   text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX members_email ON members (organization_id, lower(email));

CREATE TABLE contacts (
  organization_id            uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id                         uuid NOT NULL,
  chat_id                    text NOT NULL,
  phone_number               text,
  full_name                  text,
  email                      text,
  tags                       text[] NOT NULL DEFAULT '{}',
  bot_status                 text CHECK (bot_status IN ('active', 'paused')),
  allow_broadcast            boolean NOT NULL DEFAULT true,
  archived                   boolean NOT NULL DEFAULT false,
  blocked                    boolean NOT NULL DEFAULT false,
  has_unread_messages        boolean NOT NULL DEFAULT false,
  source                     json, -- as it was given
  contact_summary            text,
  contact_summary_updated_at timestamptz,
  last_seq                   bigint NOT NULL DEFAULT 0, -- the number of the newest message = how many the conversation has
  last_inbound_at            timestamptz,
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, chat_id)
) WITH (fillfactor = 80); -- room for the update that every message makes

-- Every form under which a contact is known: digits of a phone number, or user:<upstream user id>.
CREATE TABLE contact_addresses (
  organization_id uuid NOT NULL,
  address         text NOT NULL,
  contact_id      uuid NOT NULL,
  added_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, address),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_addresses_contact ON contact_addresses (organization_id, contact_id);

-- seq is the message's gapless number in its conversation. Records that only show on another message (a reaction, an edit,
-- a revocation) have none; context_upstream_id then names the message that they are about.
CREATE TABLE messages (
  organization_id     uuid NOT NULL,
  id                  uuid NOT NULL,
  contact_id          uuid NOT NULL,
  seq                 bigint,
  upstream_id         text,
  sender_type         text NOT NULL CHECK (sender_type IN ('user-chat', 'bot-chat', 'human-chat', 'system')),
  message_type        text NOT NULL,
  text                text NOT NULL,
  media_type          text,
  content             jsonb, -- what the upstream's message of this type holds, for those who show more than its text
  status              text NOT NULL CHECK (status IN ('sent', 'delivered', 'read', 'failed')),
  outcome             text CHECK (outcome IN ('pending', 'unknown')), -- the upstream's answer is outstanding
  error               jsonb, -- {code, text}
  context_upstream_id text,
  assignee_id         uuid,
  created_at          timestamptz NOT NULL, -- the upstream's time
  recorded_at         timestamptz NOT NULL DEFAULT now(),
  accepted_at         timestamptz,
  delivered_at        timestamptz,
  read_at             timestamptz,
  failed_at           timestamptz,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 85); -- room for the updates of its status
CREATE UNIQUE INDEX messages_conversation ON messages (organization_id, contact_id, seq);
CREATE UNIQUE INDEX messages_upstream ON messages (organization_id, upstream_id) WHERE upstream_id IS NOT NULL;
CREATE INDEX messages_about ON messages (organization_id, context_upstream_id) WHERE seq IS NULL;
CREATE INDEX messages_unsettled ON messages (organization_id, recorded_at) WHERE outcome IS NOT NULL;

-- One row per thing that happened, written in the statement that made it happen; data holds the rows as they were then.
-- (transaction_id, id) is commit-safe: what is older than the oldest running transaction does not change any more.
CREATE TABLE events (
  organization_id uuid NOT NULL,
  transaction_id  xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id              uuid NOT NULL,
  type            text NOT NULL,
  contact_id      uuid,
  data            jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, transaction_id, id)
);

-- Callbacks of the upstream as they came, stored before they are acknowledged. One is worked off when its job is gone.
CREATE TABLE callbacks (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  body            bytea NOT NULL,
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

-- resource_id is given to whatever the request makes, so that a retry can find it when the first attempt's process died.
CREATE TABLE idempotency_keys (
  organization_id uuid NOT NULL,
  operation       text NOT NULL, -- method and path
  key             text NOT NULL,
  body_hash       bytea NOT NULL,
  resource_id     uuid NOT NULL,
  process_id      integer NOT NULL,
  status          integer, -- null while the first attempt is under way
  answer          json, -- as it was given, to the letter
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, operation, key)
);
CREATE INDEX idempotency_keys_resource ON idempotency_keys (organization_id, resource_id);

-- Token buckets from which the processes lease in batches. Unlogged: a crash fills them up again, and no more.
CREATE UNLOGGED TABLE rate_limits (
  organization_id uuid NOT NULL,
  key_id          uuid NOT NULL,
  tokens          double precision NOT NULL,
  refilled_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, key_id)
) WITH (fillfactor = 50);

-- One row per process of the service. A process lives while it holds the advisory lock of its id (see storage/processes).
CREATE TABLE processes (
  id         integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  worker_id  text, -- under which its worker locks jobs; null while it runs none
  started_at timestamptz NOT NULL DEFAULT now()
);

-- Since when some process has been up without a pause: outcomes are given up only after the service could have heard of them.
CREATE TABLE service_uptime (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  up_since  timestamptz NOT NULL,
  seen_at   timestamptz NOT NULL
);
