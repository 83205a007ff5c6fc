-- A file that a client has uploaded to send it. Its bytes and its row in media are those of any file that no message
-- shows yet; a message that sends it gets a copy of its own. Written when the bytes are stored.
CREATE TABLE uploaded_files (
  organization_id uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id              uuid NOT NULL, -- of the row in media
  mime_type       text NOT NULL,
  size            bigint NOT NULL, -- bytes; an organization's files together have a limit
  filename        text,
  created_at      timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX uploaded_files_expiry ON uploaded_files (expires_at);
