-- Events of messages without the rows of message and contact, packed bodies of callbacks (docs/decisions/events.md).

-- The message whose row readers add to the event; null: the event has all that it shows.
ALTER TABLE events ADD COLUMN message_id uuid;

-- Whether rows are still written as processes of 1.0 read them.
CREATE FUNCTION writes_as_1_0() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT true $$;
