-- The page of the team: sessions of members, links that sign them in once, who answers whom, notes, and the codes that instances show.

-- A session of a member on the page. The token in the cookie names organization and session, and is signed; its secret stands here as a hash.
CREATE TABLE member_sessions (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  member_id       uuid NOT NULL,
  secret_hash     bytea NOT NULL,
  previous_hash   bytea, -- of the secret before, which is good until a moment after confirmed_at
  rotated_at      timestamptz NOT NULL,
  confirmed_at    timestamptz, -- when the secret that took its place was first presented; null: not yet
  by_link         boolean NOT NULL, -- begun by a link: a password can be set without the one before
  expires_at      timestamptz NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, member_id) REFERENCES members (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX member_sessions_member ON member_sessions (organization_id, member_id);
CREATE INDEX member_sessions_expiry ON member_sessions (expires_at);

-- Links that sign a member in; a row goes when its link is used.
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

-- Failed attempts to sign in, by the hash of what somebody gave as organization and e-mail address: whether there is such a member is not told.
CREATE TABLE sign_in_failures (
  name_hash    bytea PRIMARY KEY,
  failures     integer NOT NULL,
  failed_at    timestamptz NOT NULL,
  locked_until timestamptz
);
CREATE INDEX sign_in_failures_age ON sign_in_failures (failed_at);

-- The member who answers a contact. A member who leaves the team leaves the contacts to nobody (storage/members).
-- Nothing writes contacts while these indexes are built: seconds where there are millions.
ALTER TABLE contacts ADD COLUMN assignee_id uuid;
CREATE INDEX contacts_assigned ON contacts (organization_id, assignee_id) WHERE assignee_id IS NOT NULL;
-- Of many contacts mostly few are archived. (The unread mark has no index: messages would pay for it.)
CREATE INDEX contacts_archived ON contacts (organization_id, id) WHERE archived;

-- What members write for each other, below the message with the number after_seq (0: above all).
CREATE TABLE notes (
  organization_id uuid NOT NULL,
  id              uuid NOT NULL,
  contact_id      uuid NOT NULL,
  after_seq       bigint NOT NULL,
  member_id       uuid, -- null: the author has left the team
  text            text NOT NULL,
  event_seq       bigint NOT NULL, -- of its note.created, where the text stands as well
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, contact_id) REFERENCES contacts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX notes_conversation ON notes (organization_id, contact_id, after_seq);

-- The code that an instance shows at present, so that whoever looks at it sees the newest one.
ALTER TABLE instances ADD COLUMN code bytea; -- sealed; null: it shows none
