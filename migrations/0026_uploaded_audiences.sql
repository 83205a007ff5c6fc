-- Lists of recipients that were uploaded as files, for broadcasts. A row is inserted when all its recipients are.
CREATE TABLE audiences (
  organization_id   uuid NOT NULL REFERENCES organization_rows (id) ON DELETE CASCADE,
  id                uuid NOT NULL,
  name              text,
  recipients        integer NOT NULL,
  rejected          integer NOT NULL,
  errors            jsonb NOT NULL, -- the first rejected rows: [{row, error, message}]
  body_parameters   text[] NOT NULL, -- the names of the parameters that recipients have
  button_parameters text[] NOT NULL,
  created_at        timestamptz NOT NULL,
  expires_at        timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX audiences_expiry ON audiences (expires_at);

-- Deleted by a job some time after the row of the audience, because they may be a million.
CREATE TABLE audience_recipients (
  organization_id uuid NOT NULL,
  audience_id     uuid NOT NULL,
  n               integer NOT NULL, -- from 1, without gaps
  address         text, -- the number's digits, or the chat id of a person without a number; null if the contact was erased
  name            text,
  parameters      jsonb, -- its own: {body, buttons}
  PRIMARY KEY (organization_id, audience_id, n)
);
CREATE INDEX audience_recipients_address ON audience_recipients (organization_id, address) WHERE address IS NOT NULL;
