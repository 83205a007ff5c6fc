-- Who a contact is: the upstream's ids and username of a person.

ALTER TABLE contacts
  ADD COLUMN user_id text, -- the upstream's newest user id of the person; a copy of the address, so that events have it
  ADD COLUMN parent_user_id text, -- the id that is valid in all linked portfolios
  ADD COLUMN username text, -- of several people in turn: it identifies nobody
  ADD COLUMN username_at timestamptz, -- when the person was seen with it
  ADD COLUMN referral_first jsonb, -- the ad or post that the person first came from: {at, message_id, …}
  ADD COLUMN referral_last jsonb; -- and last

-- The usernames of contacts for searches: @ and the username in lower case.
CREATE TABLE contact_usernames (
  organization_id uuid NOT NULL,
  contact_id      uuid NOT NULL,
  username        text NOT NULL,
  PRIMARY KEY (organization_id, contact_id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_usernames_search ON contact_usernames USING gin (organization_id, username gin_trgm_ops)
  WITH (fastupdate = off);

-- Two contacts that became one, for 30 days. Undone: these two stay apart, until the upstream announces otherwise.
CREATE TABLE contact_merges (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  kept_id         uuid NOT NULL,
  gone_id         uuid NOT NULL,
  cause           text NOT NULL CHECK (cause IN ('seen_together', 'announced')),
  merged_at       timestamptz NOT NULL,
  undone_at       timestamptz,
  via             uuid[] NOT NULL DEFAULT '{}', -- the later merges by which it came to kept_id, the last one last
  -- The messages that moved have these numbers now; less the offset, those that they had.
  first_seq       bigint NOT NULL,
  last_seq        bigint NOT NULL,
  seq_offset      bigint NOT NULL,
  -- What else an undo needs; null after it: both rows as they were, and what moved.
  kept            jsonb,
  gone            jsonb,
  active_at       timestamptz,
  addresses       text[],
  spans           uuid[],
  unnumbered      uuid[], -- messages without a number
  orders          text[],
  notes           jsonb, -- {id: after_seq}
  recipients      jsonb, -- [{broadcast_id, n}] of broadcasts
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, kept_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_merges_kept ON contact_merges (organization_id, kept_id);
CREATE INDEX contact_merges_apart ON contact_merges (organization_id, gone_id) WHERE undone_at IS NOT NULL;
CREATE INDEX contact_merges_age ON contact_merges (merged_at) WHERE undone_at IS NULL;
