-- A phone number passes from one person to another. A row of contact_addresses says whom an address leads to now; since when, where
-- it was another contact's before; and when its contact left it, where nobody else has taken it yet.
ALTER TABLE contact_addresses ADD COLUMN since timestamptz;
ALTER TABLE contact_addresses ADD COLUMN left_at timestamptz;

-- The upstream's user ids are those of one business: through which instance one became known; null: the organization's own number.
ALTER TABLE contact_addresses ADD COLUMN instance_id uuid;

-- The times at which a number was a contact's that it does not lead to now. Without left_at: the contact has said that it has the
-- number now, but another contact has its conversation under it.
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
