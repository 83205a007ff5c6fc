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
