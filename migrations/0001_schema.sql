-- The schema of Parley 1.0.0, by noun. A comment above a table says what a row is; one after a column says what its
-- name does not.
--
-- Every row of a tenant has organization_id first in its primary key and in every unique and foreign key, so that
-- organizations can be spread over several databases. Ids are UUIDv7 made by the service. A table that is written for
-- every message has no foreign key to organization_rows, because each writer would lock the organization's row.
-- "Encrypted" means under the master key (PARLEY_SECRET).

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

--
-- Organizations
--

-- A tenant. It is deleted in two steps (docs/decisions/organization-deletion.md): deleted_at is set, and a job
-- deletes its rows, its own last.
CREATE TABLE organization_rows (
  id                      uuid PRIMARY KEY,
  name                    text NOT NULL,
  slug                    text NOT NULL,
  provider                text CHECK (provider IN ('upstream', 'gateway')),
  default_country         text NOT NULL,
  timezone                text NOT NULL,
  currency                text NOT NULL,
  language                text NOT NULL,
  language_chosen         boolean NOT NULL DEFAULT false, -- false: the language is only a default
  attribution_window_days integer NOT NULL DEFAULT 7, -- from a click or message to an order
  retention_days          integer NOT NULL DEFAULT 30, -- how long callbacks, events and deliveries are kept
  message_retention_days  integer, -- null: messages are kept for ever
  media_retention_days    integer, -- null: files are kept as long as their messages
  legal_hold              jsonb, -- {reason, by, since}; while it is set, nothing of the organization is deleted
  deleted_at              timestamptz,
  created_at              timestamptz NOT NULL DEFAULT now(),
  updated_at              timestamptz NOT NULL DEFAULT now()
);

-- The organizations that are not deleted. Statements use it, so none of them has to check deleted_at. A migration
-- that adds a column to the table adds it here, too (CREATE OR REPLACE VIEW, as the last column).
CREATE VIEW organizations AS
SELECT id, name, slug, provider, default_country, timezone, currency, language, created_at, updated_at,
  attribution_window_days, language_chosen, retention_days, message_retention_days, media_retention_days, legal_hold
FROM organization_rows
WHERE deleted_at IS NULL;

-- A legal hold that was released.
CREATE TABLE released_holds (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL,
  hold            jsonb NOT NULL, -- {reason, by, since}
  released_by     text NOT NULL,
  released_at     timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Something that finds an organization: its slug, the hash or id of a key, a phone-number id, a business account id,
-- a member id, the code of a short link. Rows of the kind api_key outlive their organization, so that its keys still
-- answer "Organization not found".
CREATE TABLE directory (
  kind            text NOT NULL,
  value_hash      bytea NOT NULL,
  organization_id uuid NOT NULL,
  PRIMARY KEY (kind, value_hash)
);
CREATE INDEX directory_organization ON directory (organization_id);

-- The number of an organization at the upstream.
CREATE TABLE upstream_settings (
  organization_id     uuid PRIMARY KEY REFERENCES organization_rows (id) ON DELETE CASCADE,
  phone_number_id     text NOT NULL,
  business_account_id text NOT NULL,
  access_token        bytea NOT NULL, -- encrypted
  app_secret          bytea NOT NULL, -- encrypted
  verify_token_hash   bytea NOT NULL,
  messages_per_second integer NOT NULL,
  pair_limit          boolean NOT NULL,
  templates_synced_at timestamptz, -- when the fetch of the last complete list of templates began
  updated_at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX upstream_settings_verify_token ON upstream_settings (verify_token_hash);

--
-- Identity: API keys, members, sessions
--

-- A key of Interface A. The key itself is not stored.
CREATE TABLE api_keys (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
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

-- The token bucket of an API key, from which the processes lease in batches. Unlogged: a crash only fills it up
-- again.
CREATE UNLOGGED TABLE rate_limits (
  organization_id uuid NOT NULL,
  key_id          uuid NOT NULL,
  tokens          double precision NOT NULL,
  refilled_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, key_id)
) WITH (fillfactor = 50);

-- A request with an Idempotency-Key, and its answer. resource_id is the id of what the request makes, so that a retry
-- finds it if the process of the first attempt died.
CREATE TABLE idempotency_keys (
  organization_id uuid NOT NULL,
  operation       text NOT NULL, -- method and path
  key             text NOT NULL,
  body_hash       bytea NOT NULL,
  resource_id     uuid NOT NULL,
  process_id      integer NOT NULL, -- processes.id of the process of the first attempt
  status          integer, -- null while the first attempt is running
  answer          json, -- as it was given, to the letter
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, operation, key)
);
CREATE INDEX idempotency_keys_resource ON idempotency_keys (organization_id, resource_id);

-- A person of the team.
CREATE TABLE members (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
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

-- A session of a member in the console. The token in the cookie names organization and session, and is signed.
CREATE TABLE member_sessions (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  member_id       uuid NOT NULL,
  secret_hash     bytea NOT NULL, -- of the token's secret
  previous_hash   bytea, -- of the secret before, which is valid until a moment after confirmed_at
  rotated_at      timestamptz NOT NULL,
  confirmed_at    timestamptz, -- when the newest secret was first presented; null: not yet
  by_link         boolean NOT NULL, -- it began with a link, so a password can be set without the one before
  expires_at      timestamptz NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX member_sessions_member ON member_sessions (organization_id, member_id);
CREATE INDEX member_sessions_expiry ON member_sessions (expires_at);

-- A link that signs a member in. The row is deleted when the link is used.
CREATE TABLE sign_in_links (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  member_id       uuid NOT NULL,
  secret_hash     bytea NOT NULL,
  expires_at      timestamptz NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sign_in_links_member ON sign_in_links (organization_id, member_id);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

-- The failed attempts to sign in with one pair of organization and e-mail address, by its hash, whether or not there
-- is such a member.
CREATE TABLE sign_in_failures (
  name_hash    bytea PRIMARY KEY,
  failures     integer NOT NULL,
  failed_at    timestamptz NOT NULL,
  locked_until timestamptz
);
CREATE INDEX sign_in_failures_age ON sign_in_failures (failed_at);

--
-- Contacts
--

-- A person or a group.
CREATE TABLE contacts (
  organization_id            uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                         uuid NOT NULL,
  chat_id                    text NOT NULL,
  phone_number               text,
  network_id                 text, -- the network's id of the chat, if the contact has no number
  full_name                  text,
  folded_name                text, -- full_name, normalized (lib/text/normalize), for searches
  email                      text,
  tags                       text[] NOT NULL DEFAULT '{}',
  source                     json, -- as it was given
  contact_summary            text,
  contact_summary_updated_at timestamptz,
  bot_status                 text CHECK (bot_status IN ('active', 'paused')),
  assignee_id                uuid, -- the member who answers; null when that one has left the team
  archived                   boolean NOT NULL DEFAULT false,
  archived_through           uuid, -- the instance on whose phone it is archived too; null: none
  blocked                    boolean NOT NULL DEFAULT false,
  has_unread_messages        boolean NOT NULL DEFAULT false, -- no index: every message would pay for it
  allow_broadcast            boolean NOT NULL DEFAULT true,
  opted_out_at               timestamptz,
  opt_out_source             text CHECK (opt_out_source IN ('reply', 'upstream', 'import')), -- who reported it
  opted_in_at                timestamptz, -- the last time; an older opt-out that is heard later changes nothing
  last_seq                   bigint NOT NULL DEFAULT 0, -- the number of the newest message
  pruned_seq                 bigint NOT NULL DEFAULT 0, -- messages up to this number were deleted by their age
  searchable_seq             bigint NOT NULL DEFAULT 0, -- messages up to this number are in message_search
  last_inbound_at            timestamptz,
  paced_until                timestamptz, -- when the pair limit no longer delays a message to the contact
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, chat_id)
) WITH (fillfactor = 80); -- room for the update that every message makes
CREATE INDEX contacts_name ON contacts USING gin (organization_id, folded_name gin_trgm_ops) WITH (fastupdate = off);
CREATE INDEX contacts_email ON contacts (organization_id, lower(email)) WHERE email IS NOT NULL;
CREATE INDEX contacts_assigned ON contacts (organization_id, assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX contacts_archived ON contacts (organization_id, id) WHERE archived;
CREATE INDEX contacts_opted_out ON contacts (organization_id, opted_out_at, id) WHERE opted_out_at IS NOT NULL;

-- An address that leads to a contact now: the digits of a phone number, or user:<the upstream's user id>.
CREATE TABLE contact_addresses (
  organization_id uuid NOT NULL,
  address         text NOT NULL,
  contact_id      uuid NOT NULL,
  instance_id     uuid, -- of a user id: the instance through which it became known; null: the organization's own number
  since           timestamptz, -- if it led to another contact before: since when it has led to this one
  left_at         timestamptz, -- when the contact gave the address up; nobody else has it yet
  added_at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, address),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_addresses_contact ON contact_addresses (organization_id, contact_id);
CREATE INDEX contact_addresses_digits ON contact_addresses USING gin (organization_id, address gin_trgm_ops)
  WITH (fastupdate = off);

-- A period in which a number was a contact's that it does not lead to now. Without left_at: the contact has said that
-- it has the number now, but another contact has its conversation under it.
CREATE TABLE contact_address_spans (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  address         text NOT NULL,
  contact_id      uuid NOT NULL,
  since           timestamptz,
  left_at         timestamptz,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_address_spans_address ON contact_address_spans (organization_id, address);
CREATE INDEX contact_address_spans_contact ON contact_address_spans (organization_id, contact_id);

-- When a contact was last active: its newest message, or its creation. Not a column of contacts, because an index on
-- a column that every message changes would make each message write all indexes of that table.
CREATE TABLE contact_activity (
  organization_id uuid NOT NULL,
  contact_id      uuid NOT NULL,
  active_at       timestamptz NOT NULL,
  PRIMARY KEY (organization_id, contact_id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX contact_activity_latest ON contact_activity (organization_id, active_at, contact_id);

-- A change of the number of an organization's contacts, which is the sum of its rows. A job rolls them up into one.
-- No foreign key: a writer, which holds a contact, must not wait for the organization's row while that is deleted.
CREATE TABLE contact_counts (
  organization_id uuid NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- What a member has written for the team, below the message with the number after_seq (0: above all).
CREATE TABLE notes (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  contact_id      uuid NOT NULL,
  after_seq       bigint NOT NULL,
  member_id       uuid, -- null: the author has left the team
  text            text NOT NULL,
  event_seq       bigint NOT NULL, -- of its note.created, which has the text too
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX notes_conversation ON notes (organization_id, contact_id, after_seq);

--
-- Messages
--

-- A message of a conversation, or a record that only shows on another message (a reaction, an edit, a revocation). A
-- record has no seq, and context_upstream_id names the message that it is about.
CREATE TABLE messages (
  organization_id     uuid NOT NULL,
  id                  uuid NOT NULL,
  contact_id          uuid NOT NULL,
  seq                 bigint, -- its number in the conversation, without gaps
  instance_id         uuid, -- its channel; null: the organization's own number
  upstream_id         text,
  context_upstream_id text, -- of the message that it replies to or is about
  sender_type         text NOT NULL CHECK (sender_type IN ('user-chat', 'bot-chat', 'human-chat', 'system')),
  assignee_id         uuid, -- the member who sent it
  message_type        text NOT NULL,
  gateway_type        text, -- the gateway's name for the type, which its clients filter by
  text                text NOT NULL,
  content             jsonb, -- what the upstream's message of this type holds beyond its text
  network             jsonb, -- what only the network of a linked device reports: {remoteJid, participant, message}
  media_type          text,
  media_id            uuid,
  media_expires_at    timestamptz, -- until when the upstream has the file
  -- Of an inbound file: before and after the first attempt to fetch it, and given up. Null: there is none to fetch.
  media_state         text CHECK (media_state IN ('awaited', 'retried', 'missing')),
  transcription       text,
  status              text NOT NULL CHECK (status IN ('sent', 'delivered', 'read', 'failed')),
  outcome             text CHECK (outcome IN ('pending', 'unknown')), -- the upstream's answer is outstanding
  error               jsonb, -- {code, text}
  -- These three name the recipient of a broadcast; null once another message has been sent to it.
  campaign_id         uuid,
  broadcast_id        uuid,
  recipient_n         integer,
  trace               jsonb, -- what happened to it and is in no other row: an array of notes (model/messages/trace)
  traceparent         text, -- the W3C trace context of the request that caused the row, if that trace is recorded
  created_at          timestamptz NOT NULL, -- the upstream's time
  recorded_at         timestamptz NOT NULL DEFAULT now(),
  accepted_at         timestamptz,
  delivered_at        timestamptz,
  read_at             timestamptz,
  failed_at           timestamptz,
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 85); -- room for the updates of its status
CREATE UNIQUE INDEX messages_conversation ON messages (organization_id, contact_id, seq) INCLUDE (instance_id);
-- Two linked devices of one organization may see the same message under the same id: each has a row of its own.
CREATE UNIQUE INDEX messages_upstream ON messages (organization_id, upstream_id, instance_id) NULLS NOT DISTINCT
  WHERE upstream_id IS NOT NULL;
CREATE INDEX messages_about ON messages (organization_id, context_upstream_id) WHERE seq IS NULL;
CREATE INDEX messages_unsettled ON messages (organization_id, recorded_at) WHERE outcome IS NOT NULL;
-- The messages of a channel by time, their number and their contacts are read from the index alone.
CREATE INDEX messages_instance ON messages (organization_id, instance_id, created_at, id) INCLUDE (contact_id)
  WHERE seq IS NOT NULL;
CREATE INDEX messages_broadcast ON messages (organization_id, contact_id, recorded_at) WHERE broadcast_id IS NOT NULL;

-- The words of a message of a long conversation: text and transcription, normalized. A job adds rows, so that
-- recording a message costs nothing more; messages without a row are read from messages. The contact leads the index
-- of words: a search looks at one conversation. No foreign key: the words of an erased contact are deleted in slices
-- after its row.
CREATE TABLE message_search (
  organization_id uuid NOT NULL,
  contact_id      uuid NOT NULL,
  seq             bigint NOT NULL,
  folded          text NOT NULL,
  PRIMARY KEY (organization_id, contact_id, seq)
);
CREATE INDEX message_search_words ON message_search USING gin (contact_id, folded gin_trgm_ops) WITH (fastupdate = off);

-- Up to when the send slots of a business number are taken. Unlogged: a crash forgets about a second.
CREATE UNLOGGED TABLE sending_paces (
  organization_id uuid NOT NULL,
  phone_number_id text NOT NULL,
  paced_until     timestamptz NOT NULL,
  PRIMARY KEY (organization_id, phone_number_id)
) WITH (fillfactor = 50);

--
-- Media
--

-- A stored file. The row is written before the bytes, so that what a killed process leaves behind is found and
-- removed.
CREATE TABLE media (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL, -- the key of its blob is organization_id/id
  mime_type       text NOT NULL,
  size            bigint NOT NULL, -- bytes
  filename        text, -- the display name of a document
  message_id      uuid, -- null until the message is recorded
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX media_unattached ON media (organization_id, created_at) WHERE message_id IS NULL;

--
-- Callbacks
--

-- A callback as it came, stored before it is acknowledged. Those that wait are a queue in the order of their arrival
-- by the server's clock; the ids, which processes make with clocks of their own, do not give that order.
CREATE TABLE callbacks (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  instance_id     uuid, -- null: of the organization's own number
  body            bytea NOT NULL,
  waiting         boolean NOT NULL DEFAULT false, -- it is not processed yet
  traceparent     text, -- the W3C trace context of the request, if that trace is recorded
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX callbacks_waiting ON callbacks (organization_id, received_at, id) WHERE waiting;

-- A callback that failed, or that names the same people or messages as an earlier one that did. It no longer waits.
CREATE TABLE set_aside_callbacks (
  organization_id uuid NOT NULL,
  callback_id     uuid NOT NULL,
  keys            text[] NOT NULL, -- the addresses and message ids that it names
  attempts        integer NOT NULL, -- 0: it was not attempted, because it is behind another one
  run_at          timestamptz NOT NULL, -- of the next attempt
  process_id      integer, -- processes.id of the process of an attempt
  error           text, -- of the last attempt
  failed_at       timestamptz, -- of the last attempt; then it is not retried
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, callback_id),
  FOREIGN KEY (organization_id, callback_id) REFERENCES callbacks (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX set_aside_callbacks_due ON set_aside_callbacks (organization_id, run_at) WHERE failed_at IS NULL;
CREATE INDEX set_aside_callbacks_keys ON set_aside_callbacks USING gin (organization_id, keys) WHERE failed_at IS NULL;

-- What an organization's turn takes. The row matters only while the process lives, and is written twice for each
-- batch of callbacks, so it needs no log and no flush.
CREATE UNLOGGED TABLE callback_turns (
  organization_id uuid PRIMARY KEY,
  process_id      integer, -- processes.id; null: the turn has ended
  callback_ids    uuid[] NOT NULL, -- in order
  deaths          integer NOT NULL -- how many processes in a row have died while they processed some of them
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0
);

--
-- Instances
--

-- A channel of the gateway: a linked device, a business number or a simulated phone.
CREATE TABLE instances (
  organization_id     uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                  uuid NOT NULL,
  name                text NOT NULL,
  kind                text NOT NULL CHECK (kind IN ('linked_device', 'business_api', 'sandbox')),
  state               text NOT NULL CHECK (state IN ('open', 'connecting', 'close')),
  state_code          integer, -- the network's code of the last close
  state_changed_at    timestamptz NOT NULL DEFAULT now(),
  token               bytea NOT NULL, -- encrypted; its owner may see it again
  token_hash          bytea NOT NULL,
  number              text, -- as it was given
  owner               text, -- the digits of the number that is connected
  profile_name        text,
  profile_picture_url text,
  phone_number_id     text, -- its own number at the upstream (of a sandbox: at the simulator); null: the organization's
  business_account_id text,
  access_token        bytea, -- encrypted
  app_secret          bytea, -- encrypted; without it the callbacks of its number are refused
  verify_token_hash   bytea, -- null: none was given
  settings            jsonb NOT NULL DEFAULT '{}',
  code                bytea, -- the code that it shows at present, encrypted; null: none
  qr_count            integer NOT NULL DEFAULT 0, -- the codes it has shown since it was last closed
  wanted              boolean NOT NULL DEFAULT false, -- a linked device that some process is to keep connected
  holder              integer, -- processes.id of the process that runs it, until held_until
  held_until          timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, name)
);
CREATE UNIQUE INDEX instances_token ON instances (organization_id, token_hash);
CREATE UNIQUE INDEX instances_number ON instances (organization_id, phone_number_id) WHERE phone_number_id IS NOT NULL;
CREATE INDEX instances_verify_token ON instances (verify_token_hash) WHERE verify_token_hash IS NOT NULL;
CREATE INDEX instances_wanted ON instances (organization_id, id) WHERE wanted;
CREATE INDEX instances_holder ON instances (holder) WHERE holder IS NOT NULL;

-- The credentials of a linked device, encrypted. They and its keys are written in one transaction.
CREATE TABLE device_credentials (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  credentials     bytea NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, instance_id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);

-- A key of a linked device's sessions, encrypted.
CREATE TABLE device_keys (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  type            text NOT NULL,
  key_id          text NOT NULL,
  value           bytea NOT NULL,
  PRIMARY KEY (organization_id, instance_id, type, key_id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);

-- A request to the process that runs an instance, and its answer, both encrypted. The row is deleted when the answer
-- has been read.
CREATE TABLE instance_commands (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  instance_id     uuid NOT NULL,
  command         bytea NOT NULL,
  connects        boolean NOT NULL, -- the instance is to be connected from then on
  expires_at      timestamptz NOT NULL, -- if it has not begun by then, it never does
  begun_at        timestamptz,
  answer          bytea,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX instance_commands_waiting ON instance_commands (organization_id, instance_id, id) WHERE begun_at IS NULL;

-- A change of the number of numbered messages on an instance, which is the sum of its rows. A job rolls them up into
-- one. The organization's own number has no rows: its messages are those of all conversations less these. No foreign
-- keys: a writer waits for nobody, and the messages of an instance outlive it.
CREATE TABLE line_counts (
  organization_id uuid NOT NULL,
  instance_id     uuid NOT NULL,
  id              uuid NOT NULL DEFAULT gen_random_uuid(),
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, instance_id, id)
);

--
-- Events
--

-- How far this server's transactions are known to have come. If that is ahead of the server, the database was
-- restored from another one. Events count in transaction ids of the server plus an offset: a database that has moved
-- to a server whose ids are behind continues above all ids in use, and no row changes
-- (storage/events/transaction-clock).
CREATE TABLE transaction_clock (
  singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
  snapshot       pg_snapshot, -- what was visible when the clock was set
  ahead          bigint NOT NULL DEFAULT 0 -- the offset
);
INSERT INTO transaction_clock DEFAULT VALUES;

CREATE FUNCTION event_transaction_id() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT CASE ahead WHEN 0 THEN pg_current_xact_id() ELSE (pg_current_xact_id()::text::bigint + ahead)::text::xid8 END
  FROM transaction_clock
$$;

CREATE FUNCTION event_snapshot() RETURNS pg_snapshot LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE ahead WHEN 0 THEN pg_current_snapshot() ELSE (
    (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ahead) || ':' ||
    (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ahead) || ':' || coalesce((
      SELECT string_agg((id::text::bigint + ahead)::text, ',' ORDER BY id)
      FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id)
    ), '')
  )::pg_snapshot END
  FROM transaction_clock
$$;

-- A history of this database's transactions; n orders them, the oldest first. Positions of the feed name theirs,
-- since a database that was restored to an earlier moment uses transaction ids again (core/webhooks/positions).
CREATE TABLE event_histories (
  id       text PRIMARY KEY DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 12),
  n        integer GENERATED ALWAYS AS IDENTITY,
  server   text NOT NULL, -- the server and its timeline
  known_to pg_snapshot NOT NULL -- positions of earlier histories are valid up to this one
);
INSERT INTO event_histories (server, known_to)
VALUES ((pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), '1:1:');

-- The order of events. A transaction that waits for a row that another one holds raises its event after the other
-- one's, so the numbers are in the order of cause and effect. Transaction ids, which are given before the wait, are
-- not; they show what a reader has not seen yet (storage/events).
CREATE SEQUENCE events_seq AS bigint;

-- A fact, written by the statement that makes it happen. data holds the rows as they were then.
CREATE TABLE events (
  organization_id uuid NOT NULL,
  seq             bigint NOT NULL DEFAULT nextval('events_seq'),
  transaction_id  xid8 NOT NULL DEFAULT event_transaction_id(),
  id              uuid NOT NULL,
  type            text NOT NULL,
  contact_id      uuid,
  data            jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, seq)
);
ALTER SEQUENCE events_seq OWNED BY events.seq;
CREATE INDEX events_window ON events (organization_id, transaction_id, seq);

--
-- Webhooks
--

-- An endpoint of an organization, or of one of its instances, in whose language it is then called.
CREATE TABLE webhooks (
  organization_id       uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                    uuid NOT NULL,
  instance_id           uuid, -- an instance has at most one
  url                   text NOT NULL,
  description           text,
  events                text[] NOT NULL,
  by_events             boolean NOT NULL DEFAULT false, -- of an instance: the event's name is added to the URL
  with_base64           boolean NOT NULL DEFAULT false, -- of an instance: files are in the body
  headers               bytea, -- of an instance; encrypted
  secret                bytea NOT NULL, -- encrypted
  previous_secret       bytea, -- encrypted; signs as well until previous_secret_until
  previous_secret_until timestamptz,
  active                boolean NOT NULL DEFAULT true,
  disabled_reason       text, -- why it was disabled by itself
  failing_since         timestamptz, -- the first failure since the last success
  -- Only events with a higher number are for it: those that were raised after it was created or enabled.
  since_seq             bigint NOT NULL DEFAULT nextval('events_seq'),
  created_at            timestamptz NOT NULL DEFAULT now(),
  updated_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, instance_id) REFERENCES instances (organization_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhooks_instance ON webhooks (organization_id, instance_id) WHERE instance_id IS NOT NULL;

-- How far an organization's events have become deliveries. It is written with the organization's first webhook.
CREATE TABLE webhook_feeds (
  organization_id uuid PRIMARY KEY REFERENCES organization_rows (id) ON DELETE CASCADE,
  window_from     pg_snapshot NOT NULL DEFAULT event_snapshot(),
  window_to       pg_snapshot, -- null: the next window is not open yet
  seq             bigint -- up to which number the window is done
);

-- A delivery: one event for one webhook. No foreign keys: it is written for every event, and outlives its webhook
-- until a job deletes it.
CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  webhook_id      uuid NOT NULL,
  event_seq       bigint NOT NULL,
  event_id        uuid NOT NULL,
  event_type      text NOT NULL,
  contact_id      uuid,
  in_order        boolean NOT NULL, -- false: a replay, a test, an event without a contact; it waits for nothing
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts        jsonb NOT NULL DEFAULT '[]', -- [{at, response_status, error, duration_ms, response_body}]
  next_attempt_at timestamptz, -- null: it has ended, or waits for an earlier event of its contact
  process_id      integer, -- processes.id of the process that has claimed it; void if that is not in processes
  claimed_at      timestamptz, -- a claim that its process does not know after a while came with an answer that was lost
  attempted_at    timestamptz, -- when the last attempt was recorded
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 75); -- room for the update that claims it, which changes no indexed column
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (organization_id, webhook_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (organization_id, webhook_id, contact_id, event_seq)
  WHERE status = 'pending' AND in_order;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (organization_id, webhook_id, id) INCLUDE (status);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (organization_id, webhook_id, id) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_attempted ON webhook_deliveries (organization_id, attempted_at, id)
  WHERE attempted_at IS NOT NULL;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (organization_id, event_seq);

--
-- Templates
--

-- A template as the upstream lists it. One that it no longer lists is deleted.
CREATE TABLE templates (
  organization_id  uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  name             text NOT NULL,
  language         text NOT NULL,
  upstream_id      text,
  status           text NOT NULL,
  category         text NOT NULL,
  parameter_format text NOT NULL CHECK (parameter_format IN ('NAMED', 'POSITIONAL')),
  components       jsonb NOT NULL, -- as they came
  synced_at        timestamptz NOT NULL DEFAULT now(), -- when the row was last written
  PRIMARY KEY (organization_id, name, language)
);

--
-- Broadcasts
--

-- Sends that are counted together: a broadcast (kind 'broadcast'), or the one-off sends of one template on one day
-- (kind 'singles'). Each one-off send is a recipient with a broadcast_id of its own, so that a year of them is summed
-- as quickly as a broadcast.
CREATE TABLE broadcasts (
  organization_id   uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                uuid NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('broadcast', 'singles')),
  day               date, -- of one-off sends
  name              text NOT NULL,
  template_name     text NOT NULL,
  template_language text NOT NULL,
  template          jsonb NOT NULL, -- the template as it was when the broadcast was created
  parameters        jsonb NOT NULL DEFAULT '{}', -- of all recipients: {body, header, buttons}
  header_media      text, -- the URL that was given
  media_id          uuid, -- the stored file that all messages show
  channel_media_id  text, -- the channel's id of the same file
  handed_over_at    timestamptz,
  audience          jsonb NOT NULL DEFAULT '{}', -- what has yet to become recipients: {tags} or {all}
  status            text NOT NULL CHECK (status IN ('scheduled', 'running', 'paused', 'cancelled', 'completed')),
  status_reason     text, -- why it was paused by itself
  generation        integer NOT NULL DEFAULT 0, -- changes when the sending begins or stops: jobs of an older one end
  prepared_n        integer NOT NULL DEFAULT 0, -- recipients up to this number are ready
  prepared_contact  uuid, -- up to which contact the audience has become recipients
  prepared_at       timestamptz, -- when all were ready
  scheduled_at      timestamptz,
  started_at        timestamptz,
  completed_at      timestamptz,
  created_at        timestamptz NOT NULL,
  stored_at         timestamptz NOT NULL DEFAULT clock_timestamp(), -- by the clock of the contacts' created_at
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX broadcasts_singles ON broadcasts (organization_id, day, template_name, template_language)
  WHERE kind = 'singles';
CREATE INDEX broadcasts_started ON broadcasts (organization_id, started_at);
CREATE INDEX broadcasts_unfinished ON broadcasts (organization_id, status) WHERE status IN ('scheduled', 'running');

-- A recipient of a broadcast. Its progress is in its message alone: it is pending while that does not exist or its
-- outcome is outstanding.
CREATE TABLE broadcast_recipients (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL, -- from 1; 0: of a one-off send
  campaign_id     uuid NOT NULL, -- the row of broadcasts with which it is counted
  contact_id      uuid,
  number          text, -- as it was given; null where a contact was
  name            text,
  parameters      jsonb, -- its own: {body, header, buttons}
  message_id      uuid, -- the id that its message has or will have
  skip_reason     text,
  -- If it can have no message, because its contact was erased or nothing could be recorded: {status, error,
  -- accepted_at, delivered_at, read_at}.
  outcome         jsonb,
  clicked         text[] NOT NULL DEFAULT '{}', -- the texts of the quick-reply buttons that it pressed
  opted_out_at    timestamptz,
  PRIMARY KEY (organization_id, broadcast_id, n)
) WITH (fillfactor = 95);
CREATE INDEX broadcast_recipients_contact ON broadcast_recipients (organization_id, contact_id, broadcast_id)
  WHERE contact_id IS NOT NULL;
CREATE INDEX broadcast_recipients_skipped ON broadcast_recipients (organization_id, broadcast_id, n)
  WHERE skip_reason IS NOT NULL;
CREATE INDEX broadcast_recipients_singles ON broadcast_recipients (organization_id, broadcast_id) WHERE n = 0;
CREATE INDEX broadcast_recipients_campaign ON broadcast_recipients (organization_id, campaign_id) WHERE n = 0;

-- A recipient whose message failed; it may have been delivered after all. Not an index on the status of messages,
-- because each update of a message would then write all indexes of that table.
CREATE TABLE broadcast_failures (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  PRIMARY KEY (organization_id, broadcast_id, n)
);

-- A recorded message of a broadcast that the upstream certainly did not accept, because it was down or a limit was
-- reached. It is sent again at retry_at. The row is deleted before the call, so that no message is sent twice.
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

-- A request to send the failed messages of a broadcast again. If it is repeated, it continues and begins nothing new.
CREATE TABLE broadcast_retries (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL, -- of the request
  broadcast_id    uuid NOT NULL,
  until           timestamptz NOT NULL, -- messages that were recorded later are not sent again
  retried         integer NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, id)
);

-- A list of recipients that was uploaded as a file. The row is inserted when all its recipients are.
CREATE TABLE audiences (
  organization_id   uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                uuid NOT NULL,
  name              text,
  recipients        integer NOT NULL,
  rejected          integer NOT NULL,
  errors            jsonb NOT NULL, -- the first rejected rows: [{row, error, message}]
  body_parameters   text[] NOT NULL, -- the names of the parameters that recipients have
  button_parameters text[] NOT NULL,
  bytes             bigint NOT NULL DEFAULT 0, -- of the file; an organization's files together have a limit
  created_at        timestamptz NOT NULL,
  expires_at        timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX audiences_expiry ON audiences (expires_at);

-- A recipient of an uploaded audience. A job deletes them some time after the row of the audience, because they may
-- be a million.
CREATE TABLE audience_recipients (
  organization_id uuid NOT NULL,
  audience_id     uuid NOT NULL,
  n               integer NOT NULL, -- from 1, without gaps
  address         text, -- a number's digits, or the chat id of a person without one; null: erased
  name            text,
  parameters      jsonb, -- its own: {body, buttons}
  PRIMARY KEY (organization_id, audience_id, n)
);
CREATE INDEX audience_recipients_address ON audience_recipients (organization_id, address) WHERE address IS NOT NULL;

--
-- Analytics
--

-- A counter of a campaign: how many recipients are total, skipped, recorded (have a message), sent, delivered, read,
-- failed, clicked or opted_out, have pressed a button (detail: its text), or failed with an error (detail: its code).
CREATE TABLE campaign_counts (
  organization_id uuid NOT NULL,
  campaign_id     uuid NOT NULL,
  counter         text NOT NULL,
  detail          text NOT NULL,
  value           bigint NOT NULL,
  PRIMARY KEY (organization_id, campaign_id, counter, detail)
);

-- A change that is yet to be added to a counter of a campaign. A job rolls them up.
CREATE TABLE campaign_deltas (
  organization_id uuid NOT NULL,
  campaign_id     uuid NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  counter         text NOT NULL,
  detail          text NOT NULL DEFAULT '',
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, campaign_id, id)
);

-- The upstream's text for an error code, as it was first heard.
CREATE TABLE campaign_errors (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  text            text NOT NULL,
  PRIMARY KEY (organization_id, code)
);

-- The utm_campaign of a link that recipients of a broadcast got by parameters of their own.
CREATE TABLE broadcast_utm_campaigns (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  utm_campaign    text NOT NULL, -- as the link has it
  PRIMARY KEY (organization_id, broadcast_id, utm_campaign)
);

-- A link of ours that redirects to another URL.
CREATE TABLE short_links (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  code            text NOT NULL, -- unique over all organizations: it is in the directory
  redirect_url    text NOT NULL,
  utm_campaign    text, -- of redirect_url
  clicks          bigint NOT NULL DEFAULT 0, -- without those of short_link_clicks
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, code)
);
CREATE INDEX short_links_created ON short_links (organization_id, created_at, code);

-- Clicks that are yet to be added to a short link's. A job rolls them up.
CREATE TABLE short_link_clicks (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, code, id)
);

-- A click with its time. Old ones are deleted; short_links.clicks keeps their number.
CREATE TABLE short_link_visits (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  visited_at      timestamptz NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (organization_id, code, visited_at, id)
);

-- A short link that was given to a recipient (n), or to all recipients of a broadcast or the one of a one-off send (n
-- = 0). For a one-off send, campaign_id is not its broadcast_id.
CREATE TABLE sent_links (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  code            text NOT NULL,
  campaign_id     uuid NOT NULL,
  campaign        text NOT NULL, -- of the link, in lower case
  noted_at        timestamptz NOT NULL, -- right before it is sent
  PRIMARY KEY (organization_id, broadcast_id, n, code)
);
CREATE INDEX sent_links_code ON sent_links (organization_id, code, broadcast_id, n);
CREATE INDEX sent_links_singles ON sent_links (organization_id, campaign, noted_at) WHERE campaign_id <> broadcast_id;

--
-- Storefront
--

-- The store of an organization.
CREATE TABLE storefront_settings (
  organization_id     uuid PRIMARY KEY REFERENCES organization_rows (id) ON DELETE CASCADE,
  url                 text NOT NULL,
  access_token        bytea NOT NULL, -- encrypted
  webhook_secret      bytea NOT NULL, -- encrypted
  orders_synced_until timestamptz, -- up to which change its orders are known
  orders_synced_at    timestamptz,
  updated_at          timestamptz NOT NULL DEFAULT now()
);

-- An order of the storefront, as it was last reported.
CREATE TABLE storefront_orders (
  organization_id      uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                   text NOT NULL, -- the storefront's
  name                 text NOT NULL,
  total_price          numeric NOT NULL,
  currency             text NOT NULL,
  ordered_at           timestamptz NOT NULL,
  financial_status     text,
  utm_source           text, -- of its landing page, in lower case
  utm_campaign         text, -- of its landing page, as it was there
  campaign             text, -- the same in lower case: not every collation knows the letters of all languages
  contact_id           uuid, -- the buyer, if the order's phone number or e-mail address is a contact's; neither is kept
  -- The broadcast that gave the buyer, and nobody else, the link that the buyer last visited. Visits are deleted later.
  clicked_broadcast_id uuid,
  clicked_at           timestamptz,
  is_test              boolean NOT NULL,
  cancelled_at         timestamptz,
  updated_at           timestamptz NOT NULL, -- the storefront's: an older report changes nothing
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE SET NULL (contact_id)
);
CREATE INDEX storefront_orders_campaign ON storefront_orders (organization_id, campaign, ordered_at)
  WHERE campaign IS NOT NULL AND NOT is_test AND cancelled_at IS NULL;
CREATE INDEX storefront_orders_contact ON storefront_orders (organization_id, contact_id) WHERE contact_id IS NOT NULL;
CREATE INDEX storefront_orders_clicked ON storefront_orders (organization_id, clicked_broadcast_id)
  WHERE clicked_broadcast_id IS NOT NULL;

-- A webhook of the storefront that has been processed; a repetition has the same id.
CREATE TABLE storefront_webhooks (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              text NOT NULL,
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

--
-- Jobs
--

-- Work that follows from a row: enqueued by the statement that writes the row, and run by the worker processes
-- (storage/jobs). A job is free, claimed by a process, or failed on every attempt; a finished one is deleted. Jobs of
-- the service itself have an organization_id of zeros. Each job leaves several dead rows while the table is nearly
-- empty, so vacuum is triggered by their number, not by a fraction.
CREATE TABLE jobs (
  organization_id uuid NOT NULL,
  id              bigint GENERATED ALWAYS AS IDENTITY,
  class           text NOT NULL, -- tasks of a class share places (model/jobs)
  task            text NOT NULL,
  key             text, -- an organization has at most one job of a task with it
  payload         jsonb NOT NULL,
  run_at          timestamptz NOT NULL DEFAULT now(),
  attempts        integer NOT NULL DEFAULT 0,
  deaths          integer NOT NULL DEFAULT 0, -- how many processes in a row have died while they ran it
  process_id      integer, -- processes.id of the process that has claimed it
  claimed_at      timestamptz,
  repeat          boolean NOT NULL DEFAULT false, -- it was requested again while it was running
  failed_at       timestamptz, -- after its last attempt
  error           text, -- of its last attempt
  requested_at    timestamptz NOT NULL DEFAULT now(), -- the last request
  PRIMARY KEY (organization_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX jobs_key ON jobs (organization_id, task, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_turns ON jobs (class, organization_id, run_at, id) WHERE process_id IS NULL AND failed_at IS NULL;
CREATE INDEX jobs_claimed ON jobs (process_id) WHERE process_id IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (organization_id, id) WHERE failed_at IS NOT NULL;
CREATE INDEX jobs_set_aside ON jobs (run_at) WHERE failed_at IS NOT NULL AND deaths > 0;

--
-- Runtime
--

-- A process of the service. It is alive while it holds the advisory lock of its id
-- (storage/processes/process-registry).
CREATE TABLE processes (
  id            integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  version       text NOT NULL, -- of Parley, such as 1.0.0
  devices_until timestamptz, -- until when it surely runs linked devices, for the shares of processes; null: none
  started_at    timestamptz NOT NULL DEFAULT now()
);

-- Since when some process has been up without a pause: outcomes are given up only after the service could have heard
-- of them.
CREATE TABLE service_uptime (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  up_since  timestamptz NOT NULL,
  seen_at   timestamptz NOT NULL
);
