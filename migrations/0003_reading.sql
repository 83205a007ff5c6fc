-- What reading at scale needs: search within long conversations, contacts by activity, by name and by number, and how many.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The words of long conversations, folded (lib/fold): text and transcription, accents and case taken away. A job fills it in
-- steps, so that recording a message costs nothing more; what is not in it yet, and short conversations as a whole, are read
-- from messages. Contacts lead the index: a search looks at one conversation.
CREATE TABLE message_search (
  organization_id uuid NOT NULL,
  contact_id      uuid NOT NULL,
  seq             bigint NOT NULL,
  folded          text NOT NULL,
  PRIMARY KEY (organization_id, contact_id, seq),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX message_search_words ON message_search USING gin (contact_id, folded gin_trgm_ops) WITH (fastupdate = off);

ALTER TABLE contacts
  ADD COLUMN searchable_seq bigint NOT NULL DEFAULT 0, -- up to which number the conversation stands in message_search
  ADD COLUMN folded_name text; -- full_name, folded; what is searched
-- As lib/fold does; upper case that the database's locale does not know is folded with the next change of the name.
UPDATE contacts SET folded_name = normalize(translate(
  replace(replace(replace(replace(
    lower(regexp_replace(normalize(full_name, NFKD), '[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]', '', 'g')),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
  'øđðħıłŧς', 'oddhiltσ'), NFC)
WHERE full_name IS NOT NULL;
CREATE INDEX contacts_name ON contacts USING gin (organization_id, folded_name gin_trgm_ops) WITH (fastupdate = off);
CREATE INDEX contact_addresses_digits ON contact_addresses USING gin (organization_id, address gin_trgm_ops)
  WITH (fastupdate = off);

-- When something was last said with a contact (or it was made). Apart from contacts: an index on what changes with every
-- message would make each of these updates write all the indexes of the table.
CREATE TABLE contact_activity (
  organization_id uuid NOT NULL,
  contact_id      uuid NOT NULL,
  active_at       timestamptz NOT NULL,
  PRIMARY KEY (organization_id, contact_id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
INSERT INTO contact_activity (organization_id, contact_id, active_at)
SELECT c.organization_id, c.id, greatest(c.created_at, m.recorded_at)
FROM contacts c
LEFT JOIN messages m ON m.organization_id = c.organization_id AND m.contact_id = c.id AND m.seq = c.last_seq;
CREATE INDEX contact_activity_latest ON contact_activity (organization_id, active_at, contact_id);

-- How many contacts an organization has: the sum of its rows. Writers add rows, a job folds them into one. Without a foreign key:
-- who adds a row holds a contact, and must not wait for the organization's row while that is deleted.
CREATE TABLE contact_counts (
  organization_id uuid NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  change          bigint NOT NULL,
  PRIMARY KEY (organization_id, id)
);
INSERT INTO contact_counts (organization_id, change) SELECT organization_id, count(*) FROM contacts GROUP BY organization_id;
