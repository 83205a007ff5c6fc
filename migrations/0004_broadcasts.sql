-- Templates, broadcasts, what became of them, and what they earned.

-- As the upstream lists them; one that it lists no more goes. components as they came.
CREATE TABLE templates (
  organization_id  uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name             text NOT NULL,
  language         text NOT NULL,
  upstream_id      text,
  status           text NOT NULL,
  category         text NOT NULL,
  parameter_format text NOT NULL CHECK (parameter_format IN ('NAMED', 'POSITIONAL')),
  components       jsonb NOT NULL,
  synced_at        timestamptz NOT NULL DEFAULT now(), -- when the row was last written
  PRIMARY KEY (organization_id, name, language)
);

-- When the last list of templates that is known began to be fetched.
ALTER TABLE upstream_settings ADD COLUMN templates_synced_at timestamptz;

-- What is counted together. kind 'broadcast': one POST /broadcasts. kind 'singles': the send-templates of one template on one
-- day; each of them is a recipient with a broadcast_id of its own, so that a year of them is as quickly summed as a broadcast.
-- generation changes whenever the sending is begun or stopped: jobs of an older one end.
CREATE TABLE broadcasts (
  organization_id   uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id                uuid NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('broadcast', 'singles')),
  day               date, -- of singles
  name              text NOT NULL,
  template_name     text NOT NULL,
  template_language text NOT NULL,
  template          jsonb NOT NULL, -- the template as it was when this was made
  parameters        jsonb NOT NULL DEFAULT '{}', -- those of all recipients: {body, header, buttons}
  header_media      text, -- the address that was given
  media_id          uuid, -- the stored file that all messages show
  channel_media_id  text, -- the same as the channel knows it
  handed_over_at    timestamptz,
  audience          jsonb NOT NULL DEFAULT '{}', -- what is still to become recipients: {tags} or {all}
  status            text NOT NULL CHECK (status IN ('scheduled', 'running', 'paused', 'cancelled', 'completed')),
  status_reason     text, -- why it was paused by itself
  generation        integer NOT NULL DEFAULT 0,
  prepared_n        integer NOT NULL DEFAULT 0, -- the recipients up to this number are ready to be sent to
  prepared_contact  uuid, -- up to which contact the audience has become recipients
  prepared_at       timestamptz, -- when all were ready
  scheduled_at      timestamptz,
  started_at        timestamptz,
  completed_at      timestamptz,
  created_at        timestamptz NOT NULL,
  stored_at         timestamptz NOT NULL DEFAULT clock_timestamp(), -- by the clock that contacts have their created_at from
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX broadcasts_singles ON broadcasts (organization_id, day, template_name, template_language) WHERE kind = 'singles';
CREATE INDEX broadcasts_started ON broadcasts (organization_id, started_at);
CREATE INDEX broadcasts_unfinished ON broadcasts (organization_id, status) WHERE status IN ('scheduled', 'running');

-- What becomes of a recipient stands in its message, and nowhere else. It is pending while that message does not exist, or its
-- outcome is outstanding. outcome holds {status, error, accepted_at, delivered_at, read_at} where there is no message to tell:
-- its contact was erased, or nothing could be recorded.
CREATE TABLE broadcast_recipients (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL, -- from 1; 0 of a single
  campaign_id     uuid NOT NULL, -- the row of broadcasts with which it is counted
  contact_id      uuid,
  number          text, -- as it was given; null where a contact was
  name            text,
  parameters      jsonb, -- its own: {body, header, buttons}
  message_id      uuid, -- the id that its message has or will have
  skip_reason     text,
  outcome         jsonb,
  clicked         text[] NOT NULL DEFAULT '{}', -- the texts of the quick-reply buttons that it pressed
  opted_out_at    timestamptz,
  PRIMARY KEY (organization_id, broadcast_id, n)
) WITH (fillfactor = 95);
CREATE INDEX broadcast_recipients_contact ON broadcast_recipients (organization_id, contact_id, broadcast_id)
  WHERE contact_id IS NOT NULL;
CREATE INDEX broadcast_recipients_skipped ON broadcast_recipients (organization_id, broadcast_id, n) WHERE skip_reason IS NOT NULL;
CREATE INDEX broadcast_recipients_singles ON broadcast_recipients (organization_id, broadcast_id) WHERE n = 0;
CREATE INDEX broadcast_recipients_campaign ON broadcast_recipients (organization_id, campaign_id) WHERE n = 0;

-- A message that was sent to a recipient; unlinked when that one is sent to again.
ALTER TABLE messages
  ADD COLUMN campaign_id uuid,
  ADD COLUMN broadcast_id uuid,
  ADD COLUMN recipient_n integer;
CREATE INDEX messages_broadcast ON messages (organization_id, contact_id, recorded_at) WHERE broadcast_id IS NOT NULL;

-- Those recipients whose message failed; some may have been delivered after all. Apart from messages: an index on their status
-- would make each update of a message write all the indexes of the table.
CREATE TABLE broadcast_failures (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  n               integer NOT NULL,
  PRIMARY KEY (organization_id, broadcast_id, n)
);

-- How many recipients of a campaign are what. Writers add deltas, a job folds them; a counter is the sum of both. counter:
-- total, skipped, recorded (has a message), sent, delivered, read, failed, error (detail: its code), clicked, button (detail:
-- its text), opted_out.
CREATE TABLE campaign_deltas (
  organization_id uuid NOT NULL,
  campaign_id     uuid NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  counter         text NOT NULL,
  detail          text NOT NULL DEFAULT '',
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, campaign_id, id)
);
CREATE TABLE campaign_counts (
  organization_id uuid NOT NULL,
  campaign_id     uuid NOT NULL,
  counter         text NOT NULL,
  detail          text NOT NULL,
  value           bigint NOT NULL,
  PRIMARY KEY (organization_id, campaign_id, counter, detail)
);

-- What the upstream says of an error, in the words that were heard first.
CREATE TABLE campaign_errors (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  text            text NOT NULL,
  PRIMARY KEY (organization_id, code)
);

-- The utm_campaigns of the links that recipients got by parameters of their own.
CREATE TABLE broadcast_utm_campaigns (
  organization_id uuid NOT NULL,
  broadcast_id    uuid NOT NULL,
  utm_campaign    text NOT NULL, -- as the link has it
  PRIMARY KEY (organization_id, broadcast_id, utm_campaign)
);

-- A contact that wants no broadcasts any more said so (reply), the upstream did (upstream), or an old list did (import).
-- opted_in_at: when it last said that it wants them again; an older word that is heard later changes nothing.
ALTER TABLE contacts
  ADD COLUMN opted_out_at timestamptz,
  ADD COLUMN opt_out_source text CHECK (opt_out_source IN ('reply', 'upstream', 'import')),
  ADD COLUMN opted_in_at timestamptz;
CREATE INDEX contacts_opted_out ON contacts (organization_id, opted_out_at, id) WHERE opted_out_at IS NOT NULL;

CREATE TABLE short_links (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  code            text NOT NULL, -- unique over all organizations: it stands in the directory
  redirect_url    text NOT NULL,
  utm_campaign    text, -- of redirect_url
  clicks          bigint NOT NULL DEFAULT 0, -- without those of short_link_clicks
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, code)
);
CREATE INDEX short_links_created ON short_links (organization_id, created_at, code);
-- Clicks that are still to be added to those of the links: writers add rows, a job folds them.
CREATE TABLE short_link_clicks (
  organization_id uuid NOT NULL,
  code            text NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, code, id)
);

CREATE TABLE storefront_orders (
  organization_id  uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id               text NOT NULL, -- the storefront's
  name             text NOT NULL,
  total_price      numeric NOT NULL,
  currency         text NOT NULL,
  ordered_at       timestamptz NOT NULL,
  financial_status text,
  utm_source       text, -- of its landing page, lower case
  utm_campaign     text, -- of its landing page, as it stood there
  campaign         text, -- the same in lower case: not every collation knows the letters of all languages
  is_test          boolean NOT NULL,
  cancelled_at     timestamptz,
  updated_at       timestamptz NOT NULL, -- the storefront's: an older report changes nothing
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX storefront_orders_campaign ON storefront_orders (organization_id, campaign, ordered_at)
  WHERE campaign IS NOT NULL AND NOT is_test AND cancelled_at IS NULL;

-- Webhooks of the storefront that have been worked off; the same id comes again with a repetition.
CREATE TABLE storefront_webhooks (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  id              text NOT NULL,
  received_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

-- Up to which change the orders of a storefront are known.
ALTER TABLE storefront_settings
  ADD COLUMN orders_synced_until timestamptz,
  ADD COLUMN orders_synced_at timestamptz;
